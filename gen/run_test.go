package gen_test

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/nabla-ad/nabla/gen"
	"github.com/nabla-ad/nabla/gen/lower"
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

// TestLongLoops compiles the reverse sweeps of loops that keep snapshots, and looks at how
// much memory a million iterations take.
func TestLongLoops(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	dir := module(t, map[string]string{
		"go.mod": "module golden/lorenz\n\ngo 1.26\n", "lorenz.go": read(t, "testdata/lorenz.txt"), "lorenz_test.go": read(t, "testdata/lorenz_test.txt"),
	})
	if _, err := generate(t, dir, ".").Write(); err != nil {
		t.Fatal(err)
	}
	command(t, dir, "test", ".")
	command(t, dir, "vet", ".")
	command(t, dir, "run", "honnef.co/go/tools/cmd/staticcheck", ".")
}

// TestExplainLongLoops shows what becomes of marked loops.
func TestExplainLongLoops(t *testing.T) {
	dir := module(t, source(t, "checkpoint"))
	p, err := gen.Load(dir, []string{".", "./ignored"}, &gen.Options{Load: lower.LoadOptions{Env: environ}})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"Swing": "runs again from snapshots of its step, q, p, each 24 bytes and what is behind path, in 2 levels",
		"Rest":  "runs again from snapshots of its step, q, p, each 24 bytes, 20 at most, and reverses 10 steps at once",
		"Grows": "is not checkpointed: s gets new memory in it",
	} {
		var b strings.Builder
		if err := p.Explain(&b, name); err != nil || !strings.Contains(b.String(), "for ") || !strings.Contains(b.String(), want) {
			t.Errorf("%s: %v\n%swant %s", name, err, b.String(), want)
		}
	}
}
