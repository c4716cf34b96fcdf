package print_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/gen/print"
	"github.com/nabla-ad/nabla/gen/tangent"
	"github.com/nabla-ad/nabla/internal/loaded"
	"github.com/nabla-ad/nabla/internal/longtest"
)

func TestMain(m *testing.M) { longtest.Main(m) }

var update = flag.Bool("update", false, "rewrite the golden file")

const (
	module   = "github.com/nabla-ad/nabla"
	problems = module + "/internal/problems"
)

// source is a package that is loaded, with functions of it that are printed: as they
// are, and their tangents by the active parameters.
type source struct {
	dir   string
	pkg   *types.Package
	funcs []print.Func
}

type entry struct {
	name string
	m    activity.Mask
}

func load(t *testing.T, dir string, entries []entry) *source {
	t.Helper()
	return loadLanes(t, dir, 1, entries)
}

// loadLanes is load with tangents for n lanes.
func loadLanes(t *testing.T, dir string, n int, entries []entry) *source {
	t.Helper()
	pkgs, err := lower.Load(".", []string{dir}, lower.LoadOptions{Packages: loaded.Once})
	if err != nil {
		t.Fatal(err)
	}
	s := &source{dir: dir, pkg: pkgs[0].Types}
	if dir == problems { // which are printed for another package
		s.dir, s.pkg = "./testdata/other", types.NewPackage(module+"/p2", "other")
	}
	p, tangents := lower.New(pkgs, lower.Options{}), tangent.NewLanes(n)
	for _, e := range entries {
		fn := p.Lookup(pkgs[0].PkgPath, e.name)
		f, err := p.Func(fn)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.ReplaceAll(e.name, ".", "")
		if n == 1 {
			s.funcs = append(s.funcs, print.Func{Func: f, Name: "Same" + name})
		}
		if e.m.Empty() {
			continue
		}
		g, _, err := tangents.Build(f, e.m)
		if err != nil {
			t.Fatal(err)
		}
		s.funcs = append(s.funcs,
			print.Func{Func: g, Name: name + "Tangent", Doc: "computes " + name + " and its derivative."})
	}
	return s
}

