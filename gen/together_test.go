package gen_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nabla-ad/nabla/gen"
	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/internal/dependent"
	"github.com/nabla-ad/nabla/internal/longtest"
)

// A part is one of the directories of the module golden, whose tests are compiled into one program: linking a program
// for each takes longer than all that they do.
type part struct {
	name  string
	files func(t *testing.T) map[string]string // go.mod is ignored
	lanes []int
	check bool     // staticcheck runs over it in the long form
	but   []string // without these checks
	fast  bool     // it counts allocations, so that it has to be optimised
	long  bool     // much code: it belongs to the long form
}

// allParts are all parts. The test of each calls together with its name.
var allParts = []part{
	{name: "shapes", files: shapesFiles, check: true, fast: true},
	{name: "rules", files: rulesFiles, check: true},
	{name: "tables", files: ofArchive("tables.txt"), check: true},
	{name: "ruleforms", files: ofArchive("ruleforms.txt"), check: true, fast: true},
	{name: "complexes", files: ofArchive("complex.txt"), check: true, long: true},
	{name: "dynamic", files: ofArchive("dynamic.txt"), check: true, long: true},
	{name: "statements", files: statementsFiles, check: true, long: true,
		but: []string{"S1016", "U1000"}}, // the functions that the code is generated of have types as users write them
	{name: "aliases", files: aliasesFiles},
	{name: "lorenz", files: pair("lorenz"), check: true, fast: true},
	{name: "nils", files: pair("nil"), check: true},
	{name: "wrt", files: wrtFiles, lanes: []int{4}, check: true, fast: true},
	{name: "wide", files: wideFiles, long: true},
	{name: "local", files: localFiles, check: true},
	{name: "imports", files: importsFiles},
	{name: "refused", files: refusedFiles},
	{name: "variable", files: variableFiles},
	{name: "math", files: mathFiles},
	{name: "library", files: libraryFiles, long: true},
	{name: "matrices", files: matricesFiles, long: true},
	{name: "factorisations", files: factorisationsFiles, long: true},
}

// ofArchive returns a function that returns the files of an archive in testdata.
func ofArchive(name string) func(t *testing.T) map[string]string {
	return func(t *testing.T) map[string]string { return archived(t, name) }
}

// pair returns a function that returns a file of testdata and its test.
func pair(name string) func(t *testing.T) map[string]string {
	return func(t *testing.T) map[string]string {
		return map[string]string{
			name + ".go": read(t, "testdata/"+name+".txt"), name + "_test.go": read(t, "testdata/"+name+"_test.txt"),
		}
	}
}

// A program is the result of generating and running all parts.
type program struct {
	dir      string
	problems map[string]string // part → its problems, one a line, without the directory of the module
	texts    map[string]string // part → the generated file of its first directory
	output   string
	done     bool
}

// An outcome is what the program did with a part.
type outcome struct {
	*program
	part string
}

var (
	once   sync.Once
	golden program
)

// parts returns the parts of the program of this run.
func parts() []part {
	return slices.DeleteFunc(slices.Clone(allParts), func(p part) bool { return p.long && !longtest.Long() })
}

// together returns the program of all parts, which the first test that calls it builds and runs. It skips a test of a
// part that the program of this run does not have.
func together(t *testing.T, name string) outcome {
	t.Helper()
	if testing.Short() {
		t.Skip("builds programs")
	}
	i := slices.IndexFunc(allParts, func(p part) bool { return p.name == name })
	if i < 0 {
		t.Fatalf("no part is called %s", name)
	}
	if allParts[i].long {
		longtest.Skip(t, "much code")
	}
	once.Do(func() { golden.run(t) })
	if !golden.done {
		t.Fatal("the program of all parts could not be built; the first test that asked for it says why")
	}
	return outcome{&golden, name}
}

// passes fails a test with the output of its part of the program unless the tests of the part pass.
func (p outcome) passes(t *testing.T) {
	t.Helper()
	if strings.Contains(p.output, "\n    --- PASS: TestAll/"+p.part+" (") {
		return
	}
	out := p.output
	if _, from, ok := strings.Cut(out, "=== RUN   TestAll/"+p.part+"\n"); ok {
		next := regexp.MustCompile(`(?m)^=== RUN   TestAll/\w+$`).FindStringIndex(from)
		if next != nil && !strings.Contains(from, "panic: ") {
			from = from[:next[0]]
		}
		out = from
	}
	t.Errorf("the tests of %s do not pass:\n%s", p.part, out)
}

