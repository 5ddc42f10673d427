package main

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// compiled lists the packages of the library and what they import, with the file of each
// that has its types.
var compiled = sync.OnceValues(func() (map[string]string, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "./wire", "./reasm", "./scanner/...", "./sink/...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[path] = file
	}
	return files, err
})

// imports returns an importer of the packages that compiled lists.
func imports(t *testing.T, fset *token.FileSet) types.Importer {
	t.Helper()
	files, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	return importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
}

// checked returns the types of a package of this module, unexported ones included. more
// is the source of a further file, or nil.
func checked(t *testing.T, pkg string, more any) *types.Package {
	t.Helper()
	fset := token.NewFileSet()
	names, err := filepath.Glob(filepath.Join("../..", pkg, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	parse := func(name string, src any) {
		f, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	for _, name := range names {
		if !strings.HasSuffix(name, "_test.go") {
			parse(name, nil)
		}
	}
	if more != nil {
		parse("more.go", more)
	}
	cfg := types.Config{Importer: imports(t, fset)}
	p, err := cfg.Check(module+pkg, fset, files, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestDoors: no exported name of the library hides its type in another package. An alias
// shows neither fields nor methods in the documentation, and a type of an internal
// package can't be named by those who import the library.
func TestDoors(t *testing.T) {
	skipShort(t)
	imp := imports(t, token.NewFileSet())
	files, _ := compiled()
	open := 0
	for path := range files {
		if !strings.HasPrefix(path, module) || internal(path) {
			continue
		}
		p, err := imp.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		open++
		for _, bad := range hidden(p) {
			t.Error(bad)
		}
	}
	if open < 10 {
		t.Errorf("only %d packages of the library", open)
	}
}

// TestDoorsFinds: hidden finds an alias, and internal types in fields, parameters and
// results.
func TestDoorsFinds(t *testing.T) {
	skipShort(t)
	p := checked(t, "scanner", `package scanner
		import "github.com/a2sscan/a2sscan/scanner/internal/session"
		type Alias = session.Answer
		type Fields struct { Plan []*session.Plan; hidden session.Plan }
		type Plain struct { Status Status }
		func (*Plain) Method(session.Class) {}
		func Function() map[string]session.Kind { return nil }`)
	got := hidden(p)
	for _, want := range []string{"Alias", "Fields", "Plain", "Function"} {
		if !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "scanner."+want+" ") }) {
			t.Errorf("%s is not found: %q", want, got)
		}
	}
	if len(got) != 4 {
		t.Errorf("found %q", got)
	}
}

func internal(path string) bool { return strings.Contains(path+"/", "/internal/") }

// hidden returns a sentence for each exported name of p that is an alias of a type of
// another package, or that shows a type of an internal package.
func hidden(p *types.Package) (bad []string) {
	for _, name := range p.Scope().Names() {
		o := p.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		if tn, ok := o.(*types.TypeName); ok && tn.IsAlias() {
			if types.Unalias(o.Type()).String() == module+"scanner/target.Target" {
				continue // scanner and scanner/list share it, and neither imports the other
			}
			bad = append(bad, p.Name()+"."+name+" is an alias of "+types.Unalias(o.Type()).String())
			continue
		}
		if of := shows(o.Type(), p); of != nil {
			bad = append(bad, p.Name()+"."+name+" shows "+of.Pkg().Path()+"."+of.Name())
		}
	}
	return bad
}

// shows returns a type of an internal package that the documentation of a type of p
// shows, or nil.
func shows(t types.Type, p *types.Package) (found *types.TypeName) {
	if n, ok := t.(*types.Named); ok && n.Obj().Pkg() == p {
		for m := range n.Methods() {
			if m.Exported() && found == nil {
				found = mentions(m.Type())
			}
		}
		t = n.Underlying()
	}
	if s, ok := t.(*types.Struct); ok {
		for f := range s.Fields() {
			if f.Exported() && found == nil {
				found = mentions(f.Type())
			}
		}
		return found
	}
	if found == nil {
		found = mentions(t)
	}
	return found
}

// mentions returns a type of an internal package that t is made of, or nil.
func mentions(t types.Type) *types.TypeName {
	switch t := t.(type) {
	case *types.Named:
		if o := t.Obj(); o.Pkg() != nil && internal(o.Pkg().Path()) && strings.HasPrefix(o.Pkg().Path(), module) {
			return o
		}
	case *types.Map:
		if found := mentions(t.Key()); found != nil {
			return found
		}
		return mentions(t.Elem())
	case interface{ Elem() types.Type }:
		return mentions(t.Elem())
	case *types.Signature:
		for _, tuple := range []*types.Tuple{t.Params(), t.Results()} {
			for v := range tuple.Variables() {
				if found := mentions(v.Type()); found != nil {
					return found
				}
			}
		}
	}
	return nil
}

// TestPartsOwnTheirData: no part of the engine points to another part or to the Stats.
// Only the engine knows all parts, and tells each what the others found.
func TestPartsOwnTheirData(t *testing.T) {
	skipShort(t)
	p := checked(t, "scanner", nil)
	bad, parts := tangles(p, p.Scope().Lookup("engine").Type())
	for _, b := range bad {
		t.Errorf("%s points to another part or to the Stats", b)
	}
	if parts < 9 {
		t.Errorf("the engine has only %d parts", parts)
	}
}

// TestPartsOwnTheirDataFinds: tangles finds a pointer to a part wherever a part may
// hide it, and a pointer to the Stats.
func TestPartsOwnTheirDataFinds(t *testing.T) {
	skipShort(t)
	p := checked(t, "scanner", `package scanner
		type inner struct { list []*pacer }
		type first struct { in inner; second *second }
		type second struct { tell func(*Stats) }
		type third struct { next *third; count int }
		type other struct { first *first; second *second; third *third; pacer *pacer }`)
	bad, parts := tangles(p, p.Scope().Lookup("other").Type())
	want := []string{"first.in.list", "first.second", "second.tell"}
	if !slices.Equal(bad, want) || parts != 4 {
		t.Errorf("%d parts; %q, want %q", parts, bad, want)
	}
}

// tangles returns the fields of the parts of an engine that point to another part, to the
// engine or to the Stats, and the number of parts. The parts are the structs of package p
// that the engine points to.
func tangles(p *types.Package, engine types.Type) (bad []string, n int) {
	parts := map[types.Object]bool{}
	for f := range engine.Underlying().(*types.Struct).Fields() {
		if ptr, ok := f.Type().(*types.Pointer); ok {
			if part, ok := ptr.Elem().(*types.Named); ok && strings.HasPrefix(part.Obj().Pkg().Path(), p.Path()) {
				parts[part.Obj()] = true
			}
		}
	}
	shared := map[types.Object]bool{engine.(*types.Named).Obj(): true, p.Scope().Lookup("Stats"): true}
	maps.Copy(shared, parts)
	for part := range parts {
		t := tangle{shared: shared, part: part, seen: map[types.Type]bool{}}
		t.fields(part.Name(), part.Type())
		bad = append(bad, t.bad...)
	}
	slices.Sort(bad)
	return bad, len(parts)
}

// tangle searches one part for types that it must not know.
type tangle struct {
	shared map[types.Object]bool
	part   types.Object
	seen   map[types.Type]bool
	bad    []string
}

// fields searches the fields of a struct, and those of the structs in them.
func (t *tangle) fields(path string, of types.Type) {
	s, ok := of.Underlying().(*types.Struct)
	if !ok || t.seen[of] {
		return
	}
	t.seen[of] = true
	for f := range s.Fields() {
		t.visit(path+"."+f.Name(), f.Type())
	}
}

// visit searches everything that a value of type v holds or points to.
func (t *tangle) visit(path string, v types.Type) {
	switch v := v.(type) {
	case *types.Pointer:
		if to, ok := v.Elem().(*types.Named); ok && to.Obj() != t.part && t.shared[to.Obj()] {
			t.bad = append(t.bad, path)
			return
		}
		t.visit(path, v.Elem())
	case *types.Named:
		if v.Obj().Pkg() == t.part.Pkg() {
			t.fields(path, v)
		}
	case *types.Map:
		t.visit(path, v.Key())
		t.visit(path, v.Elem())
	case interface{ Elem() types.Type }:
		t.visit(path, v.Elem())
	case *types.Signature:
		for _, tuple := range []*types.Tuple{v.Params(), v.Results()} {
			for x := range tuple.Variables() {
				t.visit(path, x.Type())
			}
		}
	}
}
