package elementary_test

import (
	"go/types"
	"math"
	"testing"

	"github.com/nabla-ad/nabla/gen/elementary"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/rules"
)

// TestPartials evaluates the partial derivatives of every operation in the representation and compares them with those
// of package rules.
func TestPartials(t *testing.T) {
	float := types.Typ[types.Float64]
	x, y, tried := 0.4, 0.7, 0
	for op := rules.Invalid + 1; op < rules.NumOps; op++ {
		want := make([]float64, op.Arity())
		v := 0.0
		switch op.Arity() {
		case 1:
			v = rules.Value1(op, x)
			want[0] = rules.Partial1(op, x, v)
		case 2:
			v = rules.Value2(op, x, y)
			want[0], want[1] = rules.Partials2(op, x, y, v)
		default:
			continue
		}
		for i := range want {
			p := rules.Partial(op, i)
			if p == nil {
				continue
			}
			vars := []*ir.Var{{Name: "x", Type: float, Kind: ir.Param}, {Name: "y", Type: float, Kind: ir.Param},
				{Name: "v", Type: float, Kind: ir.Param}}
			r := &ir.Var{Name: "r", Type: float, Kind: ir.Result}
			f := &ir.Func{Name: "partial", Params: vars, Results: []*ir.Var{r}, Exit: &ir.Label{Name: "exit"}}
			rule := &elementary.Rule{Type: float, Args: []ir.Expr{vars[0].Load(), vars[1].Load()},
				Value: vars[2].Load(), Name: func(e ir.Expr) ir.Expr {
					named := &ir.Var{Name: "t", Type: float}
					f.Body = append(f.Body, &ir.Let{V: named, E: e})
					return named.Load()
				}}
			e := rule.Expr(p)
			f.Body = append(f.Body, &ir.Set{P: r.Place(), E: e})
			if err := ir.Check(f); err != nil {
				t.Fatalf("%v: %v", op, err)
			}
			out, err := new(ir.Machine).Eval(f, ir.ValuesOf(x, y, v))
			if err != nil {
				t.Errorf("%v, argument %d: %v\n%v", op, i, err, f)
				continue
			}
			if got := ir.As[float64](out[0]); !(math.Abs(got-want[i]) <= 1e-15*math.Abs(want[i])) &&
				!(math.IsNaN(got) && math.IsNaN(want[i])) {
				t.Errorf("%v, argument %d: got %v, want %v\n%v", op, i, got, want[i], f)
			}
			tried++
		}
	}
	if tried < 50 {
		t.Errorf("tried %d partial derivatives only", tried)
	}
}

// TestNames checks that Op is the inverse of Name.
func TestNames(t *testing.T) {
	for op := rules.Invalid + 1; op < rules.NumOps; op++ {
		if back, ok := elementary.Op(elementary.Name(op)); !ok || back != op {
			t.Errorf("%v is written %s, which is %v", op, elementary.Name(op), back)
		}
	}
	if op, ok := elementary.Op("math.Nextafter32"); !ok || op != rules.Nextafter {
		t.Errorf("math.Nextafter32 is %v", op)
	}
	if op, ok := elementary.Op("math.Pow10"); ok {
		t.Errorf("math.Pow10 is %v", op)
	}
}
