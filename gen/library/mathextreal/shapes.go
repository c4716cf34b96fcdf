package mathextreal

import (
	"sync"

	"gonum.org/v1/gonum/mathext"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/gen/library/mathextad"
)

// Functions with derivatives with respect to their shapes a and b. The derivative of order j with respect to a and k
// with respect to b is a function of its own, and so are the other functions of package mathextad from which
// derivatives are computed. Their derivatives are such functions again, of the next order.

// A family returns the function of order j, k of one kind, applied to x.
type family func(j, k int, x ...nabla.Real) nabla.Real

// newFamily returns a family of rules. The partial derivatives at x are over Reals; y is the value at x.
func newFamily(name string, value func(j, k int, x []float64) float64,
	partials func(j, k int, x []nabla.Real, y nabla.Real) []nabla.Real) family {
	var rules sync.Map // from orders to functions
	return func(j, k int, x ...nabla.Real) nabla.Real {
		f, ok := rules.Load([2]int{j, k})
		if !ok {
			f, _ = rules.LoadOrStore([2]int{j, k}, nabla.Rule{
				Name:  "mathextreal." + name,
				Pure:  true,
				Value: func(y, x []float64) { y[0] = value(j, k, x) },
				JVPReal: func(ydot, x, y, xdot []nabla.Real) {
					var sum nabla.Real
					for i, d := range partials(j, k, x, y[0]) {
						sum = sum.Add(d.Mul(xdot[i]))
					}
					ydot[0] = sum
				},
			}.Func())
		}
		return f.(func(x ...nabla.Real) []nabla.Real)(x...)[0]
	}
}

var gammaShape, gammaSlope, gammaBell, gammaInvShape, gammaInvSlope family // those of mathextad, with k = 0
var betaShape, betaSlope, betaBell, betaInvShape, betaInvSlope family

func init() {
	type reals = []nabla.Real
	// steep is the derivative of the logarithm of a density with respect to x.
	steep := func(a, x nabla.Real) nabla.Real { return a.AddConst(-1).Sub(x).Div(x) }
	gammaShape = newFamily("gammaShape",
		func(k, _ int, x []float64) float64 { return mathextad.GammaShape(k, x[0], x[1], 1) },
		func(k, _ int, x reals, _ nabla.Real) reals {
			return reals{gammaShape(k+1, 0, x...), gammaSlope(k, 0, x...)}
		})
	gammaSlope = newFamily("gammaSlope",
		func(k, _ int, x []float64) float64 { return mathextad.GammaSlope(k, x[0], x[1], 1) },
		func(k, _ int, x reals, y nabla.Real) reals {
			dx := y.Mul(steep(x[0], x[1]))
			if k > 0 {
				dx = dx.Add(gammaSlope(k-1, 0, x...).Scale(float64(k)).Div(x[1]))
			}
			return reals{gammaSlope(k+1, 0, x...), dx}
		})
	gammaBell = newFamily("gammaBell",
		func(k, _ int, x []float64) float64 { return mathextad.GammaBell(k, x[0], x[1], 1) },
		func(k, _ int, x reals, y nabla.Real) reals {
			if k == 0 {
				return nil
			}
			return reals{gammaBell(k+1, 0, x...).Sub(y.Mul(gammaBell(1, 0, x...))),
				gammaBell(k-1, 0, x...).Scale(float64(k)).Div(x[1])}
		})
	gammaInvShape = newFamily("gammaInvShape",
		func(k, _ int, x []float64) float64 { return mathextad.GammaInvShape(k, x[0], x[1], 1) },
		func(k, _ int, x reals, y nabla.Real) reals {
			return reals{gammaInvShape(k+1, 0, x...).Sub(y.Mul(gammaBell(1, 0, x...))),
				y.Mul(steep(x[0], x[1])).Add(gammaBell(k, 0, x...)).Neg()}
		})
	gammaInvSlope = newFamily("gammaInvSlope",
		func(_, _ int, x []float64) float64 { return mathextad.GammaInvSlope(x[0], x[1], 1) },
		func(_, _ int, x reals, y nabla.Real) reals {
			return reals{y.Mul(gammaBell(1, 0, x...)).Neg(), y.Mul(steep(x[0], x[1])).Neg()}
		})

	one := nabla.Const(1)
	incline := func(x reals) nabla.Real {
		return x[0].AddConst(-1).Div(x[2]).Sub(x[1].AddConst(-1).Div(one.Sub(x[2])))
	}
	// lower adds to v the functions of the next lower orders, which come from log x and log(1-x).
	lower := func(v nabla.Real, of family, j, k int, x reals) nabla.Real {
		if j > 0 {
			v = v.Add(of(j-1, k, x...).Scale(float64(j)).Div(x[2]))
		}
		if k > 0 {
			v = v.Sub(of(j, k-1, x...).Scale(float64(k)).Div(one.Sub(x[2])))
		}
		return v
	}
	betaShape = newFamily("betaShape",
		func(j, k int, x []float64) float64 { return mathextad.BetaShape(j, k, x[0], x[1], x[2], 1) },
		func(j, k int, x reals, _ nabla.Real) reals {
			return reals{betaShape(j+1, k, x...), betaShape(j, k+1, x...), betaSlope(j, k, x...)}
		})
	betaSlope = newFamily("betaSlope",
		func(j, k int, x []float64) float64 { return mathextad.BetaSlope(j, k, x[0], x[1], x[2], 1) },
		func(j, k int, x reals, y nabla.Real) reals {
			return reals{betaSlope(j+1, k, x...), betaSlope(j, k+1, x...),
				lower(y.Mul(incline(x)), betaSlope, j, k, x)}
		})
	betaBell = newFamily("betaBell",
		func(j, k int, x []float64) float64 { return mathextad.BetaBell(j, k, x[0], x[1], x[2], 1) },
		func(j, k int, x reals, y nabla.Real) reals {
			if j+k == 0 {
				return nil
			}
			return reals{betaBell(j+1, k, x...).Sub(y.Mul(betaBell(1, 0, x...))),
				betaBell(j, k+1, x...).Sub(y.Mul(betaBell(0, 1, x...))), lower(nabla.Real{}, betaBell, j, k, x)}
		})
	betaInvShape = newFamily("betaInvShape",
		func(j, k int, x []float64) float64 { return mathextad.BetaInvShape(j, k, x[0], x[1], x[2], 1) },
		func(j, k int, x reals, y nabla.Real) reals {
			return reals{betaInvShape(j+1, k, x...).Sub(y.Mul(betaBell(1, 0, x...))),
				betaInvShape(j, k+1, x...).Sub(y.Mul(betaBell(0, 1, x...))),
				y.Mul(incline(x)).Add(betaBell(j, k, x...)).Neg()}
		})
	betaInvSlope = newFamily("betaInvSlope",
		func(_, _ int, x []float64) float64 { return mathextad.BetaInvSlope(x[0], x[1], x[2], 1) },
		func(_, _ int, x reals, y nabla.Real) reals {
			return reals{y.Mul(betaBell(1, 0, x...)).Neg(), y.Mul(betaBell(0, 1, x...)).Neg(), y.Mul(incline(x)).Neg()}
		})
}

