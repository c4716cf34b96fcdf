// Package mathextreal has functions of gonum's package mathext over nabla.Real, for generated code. A parameter with
// respect to which there is no derivative is a float64. The shapes of incomplete gamma and beta functions are float64s
// too, since derivatives with respect to them cost some microseconds; GammaIncRegShape and the like have these.
//
// Values are those of package mathext. Derivatives of all orders are computed from formulas, as in package mathextad:
// mathext uses truncated series, rational functions and iterations, whose own derivatives lose digits with each order.
// Derivatives with respect to shapes are of order 12 at most; a further one panics. Each function is a rule, one
// operation of a recording, and panics if that of mathext does. They may be called by several goroutines.
package mathextreal

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/mathext"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/gen/library/mathextad"
	"github.com/nabla-ad/nabla/gen/rt"
)

// most is the largest number of arguments.
const most = 3

// A form is a function over Reals. It has no derivatives with respect to its first fixed arguments.
type form struct {
	name  string
	fixed int
	value func(x []float64) float64
	// partials returns the partial derivatives at x, where the value is y, and partialsReal the same over Reals. Those
	// with respect to fixed arguments are ignored.
	partials     func(x []float64, y float64) [most]float64
	partialsReal func(x []nabla.Real, y nabla.Real) [most]nabla.Real
}

// rule returns f as one operation of every engine.
func rule(f form) func(x ...nabla.Real) []nabla.Real {
	return nabla.Rule{
		Pure:  true,
		Name:  "mathext." + f.name,
		Value: func(y, x []float64) { y[0] = f.value(x) },
		JVP: func(ydot, x, y, xdot []float64) {
			d, sum := f.partials(x, y[0]), 0.0
			for i := f.fixed; i < len(x); i++ {
				sum += times(d[i], xdot[i])
			}
			ydot[0] = sum
		},
		VJP: func(xbar, x, y, ybar []float64) {
			d := f.partials(x, y[0])
			for i := f.fixed; i < len(x); i++ {
				xbar[i] += times(d[i], ybar[0])
			}
		},
		JVPReal: func(ydot, x, y, xdot []nabla.Real) {
			d := f.partialsReal(x, y[0])
			sum := d[f.fixed].Mul(xdot[f.fixed])
			for i := f.fixed + 1; i < len(x); i++ {
				sum = sum.Add(d[i].Mul(xdot[i]))
			}
			ydot[0] = sum
		},
	}.Func()
}

// times returns a partial derivative times a tangent or cotangent: 0 if that is 0, even if the derivative is infinite
// (a strong zero).
func times(partial, t float64) float64 {
	p := partial * t
	if t == 0 && p != p {
		return 0
	}
	return p
}

