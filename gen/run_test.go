package gen_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/nabla-ad/nabla/gen"
	"github.com/nabla-ad/nabla/gen/internal/randprog"
	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/internal/longtest"
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

// archived returns the files in an archive in testdata.
func archived(t *testing.T, name string) map[string]string {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range a.Files {
		files[f.Name] = string(f.Data)
	}
	return files
}

// staticcheck runs the checker over the packages of a module, without the named checks, in the long form of the tests:
// the module that it is a tool of is none that this one needs, and may have to be downloaded.
func staticcheck(t *testing.T, dir string, but []string, patterns ...string) {
	t.Helper()
	if !longtest.Long() {
		return
	}
	cmd := exec.Command("go", "tool", "-n", "staticcheck") // builds it and says where it is
	cmd.Dir, cmd.Stderr = "../.ci/tools", os.Stderr
	path, err := cmd.Output()
	if err != nil {
		t.Fatalf("go tool -n staticcheck: %v", err)
	}
	checks := "inherit"
	for _, c := range but {
		checks += ",-" + c
	}
	cmd = exec.Command(strings.TrimSpace(string(path)), append([]string{"-checks", checks}, patterns...)...)
	cmd.Dir, cmd.Env = dir, environ
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("staticcheck: %v\n%s", err, out)
	}
}

// TestRun compiles generated code and uses it to differentiate functions of every shape.
func TestRun(t *testing.T) {
	together(t, "shapes").passes(t)
}

func shapesFiles(t *testing.T) map[string]string {
	files := source(t, "shapes")
	files["shapes_test.go"] = read(t, "testdata/shapes_test.txt")
	maps.Copy(files, archived(t, "typeswitches.txt"))
	return files
}

// TestRunRules does the same with functions that call others by rules.
func TestRunRules(t *testing.T) {
	together(t, "rules").passes(t)
}

func rulesFiles(t *testing.T) map[string]string {
	files := source(t, "rules")
	maps.Copy(files, archived(t, "rules_test.txt"))
	return files
}

// TestRunRuleForms does the same with rules for functions of all types that they may have, by all engines.
func TestRunRuleForms(t *testing.T) {
	together(t, "ruleforms").passes(t)
}

// TestRunMatrices does the same with some of the functions of matrices of gonum/mat, or all.
func TestRunMatrices(t *testing.T) {
	p := together(t, "matrices")
	if text := withoutNotes(p.problems["matrices"]); text != "" {
		t.Error(text)
	}
	p.passes(t)
}

func matricesFiles(t *testing.T) map[string]string {
	files := map[string]string{}
	for _, name := range []string{"matrices", "matfactors"} {
		list, err := txtar.ParseFile("testdata/" + name + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range list.Files {
			files[f.Name] = string(f.Data)
		}
	}
	marked := regexp.MustCompile(`//nabla:differentiate\nfunc (\w+)\(`)
	for file, n := range map[string]int{"dense": 4, "factors": 2} {
		var names []string
		for _, m := range marked.FindAllStringSubmatch(files[file+".go"], -1) {
			if !strings.HasPrefix(m[1], "Eigen") { // those are used by a further test
				names = append(names, m[1])
			}
		}
		kept := longtest.Sample(names, n)
		for _, name := range names {
			if slices.Contains(kept, name) {
				continue
			}
			files[file+".go"] = strings.Replace(files[file+".go"], "//nabla:differentiate\nfunc "+name+"(",
				"func "+name+"(", 1)
			row := regexp.MustCompile(`\n\t+\{"` + name + `", .*`)
			files[file+"_test.go"] = row.ReplaceAllString(files[file+"_test.go"], "")
		}
	}
	return files
}

// TestRunFactorisations does the same with some of the functions of factorisations of gonum/mat, or all.
func TestRunFactorisations(t *testing.T) {
	p := together(t, "factorisations")
	if text := withoutNotes(p.problems["factorisations"]); text != "" {
		t.Error(text)
	}
	p.passes(t)
}

func factorisationsFiles(t *testing.T) map[string]string {
	list, err := txtar.ParseFile("testdata/factorisations.txt")
	if err != nil {
		t.Fatal(err)
	}
	files, bodies := map[string]string{}, map[string]string{}
	var names []string
	for _, f := range list.Files {
		if name, ok := strings.CutPrefix(f.Name, "f_"); ok {
			names, bodies[f.Name] = append(names, strings.TrimSuffix(name, ".go")), string(f.Data)
		} else if !strings.HasPrefix(f.Name, "long_") || longtest.Long() {
			files[f.Name] = string(f.Data)
		}
	}
	table := "package factorisations\n\nvar functions = []function{\n"
	for _, name := range longtest.Sample(names, 2) {
		files["f_"+name+".go"] = bodies["f_"+name+".go"]
		table += strings.ReplaceAll(`	{"F", F, FTangent,
		func(x, xBar []float64) float64 { return FAdjoint(x, xBar, 1, nil) },
		func(x, xBar, xDot, xBarDot []float64) { FAdjointTangent(x, xBar, 1, nil, xDot, xBarDot) }},
`, "F", name)
	}
	files["functions_test.go"] = table + "}\n"
	return files
}

// TestRunPrivateNames does the same with functions of another module whose names generated code cannot use, and looks
// at the refusals of variables that cannot be copied.
func TestRunPrivateNames(t *testing.T) {
	longtest.Skip(t, "builds programs")
	files := archived(t, "privatenames.txt")
	dir := module(t, files)
	if text := problems(generate(t, dir, "./refused"), dir); text != privateRefusals {
		t.Errorf("got:\n%s\nwant:\n%s", text, privateRefusals)
	}
	r := generate(t, dir, ".")
	if text := problems(r, dir); text != "" {
		t.Error(text)
	}
	if _, err := r.Write(); err != nil {
		t.Fatal(err)
	}
	text := read(t, filepath.Join(dir, "nabla_gen_licenses.txt"))
	for _, want := range []string{"example.com/lib v0.0.0 (MIT)\n", "Permission is hereby granted", lower.Header +
		"\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in the licences:\n%s", want, text)
		}
	}
	if text := read(t, filepath.Join(dir, "nabla_gen.go")); !strings.HasPrefix(text, lower.Header+"\n//\n// Parts are "+
		"derived, with changes, from the source code of\n//\n//\texample.com/lib v0.0.0 (MIT)\n//\n// whose "+
		"licences are in "+
		"nabla_gen_licenses.txt.\n\npackage private\n") {
		t.Errorf("got:\n%s", text[:min(len(text), 400)])
	}
	if longtest.Long() {
		command(t, dir, "vet", ".")
	}
	runTests(t, dir, ".")
	staticcheck(t, dir, nil, "./...")
	// Without its licence the library is warned of, and the file of licences is out of date.
	if err := os.Remove(filepath.Join(dir, "lib", "LICENSE")); err != nil {
		t.Fatal(err)
	}
	r = generate(t, dir, ".")
	if text := problems(r, dir); !strings.Contains(text,
		"warning: function Area: code is derived from example.com/lib v0.0.0, "+
			"which has no licence file") {
		t.Errorf("got %s", text)
	}
	if stale, err := r.Stale(); err != nil || len(stale) != 2 {
		t.Errorf("out of date: %v, %v", stale, err)
	}
	// Another version of the library, with fields exchanged.
	text = files["lib/lib.go"]
	for from, to := range map[string]string{
		"\tcenter point\n\tradius float64\n": "\tradius float64\n\tcenter point\n",
		"Cap{point{x, y, z}, r}":             "Cap{r, point{x, y, z}}",
		"\tmu    float64\n":                  "",
		"\tsigma float64\n":                  "\tsigma float64\n\tmu float64\n",
	} {
		if !strings.Contains(text, from) {
			t.Fatalf("no %q", from)
		}
		text = strings.Replace(text, from, to, 1)
	}
	write(t, filepath.Join(dir, "lib", "lib.go"), text)
	runTests(t, dir, "-tags=stale", "-run=TestStale", ".")
}

