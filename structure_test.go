package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// What a reader can hold: a function on a screen, a file of one concern.
const (
	maxFunctionLines = 60
	maxFileLines     = 500
)

func TestFunctionsFitOnAScreenAndFilesHoldOneConcern(t *testing.T) {
	goFiles(t, func(path string) {
		fset, file := parse(t, path)
		if n := fset.Position(file.End()).Line; n > maxFileLines {
			t.Errorf("%s has %d lines, more than %d: split it by concern", path, n, maxFileLines)
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := fset.Position(f.End()).Line - fset.Position(f.Pos()).Line + 1; n > maxFunctionLines {
				t.Errorf("%s: %s has %d lines, more than %d: extract its steps", fset.Position(f.Pos()), f.Name.Name, n, maxFunctionLines)
			}
		}
	})
}

func TestEveryExportedNameIsDocumented(t *testing.T) {
	goFiles(t, func(path string) {
		fset, file := parse(t, path)
		for _, decl := range file.Decls {
			for _, name := range undocumented(decl) {
				t.Errorf("%s: %s has no doc comment", fset.Position(decl.Pos()), name)
			}
		}
	})
}

// undocumented returns the exported names that decl declares without a comment. A group's comment counts for
// its members; a method of an unexported type is not part of the package's face.
func undocumented(decl ast.Decl) []string {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc == nil && !onUnexportedType(d) {
			return []string{d.Name.Name}
		}
	case *ast.GenDecl:
		if d.Doc != nil {
			return nil
		}
		var names []string
		for _, spec := range d.Specs {
			names = append(names, undocumentedSpec(spec)...)
		}
		return names
	}
	return nil
}

func undocumentedSpec(spec ast.Spec) []string {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() && s.Doc == nil && s.Comment == nil {
			return []string{s.Name.Name}
		}
	case *ast.ValueSpec:
		var names []string
		for _, n := range s.Names {
			if n.IsExported() && s.Doc == nil && s.Comment == nil {
				names = append(names, n.Name)
			}
		}
		return names
	}
	return nil
}

func onUnexportedType(f *ast.FuncDecl) bool {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return false
	}
	expr := f.Recv.List[0].Type
	if star, ok := expr.(*ast.StarExpr); ok {
		expr = star.X
	}
	if generic, ok := expr.(*ast.IndexExpr); ok {
		expr = generic.X
	}
	id, ok := expr.(*ast.Ident)
	return ok && !id.IsExported()
}

func parse(t *testing.T, path string) (*token.FileSet, *ast.File) {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return fset, file
}

func TestAnUndocumentedNameIsFound(t *testing.T) {
	const src = "package p\n\nfunc F() {}\n\n// G does.\nfunc G() {}\n\ntype t struct{}\n\nfunc (t) H() {}\n\nvar V = 1\n"
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range file.Decls {
		got = append(got, undocumented(d)...)
	}
	if want := "F V"; strings.Join(got, " ") != want {
		t.Errorf("undocumented: got %q, want %q", got, want)
	}
}
