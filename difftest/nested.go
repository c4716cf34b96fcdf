package difftest

import (
	"math"

	"github.com/nabla-ad/nabla"
)

// Scenarios whose functions take derivatives themselves, and those with a rule.

// A nestedDerivative is a function that itself differentiates with the backend under test.
type nestedDerivative struct {
	name      string
	m         int
	operators []string
	family    family
	// over returns the function, which differentiates with b.
	over func(b nabla.Backend) func(y, x []nabla.Real)
}

// derivativesInside returns functions of the gradient (2·x0·x1, x0² + x1) of z ↦ z0²·z1 + c·z1 at z = x, where c is the
// captured x1, and functions with a part that nabla.DifferentiateVectorWith differentiates. scalar and vector are the
// operators to apply.
func derivativesInside(scalar, vector []string) []nestedDerivative {
	gradient := func(b nabla.Backend, x []nabla.Real) []nabla.Real {
		return nabla.GradientFunc(func(z []nabla.Real) nabla.Real {
			return z[0].Sq().Mul(z[1]).Add(x[1].Mul(z[1]))
		}, b)(x[:2])
	}
	box := func(b nabla.Backend) func(x []nabla.Real) []nabla.Real { // (a²b, a·sin b)
		return nabla.DifferentiateVectorWith(func(z []nabla.Real) []nabla.Real {
			return []nabla.Real{z[0].Sq().Mul(z[1]), z[0].Mul(nabla.Sin(z[1]))}
		}, b)
	}
	return []nestedDerivative{
		{"boxed", 2, vector, family{
			outputs: func(int) int { return 2 },
			exact: func(x []float64, m int) exactResults { // (a²b², a·sin b + a²b)
				n := len(x)
				t := newExactResults(n, m)
				a, b := x[0], x[1]
				sin, cos := math.Sincos(b)
				t.y[0], t.y[1] = a*a*b*b, a*sin+a*a*b
				t.jac[0], t.jac[1], t.jac[n], t.jac[n+1] = 2*a*b*b, 2*a*a*b, sin+2*a*b, a*cos+a*a
				return t
			},
		}, func(b nabla.Backend) func(y, x []nabla.Real) {
			f := box(b)
			return func(y, x []nabla.Real) {
				z := f(x[:2])
				y[0], y[1] = z[0].Mul(x[1]), z[0].Add(z[1])
			}
		}},
		{"boxed_scalar", 1, scalar, family{
			outputs: oneOutput,
			exact: func(x []float64, _ int) exactResults { // a³b·sin b
				t := newExactResults(len(x), 1)
				a, b := x[0], x[1]
				sin, cos := math.Sincos(b)
				t.set2(a*a*a*b*sin, 3*a*a*b*sin, a*a*a*(sin+b*cos), 6*a*b*sin, 3*a*a*(sin+b*cos),
					a*a*a*(2*cos-b*sin))
				return t
			},
		}, func(b nabla.Backend) func(y, x []nabla.Real) {
			f := box(b)
			return func(y, x []nabla.Real) {
				z := f(x[:2])
				y[0] = z[0].Mul(z[1])
			}
		}},
		{"nested", 2, vector, family{
			outputs: func(int) int { return 2 },
			exact: func(x []float64, m int) exactResults {
				n := len(x)
				t := newExactResults(n, m)
				t.y[0], t.y[1] = 2*x[0]*x[1], x[0]*x[0]+x[1]
				t.jac[0], t.jac[1], t.jac[n], t.jac[n+1] = 2*x[1], 2*x[0], 2*x[0], 1
				return t
			},
		}, func(b nabla.Backend) func(y, x []nabla.Real) {
			return func(y, x []nabla.Real) { copy(y, gradient(b, x)) }
		}},
		{"nested_scalar", 1, scalar, family{
			outputs: oneOutput,
			exact: func(x []float64, _ int) exactResults { // 2a³b + 2ab²
				t := newExactResults(len(x), 1)
				a, b := x[0], x[1]
				t.set2(2*a*a*a*b+2*a*b*b, 6*a*a*b+2*b*b, 2*a*a*a+4*a*b, 12*a*b, 6*a*a+4*b, 4*a)
				return t
			},
		}, func(b nabla.Backend) func(y, x []nabla.Real) {
			return func(y, x []nabla.Real) {
				g := gradient(b, x)
				y[0] = g[0].Mul(g[1])
			}
		}},
	}
}

// The rule of the scenarios computes a²·sin b.
func ruleValue(y, x []float64) { y[0] = x[0] * x[0] * math.Sin(x[1]) }

func ruleJVP(ydot, x, _, xdot []float64) {
	sin, cos := math.Sincos(x[1])
	ydot[0] = 2*x[0]*sin*xdot[0] + x[0]*x[0]*cos*xdot[1]
}

func ruleVJP(xbar, x, _, ybar []float64) {
	sin, cos := math.Sincos(x[1])
	xbar[0] += 2 * x[0] * sin * ybar[0]
	xbar[1] += x[0] * x[0] * cos * ybar[0]
}

func ruleJVPReal(ydot, x, _, xdot []nabla.Real) {
	sin, cos := nabla.Sincos(x[1])
	ydot[0] = x[0].Scale(2).Mul(sin).Mul(xdot[0]).Add(x[0].Sq().Mul(cos).Mul(xdot[1]))
}

func ruleVJPReal(xbar, x, _, ybar []nabla.Real) {
	sin, cos := nabla.Sincos(x[1])
	xbar[0] = xbar[0].Add(x[0].Scale(2).Mul(sin).Mul(ybar[0]))
	xbar[1] = xbar[1].Add(x[0].Sq().Mul(cos).Mul(ybar[0]))
}

// withRule returns a²·sin b·b + a, with the rule for a²·sin b.
func withRule(r nabla.Rule) family {
	f := r.Func()
	return ofScalar(func(x []nabla.Real) nabla.Real {
		return f(x[0], x[1])[0].Mul(x[1]).Add(x[0])
	}, func(x []float64, _ int) exactResults {
		t := newExactResults(len(x), 1)
		a, b := x[0], x[1]
		sin, cos := math.Sincos(b)
		t.set2(a*a*b*sin+a, 2*a*b*sin+1, a*a*(b*cos+sin), 2*b*sin, 2*a*(b*cos+sin), a*a*(2*cos-b*sin))
		return t
	})
}
