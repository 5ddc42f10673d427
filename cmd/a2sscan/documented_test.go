package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// libraries are the packages that other programs import.
var libraries = []string{
	"wire", "reasm", "scanner", "scanner/udp", "scanner/target", "scanner/list", "scanner/master", "sink",
}

// TestDocumented: in a library, every exported name and every field of an exported
// struct has a comment, and each package has a package comment and an example.
func TestDocumented(t *testing.T) {
	for _, pkg := range libraries {
		files, err := filepath.Glob(filepath.Join("..", "..", pkg, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pkg, len(files), err)
		}
		page, examples := false, 0
		for _, name := range files {
			f := parse(t, name, nil)
			if strings.HasSuffix(name, "_test.go") {
				examples += runnable(f)
				continue
			}
			page = page || f.Doc != nil
			for _, bare := range undocumented(f) {
				t.Errorf("%s: %s has no comment", name, bare)
			}
		}
		if !page || examples == 0 {
			t.Errorf("%s: package comment: %v; %d examples that are run", pkg, page, examples)
		}
	}
}

// TestDocumentedNoticed: undocumented finds names without a comment.
func TestDocumentedNoticed(t *testing.T) {
	const src = `package p
func A() {}
func (t T) B() {}
func (t *u) Len() int { return 0 }
// T is one.
type T struct { C int; d int; E int // e
}
// Some.
const ( F = 1; G = 2)
var H, i = 1, 2
type I interface { J() }
type ( K int )
`
	got := strings.Join(undocumented(parse(t, "src.go", src)), " ")
	if want := "A B T.C H I I.J K"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func parse(t *testing.T, name string, src any) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// runnable counts the examples of a file that go test runs.
func runnable(f *ast.File) (n int) {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || !strings.HasPrefix(fn.Name.Name, "Example") {
			continue
		}
		if slices.ContainsFunc(f.Comments, func(c *ast.CommentGroup) bool {
			return fn.Pos() < c.Pos() && c.End() < fn.End() && strings.HasPrefix(c.Text(), "Output:")
		}) {
			n++
		}
	}
	return n
}

// undocumented returns the exported names of a file that have no comment.
func undocumented(f *ast.File) (bare []string) {
	miss := func(bad bool, prefix string, names ...*ast.Ident) {
		for _, name := range names {
			if bad && name.IsExported() {
				bare = append(bare, prefix+name.Name)
			}
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil || ofExported(d.Recv.List[0].Type) {
				miss(d.Doc == nil, "", d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				missSpec(miss, spec, d.Doc != nil)
			}
		}
	}
	return bare
}

// missSpec checks one specification of a declaration. said means that the
// declaration has a comment.
func missSpec(miss func(bool, string, ...*ast.Ident), spec ast.Spec, said bool) {
	switch s := spec.(type) {
	case *ast.ValueSpec:
		miss(!said && s.Doc == nil && s.Comment == nil, "", s.Names...)
	case *ast.TypeSpec:
		miss(!said && s.Doc == nil, "", s.Name)
		for _, field := range fieldsOf(s) {
			miss(field.Doc == nil && field.Comment == nil, s.Name.Name+".", field.Names...)
		}
	}
}

// fieldsOf returns the fields of an exported struct or the methods of an exported
// interface.
func fieldsOf(s *ast.TypeSpec) []*ast.Field {
	if !s.Name.IsExported() {
		return nil
	}
	switch t := s.Type.(type) {
	case *ast.StructType:
		return t.Fields.List
	case *ast.InterfaceType:
		return t.Methods.List
	}
	return nil
}

// ofExported reports whether a receiver's type is exported.
func ofExported(receiver ast.Expr) bool {
	switch t := receiver.(type) {
	case *ast.StarExpr:
		return ofExported(t.X)
	case *ast.IndexExpr:
		return ofExported(t.X)
	case *ast.Ident:
		return t.IsExported()
	}
	return false
}
