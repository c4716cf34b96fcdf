package gen_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/txtar"

	"github.com/nabla-ad/nabla/gen"
	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/internal/dependent"
	"github.com/nabla-ad/nabla/internal/loaded"
	"github.com/nabla-ad/nabla/internal/longtest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// environ is that of the go command in modules of tests.
var environ = dependent.Environ()

// loading is how tests load the packages of a module.
var loading = lower.LoadOptions{Env: environ, Packages: loaded.Packages}

func TestMain(m *testing.M) { longtest.Main(m) }

// module writes the files of a module that uses this one, and returns its directory.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	mod, sum := dependent.Mod(t)
	for name, text := range files {
		if name == "go.mod" {
			text += mod
		}
		write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	write(t, filepath.Join(dir, "go.sum"), sum)
	return dir
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// generate generates the packages that match patterns.
func generate(t *testing.T, dir string, patterns ...string) *gen.Report {
	t.Helper()
	p, err := gen.Load(dir, patterns, &gen.Options{Load: loading})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Generate()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// command runs the go command.
func command(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = dir, environ
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// compiles requires that the packages of a module have no type errors, with their tests. It does not build them.
func compiles(t *testing.T, dir string, flags ...string) {
	t.Helper()
	const mode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
		packages.NeedDeps | packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax |
		packages.NeedTypesInfo |
		packages.NeedModule
	parse := func(fset *token.FileSet, name string, src []byte) (*ast.File, error) {
		if strings.HasPrefix(name, dir) || !strings.HasSuffix(name, ".go") { // the main package of a test
			return parser.ParseFile(fset, name, src, parser.AllErrors|parser.ParseComments)
		}
		return lower.ParseDeclarations(fset, name, src) // bodies elsewhere are right
	}
	pkgs, err := loaded.Packages(&packages.Config{Mode: mode, Dir: dir, Env: environ, BuildFlags: flags, Tests: true,
		ParseFile: parse}, "./...")
	if err != nil || len(pkgs) == 0 {
		t.Fatalf("%d packages, %v", len(pkgs), err)
	}
	for _, p := range pkgs {
		for _, err := range p.Errors {
			t.Errorf("%v: %v", flags, err)
		}
	}
}

// runTests runs the tests of a module. Checks by vet and data for debuggers would take a third of the time.
func runTests(t *testing.T, dir string, args ...string) {
	t.Helper()
	command(t, dir, slices.Concat([]string{"test"}, quick(), args)...)
}

// quick are flags of go test that save time, none in the long form of the tests. Without paths in them, packages in
// temporary directories are in the build cache if their code is that of an earlier run.
func quick() []string {
	if longtest.Long() {
		return nil
	}
	return []string{"-count=1", "-vet=off", "-ldflags=-w", "-gcflags=-dwarf=false", "-trimpath"}
}

// problems are those of a report, one a line, without the directory.
func problems(r *gen.Report, dir string) string {
	var b strings.Builder
	for _, p := range r.Problems() {
		fmt.Fprintln(&b, strings.ReplaceAll(p.Error(), dir+string(filepath.Separator), ""))
	}
	return b.String()
}

// refusals returns the problems of r like problems, without the notes on forms that a function lacks, such as one over
// Reals.
func refusals(r *gen.Report, dir string) string { return withoutNotes(problems(r, dir)) }

// withoutNotes returns the lines of problems that are more than notes.
func withoutNotes(problems string) string {
	var b strings.Builder
	for line := range strings.Lines(problems) {
		if !strings.Contains(line, ": note: ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// TestGolden generates the modules in testdata and compares code and problems with the golden files. Some of them, in
// the long form of the tests all, are generated twice and compiled.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden files", err)
	}
	twice := longtest.Sample(files, 2)
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			in := map[string]string{}
			var kept []txtar.File
			for _, f := range a.Files {
				if !strings.HasPrefix(f.Name, "want/") {
					in[f.Name] = string(f.Data)
					kept = append(kept, f)
				}
			}
			dir := module(t, in)
			r := generate(t, dir, "./...")
			for _, pkg := range r.Packages {
				for _, f := range pkg.Files {
					rel, err := filepath.Rel(dir, f.Name)
					if err != nil {
						t.Fatal(err)
					}
					rel = "want/" + filepath.ToSlash(rel)
					forms, kernels := lower.VectorFileNames(rel)
					for _, f := range []txtar.File{
						{Name: rel, Data: f.Text}, {Name: lower.SIMDFileName(rel), Data: f.SIMD},
						{Name: forms, Data: f.Vectors}, {Name: kernels, Data: f.Kernels},
					} {
						if f.Data != nil {
							kept = append(kept, f)
						}
					}
				}
			}
			if text := problems(r, dir); text != "" {
				kept = append(kept, txtar.File{Name: "want/problems", Data: []byte(text)})
			}
			got := txtar.Format(&txtar.Archive{Comment: a.Comment, Files: kept})
			if *update {
				if err := os.WriteFile(name, got, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if want := read(t, name); want != string(got) {
				t.Errorf("%s differs; run with -update and read the difference:\n%s", name, got)
			}
			if !slices.Contains(twice, name) {
				return
			}
			if _, err := r.Write(); err != nil {
				t.Fatal(err)
			}
			again := generate(t, dir, "./...")
			for i, pkg := range again.Packages {
				if !reflect.DeepEqual(pkg.Files, r.Packages[i].Files) {
					t.Errorf("a second generation of %s gives something else", pkg.Path)
				}
			}
			if problems(again, dir) != problems(r, dir) {
				t.Errorf("a second generation has other problems:\n%s", problems(again, dir))
			}
			if name != filepath.Join("testdata", "refusals.txtar") { // which has errors
				compiles(t, dir)
				if longtest.Long() {
					command(t, dir, "vet", "./...")
				}
			}
		})
	}
}

// TestFunctions checks the list of generated functions, with the reasons why engines do not find some of them.
func TestFunctions(t *testing.T) {
	dir := module(t, source(t, "shapes"))
	p, err := gen.Load(dir, []string{"."}, &gen.Options{Lanes: []int{2, 4}, Load: loading})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Generate()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]gen.Function{}
	for _, f := range r.Packages[0].Functions {
		got[f.Name] = f
	}
	for _, want := range []gen.Function{
		{"LossTangent", "Loss", "tangent", ""},
		{"LossTangent2", "Loss", "tangent2", "engines do not ask for it"},
		{"LossTangent4", "Loss", "tangent4", ""},
		{"DataValueTangent", "(*Data).Value", "tangent", ""},
		{"WorksTangent4", "Works", "tangent4", ""}, {"MapAdjoint2", "Map", "adjoint2", "engines do not ask for it"},
		{"StagesAdjoint4", "Stages", "adjoint4", ""}, {"StagesAdjoint", "Stages", "adjoint", ""},
		{"LossAdjointOnly", "Loss", "adjointOnly", ""},
		{"NumberWithTangent", "NumberWith", "tangent", "operators take no functions of its type"},
		{"OtherTangent", "Other", "tangent", "operators take no functions of its type"},
	} {
		if got[want.Name] != want {
			t.Errorf("%+v, want %+v", got[want.Name], want)
		}
	}
	if _, err := gen.Load(dir, []string{"."}, &gen.Options{Lanes: []int{0}}); err == nil {
		t.Error("tangents in 0 directions")
	}
}

// TestCycle registers nothing in a package that package nabla is made of.
func TestCycle(t *testing.T) {
	name, err := filepath.Abs("../rules/overlay.go")
	if err != nil {
		t.Fatal(err)
	}
	overlay := map[string][]byte{name: []byte("package rules\n\n//nabla:differentiate\nfunc Twice(x float64) " +
		"float64 { return 2 * x }\n")}
	p, err := gen.Load("..", []string{"./rules"}, &gen.Options{Load: lower.LoadOptions{Overlay: overlay}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Generate()
	if err != nil {
		t.Fatal(err)
	}
	pkg, text := r.Packages[0], r.Packages[0].Files[0].Text
	if len(pkg.Functions) == 0 || pkg.Functions[0].Unregistered == "" || bytes.Contains(text, []byte("Register")) ||
		!bytes.Contains(text, []byte("func TwiceTangent(")) {
		t.Errorf("%v\n%s", pkg.Functions, text)
	}
}
