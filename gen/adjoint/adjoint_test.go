package adjoint_test

import (
	"go/types"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/adjoint"
	"github.com/nabla-ad/nabla/gen/internal/natives"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/gen/tangent"
	"github.com/nabla-ad/nabla/internal/loaded"
	"github.com/nabla-ad/nabla/internal/longtest"
)

func TestMain(m *testing.M) { longtest.Main(m) }

// load lowers the packages that match pattern.
func load(t *testing.T, pattern string) *lower.Program {
	t.Helper()
	pkgs, err := lower.Load(".", []string{pattern}, lower.LoadOptions{Packages: loaded.Once})
	if err != nil {
		t.Fatal(err)
	}
	return lower.New(pkgs, lower.Options{})
}

// function returns the function with the given name in package path.
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

// variants maps the name of a variant to the optimizations that it disables: none, a single one, or all. Their adjoints
// must have the same derivatives.
var variants = func() map[string]adjoint.Optimization {
	out := map[string]adjoint.Optimization{"": 0, "none": adjoint.AllOptimizations}
	for name, o := range adjoint.Optimizations {
		out["no "+name] = o
	}
	return out
}()

// inTurn returns all variants in the long form of the tests, otherwise one of them for case i of a table.
func inTurn(i int, names []string) []string {
	if longtest.Long() {
		return names
	}
	return []string{names[i%len(names)]}
}

// TestVariants checks that there is a variant for each optimization.
func TestVariants(t *testing.T) {
	var all adjoint.Optimization
	for _, o := range adjoint.Optimizations {
		if all&o != 0 || o == 0 || o&(o-1) != 0 {
			t.Errorf("%b is not a single optimization of its own", o)
		}
		all |= o
	}
	if all != adjoint.AllOptimizations {
		t.Errorf("variants disable %b, want %b", all, adjoint.AllOptimizations)
	}
}

// programWithout returns a Program with some optimizations disabled.
func programWithout(disabled adjoint.Optimization) *adjoint.Program {
	p := adjoint.New(types.NewPackage("w", "w"), "Work", adjoint.Options{})
	p.Disable(disabled)
	return p
}

// numbers returns the floats of an argument.
func numbers(x any) (out []float64) {
	switch x := x.(type) {
	case float64:
		out = append(out, x)
	case []float64:
		out = append(out, x...)
	}
	return out
}

// random returns a value of the shape of x with normally distributed floats.
func random(r *rand.Rand, x any) any {
	switch x := x.(type) {
	case float64:
		return r.NormFloat64()
	case []float64:
		d := make([]float64, len(x))
		for i := range d {
			d[i] = r.NormFloat64()
		}
		return d
	}
	return x
}

// clone returns a copy of x that shares no memory with it.
func clone(x any) any {
	if s, ok := x.([]float64); ok {
		return append(make([]float64, 0, len(s)), s...)
	}
	return x
}

// clones returns a list of clones.
func clones(list []any) (out []any) {
	for _, x := range list {
		out = append(out, clone(x))
	}
	return out
}

func dot(a, b []float64) (s float64) {
	for i := range a {
		s += a[i] * b[i]
	}
	return s
}

// result returns v as the value of result f, or nil for a type without floats.
func result(v ir.Value, f *ir.Var) any {
	switch f.Type.String() {
	case "float64":
		return ir.As[float64](v)
	case "[]float64":
		return ir.As[[]float64](v)
	}
	return nil
}

