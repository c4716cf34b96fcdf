package gen_test

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// source is the Go source of a module in testdata, with its go.mod.
func source(t *testing.T, name string) map[string]string {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range a.Files {
		if !strings.HasPrefix(f.Name, "want/") {
			files[f.Name] = string(f.Data)
		}
	}
	return files
}

// TestRun compiles what is generated and differentiates functions of every shape with it.
// Nothing is to be found fault with in the files.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	files := source(t, "shapes")
	files["shapes_test.go"] = read(t, "testdata/shapes_test.txt")
	dir := module(t, files)
	if _, err := generate(t, dir, "./...").Write(); err != nil {
		t.Fatal(err)
	}
	command(t, dir, "test", "./...")
	command(t, dir, "run", "honnef.co/go/tools/cmd/staticcheck", "./...")
}

// TestRunRules does the same with functions that call others by rules.
func TestRunRules(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	files := source(t, "rules")
	more, err := txtar.ParseFile("testdata/rules_test.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range more.Files {
		files[f.Name] = string(f.Data)
	}
	dir := module(t, files)
	if _, err := generate(t, dir, "./...").Write(); err != nil {
		t.Fatal(err)
	}
	command(t, dir, "test", "./...")
	command(t, dir, "run", "honnef.co/go/tools/cmd/staticcheck", "./...")
}
