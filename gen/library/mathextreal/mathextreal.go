// Package mathextreal has functions of gonum's package mathext over nabla.Real, for generated
// code. A parameter by which there is no derivative is a float64.
//
// Values are those of package mathext. Derivatives are formulas of their own, as in package
// mathextad, and so are derivatives of these: what mathext computes by series that end, by
// rational functions or by iterations has, differentiated as it stands, fewer right digits with
// every order. The functions are rules, each one operation in a recording, and panic as those of
// mathext do. They may be called by several goroutines.
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

// form is a function over Reals of which the first fixed arguments have no derivative.
type form struct {
	name  string
	fixed int
	value func(x []float64) float64
	// partials are the partial derivatives at x, where the value is y, and partialsReal the same
	// over Reals. Those by fixed arguments are not looked at.
	partials     func(x []float64, y float64) [most]float64
	partialsReal func(x []nabla.Real, y nabla.Real) [most]nabla.Real
}

// rule is f as one operation of every engine.
func rule(f form) func(x ...nabla.Real) []nabla.Real {
	return nabla.Rule{
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

// times is a partial derivative times what moves: 0 for 0 also where the derivative is
// infinite.
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

// large is where Stirling's series has nearly all digits.
const large = 16

// stirling is what log Γ(a) is more than (a-1/2)·log a - a + log(2π)/2, for a ≥ large (DLMF 5.11.1).
func stirling(a nabla.Real) nabla.Real {
	t := a.Sq().Inv()
	s := nabla.Const(1. / 1188)
	for _, c := range []float64{1. / 1680, 1. / 1260, 1. / 360, 1. / 12} {
		s = nabla.Const(c).Sub(t.Mul(s))
	}
	return s.Div(a)
}

// logRatio is log(x/y), where x-y = d has more digits than the difference has.
func logRatio(x, y, d nabla.Real) nabla.Real {
	u := d.Div(y)
	return nabla.Where(nabla.Lt(u.Abs(), nabla.Const(0.5)), nabla.Log1p(u), nabla.Log(x.Div(y)))
}

// gammaDensity is the derivative of P(a, x) by x; see mathextad.GammaDensity. Both of its forms are
// there, so that a recording has no guard.
func gammaDensity(a, x nabla.Real) nabla.Real {
	l, _ := nabla.Lgamma(a)
	direct := nabla.XLogY(a.AddConst(-1), x).Sub(x).Sub(l)
	d := x.Sub(a)
	apart := a.AddConst(-1).Mul(logRatio(x, a,
		d)).Sub(d).Sub(stirling(a)).Sub(nabla.Log(a.Scale(2 * math.Pi)).Scale(0.5))
	return nabla.Exp(nabla.Where(nabla.Lt(a, nabla.Const(large)), direct, apart))
}

// betaDensity is the derivative of I(x; a, b) by x; see mathextad.BetaDensity.
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

// mvLgamma is the rule of MvLgamma for each dimension that has been asked for.
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

// Digamma is mathext.Digamma, to its 9 or more digits; nabla.Digamma has more. Its derivatives are
// polygamma functions to nearly all digits.
func Digamma(x nabla.Real) nabla.Real { return digamma(x)[0] }

// MvLgamma is mathext.MvLgamma. Its rule is kept for each dim.
func MvLgamma(v nabla.Real, dim int) nabla.Real { return mvLgammaOf(dim)(v)[0] }

// NormalQuantile is mathext.NormalQuantile.
func NormalQuantile(p nabla.Real) nabla.Real { return normalQuantile(p)[0] }

// GammaIncReg is mathext.GammaIncReg, with derivatives by x.
func GammaIncReg(a float64, x nabla.Real) nabla.Real { return gammaIncReg(nabla.Const(a), x)[0] }

// GammaIncRegComp is mathext.GammaIncRegComp, with derivatives by x.
func GammaIncRegComp(a float64, x nabla.Real) nabla.Real {
	return gammaIncRegComp(nabla.Const(a), x)[0]
}

// GammaIncRegInv is mathext.GammaIncRegInv, with derivatives by y.
func GammaIncRegInv(a float64, y nabla.Real) nabla.Real { return gammaIncRegInv(nabla.Const(a), y)[0] }

// GammaIncRegCompInv is mathext.GammaIncRegCompInv, with derivatives by y.
func GammaIncRegCompInv(a float64, y nabla.Real) nabla.Real {
	return gammaIncRegCompInv(nabla.Const(a), y)[0]
}

// RegIncBeta is mathext.RegIncBeta, with derivatives by x.
func RegIncBeta(a, b float64, x nabla.Real) nabla.Real {
	return regIncBeta(nabla.Const(a), nabla.Const(b), x)[0]
}

// InvRegIncBeta is mathext.InvRegIncBeta, with derivatives by y.
func InvRegIncBeta(a, b float64, y nabla.Real) nabla.Real {
	return invRegIncBeta(nabla.Const(a), nabla.Const(b), y)[0]
}

// Zeta is mathext.Zeta, with derivatives by q.
func Zeta(x float64, q nabla.Real) nabla.Real { return zeta(nabla.Const(x), q)[0] }
