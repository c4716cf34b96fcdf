package gen_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/nabla-ad/nabla/gen"
	"github.com/nabla-ad/nabla/internal/longtest"
)

// archive returns the files of a txtar archive.
func archive(t *testing.T, name string) (*txtar.Archive, map[string]string) {
	t.Helper()
	a, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range a.Files {
		files[f.Name] = string(f.Data)
	}
	return a, files
}

// fix returns the files that Fix changes.
func fix(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	p, err := gen.Load(dir, []string{"."}, &gen.Options{Load: loading})
	if err != nil {
		t.Fatal(err)
	}
	files, err := p.Fix()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestForms: a program that passes functions in many forms has the same output after it is rewritten, with generated
// code, as before, with finite differences.
func TestForms(t *testing.T) {
	const name = "testdata/forms.txt"
	a, files := archive(t, name)
	i := slices.IndexFunc(a.Files, func(f txtar.File) bool { return f.Name == "fixed" })
	fixed := &a.Files[i]
	delete(files, "fixed")
	delete(files, "refused.go")
	dir := module(t, files)
	main := filepath.Join(dir, "main.go")
	round := fix(t, dir)
	if names := slices.Collect(maps.Keys(round)); !slices.Equal(names, []string{main}) {
		t.Fatalf("Fix changes %q", names)
	}
	if *update {
		fixed.Data = round[main]
		write(t, name, string(txtar.Format(a)))
	}
	if string(fixed.Data) != string(round[main]) {
		t.Errorf("%s: fixed is now\n%s", name, round[main])
	}
	if !longtest.Long() {
		return
	}
	run := []string{"run", "-ldflags=-w", "-gcflags=-dwarf=false", "-trimpath"}
	before := command(t, dir, append(run, ".", "finitediff")...)
	write(t, main, string(round[main]))
	r := generate(t, dir, ".")
	for _, p := range r.Problems() {
		if p.Severity > gen.Note {
			t.Error(p)
		}
	}
	if _, err := r.Write(); err != nil {
		t.Fatal(err)
	}
	if longtest.Long() {
		command(t, dir, "vet", ".")
	}
	if after := command(t, dir, append(run, ".")...); after != before || strings.Count(after, " true false\n") < 18 ||
		strings.Count(after, " false true\n") != 1 {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	if again := fix(t, dir); len(again) != 0 {
		t.Errorf("Fix changes %d files again", len(again))
	}
}

// TestFixRefuses: functions that cannot be rewritten are left as they are, and the warning has the reason.
func TestFixRefuses(t *testing.T) {
	_, files := archive(t, "testdata/forms.txt")
	dir := module(t, map[string]string{"go.mod": files["go.mod"], "refused.go": files["refused.go"]})
	if changed := fix(t, dir); len(changed) != 0 {
		t.Errorf("Fix changes %s", changed[filepath.Join(dir, "refused.go")])
	}
	problems := map[int]string{}
	for _, p := range generate(t, dir, ".").Problems() {
		problems[p.Pos.Line] += p.Error()
	}
	for i, line := range strings.Split(files["refused.go"], "\n") {
		_, want, ok := strings.Cut(line, "// want ")
		got := problems[i+1]
		if ok && (!strings.Contains(got, want) || !strings.Contains(got, "nabla gen -fix cannot: ")) {
			t.Errorf("line %s: %s\ngot %q", strconv.Itoa(i+1), line, got)
		}
	}
}

// TestReplacedVariable: a variable that an init function assigns, in a file of another build which the generation did
// not see, has no code then, even if the value of the other function is the same at x.
func TestReplacedVariable(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	dir := module(t, map[string]string{
		"go.mod": "module m\n\ngo 1.26\n",
		"m.go": `package main

import (
	"fmt"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/source"
)

var square = func(x []float64) float64 { return x[0] * x[0] }

func main() {
	g, err := nabla.Gradient(square, source.Reverse{}, []float64{1})
	fmt.Print(g, err != nil)
}
`,
		"early.go": `//go:build early

package main

func init() { square = func(x []float64) float64 { return 3*x[0] - 2 } }
`,
	})
	if _, err := generate(t, dir, ".").Write(); err != nil {
		t.Fatal(err)
	}
	for tags, want := range map[string]string{"": "[2] false", "early": "[] true"} {
		if tags == "" && !longtest.Long() { // which TestForms has with more forms
			continue
		}
		if got := command(t, dir, "run", "-ldflags=-w", "-trimpath", "-tags", tags, "."); got != want {
			t.Errorf("with tags %q: got %s, want %s", tags, got, want)
		}
	}
}