var (
	beta = rule(form{
		name:  "Beta",
		value: func(x []float64) float64 { return mathext.Beta(x[0], x[1]) },
		partials: func(x []float64, y float64) [most]float64 {
			both := rt.Digamma(x[0] + x[1])
			return [most]float64{y * (rt.Digamma(x[0]) - both), y * (rt.Digamma(x[1]) - both)}
		},
		partialsReal: func(x []nabla.Real, y nabla.Real) [most]nabla.Real {
			both := nabla.Digamma(x[0].Add(x[1]))
			return [most]nabla.Real{y.Mul(nabla.Digamma(x[0]).Sub(both)), y.Mul(nabla.Digamma(x[1]).Sub(both))}
		},
	})
	lbeta = rule(form{
		name:  "Lbeta",
		value: func(x []float64) float64 { return mathext.Lbeta(x[0], x[1]) },
		partials: func(x []float64, _ float64) [most]float64 {
			both := rt.Digamma(x[0] + x[1])
			return [most]float64{rt.Digamma(x[0]) - both, rt.Digamma(x[1]) - both}
		},
		partialsReal: func(x []nabla.Real, _ nabla.Real) [most]nabla.Real {
			both := nabla.Digamma(x[0].Add(x[1]))
			return [most]nabla.Real{nabla.Digamma(x[0]).Sub(both), nabla.Digamma(x[1]).Sub(both)}
		},
	})
	digamma = rule(form{
		name:     "Digamma",
		value:    func(x []float64) float64 { return mathext.Digamma(x[0]) },
		partials: func(x []float64, _ float64) [most]float64 { return [most]float64{rt.Polygamma(1, x[0])} },
		partialsReal: func(x []nabla.Real, _ nabla.Real) [most]nabla.Real {
			return [most]nabla.Real{nabla.Polygamma(1, x[0])}
		},
	})
	normalQuantile = rule(form{
		name:  "NormalQuantile",
		value: func(x []float64) float64 { return mathext.NormalQuantile(x[0]) },
		partials: func(_ []float64, y float64) [most]float64 {
			return [most]float64{math.Sqrt(2*math.Pi) * math.Exp(y*y/2)}
		},
		partialsReal: func(_ []nabla.Real, y nabla.Real) [most]nabla.Real {
			return [most]nabla.Real{nabla.Exp(y.Sq().Scale(0.5)).Scale(math.Sqrt(2 * math.Pi))}
		},
	})
	gammaIncReg = rule(form{
		name: "GammaIncReg", fixed: 1,
		value: func(x []float64) float64 { return mathext.GammaIncReg(x[0], x[1]) },
		partials: func(x []float64, _ float64) [most]float64 {
			return [most]float64{1: mathextad.GammaDensity(x[0], x[1])}
		},
		partialsReal: func(x []nabla.Real, _ nabla.Real) [most]nabla.Real {
			return [most]nabla.Real{1: gammaDensity(x[0], x[1])}
		},
	})
	gammaIncRegComp = rule(form{
		name: "GammaIncRegComp", fixed: 1,
		value: func(x []float64) float64 { return mathext.GammaIncRegComp(x[0], x[1]) },
		partials: func(x []float64, _ float64) [most]float64 {
			return [most]float64{1: -mathextad.GammaDensity(x[0], x[1])}
		},
		partialsReal: func(x []nabla.Real, _ nabla.Real) [most]nabla.Real {
			return [most]nabla.Real{1: gammaDensity(x[0], x[1]).Neg()}
		},
	})
	gammaIncRegInv = rule(form{
		name: "GammaIncRegInv", fixed: 1,
		value: func(x []float64) float64 { return mathext.GammaIncRegInv(x[0], x[1]) },
		partials: func(x []float64, y float64) [most]float64 {
			return [most]float64{1: 1 / mathextad.GammaDensity(x[0], y)}
		},
		partialsReal: func(x []nabla.Real, y nabla.Real) [most]nabla.Real {
			return [most]nabla.Real{1: gammaDensity(x[0], y).Inv()}
		},
	})
	gammaIncRegCompInv = rule(form{
		name: "GammaIncRegCompInv", fixed: 1,
		value: func(x []float64) float64 { return mathext.GammaIncRegCompInv(x[0], x[1]) },
		partials: func(x []float64, y float64) [most]float64 {
			return [most]float64{1: -1 / mathextad.GammaDensity(x[0], y)}
		},
		partialsReal: func(x []nabla.Real, y nabla.Real) [most]nabla.Real {
			return [most]nabla.Real{1: gammaDensity(x[0], y).Inv().Neg()}
		},
	})
	regIncBeta = rule(form{
		name: "RegIncBeta", fixed: 2,
		value: func(x []float64) float64 { return mathext.RegIncBeta(x[0], x[1], x[2]) },
		partials: func(x []float64, _ float64) [most]float64 {
			return [most]float64{2: mathextad.BetaDensity(x[0], x[1], x[2])}
		},
		partialsReal: func(x []nabla.Real, _ nabla.Real) [most]nabla.Real {
			return [most]nabla.Real{2: betaDensity(x[0], x[1], x[2])}
		},
	})
	invRegIncBeta = rule(form{
		name: "InvRegIncBeta", fixed: 2,
		value: func(x []float64) float64 { return mathext.InvRegIncBeta(x[0], x[1], x[2]) },
		partials: func(x []float64, y float64) [most]float64 {
			return [most]float64{2: 1 / mathextad.BetaDensity(x[0], x[1], y)}
		},
		partialsReal: func(x []nabla.Real, y nabla.Real) [most]nabla.Real {
			return [most]nabla.Real{2: betaDensity(x[0], x[1], y).Inv()}
		},
	})
	zeta func(x ...nabla.Real) []nabla.Real // which its derivative calls
)

func init() {
	zeta = rule(form{
		name: "Zeta", fixed: 1,
		value: func(x []float64) float64 { return mathext.Zeta(x[0], x[1]) },
		partials: func(x []float64, _ float64) [most]float64 {
			return [most]float64{1: -x[0] * mathext.Zeta(x[0]+1, x[1])}
		},
		partialsReal: func(x []nabla.Real, _ nabla.Real) [most]nabla.Real {
			return [most]nabla.Real{1: zeta(x[0].AddConst(1), x[1])[0].Mul(x[0]).Neg()}
		},
	})
}

// large is the argument from which on Stirling's series has nearly all digits.
const large = 16

// stirling returns log Γ(a) - ((a-1/2)·log a - a + log(2π)/2) for a ≥ large (DLMF 5.11.1).
func stirling(a nabla.Real) nabla.Real {
	t := a.Sq().Inv()
	s := nabla.Const(1. / 1188)
	for _, c := range []float64{1. / 1680, 1. / 1260, 1. / 360, 1. / 12} {
		s = nabla.Const(c).Sub(t.Mul(s))
	}
	return s.Div(a)
}

// logRatio returns log(x/y), given d = x-y to more digits than the difference of x and y has.
func logRatio(x, y, d nabla.Real) nabla.Real {
	u := d.Div(y)
	return nabla.Where(nabla.Lt(u.Abs(), nabla.Const(0.5)), nabla.Log1p(u), nabla.Log(x.Div(y)))
}

