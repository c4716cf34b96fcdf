package gen_test

import (
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
	if testing.Short() {
		t.Skip("builds programs")
	}
	list, err := filepath.Glob("testdata/statements/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"go.mod": "module golden/statements\n\ngo 1.26\n"}
	want := map[string]string{} // archive → its problems
	for _, name := range list {
		a, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Files {
			if f.Name == "problems" {
				want[strings.TrimSuffix(filepath.Base(name), ".txt")] = string(f.Data)
				continue
			}
			files[f.Name] = string(f.Data)
		}
	}
	dir := module(t, files)
	r := generate(t, dir, "./...")
	got := map[string]string{}
	for _, line := range strings.SplitAfter(problems(r, dir), "\n") {
		pkg, _, _ := strings.Cut(line, "/")
		got[pkg] += line
	}
	for _, name := range list {
		pkg := strings.TrimSuffix(filepath.Base(name), ".txt")
		if *update && got[pkg] != want[pkg] {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool { return f.Name == "problems" })
			a.Files = append(a.Files, txtar.File{Name: "problems", Data: []byte(got[pkg])})
			if err := os.WriteFile(name, txtar.Format(a), 0o666); err != nil {
				t.Fatal(err)
			}
		} else if got[pkg] != want[pkg] {
			t.Errorf("problems of %s:\n%s\nwant:\n%s", pkg, got[pkg], want[pkg])
		}
	}
	if _, err := r.Write(); err != nil {
		t.Fatal(err)
	}
	command(t, dir, "vet", "./...")
	runTests(t, dir, "./...")
	// The functions that the code is generated of have types as users write them.
	staticcheck(t, dir, "S1016", "U1000")
}
