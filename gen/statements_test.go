package gen_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestRunStatements compiles the derivatives of functions with calls of the standard library, deferred calls, sorting
// and maps. The package check of testdata/statements/check.txt compares the results of all engines with differences.
func TestRunStatements(t *testing.T) {
	p := together(t, "statements")
	got := map[string]string{}
	for line := range strings.Lines(p.problems["statements"]) {
		line = strings.ReplaceAll(line, "statements/", "")
		pkg, _, _ := strings.Cut(line, "/")
		got[pkg] += line
	}
	for _, name := range statements(t) {
		a, files := archive(t, name)
		pkg := strings.TrimSuffix(filepath.Base(name), ".txt")
		if *update && got[pkg] != files["problems"] {
			a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool { return f.Name == "problems" })
			a.Files = append(a.Files, txtar.File{Name: "problems", Data: []byte(got[pkg])})
			if err := os.WriteFile(name, txtar.Format(a), 0o666); err != nil {
				t.Fatal(err)
			}
		} else if got[pkg] != files["problems"] {
			t.Errorf("problems of %s:\n%s\nwant:\n%s", pkg, got[pkg], files["problems"])
		}
	}
	p.passes(t)
}

// statements returns the names of the archives.
func statements(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob("testdata/statements/*.txt")
	if err != nil || len(list) == 0 {
		t.Fatal("no archives", err)
	}
	return list
}

func statementsFiles(t *testing.T) map[string]string {
	all := map[string]string{}
	for _, name := range statements(t) {
		_, files := archive(t, name)
		delete(files, "problems")
		maps.Copy(all, files)
	}
	return all
}
