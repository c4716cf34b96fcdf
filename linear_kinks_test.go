package nabla_test

import (
	"math"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/internal/randfunc"
)

// TestLinearOpAtSpecialPoints checks that the derivative kept at a point agrees with the operators,
// also where it is infinite.
func TestLinearOpAtSpecialPoints(t *testing.T) {
	inf := math.Inf(1)
	for name, p := range randfunc.Singles() {
		f := p.Real().Scalar
		for _, b := range firstOrder {
			for _, v := range []float64{0, 1, -1, 2.5, inf, -inf} {
				x := make([]float64, p.N)
				for i := range x {
					x[i] = v - float64(i)
				}
				op, err := nabla.Linearize(f, b, x)
				if err != nil {
					t.Fatal(err)
				}
				g, err := nabla.Gradient(f, b, x)
				if err != nil {
					t.Fatal(err)
				}
				back, err := op.Transpose(nil, []float64{1})
				if err != nil {
					t.Fatal(err)
				}
				dir := make([]float64, p.N)
				for i := range x {
					dir[i] = 1
					forth, err := op.Apply(nil, dir)
					if err != nil || !nearlyEqual(forth[0], g[i]) || !nearlyEqual(back[i], g[i]) {
						t.Errorf("%s with %s at %v: %v forwards, %v backwards, gradient %v, %v", name, b.Name(), x,
							forth, back, g, err)
					}
					dir[i] = 0
				}
			}
		}
	}
	for _, b := range firstOrder { // a constant factor beside an infinity
		op, err := nabla.Linearize(func(x []nabla.Real) nabla.Real {
			return nabla.Const(3).Mul(x[0]).Add(nabla.Const(2).Div(x[0]))
		}, b, []float64{inf})
		if err != nil {
			t.Fatal(err)
		}
		if d, err := op.Apply(nil, []float64{1}); err != nil || d[0] != 3 {
			t.Errorf("%s: %v, %v", b.Name(), d, err)
		}
	}
}
