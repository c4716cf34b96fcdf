package nabla_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestRaceStep: the packages of the generator that .ci/run leaves out under the race detector, package program, and
// their tests start no goroutines.
func TestRaceStep(t *testing.T) {
	script, err := os.ReadFile(".ci/run")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^concurrent="(.*)"$`).FindSubmatch(script)
	if m == nil {
		t.Fatal(`.ci/run has no line concurrent="…"`)
	}
	concurrent := strings.Fields(string(m[1]))
	unseen, files := slices.Clone(concurrent), 0
	look := func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		dir := "./" + filepath.ToSlash(filepath.Dir(path))
		switch {
		case d.IsDir() && d.Name() == "testdata":
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go":
			return nil
		case slices.Contains(concurrent, dir):
			unseen = slices.DeleteFunc(unseen, func(s string) bool { return s == dir })
			return nil
		}
		files++
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if startsGoroutine(n) {
				t.Errorf("%s starts a goroutine: add %s to the race step of .ci/run", fset.Position(n.Pos()), dir)
			}
			return true
		})
		return nil
	}
	if err := filepath.WalkDir("gen", look); err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir("program", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && path != "program" {
			return filepath.SkipDir // the packages in it run under the race detector
		}
		return look(path, d, err)
	})
	if err != nil {
		t.Fatal(err)
	}
	if files == 0 || len(unseen) > 0 {
		t.Errorf("%d files of other packages, and no files of %v", files, unseen)
	}
}

// startsGoroutine reports whether n is a go statement, or a call like wg.Go(f) or t.Parallel().
func startsGoroutine(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		return true
	case *ast.CallExpr:
		f, ok := n.Fun.(*ast.SelectorExpr)
		return ok && (f.Sel.Name == "Go" && len(n.Args) == 1 || f.Sel.Name == "Parallel")
	}
	return false
}
