package natives_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/internal/natives"
	"github.com/nabla-ad/nabla/gen/library"
)

// TestLibrary requires that Library has exactly the functions with a rule in package library.
func TestLibrary(t *testing.T) {
	got := slices.Sorted(maps.Keys(natives.Library()))
	if want := library.Names(); !slices.Equal(got, want) {
		t.Errorf("functions are %q, rules are of %q", got, want)
	}
}

// TestOperations requires that Rules has the operations of packages matad and lapackad that have a rule or are
// passive, but for those that compare addresses, which the evaluator does not have.
func TestOperations(t *testing.T) {
	rules := natives.Rules()
	files, err := filepath.Glob("../../library/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range files {
		pkg := filepath.Base(filepath.Dir(file))
		if pkg != "matad" && pkg != "lapackad" {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !fn.Name.IsExported() || fn.Doc == nil {
				continue
			}
			if !slices.ContainsFunc(fn.Doc.List, func(c *ast.Comment) bool {
				return strings.HasPrefix(c.Text, "//nabla:rule") || strings.HasPrefix(c.Text, "//nabla:passive")
			}) {
				continue
			}
			switch name := fn.Name.Name; name {
			case "CheckOverlap", "CheckOverlapVec", "Offset":
			default:
				found++
				if rules[library.Path+"/"+pkg+"."+name] == nil {
					t.Errorf("no function for %s", name)
				}
			}
		}
	}
	if found < 40 {
		t.Errorf("only %d operations", found)
	}
}