// shaped returns a function with derivatives with respect to all its arguments as one operation of every engine.
// Partial returns partial derivative i times t at x, where the value is y, and computes nothing if t is 0; partialReal
// returns partial derivative i over Reals.
func shaped(name string, value func(x []float64) float64, partial func(i int, x []float64, y, t float64) float64,
	partialReal func(i int, x []nabla.Real, y nabla.Real) nabla.Real) func(x ...nabla.Real) []nabla.Real {
	return nabla.Rule{
		Name:  "mathext." + name,
		Pure:  true,
		Value: func(y, x []float64) { y[0] = value(x) },
		JVP: func(ydot, x, y, xdot []float64) {
			sum := 0.0
			for i, t := range xdot {
				sum += partial(i, x, y[0], t)
			}
			ydot[0] = sum
		},
		VJP: func(xbar, x, y, ybar []float64) {
			for i := range xbar {
				xbar[i] += partial(i, x, y[0], ybar[0])
			}
		},
		JVPReal: func(ydot, x, y, xdot []nabla.Real) {
			var sum nabla.Real
			for i, t := range xdot {
				sum = sum.Add(partialReal(i, x, y[0]).Mul(t))
			}
			ydot[0] = sum
		},
	}.Func()
}

// gammaOf returns P(a, x), or Q(a, x) for a sign of -1, as shaped does.
func gammaOf(name string, value func(a, x float64) float64, sign float64) func(x ...nabla.Real) []nabla.Real {
	return shaped(name, func(x []float64) float64 { return value(x[0], x[1]) },
		func(i int, x []float64, _, t float64) float64 {
			if i == 0 {
				return mathextad.GammaShape(1, x[0], x[1], sign*t)
			}
			return mathextad.GammaSlope(0, x[0], x[1], sign*t)
		},
		func(i int, x []nabla.Real, _ nabla.Real) nabla.Real {
			if i == 0 {
				return gammaShape(1, 0, x...).Scale(sign)
			}
			return gammaSlope(0, 0, x...).Scale(sign)
		})
}

