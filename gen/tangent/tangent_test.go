package tangent_test

import (
	"bytes"
	"errors"
	"flag"
	"go/types"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/internal/natives"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/gen/tangent"
	"github.com/nabla-ad/nabla/internal/loaded"
	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/internal/problems"
)

func TestMain(m *testing.M) { longtest.Main(m) }

func load(t *testing.T, pattern string) *lower.Program {
	t.Helper()
	pkgs, err := lower.Load(".", []string{pattern}, lower.LoadOptions{Packages: loaded.Once})
	if err != nil {
		t.Fatal(err)
	}
	return lower.New(pkgs, lower.Options{})
}

func function(t *testing.T, p *lower.Program, path, name string) *ir.Func {
	t.Helper()
	fn := p.Lookup(path, name)
	if fn == nil {
		t.Fatalf("no function %s", name)
	}
	f, err := p.Func(fn)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// floats visits all floats reachable from v.
func floats(v reflect.Value, visit func(v reflect.Value)) {
	switch v.Kind() {
	case reflect.Float64, reflect.Float32:
		visit(v)
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			floats(v.Index(i), visit)
		}
	}
}

// variable returns a variable with the value x and slices of its own.
func variable(x any) reflect.Value {
	v := reflect.New(reflect.TypeOf(x)).Elem()
	v.Set(reflect.ValueOf(x))
	if v.Kind() == reflect.Slice {
		c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(c, v)
		v.Set(c)
	}
	return v
}

// moved returns args + h * dirs.
func moved(args, dirs []any, h float64) []any {
	out := make([]any, len(args))
	for i := range args {
		v := variable(args[i])
		var d []float64
		floats(variable(dirs[i]), func(v reflect.Value) { d = append(d, v.Float()) })
		k := 0
		floats(v, func(v reflect.Value) { v.SetFloat(v.Float() + h*d[k]); k++ })
		out[i] = v.Interface()
	}
	return out
}

// random returns a random direction for an argument; the direction of integers is their value.
func random(r *rand.Rand, x any) any {
	v := variable(x)
	floats(v, func(v reflect.Value) { v.SetFloat(r.NormFloat64()) })
	return v.Interface()
}

// globals are the variables of package funcs.
var globals = map[string]ir.Value{
	"funcs.weights": ir.ValueOf([]float64{0.5, -0.25, 1.5}),
	"funcs.first":   ir.ValueOf(&struct{ A, B float64 }{1, 2}),
}

// outcome returns all floats among the results of f and the final contents of its arguments.
func outcome(t *testing.T, f *ir.Func, args []any, in []int, results []int) []float64 {
	t.Helper()
	values := ir.ValuesOf(args...)
	m := ir.Machine{Globals: globals, Rules: natives.Rules()}
	got, err := m.Eval(f, values)
	if err != nil {
		t.Fatalf("%s: %v", f.Name, err)
	}
	var out []float64
	keep := func(v reflect.Value) { out = append(out, v.Float()) }
	for _, i := range results {
		switch f.Results[i].Type.String() {
		case "float64":
			keep(reflect.ValueOf(ir.As[float64](got[i])))
		case "[]float64":
			floats(reflect.ValueOf(ir.As[[]float64](got[i])), keep)
		default:
			t.Fatalf("result of type %v", f.Results[i].Type)
		}
	}
	for _, i := range in {
		if _, ok := args[i].([]float64); ok {
			floats(reflect.ValueOf(ir.As[[]float64](values[i])), keep)
		}
	}
	return out
}

