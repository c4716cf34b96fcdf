package adjoint_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/adjoint"
	"github.com/nabla-ad/nabla/gen/internal/natives"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/tangent"
)

// gradient returns the gradient at x of a function with a slice parameter, by its adjoint.
func gradient(t *testing.T, a *adjoint.Adjoint, x []float64, rest ...any) []float64 {
	t.Helper()
	args := append([]any{clone(x)}, rest...)
	args = append(args, make([]float64, len(x)), 1.0)
	in := append(ir.ValuesOf(args...), ir.NewValue(a.Func.Params[len(a.Func.Params)-1].Type))
	if _, err := (&ir.Machine{Rules: natives.Rules()}).Eval(a.Func, in); err != nil {
		t.Fatal(err)
	}
	return ir.As[[]float64](in[1+len(rest)])
}

// TestInfiniteUnused checks that an infinite derivative of an unused value does not reach the gradient.
func TestInfiniteUnused(t *testing.T) {
	const path = "github.com/nabla-ad/nabla/gen/adjoint/testdata/funcs"
	p := load(t, path)
	for name, o := range variants {
		a, err := programWithout(o).Of(function(t, p, path, "Unused"),
			activity.Bits(1))
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range [][]float64{{-1, 2, 0, 0, -2}, {-1, 1e300, 1e-300, 0, 2}, {-1, 0, 0, 1e300, 2},
			{0, math.Inf(1), 1, -1, 0.5}} {
			if g := gradient(t, a, x); !slices.Equal(g, []float64{2, 0, 0, 0, 0}) {
				t.Errorf("%s: gradient at %v is %v, want [2 0 0 0 0]", name, x, g)
			}
		}
	}
}

// TestSecondDerivatives compares the tangent of an adjoint with central differences of the adjoint.
func TestSecondDerivatives(t *testing.T) {
	const path = "github.com/nabla-ad/nabla/gen/tangent/testdata/funcs"
	const own = "github.com/nabla-ad/nabla/gen/adjoint/testdata/funcs"
	const loops = "github.com/nabla-ad/nabla/gen/adjoint/testdata/loops"
	p, q, marked := load(t, path), load(t, own), load(t, loops)
	r := rand.New(rand.NewPCG(5, 6))
	for i, tt := range []struct {
		name string
		rest []any
	}{
		{"Sum", nil}, {"Views", nil}, {"Calls", nil}, {"Captured", nil}, {"Matrix", nil},
		{"Still", nil}, {"loops.Scalars", []any{9}}, {"loops.Memory", []any{7}}, {"loops.While", []any{2.0}},
		{"loops.WhileTight", []any{2.0}}, {"loops.Swaps", []any{9}},
		{"loops.Scratch", []any{6}}, {"loops.Structs", []any{7}}, {"loops.Nested", []any{4}}, {"loops.Views", []any{8}},
		{"loops.InPlace", []any{8}}, {"Branches", []any{2}}, {"Passive", []any{[]float64{1, 2, 3}}},
	} {
		for _, name := range inTurn(i, variantNames()) {
			o := variants[name]
			t.Run(tt.name+" "+name, func(t *testing.T) {
				from, at := p, path
				if tt.name == "Still" {
					from, at = q, own
				}
				name, inLoops := strings.CutPrefix(tt.name, "loops.")
				if inLoops {
					from, at = marked, loops
				}
				f := function(t, from, at, name)
				a, err := programWithout(o).Of(f, activity.Bits(1))
				if err != nil {
					t.Fatal(err)
				}
				n := len(a.Func.Params)
				g, facts, err := tangent.New().Build(a.Func, activity.Bits(1).With(n-3))
				if err != nil {
					t.Fatal(err)
				}
				if err := ir.Check(g); err != nil {
					t.Fatalf("%v\n%v", err, g)
				}
				x := []float64{0.7, 1.3, 2.1, 0.4}
				v := random(r, x).([]float64)
				ws := a.Func.Params[n-1].Type
				in := append(ir.ValuesOf(append(append([]any{clone(x)}, tt.rest...), make([]float64, len(x)), 1.0)...),
					ir.NewValue(ws))
				shadow := -1
				for i, q := range a.Func.Params {
					if !facts.Params.Has(i) {
						continue
					}
					switch {
					case i == 0:
						in = append(in, ir.ValueOf(clone(v)))
					case i == n-3:
						shadow = len(in)
						in = append(in, ir.ValueOf(make([]float64, len(x))))
					case i == n-1:
						in = append(in, ir.NewValue(q.Type))
					case i == n-2: // the seed is constant
						in = append(in, ir.ValueOf(0.0))
					default:
						in = append(in, ir.ValueOf(zeros(tt.rest[i-1])))
					}
				}
				if _, err := ir.Eval(g, in); err != nil {
					t.Fatalf("%v\n%v", err, g)
				}
				got := ir.As[[]float64](in[shadow])
				const h = 1e-5
				up, down := clone(x).([]float64), clone(x).([]float64)
				for i := range x {
					up[i] += h * v[i]
					down[i] -= h * v[i]
				}
				gu, gd := gradient(t, a, up, tt.rest...), gradient(t, a, down, tt.rest...)
				for i := range got {
					want := (gu[i] - gd[i]) / (2 * h)
					if !(math.Abs(got[i]-want) < 1e-6*(1+math.Abs(want))) {
						t.Fatalf("component %d is %v, want %v\n%v", i, got[i], want, g)
					}
				}
			})
		}
	}
}
