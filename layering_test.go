package nabla_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the table of packages in CONTRIBUTING.md")

// errorNames is the package that any other may import, and that the table does not list among the imports.
const errorNames = "internal/page"

const module = "github.com/nabla-ad/nabla"

// A listedPackage is a package of this module. Deps is all that it needs, directly or not.
type listedPackage struct {
	ImportPath    string
	Imports, Deps []string
}

func listed(t *testing.T) (all []listedPackage) {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p listedPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// ours reports whether a package is of this module.
func ours(path string) bool { return path == module || strings.HasPrefix(path, module+"/") }

// relative is the path of a package of this module, below it.
func relative(path string) string {
	if path == module {
		return "."
	}
	return strings.TrimPrefix(path, module+"/")
}

// TestDependencies: a program that uses nabla needs gonum and the standard library. Only the generator needs to load
// packages, and
// only the command the rest.
func TestDependencies(t *testing.T) {
	below := func(here string, dirs ...string) bool {
		return slices.ContainsFunc(dirs,
			func(dir string) bool { return here == dir || strings.HasPrefix(here, dir+"/") })
	}
	libraries := 0
	for _, p := range listed(t) {
		here := relative(p.ImportPath)
		may := []string{"gonum.org/v1/gonum"}
		light := below(here, "gen/current", "gen/rt", "gen/library")
		switch generator := below(here, "gen", "internal/loaded") && !light; {
		case below(here, "cmd"):
			may = append(may, "golang.org/x", "github.com/urfave/cli", "github.com/schollz/progressbar",
				"github.com/mitchellh/colorstring", "github.com/rivo/uniseg", "github.com/google/licensecheck")
		case generator:
			may = append(may, "golang.org/x/tools", "golang.org/x/mod", "golang.org/x/sync",
				"github.com/google/licensecheck")
		case here == "optim/gonumopt": // gonum/optimize imports it, by way of gonum/stat/distmv
			may = append(may, "golang.org/x/tools/container/intsets")
			libraries++
		default:
			libraries++
		}
		for _, path := range p.Deps {
			host, _, _ := strings.Cut(path, "/")
			if strings.Contains(host, ".") && !ours(path) && !below(path, may...) {
				t.Errorf("%s needs %s; it may need the standard library, this module and %v", here, path, may)
			}
		}
	}
	if libraries < 20 {
		t.Errorf("only %d packages are looked at", libraries)
	}
}

// A layering row is a package of this module with its contents and the packages of this module that it imports, without
// those of its tests.
var layering = []struct{ path, contents, imports string }{
	{".", "operators, Real, functions and their contexts, composites such as AutoSparse, errors",
		"coloring engine internal/binding internal/compressed internal/core internal/layout internal/loop " +
			"internal/nonfinite internal/race internal/selection internal/series internal/vector program rules " +
			"sparse sparsity"},
	{"engine", "the interface of engines; the fallback graph; when and how recordings are compared with the function",
		"internal/core internal/recheck internal/team internal/vector program rules"},
	{"program", "programs: text form, checker, guards, derivatives, simplification, schedule, machine, compilation",
		"internal/core internal/native internal/team internal/vector rules"},
	{"program/export", "programs as Go, C, JSON, Graphviz and text; JSON read back", "program rules sparsity"},
	{"program/expression", "programs as formulas with named inputs: rules, derivatives, factorised derivative graphs",
		"internal/core program program/export rules"},
	{"sparsity", "sparsity patterns and their detectors", "internal/core internal/mmio program rules"},
	{"coloring", "groups of columns and rows, and the recovery of entries from compressed products", "sparsity"},
	{"sparse", "matrices over a pattern", "internal/mmio sparsity"},
	{"sparse/direct", "factorisations of sparse matrices, LDLᵀ and LU, in orders with little fill", "sparse sparsity"},
	{"sparse/iterative", "Krylov subspace methods, and incomplete factorisations as preconditioners",
		"sparse sparsity"},
	{"linalg", "matrices of Reals; products, solutions, factorisations and eigenvalues as operations with derivatives",
		". internal/core rules"},
	{"constrain", "maps from all real numbers to positive ones, intervals, simplices and the like, for densities", "."},
	{"fd", "gonum's diff/fd, with exact derivatives of functions that have generated code", "."},
	{"implicit", "derivatives of roots, fixed points, minimizers and linear systems, by the implicit function theorem",
		". internal/lifted linalg sparse sparse/direct sparse/iterative sparsity"},
	{"ode", "ordinary differential equations, with derivatives of their solutions",
		". gen/rt/checkpoint internal/lifted sparse sparse/direct sparsity"},
	{"sums", "sums over rows of data, with derivatives, by goroutines; they merge and travel as bytes", "."},
	{"optim", "optimisation with derivatives: least squares, Newton methods, bounds and constraints",
		". sparse sparse/direct sparsity"},
	{"optim/gonumopt", "problems for gonum/optimize, with gradients and Hessians", ". sums"},
	{"rules", "elementary functions and their derivatives, one table", ""},
	{"backend/finitediff", "the engine of finite and complex differences", "engine internal/core program rules"},
	{"backend/forwarddiff", "the engines of dual and hyper-dual numbers",
		"engine internal/core internal/team internal/vector"},
	{"backend/reversediff", "the engine of recorded programs", "engine internal/core internal/vector program rules"},
	{"backend/source", "the engine of generated code",
		"coloring engine internal/core internal/vector sparsity"},
	{"backend/symbolic", "the engine of symbolic derivatives", "engine internal/core program program/expression"},
	{"backend/taylor", "the engine of truncated power series", "engine internal/core internal/series"},
	{"backend/tracker", "the engine of a tape for one call", "engine internal/vector"},
	{"gen", "the stages of `nabla gen`: targets, names, files, registration",
		"gen/activity gen/adjoint gen/current gen/entries gen/internal/license gen/internal/lift gen/ir gen/lanes " +
			"gen/library " +
			"gen/lower gen/print gen/shortcut gen/simplify gen/tangent gen/traced internal/linetable " +
			"internal/spelling"},
	{"gen/current", "whether generated code is out of date, from hashes; for tests of users", ""},
	{"gen/lower", "Go packages to the intermediate representation, or a refusal with position and remedy",
		"gen/activity gen/current gen/ir gen/library gen/lower/retype rules"},
	{"gen/lower/retype", "other representations of values: the variables that hold them, by unification, and the " +
		"rewriting of functions", "gen/ir"},
	{"gen/ir", "the intermediate representation: text, checker, normal form, evaluator", "gen/rt/checkpoint rules"},
	{"gen/activity", "activity analysis: which values carry derivatives", "gen/ir"},
	{"gen/elementary", "derivatives of elementary functions in the representation", "gen/ir rules"},
	{"gen/shortcut", "branches that leave out zeros: their derivatives are those of the other side",
		"gen/activity gen/ir"},
	{"gen/tangent", "the tangent of a function", "gen/activity gen/elementary gen/ir gen/lanes rules"},
	{"gen/adjoint", "the adjoint: what is taped or computed again, fusion, checkpointing; the two sweeps",
		"gen/activity gen/elementary gen/ir gen/simplify rules"},
	{"gen/entries", "entries of sparse matrices one by one, from derivatives that are linear in a direction",
		"gen/elementary gen/ir"},
	{"gen/lanes", "derivatives in several directions or for several seeds at once", "gen/activity gen/ir"},
	{"gen/traced", "the function over `nabla.Real`", "gen/activity gen/ir internal/core"},
	{"gen/simplify", "passes over the representation: inlining, unrolling, dead code, windows, bounds", "gen/ir"},
	{"gen/print", "the representation as Go source, and loops of arithmetic as assembly", "gen/ir internal/linetable"},
	{"gen/rt", "run-time support of generated code",
		"internal/core internal/linetable internal/processor internal/vector rules"},
	{"gen/rt/avx", "vector operations of generated code", ""},
	{"gen/rt/checkpoint", "schedules of snapshots", ""},
	{"gen/rt/realrule", "functions with rules as operations over `nabla.Real`, for generated code", "."},
	{"gen/library", "the table of library derivatives", ""},
	{"gen/library/blas64ad", "derivatives of gonum/blas/blas64", ""},
	{"gen/library/quadad", "functions of gonum/integrate/quad that evaluate serially", ""},
	{"gen/library/distuvad", "functions of gonum/stat/distuv that have derivatives everywhere", ""},
	{"gen/library/lapackad", "auxiliary functions of gonum/lapack/gonum that have derivatives", ""},
	{"gen/library/matad", "derivatives of gonum/mat: methods over operations on whole matrices", ""},
	{"gen/library/floatsad", "derivatives of gonum/floats", ""},
	{"gen/library/mathextad", "derivatives of gonum/mathext", "gen/rt"},
	{"gen/library/mathextreal", "functions of gonum/mathext over `nabla.Real`", ". gen/library/mathextad gen/rt"},
	{"gen/library/sortad", "derivatives of sort and slices", ""},
	{"gen/internal/census", "a tool: how much of a library can be differentiated",
		"gen/activity gen/adjoint gen/internal/natives gen/ir gen/library gen/lower gen/print gen/shortcut " +
			"gen/tangent"},
	{"gen/internal/edges", "functions with singular points, for tests",
		". backend/source gen/library/floatsad gen/rt gen/rt/realrule"},
	{"gen/internal/fourier", "the fast Fourier transform with generated code, for tests", ". gen/rt"},
	{"gen/internal/kalman", "a Kalman filter over matrices of gonum/mat with generated code, for tests",
		". gen/library/blas64ad gen/library/matad gen/rt gen/rt/realrule"},
	{"gen/internal/laned", "generated code in lanes, for tests", "gen/rt internal/problems"},
	{"gen/internal/license", "the licences of modules", ""},
	{"gen/internal/lift", "declared functions in place of function literals and method values", ""},
	{"gen/internal/natives", "library functions for the evaluator, for tests",
		"gen/ir gen/library/lapackad gen/library/matad gen/library/mathextad gen/lower/testdata/rules"},
	{"gen/internal/randprog", "random Go programs, for tests", "gen/ir gen/lower internal/loaded"},
	{"gen/internal/schemes", "partial differential equations with generated code, for tests",
		". gen/rt gen/rt/checkpoint"},
	{"difftest", "the conformance kit",
		". difftest/internal/banded engine internal/tabular internal/timing sparse sparsity"},
	{"difftest/coded", "the functions of the kit as plain Go, with generated code",
		". difftest difftest/internal/banded gen/rt"},
	{"difftest/primitive", "engines made of one function of the user, a pushforward or a pullback", "engine"},
	{"difftest/zero", "engines whose derivatives are zero, which measure the interface", "engine"},
	{"difftest/internal/banded", "banded matrices of the kit", ""},
	{"cmd/nabla", "the command: a file for each subcommand, with its flags",
		". difftest engine gen internal/bench internal/engines internal/problems internal/spelling internal/tabular " +
			"program program/export"},
	{"internal/core", "the number and its tracers, with recordings and guards",
		"internal/series internal/vector rules"},
	{"internal/series", "arithmetic of truncated power series: recurrences from the rules, spaces of coefficients",
		"rules"},
	{"internal/binding", "structs bound to functions: parameters, copies for calls and clones",
		"engine internal/core internal/snapshot internal/structcopy"},
	{"internal/loop", "loops of equal steps as operations, whose reverse keeps some states within a number of bytes",
		"gen/rt/checkpoint internal/core internal/vector program rules sparsity"},
	{"internal/layout", "the numbers of a struct as a vector, and structs of functions filled from vectors", "engine"},
	{"internal/selection", "which engines suit a function and an operator",
		"backend/finitediff backend/forwarddiff backend/reversediff backend/source backend/taylor engine"},
	{"internal/race", "the fastest of several computations of one derivative, and those that contradict the majority",
		"internal/timing"},
	{"internal/recheck", "at which calls a recording, generated code or a pattern is compared with its function", ""},
	{"internal/compressed",
		"sparse Jacobians and Hessians from few products: groups, recovery, detection of wrong patterns",
		"coloring engine internal/recheck internal/team sparsity"},
	{"internal/team", "numbered tasks, divided among goroutines", ""},
	{"internal/snapshot", "all memory reachable from a struct as bytes, to find changes", ""},
	{"internal/structcopy", "deep copies that share memory which is only read", "engine"},
	{"internal/native", "straight-line arithmetic as machine code: registers, encoder, executable memory",
		"internal/processor"},
	{"internal/vector", "functions of package math for many numbers at once, with the same bits",
		"internal/processor"},
	{"internal/vector/internal/genkernels", "a tool: prints the kernels of internal/vector", ""},
	{"internal/processor", "the instructions that the processor has", ""},
	{errorNames, "names of errors, with which their texts end; any package may import it", ""},
	{"internal/mmio", "Matrix Market files", ""},
	{"internal/engines", "the list of engines, and backends by name",
		". backend/finitediff backend/forwarddiff backend/reversediff backend/source backend/symbolic backend/taylor " +
			"backend/tracker coloring difftest difftest/coded difftest/zero internal/spelling sparsity"},
	{"internal/problems", "test functions with reference derivatives, and which of them are timed",
		". engine gen/rt program sparsity"},
	{"internal/nonfinite", "finds the operation that made a NaN or an infinity",
		"engine internal/core internal/linetable rules"},
	{"internal/linetable", "the lines of the source that lines of generated code were made from", ""},
	{"sums/internal/coded", "losses over blocks of rows with generated code, for tests",
		". backend/source gen/rt sums"},
	{"implicit/internal/coded", "a function that calls an implicit one, with generated code, for tests",
		". gen/rt gen/rt/realrule implicit"},
	{"ode/internal/coded", "a function that calls a solution, with generated code, for tests",
		". gen/rt gen/rt/realrule ode"},
	{"constrain/internal/coded", "all maps of constrain in a function with generated code, for tests",
		". constrain gen/rt"},
	{"internal/network", "a neural network with its weights in a struct, with generated code, for tests",
		". gen/library/blas64ad gen/library/matad gen/rt"},
	{"internal/bench", "the benchmark of the command, its reports and their columns",
		". internal/bench/exported internal/problems internal/tabular internal/timing program sparse sparsity"},
	{"internal/bench/exported", "derivatives of problems, as program/export wrote them, for the benchmark", ""},
	{"internal/tabular", "tables as text", ""},
	{"internal/spelling", "the names that misspelled ones are meant to be", ""},
	{"internal/timing", "timing of functions", ""},
	{"internal/timing/timingtest", "ratios of times for benchmarks, a clock for tests", "internal/timing"},
	{"internal/randfunc", "random functions over Reals, for tests",
		". backend/forwarddiff backend/reversediff backend/tracker rules"},
	{"internal/dependent", "modules that require this one, for tests", ""},
	{"internal/loaded", "packages that tests load, kept between loads", ""},
	{"internal/lifted", "functions over Reals of plain ones, for solvers that differentiate twice", "."},
	{"internal/snippets", "the programs in documents, for tests", ""},
	{"internal/longtest", "the length of tests", ""},
	{"internal/words", "figures of comments, and the width of lines", ""},
	{"internal/mutate", "a tool: mutants of packages and the tests that miss them", ""},
	{"rules/internal/genrules", "a tool: prints the generated files of rules", "rules/internal/rulegen"},
	{"rules/internal/rulegen", "code and tables from the rules", "rules"},
}

// TestLayering compares the imports of every package with the table, so that arrows between packages are drawn
// deliberately, and the table with that in CONTRIBUTING.md. -update rewrites the latter.
func TestLayering(t *testing.T) {
	known := map[string]string{}
	var b strings.Builder
	b.WriteString("| package | contents | imports |\n|---|---|---|\n")
	for _, r := range layering {
		known[r.path] = r.imports
		path, imports := r.path, strings.Fields(r.imports)
		for i := range imports {
			imports[i] = strings.Replace(imports[i], ".", "nabla", 1)
		}
		if path == "." {
			path = "nabla"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", path, r.contents, cmp.Or(strings.Join(imports, ", "), "–"))
	}
	for _, p := range listed(t) {
		here := relative(p.ImportPath)
		want, ok := known[here]
		if !ok {
			t.Errorf("%s: give the package its row in the table of this test", here)
			continue
		}
		delete(known, here)
		var got []string
		for _, path := range p.Imports {
			if ours(path) && relative(path) != errorNames {
				got = append(got, relative(path))
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s imports\n\t%s\nand the table says\n\t%s", here, strings.Join(got, " "), want)
		}
	}
	for path := range known {
		t.Errorf("%s is in the table, and there is no such package", path)
	}
	const file, begin, end = "CONTRIBUTING.md", "<!-- packages: TestLayering -->\n\n", "\n<!-- end -->"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(text), begin)
	table, after, found := strings.Cut(rest, end)
	if !found {
		t.Fatalf("%s has no table of packages", file)
	}
	if *update {
		if err := os.WriteFile(file, []byte(before+begin+b.String()+end+after), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if table != b.String() {
		t.Errorf("the table of packages in %s is not up to date; run go test -run TestLayering -update .", file)
	}
}