func count(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// check compares the tangent of f with respect to the parameters in m with finite differences, and its primal results
// with those of f.
func check(t *testing.T, f *ir.Func, m activity.Mask, args ...any) {
	t.Helper()
	if err := ir.Check(f); err != nil {
		t.Fatal(err)
	}
	g, facts, err := tangent.New().Build(f, m)
	if err != nil {
		t.Fatal(err)
	}
	if err := ir.Check(g); err != nil {
		t.Fatalf("%v\n%v", err, g)
	}
	if facts.Params.Or(m) != facts.Params {
		t.Fatalf("parameters %v are active, want %v", facts.Params, m)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 5 {
		dirs := make([]any, len(args))
		all := append([]any{}, args...)
		var shadows []int
		for i, a := range args {
			dirs[i] = random(r, a)
			if !m.Has(i) { // a shadow that only has to be there is zero
				v := variable(dirs[i])
				floats(v, func(v reflect.Value) { v.SetFloat(0) })
				dirs[i] = v.Interface()
			}
			if facts.Params.Has(i) {
				shadows = append(shadows, len(all))
				all = append(all, dirs[i])
			}
		}
		var dots, carried []int
		for i := range f.Results {
			if facts.Results.Has(i) {
				dots = append(dots, len(f.Results)+len(dots))
				carried = append(carried, i)
			}
		}
		var active []int
		for i := range args {
			if facts.Params.Has(i) {
				active = append(active, i)
			}
		}
		for i := range all { // each evaluation has memory of its own
			all[i] = variable(all[i]).Interface()
		}
		values := outcome(t, f, args, count(len(args)), count(len(f.Results)))
		again := outcome(t, g, all, count(len(args)), count(len(f.Results)))
		if !reflect.DeepEqual(values, again) {
			t.Errorf("%s gives %v, its tangent %v", f.Name, values, again)
		}
		got := outcome(t, g, all, shadows, dots)
		best := make([]float64, len(got))
		for k := range best {
			best[k] = math.Inf(1)
		}
		for _, h := range []float64{1e-4, 1e-5, 1e-6} {
			up := outcome(t, f, moved(args, dirs, h), active, carried)
			down := outcome(t, f, moved(args, dirs, -h), active, carried)
			for k := range got {
				want := (up[k] - down[k]) / (2 * h)
				best[k] = min(best[k], math.Abs(got[k]-want)/(1+math.Abs(want)))
			}
		}
		for k, e := range best {
			if !(e < 1e-6) {
				t.Errorf("%s: derivative %d is %v, which is off by %v\n%v", f.Name, k, got[k], e, g)
				return
			}
		}
	}
}

func TestTangent(t *testing.T) {
	p := load(t, "./testdata/funcs")
	const path = "github.com/nabla-ad/nabla/gen/tangent/testdata/funcs"
	x := func() []float64 { return []float64{0.7, 1.3, 2.1, 0.4} }
	for _, tt := range []struct {
		name string
		m    activity.Mask
		args []any
	}{
		{"Scalars", activity.Bits(3), []any{1.2, 0.7}}, {"Scalars", activity.Bits(1), []any{1.2, 0.7}},
		{"Scalars", activity.Bits(2), []any{1.2, 0.7}},
		{"More", activity.Bits(3), []any{0.6, 1.7}}, {"More", activity.Bits(1), []any{-0.6, 1.7}},
		{"Least", activity.Bits(7), []any{1.5, 2.5, 0.5}}, {"Least", activity.Bits(7), []any{0.5, -2.5, 1.5}},
		{"Least", activity.Bits(4), []any{0.5, -2.5, 1.5}},
		{"Sum", activity.Bits(1), []any{x()}}, {"InPlace", activity.Bits(1), []any{x()}},
		{"Views", activity.Bits(1), []any{x()}}, {"Appends", activity.Bits(1), []any{x()}},
		{"Branches", activity.Bits(1), []any{x(), 2}},
		{"Branches", activity.Bits(1), []any{[]float64{1.1, 3.2, -0.5, 4}, 1}},
		{"Branches", activity.Bits(1), []any{[]float64{5, 6, 7}, 9}},
		{"Branches", activity.Bits(1), []any{[]float64{1, 1.1}, 9}},
		{"Pairs", activity.Bits(3), []any{1.3, 0.7}}, {"Pairs", activity.Bits(1), []any{1.3, 0.7}},
		{"Pairs", activity.Bits(2), []any{1.3, 0.7}},
		{"Kinds", activity.Bits(1), []any{x(), 2}}, {"Kinds", activity.Bits(1), []any{x(), 3}},
		{"Found", activity.Bits(1), []any{x(), 1}}, {"Found", activity.Bits(1), []any{x(), 0}},
		{"Structs", activity.Bits(3), []any{1.5, 0.8}}, {"Structs", activity.Bits(2), []any{1.5, 0.8}},
		{"Iterated", activity.Bits(1), []any{x(), 0}}, {"Iterated", activity.Bits(1), []any{x(), 1}},
		{"Iterated", activity.Bits(1), []any{x(), 3}},
		{"Iterated", activity.Bits(1), []any{[]float64{1.2, 0.7, 1.1, 0.3}, 5}},
		{"Iterated", activity.Bits(1), []any{[]float64{0.3, 0.4, 1.1}, 9}},
		{"Iterated", activity.Bits(1), []any{[]float64{0.9, 0.9, 1.1, -0.5}, 9}},
		{"Calls", activity.Bits(1), []any{x()}}, {"Captured", activity.Bits(1), []any{x()}},
		{"Made", activity.Bits(1), []any{x()}}, {"Matrix", activity.Bits(1), []any{x()}},
		{"Passive", activity.Bits(1), []any{x(), []float64{1, 2, 3, 4, 5}}},
		{"Passive", activity.Bits(3), []any{x(), []float64{1, 2, 3, 4, 5}}},
		{"Passive", activity.Bits(2), []any{x(), []float64{1, 2, 3, 4, 5}}},
		{"Constants", activity.Bits(1), []any{x(), 0}}, {"Constants", activity.Bits(1), []any{x(), 1}},
		{"Constants", activity.Bits(1), []any{x(), 2}},
		{"Ends", activity.Bits(1), []any{1.5}}, {"Filled", activity.Bits(1), []any{1.5, x()}},
		{"Filled", activity.Bits(3), []any{1.5, x()}},
	} {
		t.Run(tt.name, func(t *testing.T) { check(t, function(t, p, path, tt.name), tt.m, tt.args...) })
	}
}

// TestFloat32: the derivative has the precision of the value.
func TestFloat32(t *testing.T) {
	p := load(t, "./testdata/funcs")
	g, _, err := tangent.New().Build(function(t, p, "github.com/nabla-ad/nabla/gen/tangent/testdata/funcs", "Small"),
		activity.Bits(1))
	if err != nil {
		t.Fatal(err)
	}
	got, err := ir.Eval(g, ir.ValuesOf(1.5, 1.0))
	if err != nil || ir.As[float64](got[1]) != 4 {
		t.Errorf("%v, %v", got, err)
	}
}

// TestZeroAtKink requires that an infinite partial derivative times a zero tangent is not NaN.
func TestZeroAtKink(t *testing.T) {
	p := load(t, "./testdata/funcs")
	g, _, err := tangent.New().Build(function(t, p, "github.com/nabla-ad/nabla/gen/tangent/testdata/funcs", "Kink"),
		activity.Bits(1))
	if err != nil {
		t.Fatal(err)
	}
	got, err := ir.Eval(g, ir.ValuesOf(2.0, 1.0))
	if err != nil || ir.As[float64](got[1]) != 1 {
		t.Errorf("%v, %v", got, err)
	}
}

// TestProblems compares with the reference gradients and Jacobians.
func TestProblems(t *testing.T) {
	const path = "github.com/nabla-ad/nabla/internal/problems"
	p := load(t, path)
	r := rand.New(rand.NewPCG(3, 4))
	for _, tt := range []struct {
		q    *problems.Problem
		name string
	}{
		{problems.T1(50), "SumSquaresPlain"}, {problems.T3(50), "RosenbrockPlain"}, {problems.T8(), "LorenzPlain"},
	} {
		f := function(t, p, path, tt.name)
		g, _, err := tangent.New().Build(f, activity.Bits(1))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		c := tt.q.Select(0)
		v := make([]float64, len(c.X))
		want, size := 0.0, 0.0
		for i := range v {
			v[i] = r.NormFloat64()
			want += v[i] * c.Derivative[i]
			size += math.Abs(v[i] * c.Derivative[i])
		}
		m := ir.Machine{Steps: 1 << 30}
		got, err := m.Eval(g, ir.ValuesOf(c.X, v))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if d := ir.As[float64](got[1]); math.Abs(d-want) > 1e-10*size ||
			math.Abs(ir.As[float64](got[0])-c.Value[0]) > 1e-12*math.Abs(c.Value[0]) {
			t.Errorf("%s: %v, want %v", tt.name, d, want)
		}
	}
}

var update = flag.Bool("update", false, "rewrite the golden file")

// TestGolden compares tangents with testdata.
func TestGolden(t *testing.T) {
	p := load(t, "./testdata/funcs")
	var b bytes.Buffer
	for _, tt := range []struct {
		name string
		m    activity.Mask
	}{{"Sum", activity.Bits(1)}, {"InPlace", activity.Bits(1)}, {"Several", activity.Bits(1)},
		{"Passive", activity.Bits(1)}, {"Captured", activity.Bits(1)}} {
		f := function(t, p, "github.com/nabla-ad/nabla/gen/tangent/testdata/funcs", tt.name)
		g, _, err := tangent.New().Build(f, tt.m)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(g.String() + "\n")
	}
	const file = "testdata/tangents.txt"
	if *update {
		if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(b.Bytes(), want) {
		t.Errorf("%s is not what is built now; run with -update and read the difference: %v", file, err)
	}
}

// TestGlobalReferences: the shadow of a global variable that leads to further references is made of its value.
func TestGlobalReferences(t *testing.T) {
	p := load(t, "./testdata/funcs")
	f := function(t, p, "github.com/nabla-ad/nabla/gen/tangent/testdata/funcs", "Joined")
	g, _, err := tangent.New().Build(f, activity.Bits(1))
	if err != nil || !strings.Contains(g.String(), ir.ShadowCall) {
		t.Fatalf("%v, %v", g, err)
	}
	out, err := ir.Eval(g, []ir.Value{ir.ValueOf([]float64{-2}), ir.ValueOf([]float64{5})})
	if err != nil || out[1].Text(g.Results[1].Type) != "5" {
		t.Errorf("%v, %v, want the derivative 5", out, err)
	}
}

// TestRefusedTwice: a refused function is refused in all its callers.
func TestRefusedTwice(t *testing.T) {
	fs, err := ir.Parse(`
func f(x float64) (r float64) exit {
	r = call g(x)
}

func h(x float64) (r float64) exit {
	r = call g(x)
}

func g(x float64) (r float64) exit { //@ g.go:7:1
	r = call rule "other.F"(x) //@ g.go:8:2
}`, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := tangent.New()
	for _, f := range []*ir.Func{fs[0], fs[1], fs[0], fs[2]} {
		var e *tangent.Error
		g, _, err := p.Build(f, activity.Bits(1))
		if !errors.As(err, &e) || g != nil || e.Func != "g" || e.Pos.Line != 8 {
			t.Errorf("%s: %v, %v", f.Name, g, err)
		}
	}
}

// TestRefused: the error names the construct without a derivative.
func TestRefused(t *testing.T) {
	f64 := types.Typ[types.Float64]
	x, y := &ir.Var{Name: "x", Type: f64, Kind: ir.Param}, &ir.Var{Name: "y", Type: f64, Kind: ir.Result}
	exit := &ir.Label{Name: "exit"}
	for name, s := range map[string]ir.Stmt{
		"rule": &ir.Call{Results: []*ir.Var{y}, Callee: &ir.Callee{Rule: &ir.Rule{Name: "other.F"}},
			Args: []ir.Expr{x.Load()}},
		"function": &ir.Set{P: y.Place(),
			E: &ir.Math{Typed: ir.Typed{T: f64}, Name: "math.Unknown", Args: []ir.Expr{x.Load(), x.Load()}}},
	} {
		f := &ir.Func{Name: "f", Params: []*ir.Var{x}, Results: []*ir.Var{y}, Exit: exit, Body: ir.Block{s}}
		var e *tangent.Error
		if g, _, err := tangent.New().Build(f, activity.Bits(1)); !errors.As(err, &e) || g != nil || e.Func != "f" {
			t.Errorf("%s: %v, %v", name, g, err)
		}
	}
}

// TestPassiveView: a bound of a passive slice may be the length of an active one.
func TestPassiveView(t *testing.T) {
	fs, err := ir.Parse(`
func f(x []float64, y []float64) (r float64) exit {
	clear(y[len(x) / 2:])
	copy(y[len(x) - 1:], y)
	r = x[0] * y[0]
}`, nil)
	if err != nil {
		t.Fatal(err)
	}
	check(t, fs[0], activity.Bits(1), []float64{1.5, 2, 3}, []float64{4, 5, 6})
}

// TestTwice differentiates twice at 0, where the first derivative of the operand is 0 and the second is not.
func TestTwice(t *testing.T) {
	for text, want := range map[string]float64{
		"math.Sqrt(1 + x * x)": 1, "math.Log1p(x * x)": 2, "math.Exp(x * x)": 2, "math.Pow(1 + x * x, 1.5)": 3,
		"math.Cbrt(1 + x * x)": 2. / 3, "math.Sqrt(x * x)": 0, // singular there: strong zero
	} {
		fs, err := ir.Parse("func f(x float64) (r float64) exit {\n\tr = "+text+"\n}\n", nil)
		if err != nil {
			t.Fatal(err)
		}
		p := tangent.New()
		g, _, err := p.Build(fs[0], activity.Bits(1))
		if err != nil {
			t.Fatal(err)
		}
		h, facts, err := p.Build(g, activity.Bits(1))
		if err != nil {
			t.Fatal(err)
		}
		if err := ir.Check(h); err != nil || facts.Results != activity.Bits(3) {
			t.Fatalf("%v, results %v\n%v", err, facts.Results, h)
		}
		out, err := ir.Eval(h, ir.ValuesOf(0.0, 1.0, 1.0))
		if err != nil {
			t.Fatal(err)
		}
		if got := ir.As[float64](out[3]); !(math.Abs(got-want) < 1e-15) {
			t.Errorf("the second derivative of %s at 0 is %v, want %v\n%v", text, got, want, h)
		}
	}
}