func (s *source) file(t *testing.T) []byte {
	t.Helper()
	text, err := print.File(s.pkg, s.funcs...)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// allSources are the sources, once there are some.
var allSources []*source

// sources are the packages with functions to print.
func sources(t *testing.T) []*source {
	if allSources == nil {
		allSources = loadAll(t)
	}
	return allSources
}

func loadAll(t *testing.T) []*source {
	entries := []entry{
		{"Scalars", activity.Bits(3)}, {"More", activity.Bits(3)}, {"Least", activity.Bits(7)},
		{"Sum", activity.Bits(1)}, {"InPlace", activity.Bits(1)}, {"Views", activity.Bits(1)},
		{"Appends", activity.Bits(1)},
		{"Branches", activity.Bits(1)}, {"Structs", activity.Bits(3)}, {"Several", activity.Bits(3)},
		{"Calls", activity.Bits(1)}, {"Captured", activity.Bits(1)}, {"Passive", activity.Bits(1)},
		{"Small", activity.Bits(1)}, {"Kink", activity.Bits(1)}, {"Matrix", activity.Bits(1)},
		{"Lists", activity.Bits(1)}, {"Tags", activity.Bits(1)}, {"Arrays", activity.Bits(1)},
		{"Addressed", activity.Bits(3)}, {"Straight", activity.Bits(1)},
	}
	return []*source{
		load(t, "../tangent/testdata/funcs", entries),
		load(t, "./testdata/funcs", []entry{
			{"Constants", activity.Bits(1)}, {"Precedence", activity.Bits(0)}, {"Shadows", activity.Bits(1)},
			{"Loops", activity.Bits(1)}, {"Bounds", activity.Bits(1)}, {"Panics", activity.Bits(1)},
			{"Embedded", activity.Bits(1)},
			{"Singles", activity.Bits(1)}, {"Pairs", activity.Bits(1)}, {"Literals", activity.Bits(1)},
			{"Named", activity.Bits(1)}, {"Unused", activity.Bits(1)}, {"Nested", activity.Bits(1)},
			{"Variadic", activity.Bits(1)},
			{"Methods", activity.Bits(1)}, {"Shifts", activity.Bits(1)},
		}),
		load(t, problems,
			[]entry{{"SumSquaresPlain", activity.Bits(1)}, {"RosenbrockPlain", activity.Bits(1)},
				{"LorenzPlain", activity.Bits(1)}}),
		loadLanes(t, "../tangent/testdata/funcs", 2, entries),
		loadLanes(t, "../tangent/testdata/funcs", 4,
			[]entry{{"Structs", activity.Bits(3)}, {"Lists", activity.Bits(1)}, {"Calls", activity.Bits(1)},
				{"Passive", activity.Bits(1)}, {"Branches", activity.Bits(1)}, {"Appends", activity.Bits(1)}}),
		loadLanes(t, problems, 6, []entry{
			{"SumSquaresPlain", activity.Bits(1)}, {"RosenbrockPlain", activity.Bits(1)},
			{"LorenzPlain", activity.Bits(1)}, {"BrusselatorPlain", activity.Bits(3)},
		}),
	}
}

// importing returns an importer of what files import.
func importing(t *testing.T, files []*ast.File) types.Importer {
	t.Helper()
	var paths []string
	for _, f := range files {
		for _, s := range f.Imports {
			path, err := strconv.Unquote(s.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(paths, path) {
				paths = append(paths, path)
			}
		}
	}
	slices.Sort(paths)
	pkgs, err := lower.Load(".", paths, lower.LoadOptions{Packages: loaded.Once})
	if err != nil {
		t.Fatal(err)
	}
	known := imported{}
	for _, p := range pkgs {
		known[p.PkgPath] = p.Types
	}
	return known
}

// imported has packages by path; it is a types.Importer.
type imported map[string]*types.Package

func (i imported) Import(path string) (*types.Package, error) {
	if p := i[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("no package %s", path)
}

// TestTypes type-checks printed files together with their packages.
func TestTypes(t *testing.T) {
	fset := token.NewFileSet()
	for _, s := range sources(t) {
		var files []*ast.File
		names, err := filepath.Glob(s.dir + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			f, err := parser.ParseFile(fset, name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		text := s.file(t)
		f, err := parser.ParseFile(fset, lower.Output, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		c := types.Config{Importer: importing(t, append(files, f))}
		if _, err := c.Check(s.pkg.Path(), fset, append(files, f), nil); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
		if !bytes.Equal(text, s.file(t)) {
			t.Error("a second print is different")
		}
	}
}

// TestGolden compares printed files with golden files.
func TestGolden(t *testing.T) {
	for i, s := range sources(t) {
		file := fmt.Sprintf("testdata/printed%d.txt", i)
		text := s.file(t)
		if *update {
			if err := os.WriteFile(file, text, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil || !bytes.Equal(text, want) {
			t.Errorf("%s is not what is printed now; run with -update and read the difference: %v", file, err)
		}
	}
}

// TestRefused checks that constructs that cannot be written in a package are errors that name them.
func TestRefused(t *testing.T) {
	other := types.NewPackage("example.com/other", "other")
	// A private copy of a type has no methods, so it is no value of an interface with methods.
	boxed := load(t, "./testdata/funcs", []entry{{"Boxed", activity.Bits(0)}})
	for _, fn := range boxed.funcs {
		var e *print.Error
		if text, err := print.File(other, fn); !errors.As(err, &e) || text != nil || e.Func == "" ||
			!strings.Contains(e.Reason, "would lose its methods") {
			t.Errorf("%s: %v\n%s", fn.Name, err, text)
		} else if err := (print.Source{Pkg: other, Funcs: []print.Func{fn}}).Check(); fmt.Sprint(err) != e.Error() {
			t.Errorf("%s: a check finds %v, want %v", fn.Name, err, e)
		}
	}
	// A package may have another min.
	least := load(t, "../tangent/testdata/funcs", []entry{{"Least", activity.Bits(0)}}).funcs[0]
	check := print.Source{Pkg: other, Funcs: []print.Func{least}}.Check
	if _, err := print.File(other, least); err != nil || check() != nil {
		t.Error(err, check())
	}
	other.Scope().Insert(types.NewFunc(token.NoPos, other, "min",
		types.NewSignatureType(nil, nil, nil, nil, nil, false)))
	var e *print.Error
	if _, err := print.File(other, least); !errors.As(err, &e) || !strings.Contains(e.Reason, "min") ||
		fmt.Sprint(check()) != e.Error() {
		t.Error(err, check())
	}
}

// TestConstantOperators checks that operations on constants are computed at run time, not exactly
// by the compiler.
func TestConstantOperators(t *testing.T) {
	f64 := ir.Typed{T: types.Typ[types.Float64]}
	number := func(x float64) ir.Expr { return &ir.Const{Typed: f64, Val: constant.MakeFloat64(x)} }
	y := &ir.Var{Name: "y", Type: f64.T, Kind: ir.Result}
	for want, e := range map[string]ir.Expr{
		"return -rt.Value(0.0)":                &ir.Unary{Typed: f64, Op: token.SUB, X: number(0)},
		"return rt.Value(1.0) / rt.Value(0.0)": &ir.Binary{Typed: f64, Op: token.QUO, X: number(1), Y: number(0)},
		"return -1.5":                          &ir.Unary{Typed: f64, Op: token.SUB, X: number(1.5)},
		"return min(rt.Value(1.0), 2)": &ir.Math{Typed: f64, Name: "min",
			Args: []ir.Expr{number(1), number(2)}},
	} {
		f := &ir.Func{Name: "f", Results: []*ir.Var{y}, Exit: &ir.Label{Name: "exit"},
			Body: ir.Block{&ir.Set{P: y.Place(), E: e}}}
		text, err := print.File(types.NewPackage("p", "p"), print.Func{Func: f})
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%v, want %s in\n%s", err, want, text)
		}
	}
}

// TestDeclared requires that a type without a package is declared under a free name.
func TestDeclared(t *testing.T) {
	other := types.NewPackage("example.com/other", "other")
	node := types.NewNamed(types.NewTypeName(token.NoPos, nil, "node", nil), nil, nil)
	f64 := types.Typ[types.Float64]
	node.SetUnderlying(types.NewStruct([]*types.Var{
		types.NewField(token.NoPos, other, "x", types.NewArray(f64, 2), false),
		types.NewField(token.NoPos, other, "next", types.NewSlice(types.NewPointer(node)), false),
	}, nil))
	v := &ir.Var{Name: "v", Type: types.NewSlice(node), Kind: ir.Param}
	y := &ir.Var{Name: "y", Type: f64, Kind: ir.Result}
	zero := &ir.Const{Typed: ir.Typed{T: types.Typ[types.Int]}, Val: constant.MakeInt64(0)}
	at := &ir.Place{Root: v, Path: []ir.Step{ir.IndexStep(zero), ir.FieldStep(0), ir.IndexStep(zero)}}
	f := &ir.Func{
		Name: "f", Params: []*ir.Var{v}, Results: []*ir.Var{y}, Exit: &ir.Label{Name: "exit"},
		Body: ir.Block{&ir.Set{P: y.Place(), E: &ir.Load{Typed: ir.Typed{T: f64}, P: at}}},
	}
	p := types.NewPackage("p", "p")
	p.Scope().Insert(types.NewTypeName(token.NoPos, p, "node", types.Typ[types.Int]))
	text, err := print.File(p, print.Func{Func: f, Name: "F"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"type node1 struct {\n\tx    [2]float64\n\tnext []*node1\n}",
		"func F(v []node1) (y float64)", "return v[0].x[0]"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("want %s in\n%s", want, text)
		}
	}
}

// TestConstantBounds checks that constant bounds in order are printed as they are.
func TestConstantBounds(t *testing.T) {
	x := &ir.Var{Name: "x", Type: types.NewSlice(types.Typ[types.Float64]), Kind: ir.Param}
	y := &ir.Var{Name: "y", Type: x.Type, Kind: ir.Result}
	number := func(i int64) ir.Expr {
		return &ir.Const{Typed: ir.Typed{T: types.Typ[types.Int]}, Val: constant.MakeInt64(i)}
	}
	for want, bounds := range map[string][3]ir.Expr{
		"x[1:2:2]":                     {number(1), number(2), number(2)},
		"x[3:rt.Value(2)]":             {number(3), number(2), nil},
		"x[0:4:rt.Value(3)]":           {number(0), number(4), number(3)},
		"x[rt.Value(-1):rt.Value(-2)]": {number(-1), number(-2), nil},
	} {
		f := &ir.Func{
			Name: "f", Params: []*ir.Var{x}, Results: []*ir.Var{y}, Exit: &ir.Label{Name: "exit"},
			Body: ir.Block{&ir.Set{P: y.Place(),
				E: &ir.Slice{Typed: ir.Typed{T: x.Type}, X: x.Load(), Lo: bounds[0], Hi: bounds[1], Max: bounds[2]}}},
		}
		text, err := print.File(types.NewPackage("p", "p"), print.Func{Func: f})
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%v, want %s in\n%s", err, want, text)
		}
	}
}

// TestSelfAssigned requires that a variable that is only assigned to itself counts as unused.
func TestSelfAssigned(t *testing.T) {
	fs, err := ir.Parse(`
func f(x []float64) (r float64) exit {
	let p [2]float64
	let q float64 = x[0]
	q = q
	p = p
	p[1] = p[1]
	x[1] = x[1]
	r = x[0]
}`, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := print.File(types.NewPackage("p", "p"), print.Func{Func: fs[0]})
	if err != nil {
		t.Fatal(err)
	}
	conf := types.Config{Importer: importer.Default()}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conf.Check("p", fset, []*ast.File{file}, nil); err != nil ||
		strings.Contains(string(text), "x[1] = x[1]") {
		t.Errorf("%v\n%s", err, text)
	}
}