// gammaInvOf returns the inverse of the function that gammaOf returns.
func gammaInvOf(name string, value func(a, y float64) float64, sign float64) func(x ...nabla.Real) []nabla.Real {
	return shaped(name, func(x []float64) float64 { return value(x[0], x[1]) },
		func(i int, x []float64, y, t float64) float64 {
			if i == 0 {
				return mathextad.GammaInvShape(1, x[0], y, t)
			}
			return mathextad.GammaInvSlope(x[0], y, sign*t)
		},
		func(i int, x []nabla.Real, y nabla.Real) nabla.Real {
			if i == 0 {
				return gammaInvShape(1, 0, x[0], y)
			}
			return gammaInvSlope(0, 0, x[0], y).Scale(sign)
		})
}

var (
	gammaIncRegShape        = gammaOf("GammaIncReg", mathext.GammaIncReg, 1)
	gammaIncRegCompShape    = gammaOf("GammaIncRegComp", mathext.GammaIncRegComp, -1)
	gammaIncRegInvShape     = gammaInvOf("GammaIncRegInv", mathext.GammaIncRegInv, 1)
	gammaIncRegCompInvShape = gammaInvOf("GammaIncRegCompInv", mathext.GammaIncRegCompInv, -1)
	regIncBetaShape         = shaped("RegIncBeta",
		func(x []float64) float64 { return mathext.RegIncBeta(x[0], x[1], x[2]) },
		func(i int, x []float64, _, t float64) float64 {
			switch i {
			case 0:
				return mathextad.BetaShape(1, 0, x[0], x[1], x[2], t)
			case 1:
				return mathextad.BetaShape(0, 1, x[0], x[1], x[2], t)
			}
			return mathextad.BetaSlope(0, 0, x[0], x[1], x[2], t)
		},
		func(i int, x []nabla.Real, _ nabla.Real) nabla.Real {
			switch i {
			case 0:
				return betaShape(1, 0, x...)
			case 1:
				return betaShape(0, 1, x...)
			}
			return betaSlope(0, 0, x...)
		})
	invRegIncBetaShape = shaped("InvRegIncBeta",
		func(x []float64) float64 { return mathext.InvRegIncBeta(x[0], x[1], x[2]) },
		func(i int, x []float64, y, t float64) float64 {
			switch i {
			case 0:
				return mathextad.BetaInvShape(1, 0, x[0], x[1], y, t)
			case 1:
				return mathextad.BetaInvShape(0, 1, x[0], x[1], y, t)
			}
			return mathextad.BetaInvSlope(x[0], x[1], y, t)
		},
		func(i int, x []nabla.Real, y nabla.Real) nabla.Real {
			switch i {
			case 0:
				return betaInvShape(1, 0, x[0], x[1], y)
			case 1:
				return betaInvShape(0, 1, x[0], x[1], y)
			}
			return betaInvSlope(0, 0, x[0], x[1], y)
		})
)

// GammaIncRegShape is mathext.GammaIncReg, with derivatives with respect to both parameters.
func GammaIncRegShape(a, x nabla.Real) nabla.Real { return gammaIncRegShape(a, x)[0] }

// GammaIncRegCompShape is mathext.GammaIncRegComp, with derivatives with respect to both parameters.
func GammaIncRegCompShape(a, x nabla.Real) nabla.Real { return gammaIncRegCompShape(a, x)[0] }

// GammaIncRegInvShape is mathext.GammaIncRegInv, with derivatives with respect to both parameters.
func GammaIncRegInvShape(a, y nabla.Real) nabla.Real { return gammaIncRegInvShape(a, y)[0] }

// GammaIncRegCompInvShape is mathext.GammaIncRegCompInv, with derivatives with respect to both parameters.
func GammaIncRegCompInvShape(a, y nabla.Real) nabla.Real { return gammaIncRegCompInvShape(a, y)[0] }

// RegIncBetaShape is mathext.RegIncBeta, with derivatives with respect to all parameters.
func RegIncBetaShape(a, b, x nabla.Real) nabla.Real { return regIncBetaShape(a, b, x)[0] }

// InvRegIncBetaShape is mathext.InvRegIncBeta, with derivatives with respect to all parameters.
func InvRegIncBetaShape(a, b, y nabla.Real) nabla.Real { return invRegIncBetaShape(a, b, y)[0] }
