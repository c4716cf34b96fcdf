package nabla_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/internal/engines"
)

// rootOf returns the z near start with g(z, p) = 0 as a function of p. Its rule knows g as a function only, and asks
// for derivatives of g where it is called: over numbers for the iteration, and over the Reals of the engine that
// differentiates for dz = -(∂g/∂p·dp)/(∂g/∂z).
func rootOf(g func(z nabla.Real, p []nabla.Real) nabla.Real, start float64) func(p ...nabla.Real) []nabla.Real {
	residual := func(zp []nabla.Real) nabla.Real { return g(zp[0], zp[1:]) }
	derivatives := nabla.GradientFunc(residual, reversediff.Backend{})
	at := func(z float64, p []float64) []nabla.Real {
		zp := []nabla.Real{nabla.Const(z)}
		for _, v := range p {
			zp = append(zp, nabla.Const(v))
		}
		return zp
	}
	return nabla.Rule{
		Name: "root",
		Value: func(y, p []float64) {
			y[0] = start
			for range 60 {
				zp := at(y[0], p)
				y[0] -= residual(zp).Value() / derivatives(zp)[0].Value()
			}
		},
		VJPReal: func(pbar, p, z, zbar []nabla.Real) {
			d := derivatives(append([]nabla.Real{z[0]}, p...))
			for i := range pbar {
				pbar[i] = pbar[i].Sub(zbar[0].Mul(d[i+1]).Div(d[0]))
			}
		},
	}.Func()
}

// TestRuleCallsBack compares derivatives of first and second order of the root of z² - a·z - b, which is
// (a + √(a²+4b))/2, with closed forms, for a rule that gets the residual as a function.
func TestRuleCallsBack(t *testing.T) {
	root := rootOf(func(z nabla.Real, p []nabla.Real) nabla.Real {
		return z.Sq().Sub(p[0].Mul(z)).Sub(p[1])
	}, 2)
	f := func(x []nabla.Real) nabla.Real { return root(x...)[0] }
	for _, x := range [][]float64{{1, 2}, {0.5, 3}} {
		a, s := x[0], math.Sqrt(x[0]*x[0]+4*x[1])
		want := []float64{(1 + a/s) / 2, 1 / s, (1/s - a*a/(s*s*s)) / 2, -a / (s * s * s), -2 / (s * s * s)}
		for _, b := range engines.Exact() {
			y, g, err := nabla.ValueAndGradient(f, b, x)
			if err != nil {
				t.Fatalf("%s: %v", b.Name(), err)
			}
			if z := (a + s) / 2; math.Abs(y-z) > 1e-14*z {
				t.Errorf("%s at %v: value %v, want %v", b.Name(), x, y, z)
			}
			h, err := nabla.Hessian(f, b, x)
			if err != nil {
				t.Fatalf("%s: %v", b.Name(), err)
			}
			for i, got := range []float64{g[0], g[1], h.At(0, 0), h.At(0, 1), h.At(1, 1)} {
				if !(math.Abs(got-want[i]) <= 1e-12) {
					t.Errorf("%s at %v: derivative %d is %v, want %v", b.Name(), x, i, got, want[i])
				}
			}
		}
	}
}

// The rule of a function that takes a function: the square root as the root of z² - p. VJPReal asks for the derivatives
// of the residual over the numbers of whichever engine differentiates, so that all orders are exact.
func ExampleRule_callback() {
	residual := func(zp []nabla.Real) nabla.Real { return zp[0].Sq().Sub(zp[1]) }
	derivatives := nabla.GradientFunc(residual, reversediff.Backend{})
	root := nabla.Rule{
		Name:  "root",
		Value: func(z, p []float64) { z[0] = math.Sqrt(p[0]) }, // an iteration
		VJPReal: func(pbar, p, z, zbar []nabla.Real) {
			d := derivatives([]nabla.Real{z[0], p[0]})
			pbar[0] = pbar[0].Sub(zbar[0].Mul(d[1]).Div(d[0]))
		},
	}.Func()
	f := func(p nabla.Real) nabla.Real { return root(p)[0] }
	y, d, dd, err := nabla.ValueDerivativeAndSecondDerivative(f, reversediff.Backend{}, 4)
	fmt.Println(y, d, dd, err)
	// Output:
	// 2 0.25 -0.03125 <nil>
}
