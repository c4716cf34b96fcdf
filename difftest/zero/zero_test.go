package zero_test

import (
	"fmt"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/difftest/zero"
	"gonum.org/v1/gonum/mat"
)

// TestZeros: every derivative is zero, and every value that of the function.
func TestZeros(t *testing.T) {
	f := func(x []nabla.Real) nabla.Real { return x[0].Mul(x[1]).Add(nabla.Sin(x[0])) }
	g := func(x []nabla.Real) []nabla.Real { return []nabla.Real{x[0].Sq(), f(x), x[1]} }
	x, v, w := []float64{0.5, 2}, []float64{1, 1}, []float64{1, 2, 3}
	for _, b := range []nabla.Backend{zero.Forward{}, zero.Reverse{},
		nabla.SecondOrder{Outer: zero.Forward{}, Inner: zero.Reverse{}},
		nabla.SecondOrder{Outer: zero.Reverse{}, Inner: zero.Forward{}}} {
		zeros := func(what string, err error, list ...float64) {
			t.Helper()
			for _, d := range list {
				if d != 0 || err != nil {
					t.Errorf("%s of %s: %v, %v", what, b.Name(), list, err)
					return
				}
			}
			if len(list) == 0 || err != nil {
				t.Errorf("%s of %s: %v, %v", what, b.Name(), list, err)
			}
		}
		y, grad, err := nabla.ValueAndGradient(f, b, x)
		zeros("gradient", err, grad...)
		if want := 0.5*2 + 0.479425538604203; fmt.Sprintf("%.12f", y) != fmt.Sprintf("%.12f", want) {
			t.Errorf("value of %s: %v, want %v", b.Name(), y, want)
		}
		push, err := nabla.Pushforward(g, b, x, v)
		zeros("pushforward", err, push...)
		pull, err := nabla.Pullback(g, b, x, w)
		zeros("pullback", err, pull...)
		hv, err := nabla.HVP(f, b, x, v)
		zeros("HVP", err, hv...)
		jac, err := nabla.Jacobian(g, b, x)
		zeros("Jacobian", err, mat.DenseCopyOf(jac).RawMatrix().Data...)
		hess, err := nabla.Hessian(f, b, x)
		zeros("Hessian", err, mat.DenseCopyOf(hess).RawMatrix().Data...)
		d2, err := nabla.SecondDerivative(func(t nabla.Real) nabla.Real { return t.Sq() }, b, 3)
		zeros("second derivative", err, d2)
	}
}
