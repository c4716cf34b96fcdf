package ir

import (
	"go/types"
	"math"
	"testing"
)

// TestExpand compares functions with two results with their expansions, bit for bit but for the
// sign of zeros and NaNs.
func TestExpand(t *testing.T) {
	float, integer := types.Typ[types.Float64], types.Typ[types.Int]
	points := []float64{
		0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 2.5, -2.5, 3, -3, 1e-310, -5e-324, 1e300, math.MaxFloat64, 12345.678,
		-1e10, math.Inf(1), math.Inf(-1), math.NaN(), math.Pi, -7.25, 0.1, 171.5,
	}
	for name, second := range map[string]types.Type{"math.Sincos": float, "math.Modf": float, "math.Lgamma": integer,
		"math.Frexp": integer} {
		x := &Var{Name: "x", Type: float, Kind: Param}
		a := &Var{Name: "a", Type: float, Kind: Result}
		b := &Var{Name: "b", Type: second, Kind: Result}
		call := &Call{Results: []*Var{a, b}, Callee: &Callee{Rule: &Rule{Name: name}}, Args: []Expr{x.Load()}}
		f := &Func{Name: "m.F", Params: []*Var{x}, Results: []*Var{a, b}, Exit: &Label{"exit"}, Body: Block{call}}
		g := &Func{Name: "m.G", Params: f.Params, Results: f.Results, Exit: f.Exit, Body: call.Expand(NewNamer())}
		if len(g.Body) < 2 {
			t.Fatalf("%s becomes %v", name, g)
		}
		if err := Check(g); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, v := range points {
			want, err := Eval(f, ValuesOf(v))
			if err != nil {
				t.Fatal(err)
			}
			got, err := Eval(g, ValuesOf(v))
			if err != nil {
				t.Fatal(err)
			}
			same := func(i int, of types.Type) bool {
				if of == integer {
					return got[i].int() == want[i].int()
				}
				x, y := got[i].float(), want[i].float()
				return x == y || math.IsNaN(x) && math.IsNaN(y)
			}
			if !same(0, float) || !same(1, second) {
				t.Errorf("%s(%v) is %v and %v, want %v and %v", name, v, got[0].Text(float), got[1].Text(second),
					want[0].Text(float), want[1].Text(second))
			}
		}
		for _, results := range [][]*Var{{a, nil}, {nil, b}} { // one of them is dropped
			call.Results = results
			h := &Func{Name: "m.H", Params: f.Params, Results: f.Results, Exit: f.Exit, Body: call.Expand(NamerOf(f))}
			got, err := Eval(h, ValuesOf(2.7))
			want, err2 := Eval(f, ValuesOf(2.7))
			if Check(h) != nil || err != nil || err2 != nil || len(h.Body) == 0 || got[0].float() != want[0].float() ||
				got[1].Text(second) != want[1].Text(second) {
				t.Errorf("%s gives %v, want %v (%v, %v)\n%v", name, got, want, err, err2, h)
			}
		}
		call.Results = []*Var{a, b}
		call.Args[0] = &Binary{Typed: Typed{float}, X: x.Load(), Y: x.Load()}
		if call.Expand(NewNamer()) != nil {
			t.Errorf("%s of an expression is expanded", name)
		}
		call.Args[0] = a.Load()
		if call.Expand(NewNamer()) != nil {
			t.Errorf("%s of its own result is expanded", name)
		}
	}
}
