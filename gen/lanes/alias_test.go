package lanes_test

import (
	"testing"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/adjoint"
	"github.com/nabla-ad/nabla/gen/internal/randprog"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lanes"
	"github.com/nabla-ad/nabla/gen/tangent"
	"github.com/nabla-ad/nabla/internal/longtest"
)

// TestAliases requires that functions in lanes convert pointers as the scalar ones do.
func TestAliases(t *testing.T) {
	list, err := randprog.Aliases()
	if err != nil {
		t.Fatal(err)
	}
	before := refused.Load()
	for i, a := range list {
		for k, o := range []adjoint.Options{{}, {Unsimplified: true}} {
			if i%2 != k && !longtest.Long() { // functions take turns with the options
				continue
			}
			if err := lanesAgree(o, nil)(a.Case, new(randprog.Tally)); err != nil {
				t.Errorf("%s: %v\n%s", a.What, err, a.Func)
			}
		}
		f, _, err := tangent.NewWith(lanes.New(lanes.NewTypes(3), nil)).Build(a.F, activity.Bits(1))
		if err != nil {
			t.Errorf("%s: %v\n%s", a.What, err, a.Func)
			continue
		}
		for _, g := range reached(f) {
			if err := ir.Check(g); err != nil {
				t.Errorf("%s: %v\n%v", a.What, err, g)
			}
		}
		const x = 0.75
		out, err := ir.Eval(f, ir.ValuesOf([]float64{x}, [][3]float64{{1, 0, -2}}))
		if err != nil {
			t.Errorf("%s: %v\n%v", a.What, err, f)
			continue
		}
		for k, v := range []float64{1, 0, -2} {
			if got, want := ir.As[float64](out[1+k]), v*(4*x*x*x+2*x); got != want {
				t.Errorf("%s, lane %d: %v, want %v\n%v", a.What, k, got, want, f)
			}
		}
	}
	if n := refused.Load() - before; n > 0 {
		t.Errorf("%d adjoints are refused", n)
	}
}
