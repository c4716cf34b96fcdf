package words_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/internal/words"
)

// TestWords prints the figures of every package of the module, without tests, and fails if there are lines that are too
// wide:
//
//	go test ./internal/words -v
func TestWords(t *testing.T) {
	longtest.Serial(t)
	root := filepath.Join("..", "..")
	packages := map[string]*words.Figures{}
	var source, tests words.Figures
	wide := 0
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if base := d.Name(); d.IsDir() {
			if base == "testdata" || base == "node_modules" || name != root && base != ".ci" && base[0] == '.' {
				return filepath.SkipDir
			}
			return nil
		}
		ext := filepath.Ext(name)
		if ext != ".go" && ext != ".md" {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if ext == ".go" {
			if f, err := parser.ParseFile(token.NewFileSet(), name, text,
				parser.ParseComments|parser.PackageClauseOnly); err != nil {
				return err
			} else if ast.IsGenerated(f) {
				return nil
			}
			n, err := words.Count(name, text)
			if err != nil {
				return err
			}
			if strings.HasSuffix(name, "_test.go") {
				tests.Add(n)
			} else {
				dir, err := filepath.Rel(root, filepath.Dir(name))
				if err != nil {
					return err
				}
				if packages[dir] == nil {
					packages[dir] = new(words.Figures)
				}
				packages[dir].Add(n)
				source.Add(n)
			}
		}
		check := words.Wide
		if ext == ".md" {
			check = words.WideMarkdown
		}
		for _, line := range check(text) {
			wide++
			t.Errorf(
				"%s:%d: more than %d columns",
				strings.TrimPrefix(name, root+string(filepath.Separator)),
				line,
				words.Columns,
			)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) < 40 {
		t.Errorf("%d packages found", len(packages))
	}
	var b strings.Builder
	row := func(name string, n words.Figures) {
		fmt.Fprintf(&b, "%-26s %5d %7d %8d %8.2f %7.1f %%\n", name, n.Files, n.Code, n.Comments,
			float64(n.Comments)/float64(max(n.Code, 1)), 100*float64(n.What)/float64(max(n.Comments, 1)))
	}
	fmt.Fprintf(&b, "%-26s %5s %7s %8s %8s %9s\n", "package", "files", "code", "comments", "per code", `"what"`)
	for _, dir := range slices.SortedFunc(maps.Keys(packages), cmp.Compare[string]) {
		row(dir, *packages[dir])
	}
	row("all packages", source)
	row("their tests", tests)
	t.Logf("%d lines of more than %d columns; lines by package:\n%s", wide, words.Columns, &b)
}

func TestCount(t *testing.T) {
	const src = "//go:build linux\n\n// Package p is what it is.\npackage p\n\n//nabla:passive\nvar x = `a\n// " +
		"what\nb` // what is behind code\n\n/* What\nelse */\n\n// somewhat\nfunc f() {\n\t// why\n}\n"
	got, err := words.Count("p.go", []byte(src))
	if want := (words.Figures{Files: 1, Code: 6, Comments: 5, What: 2}); err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	if _, err := words.Count("p.go", []byte("package")); err == nil {
		t.Error("a syntax error is counted")
	}
}

func TestWide(t *testing.T) {
	long := strings.Repeat("é", words.Columns)
	src := "//go:build " + long + "\n\npackage p\n\n// " + long[6:] + "\n// " + long + "\n\tvar x = `" + long + "\n" +
		long + "`\n\t// " +
		long[16:] + "\nvar " + long + " int\n// Output:\n// " + long + "\n"
	if got := words.Wide([]byte(src)); !slices.Equal(got, []int{6, 10}) {
		t.Errorf("lines %v", got)
	}
	text := long + "\n" + long + ".\n\t" + long[8:] + "\n\t" + long[6:] + "\n```\n" + long + ".\n```\n| " + long + "\n"
	if got := words.WideMarkdown([]byte(text)); !slices.Equal(got, []int{2, 4}) {
		t.Errorf("lines %v of Markdown", got)
	}
}