func (p *program) run(t *testing.T) {
	p.dir = t.TempDir()
	dir := p.dir
	mod, sum := dependent.Mod(t)
	write(t, filepath.Join(dir, "go.mod"), "module golden\n\ngo 1.26\n"+mod)
	write(t, filepath.Join(dir, "go.sum"), sum)
	tests := map[string][]string{} // package, as its path below the module → its tests
	p.problems, p.texts = map[string]string{}, map[string]string{}
	patterns := map[string][]string{}
	for _, part := range parts() {
		for name, text := range part.files(t) {
			if name == "go.mod" {
				continue
			}
			name = path.Join(part.name, name)
			write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
			if !strings.HasSuffix(name, "_test.go") {
				continue
			}
			for _, m := range regexp.MustCompile(`(?m)^func (Test\w*)\(t \*testing\.T\)`).FindAllStringSubmatch(text, -1) {
				tests[path.Dir(name)] = append(tests[path.Dir(name)], m[1])
			}
		}
		key := fmt.Sprint(part.lanes)
		patterns[key] = append(patterns[key], "./"+part.name+"/...")
	}
	for _, part := range parts() {
		key := fmt.Sprint(part.lanes)
		if patterns[key] == nil {
			continue
		}
		loaded, err := gen.Load(dir, patterns[key], &gen.Options{Lanes: part.lanes, Load: loading})
		if err != nil {
			t.Fatal(err)
		}
		r, err := loaded.Generate()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Write(); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(problems(r, dir)) {
			at, _, _ := strings.Cut(line, "/")
			p.problems[at] += line
		}
		for _, pkg := range r.Packages {
			for _, f := range pkg.Files {
				at, err := filepath.Rel(dir, filepath.Dir(f.Name))
				if err == nil && filepath.Base(f.Name) == lower.Output {
					p.texts[filepath.ToSlash(at)] = string(f.Text)
				}
			}
		}
		patterns[key] = nil
	}
	if longtest.Long() {
		// Sources, not generated code, assign an element to itself and have tags on fields that are not exported.
		command(t, dir, "vet", "-assign=false", "-structtag=false", "./...")
		var strict []string // checked at once: most of the time goes into what all import
		for _, part := range parts() {
			switch pattern := "./" + part.name + "/..."; {
			case part.check && part.but != nil:
				staticcheck(t, dir, part.but, pattern)
			case part.check:
				strict = append(strict, pattern)
			}
		}
		staticcheck(t, dir, nil, strict...)
	}
	write(t, filepath.Join(dir, "all", "all_test.go"), testOfAll(t, dir, tests))
	// Optimising half a million lines would take longer than all tests of them.
	flags := []string{"test", "-v", "-count=1", "-vet=off", "-ldflags=-w", "-trimpath",
		"-gcflags=golden/...=-N -l -dwarf=false"}
	for _, part := range parts() {
		if part.fast {
			flags = append(flags, "-gcflags=golden/"+part.name+"/...=-dwarf=false")
		}
	}
	cmd := exec.Command("go", append(flags, "./all")...)
	cmd.Dir, cmd.Env = dir, environ
	out, err := cmd.CombinedOutput()
	if p.output = string(out); !strings.Contains(p.output, "\n--- ") {
		t.Fatalf("go test: %v\n%s", err, out)
	}
	p.done = true
}

// testOfAll makes the files with tests of packages ordinary ones, and returns a test that runs them.
func testOfAll(t *testing.T, dir string, tests map[string][]string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "*_test.go"))
	for _, pattern := range []string{"*/*/*_test.go", "*/*/*/*_test.go"} {
		more, err2 := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		files = append(files, more...)
	}
	for _, name := range files {
		if err := os.Rename(name, strings.TrimSuffix(name, "_test.go")+"_tests.go"); err != nil {
			t.Fatal(err)
		}
	}
	imports, calls := "", ""
	paths := slices.Sorted(maps.Keys(tests))
	for _, part := range parts() {
		calls += fmt.Sprintf("\tt.Run(%q, func(t *testing.T) {\n", part.name)
		n := 0
		for i, at := range paths {
			if at != part.name && !strings.HasPrefix(at, part.name+"/") {
				continue
			}
			for _, name := range tests[at] {
				n++
				calls += fmt.Sprintf("\t\tt.Run(%q, p%d.%s)\n", path.Base(at)+"."+name, i, name)
			}
			imports += fmt.Sprintf("\tp%d %q\n", i, path.Join("golden", at))
		}
		if calls += "\t})\n"; n == 0 {
			t.Fatalf("%s has no tests", part.name)
		}
	}
	return "package all\n\nimport (\n\t\"testing\"\n\n" + imports + ")\n\nfunc TestAll(t *testing.T) {\n" +
		calls + "}\n"
}