// check compares the adjoint of f with its tangent in random directions: ⟨seeds, tangents of outputs⟩ must equal
// ⟨cotangents of inputs, directions⟩. It also checks results, side effects, and a second run with the same workspace.
func check(t *testing.T, f *ir.Func, m activity.Mask, disabled adjoint.Optimization, args ...any) {
	t.Helper()
	a, err := programWithout(disabled).Of(f, m)
	if err != nil {
		t.Fatal(err)
	}
	g := a.Func
	checkAll(t, g, map[*ir.Func]bool{})
	tan, facts, err := tangent.New().Build(f, m)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 3 {
		// Forward.
		dirs := make([]any, len(args))
		all := clones(args)
		for i, x := range args {
			dirs[i] = random(r, x)
			if !m.Has(i) {
				dirs[i] = zeros(x)
			}
			if facts.Params.Has(i) {
				all = append(all, clone(dirs[i]))
			}
		}
		values := ir.ValuesOf(all...)
		outs, err := (&ir.Machine{Rules: natives.Rules()}).Eval(tan, values)
		if err != nil {
			t.Fatal(err)
		}
		var dots []float64 // tangents of results, then of argument memory
		k := len(f.Results)
		seeds := map[int]any{}
		var bars []float64
		for i, v := range f.Results {
			if !facts.Results.Has(i) {
				continue
			}
			d := result(outs[k], v)
			k++
			dots = append(dots, numbers(d)...)
			seeds[i] = random(r, d)
			bars = append(bars, numbers(seeds[i])...)
		}
		k = len(args)
		shadows := make([]any, len(args))
		for i, x := range args {
			if !facts.Params.Has(i) {
				continue
			}
			if _, ok := x.([]float64); ok {
				d := ir.As[[]float64](values[k])
				dots = append(dots, d...)
				shadows[i] = random(r, d)
				bars = append(bars, numbers(shadows[i])...)
			}
			k++
		}
		want := dot(dots, bars)
		// Reverse.
		in := clones(args)
		for i := range args {
			if a.Shadows.Has(i) {
				in = append(in, clone(shadows[i]))
			}
		}
		for i := range f.Results {
			if a.Seeds.Has(i) {
				in = append(in, clone(seeds[i]))
			}
		}
		ins := ir.ValuesOf(in...)
		ins = append(ins, ir.NewValue(g.Params[len(g.Params)-1].Type))
		machine := ir.Machine{Steps: 1 << 28, Rules: natives.Rules()}
		for again := range 2 {
			got, err := machine.Eval(g, ins)
			if err != nil {
				t.Fatalf("%v\n%v", err, g)
			}
			for i, v := range f.Results {
				if x, y := result(got[i], v), result(outs[i], v); !reflect.DeepEqual(x, y) {
					t.Fatalf("result %d is %v, want %v\n%v", i, x, y, g)
				}
			}
			sum, size := 0.0, 0.0
			k = len(f.Results)
			at := len(args)
			for i, x := range args {
				if a.Shadows.Has(i) {
					b := ir.As[[]float64](ins[at])
					d := numbers(dirs[i])
					for j := range b {
						sum += b[j] * d[j]
						size += math.Abs(b[j] * d[j])
					}
					if got, want := ir.As[[]float64](ins[i]), ir.As[[]float64](values[i]); !reflect.DeepEqual(got,
						want) {
						t.Errorf("argument %d is left as %v, want %v\n%v", i, got, want, g)
					}
					at++
				}
				if a.Bars.Has(i) {
					b := ir.As[float64](got[k])
					sum += b * numbers(dirs[i])[0]
					size += math.Abs(b * numbers(dirs[i])[0])
					k++
				}
				_ = x
			}
			if math.IsNaN(sum) || math.Abs(sum-want) > 1e-9*(1+size) {
				t.Fatalf("run %d: adjoints times directions are %v, want %v\n%v", again, sum, want, g)
			}
			// The next run must not depend on the contents of the workspace.
			ws := ins[len(ins)-1]
			ins = append(ir.ValuesOf(clones(in)...), ws)
		}
	}
}

// checkAll checks that f and the functions that it calls are well-formed.
func checkAll(t *testing.T, f *ir.Func, seen map[*ir.Func]bool) {
	t.Helper()
	if seen[f] {
		return
	}
	seen[f] = true
	if err := ir.Check(f); err != nil {
		t.Fatalf("%v\n%v", err, f)
	}
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		if c, ok := s.(*ir.Call); ok && c.Callee.Func != nil {
			checkAll(t, c.Callee.Func, seen)
		}
		return true
	})
}

// zeros returns a value of the shape of x with floats 0.
func zeros(x any) any {
	switch x := x.(type) {
	case float64:
		return 0.0
	case []float64:
		return make([]float64, len(x))
	}
	return x
}

// TestAdjoint checks adjoints of the functions in tangent/testdata under every variant.
func TestAdjoint(t *testing.T) {
	p := load(t, "../tangent/testdata/funcs")
	const path = "github.com/nabla-ad/nabla/gen/tangent/testdata/funcs"
	x := func() []float64 { return []float64{0.7, 1.3, 2.1, 0.4} }
	for i, tt := range []struct {
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
		{"Matrix", activity.Bits(1), []any{x()}},
		{"Passive", activity.Bits(1), []any{x(), []float64{1, 2, 3, 4, 5}}},
		{"Passive", activity.Bits(3), []any{x(), []float64{1, 2, 3, 4, 5}}},
		{"Passive", activity.Bits(2), []any{x(), []float64{1, 2, 3, 4, 5}}},
	} {
		for _, name := range inTurn(i, variantNames()) {
			o := variants[name]
			t.Run(tt.name+" "+name, func(t *testing.T) { check(t, function(t, p, path, tt.name), tt.m, o, tt.args...) })
		}
	}
}