// gammaDensity returns the derivative of P(a, x) with respect to x; see mathextad.GammaDensity. It computes both forms
// and selects one without a branch, so that a recording has no guard.
func gammaDensity(a, x nabla.Real) nabla.Real {
	l, _ := nabla.Lgamma(a)
	direct := nabla.XLogY(a.AddConst(-1), x).Sub(x).Sub(l)
	d := x.Sub(a)
	apart := a.AddConst(-1).Mul(logRatio(x, a,
		d)).Sub(d).Sub(stirling(a)).Sub(nabla.Log(a.Scale(2 * math.Pi)).Scale(0.5))
	return nabla.Exp(nabla.Where(nabla.Lt(a, nabla.Const(large)), direct, apart))
}

// betaDensity returns the derivative of I(x; a, b) with respect to x; see mathextad.BetaDensity.
func betaDensity(a, b, x nabla.Real) nabla.Real {
	rest := nabla.Const(1).Sub(x)
	direct := nabla.XLogY(a.AddConst(-1), x).Add(nabla.XLogY(b.AddConst(-1), rest)).Sub(Lbeta(a, b))
	n := a.Add(b)
	d := n.Mul(x).Sub(a)
	apart := a.AddConst(-1).Mul(logRatio(n.Mul(x), a, d)).Add(b.AddConst(-1).Mul(logRatio(n.Mul(rest), b, d.Neg()))).
		Add(stirling(n)).Sub(stirling(a)).Sub(stirling(b)).
		Add(nabla.Log(n.Mul(n).Mul(n).Div(a.Scale(2 * math.Pi)).Div(b)).Scale(0.5))
	small := nabla.Lt(a, nabla.Const(large)).Or(nabla.Lt(b, nabla.Const(large)))
	return nabla.Exp(nabla.Where(small, direct, apart))
}

// mvLgamma maps dimensions to the rules of MvLgamma, which are created on demand.
var mvLgamma sync.Map

func mvLgammaOf(dim int) func(x ...nabla.Real) []nabla.Real {
	if r, ok := mvLgamma.Load(dim); ok {
		return r.(func(x ...nabla.Real) []nabla.Real)
	}
	r, _ := mvLgamma.LoadOrStore(dim, rule(form{
		name:     "MvLgamma",
		value:    func(x []float64) float64 { return mathext.MvLgamma(x[0], dim) },
		partials: func(x []float64, _ float64) [most]float64 { return [most]float64{mathextad.MvDigamma(x[0], dim)} },
		partialsReal: func(x []nabla.Real, _ nabla.Real) [most]nabla.Real {
			var sum nabla.Real
			for j := range dim {
				sum = sum.Add(nabla.Digamma(x[0].AddConst(-float64(j) / 2)))
			}
			return [most]nabla.Real{sum}
		},
	}))
	return r.(func(x ...nabla.Real) []nabla.Real)
}

// Beta is mathext.Beta.
func Beta(a, b nabla.Real) nabla.Real { return beta(a, b)[0] }

// Lbeta is mathext.Lbeta.
func Lbeta(a, b nabla.Real) nabla.Real { return lbeta(a, b)[0] }

// Digamma is mathext.Digamma, which has at least 9 digits; nabla.Digamma has more. Its derivatives are polygamma
// functions to nearly all digits.
func Digamma(x nabla.Real) nabla.Real { return digamma(x)[0] }

// MvLgamma is mathext.MvLgamma. The rule of each dim is cached.
func MvLgamma(v nabla.Real, dim int) nabla.Real { return mvLgammaOf(dim)(v)[0] }

// NormalQuantile is mathext.NormalQuantile.
func NormalQuantile(p nabla.Real) nabla.Real { return normalQuantile(p)[0] }

// GammaIncReg is mathext.GammaIncReg, with derivatives with respect to x.
func GammaIncReg(a float64, x nabla.Real) nabla.Real { return gammaIncReg(nabla.Const(a), x)[0] }

// GammaIncRegComp is mathext.GammaIncRegComp, with derivatives with respect to x.
func GammaIncRegComp(a float64, x nabla.Real) nabla.Real {
	return gammaIncRegComp(nabla.Const(a), x)[0]
}

// GammaIncRegInv is mathext.GammaIncRegInv, with derivatives with respect to y.
func GammaIncRegInv(a float64, y nabla.Real) nabla.Real { return gammaIncRegInv(nabla.Const(a), y)[0] }

// GammaIncRegCompInv is mathext.GammaIncRegCompInv, with derivatives with respect to y.
func GammaIncRegCompInv(a float64, y nabla.Real) nabla.Real {
	return gammaIncRegCompInv(nabla.Const(a), y)[0]
}

// RegIncBeta is mathext.RegIncBeta, with derivatives with respect to x.
func RegIncBeta(a, b float64, x nabla.Real) nabla.Real {
	return regIncBeta(nabla.Const(a), nabla.Const(b), x)[0]
}

// InvRegIncBeta is mathext.InvRegIncBeta, with derivatives with respect to y.
func InvRegIncBeta(a, b float64, y nabla.Real) nabla.Real {
	return invRegIncBeta(nabla.Const(a), nabla.Const(b), y)[0]
}

// Zeta is mathext.Zeta, with derivatives with respect to q.
func Zeta(x float64, q nabla.Real) nabla.Real { return zeta(nabla.Const(x), q)[0] }
