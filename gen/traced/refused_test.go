package traced_test

import (
	"bytes"
	"errors"
	"go/types"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/traced"
)

// TestRefused: the error for a function without a traced form names the line, the reason and the workaround; the
// program stays usable.
func TestRefused(t *testing.T) {
	const path = module + "/gen/traced/testdata/refusals"
	pkgs, p := load(t, nil, path)
	text, err := os.ReadFile("testdata/refusals/refusals.go")
	if err != nil {
		t.Fatal(err)
	}
	wants := map[int]string{}
	for i, line := range strings.Split(string(text), "\n") {
		if _, want, ok := strings.Cut(line, "// want "); ok {
			wants[i+1] = want
		}
	}
	program := traced.New(pkgs[0].Types)
	seen := map[int]bool{}
	for _, name := range []string{"Inner", "Single", "Rounded", "Parameter", "Shared", "Rows", "Printed", "Large",
		"Errors", "Pivots"} {
		f, err := p.Func(p.Lookup(path, name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for range 2 {
			g, _, err := program.Build(f, floats(f, ""))
			var e *traced.Error
			if !errors.As(err, &e) || g != nil {
				t.Errorf("%s: %v, %v", name, g, err)
				break
			}
			if want := wants[e.Pos.Line]; want == "" || !strings.Contains(e.Error(), want) {
				t.Errorf("%s: %v", name, e)
			}
			seen[e.Pos.Line] = true
		}
	}
	for line := range wants {
		if !seen[line] {
			t.Errorf("line %d is not refused", line)
		}
	}
}

// TestRefusedForms: statements that package lower never creates are refused, too.
func TestRefusedForms(t *testing.T) {
	f64 := types.Typ[types.Float64]
	x, y := &ir.Var{Name: "x", Type: f64, Kind: ir.Param}, &ir.Var{Name: "y", Type: f64, Kind: ir.Result}
	stack := &ir.Var{Name: "st", Type: types.NewSlice(f64), Kind: ir.Param}
	for name, s := range map[string]ir.Stmt{
		"rule": &ir.Call{Results: []*ir.Var{y}, Callee: &ir.Callee{Rule: &ir.Rule{Name: "other.F"}},
			Args: []ir.Expr{x.Load()}},
		"rules.sign": &ir.Set{P: y.Place(),
			E: &ir.Math{Typed: ir.Typed{T: f64}, Name: "rules.sign", Args: []ir.Expr{x.Load()}}},
	} {
		f := &ir.Func{Name: "f", Params: []*ir.Var{x, stack}, Results: []*ir.Var{y}, Exit: &ir.Label{Name: "exit"},
			Body: ir.Block{s}}
		var e *traced.Error
		if g, _, err := traced.New(types.NewPackage("p", "p")).Build(f, activity.Bits(1)); !errors.As(err, &e) ||
			g != nil || e.Func != "f" ||
			!strings.Contains(e.Error(), name) {
			t.Errorf("%s: %v, %v", name, g, err)
		}
	}
}

// TestGolden compares traced forms with testdata.
func TestGolden(t *testing.T) {
	const path = module + "/gen/traced/testdata/funcs"
	pkgs, p := load(t, nil, path)
	names := functions(pkgs[0])
	text := trace(t, p, pkgs[0], names, plain).file
	if again := trace(t, p, pkgs[0], names, plain).file; !bytes.Equal(text, again) {
		t.Error("a second print is different")
	}
	const file = "testdata/traced.txt"
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

// TestEval evaluates traced forms and compares them with the functions.
func TestEval(t *testing.T) {
	const path = module + "/gen/tangent/testdata/funcs"
	pkgs, p := load(t, nil, path)
	program := traced.New(pkgs[0].Types)
	for name, args := range map[string][]any{
		"Scalars": {1.2, 0.7}, "Least": {1.5, 2.5, 0.5}, "Views": {[]float64{0.7, 1.3, 2.1, 0.4}},
		"Branches": {[]float64{1.1, 3.2, -0.5, 4}, 1}, "Structs": {1.5, 0.8}, "Calls": {[]float64{0.7, 1.3, 2.1, 0.4}},
	} {
		f, err := p.Func(p.Lookup(path, name))
		if err != nil {
			t.Fatal(err)
		}
		g := build(t, program, f, floats(f, ""))
		want, err := ir.Eval(f, ir.ValuesOf(args...))
		got, err2 := ir.Eval(g, ir.ValuesOf(args...))
		if err != nil || err2 != nil || ir.As[float64](want[0]) != ir.As[float64](got[0]) {
			t.Errorf("%s: %v (%v), want %v (%v)", name, got, err2, want, err)
		}
		if g.Results[0].Type != ir.Real {
			t.Errorf("%s gives a %v", name, g.Results[0].Type)
		}
		// The text of a traced function can be read again.
		if name == "Least" {
			fs, err := ir.Parse(g.String(),
				&ir.Env{Packages: []*types.Package{pkgs[0].Types}, Types: map[string]types.Type{"nabla.Real": ir.Real}})
			if err != nil || fs[0].String() != g.String() {
				t.Errorf("%v\n%s", err, g)
			}
		}
	}
}

// TestNames: counterparts of types have names of their own that the package does not declare; plain types keep theirs.
func TestNames(t *testing.T) {
	const path = module + "/gen/traced/testdata/funcs"
	pkgs, p := load(t, nil, path)
	f, err := p.Func(p.Lookup(path, "Alike"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	ir.Walk(build(t, traced.New(pkgs[0].Types), f, floats(f, "")).Body, func(s ir.Stmt) bool {
		if l, ok := s.(*ir.Let); ok {
			if n, ok := l.V.Type.(*types.Named); ok && !slices.Contains(names, n.Obj().Name()) {
				names = append(names, n.Obj().Name())
			}
		}
		return true
	})
	if want := []string{"nodeReal", "nodeReal1", "markReal1", "markReal"}; !slices.Equal(names, want) {
		t.Errorf("the types are %v, want %v", names, want)
	}
}
