package main

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
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

// TestDoors: no exported name of the library hides its type in another package. An alias
// shows neither fields nor methods in the documentation, and a type of an internal
// package can't be named by those who import the library.
func TestDoors(t *testing.T) {
	skipShort(t)
	imp := imports(t, token.NewFileSet())
	files, _ := compiled()
	open := 0
	for path := range files {
		if !strings.HasPrefix(path, module) || strings.Contains(path+"/", "/internal/") {
			continue
		}
		p, err := imp.Import(path)
		check(t, err)
		open++
		for _, name := range p.Scope().Names() {
			o := p.Scope().Lookup(name)
			alias, isType := o.(*types.TypeName)
			switch {
			case !o.Exported():
			case !isType || !alias.IsAlias():
				for _, bad := range hidden(o.Type(), p) {
					t.Errorf("%s.%s shows %s", p.Name(), name, bad)
				}
			case types.Unalias(o.Type()).String() != module+"scanner/target.Target": // scanner and scanner/list share it, and neither imports the other
				t.Errorf("%s.%s is an alias of %v", p.Name(), name, types.Unalias(o.Type()))
			}
		}
	}
	if open < 10 {
		t.Errorf("only %d packages of the library", open)
	}
}

// hidden returns the types of internal packages that the documentation of a type of p
// shows.
func hidden(t types.Type, p *types.Package) (bad []string) {
	visit := func(n *types.Named, _ bool) {
		if pkg := n.Obj().Pkg(); pkg != nil && strings.HasPrefix(pkg.Path(), module) && strings.Contains(pkg.Path()+"/", "/internal/") {
			bad = append(bad, n.String())
		}
	}
	if n, ok := t.(*types.Named); ok && n.Obj().Pkg() == p {
		for m := range n.Methods() {
			if m.Exported() {
				parts(m.Type(), false, visit)
			}
		}
		t = n.Underlying()
	}
	s, ok := t.(*types.Struct)
	if !ok {
		parts(t, false, visit)
		return bad
	}
	for f := range s.Fields() {
		if f.Exported() {
			parts(f.Type(), false, visit)
		}
	}
	return bad
}

// parts calls visit with each named type that t is made of, and whether t has a pointer to
// that type. It does not look into the named types.
func parts(t types.Type, pointer bool, visit func(n *types.Named, pointer bool)) {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		visit(t, pointer)
	case *types.Map:
		parts(t.Key(), false, visit)
		parts(t.Elem(), false, visit)
	case *types.Pointer:
		parts(t.Elem(), true, visit)
	case interface{ Elem() types.Type }:
		parts(t.Elem(), false, visit)
	case *types.Signature:
		for _, tuple := range []*types.Tuple{t.Params(), t.Results()} {
			for v := range tuple.Variables() {
				parts(v.Type(), false, visit)
			}
		}
	}
}

// TestPartsOwnTheirData: no part of the engine points to another part or to the Stats. The
// parts are the structs of package scanner that the engine points to. Only the engine knows
// all parts, and tells each what the others found.
func TestPartsOwnTheirData(t *testing.T) {
	skipShort(t)
	p := scannerTypes(t)
	shared := map[types.Object]bool{p.Scope().Lookup("engine"): true, p.Scope().Lookup("Stats"): true}
	var found []*types.Named
	for f := range p.Scope().Lookup("engine").Type().Underlying().(*types.Struct).Fields() {
		parts(f.Type(), false, func(n *types.Named, pointer bool) {
			if pkg := n.Obj().Pkg(); pointer && pkg != nil && strings.HasPrefix(pkg.Path(), p.Path()) {
				shared[n.Obj()] = true
				found = append(found, n)
			}
		})
	}
	for _, part := range found {
		seen := map[types.Type]bool{part: true}
		var fields func(path string, of types.Type)
		fields = func(path string, of types.Type) {
			s, ok := of.Underlying().(*types.Struct)
			if !ok {
				return
			}
			for f := range s.Fields() {
				path := path + "." + f.Name()
				parts(f.Type(), false, func(n *types.Named, pointer bool) {
					switch {
					case pointer && n != part && shared[n.Obj()]:
						t.Errorf("%s points to %v", path, n)
					case n.Obj().Pkg() == part.Obj().Pkg() && !seen[n]:
						seen[n] = true
						fields(path, n)
					}
				})
			}
		}
		fields(part.Obj().Name(), part)
	}
	if len(found) < 9 {
		t.Errorf("the engine has only %d parts", len(found))
	}
}

// scannerTypes returns the types of package scanner, unexported ones included.
func scannerTypes(t *testing.T) *types.Package {
	t.Helper()
	fset := token.NewFileSet()
	names, err := filepath.Glob("../../scanner/*.go")
	check(t, err)
	var files []*ast.File
	for _, name := range names {
		if !strings.HasSuffix(name, "_test.go") {
			f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
			check(t, err)
			files = append(files, f)
		}
	}
	cfg := types.Config{Importer: imports(t, fset)}
	p, err := cfg.Check(module+"scanner", fset, files, nil)
	check(t, err)
	return p
}
