package nabla_test

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestExamples: each package that others can import has an example, if it has a function or a type.
func TestExamples(t *testing.T) {
	example := regexp.MustCompile(`(?m)^func Example`)
	for dir, names := range moduleDeclarations(t) {
		if strings.Contains(dir, "internal") || strings.HasPrefix(dir, "cmd/") || strings.HasPrefix(dir, "corpus") ||
			dir == "gen/rt/avx" { // which has declarations with GOEXPERIMENT=simd alone
			continue
		}
		exported := false
		for name := range names {
			exported = exported || ast.IsExported(name)
		}
		files, err := filepath.Glob(filepath.Join(strings.Replace(dir, "nabla", ".", 1), "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			found = found || example.Match(text)
		}
		if exported && !found {
			t.Errorf("%s has no example", dir)
		}
	}
}