const privateRefusals = `refused/refused.go:6:42: function Count: call of example.com/lib.Count: its source cannot be ` +
	`differentiated: variable counter: package example.com/lib does not export it, and it cannot be copied: it is written ` +
	`at lib/lib.go:219 (lib/lib.go:212); write a rule with //nabla:rule, or call another function
refused/refused.go:9:40: function Sum: call of example.com/lib.Sum: its source cannot be differentiated: variable ` +
	`handed: package example.com/lib does not export it, and it cannot be copied: it is returned at lib/lib.go:224 ` +
	`(lib/lib.go:227); write a rule with //nabla:rule, or call another function
refused/refused.go:12:39: function Deep: call of example.com/lib.Outer: its source cannot be differentiated: go ` +
	`statement: goroutines have no fixed order that could be reversed (lib/lib.go:244), and so of recover ` +
	`(lib/lib.go:236), make of chan float64 (lib/lib.go:230); write a rule with //nabla:rule, or call another function
`

// TestRunAliases compiles the derivatives of functions that reach the same memory under two types, and checks their
// values and the calls that they refuse.
func TestRunAliases(t *testing.T) {
	p := together(t, "aliases")
	if text := p.problems["aliases"]; text != "" {
		t.Error(text)
	}
	p.passes(t)
}

func aliasesFiles(t *testing.T) map[string]string {
	list, err := randprog.Aliases()
	if err != nil {
		t.Fatal(err)
	}
	funcs, table := randprog.AliasDecls, ""
	for i, k := 0, 0; i < len(list); k++ {
		n := 1
		for i+n < len(list) && list[i+n].Family == list[i].Family {
			n++
		}
		a := list[i+k%n]
		name := fmt.Sprintf("F%d", k)
		funcs += "//nabla:differentiate\n" + strings.Replace(a.Func, "func F(", "func "+name+"(", 1) + "\n"
		table += fmt.Sprintf("\t{%q, %s},\n", a.What, name)
		i += n
	}
	return map[string]string{
		"aliases.go":      funcs + read(t, "testdata/aliases.txt"),
		"aliases_test.go": strings.Replace(read(t, "testdata/aliases_test.txt"), "TABLE\n", table, 1),
	}
}

// TestCheckpoints compiles the reverse sweeps of loops that keep snapshots, and looks at how
// much memory a million iterations take.
func TestCheckpoints(t *testing.T) {
	together(t, "lorenz").passes(t)
}

// TestExplainCheckpoints checks the remarks on loops that have a directive for checkpointing.
func TestExplainCheckpoints(t *testing.T) {
	dir := module(t, source(t, "checkpoint"))
	p, err := gen.Load(dir, []string{".", "./ignored"}, &gen.Options{Load: loading})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"Swing": "runs again from snapshots of its step, q, p, each 24 bytes and the memory of path, in 2 levels",
		"Rest": "runs again from snapshots of its step, q, p, each 24 bytes, 20 at most, " +
			"and reverses 10 steps together",
		"Grows": "is not checkpointed: s gets new memory in it",
	} {
		var b strings.Builder
		if err := p.Explain(&b, name); err != nil || !strings.Contains(b.String(), "for ") ||
			!strings.Contains(b.String(), want) {
			t.Errorf("%s: %v\n%swant %s", name, err, b.String(), want)
		}
	}
}
