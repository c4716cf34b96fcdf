package mathextreal

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/gen/library/mathextad"
)

// With Δ² = 1-m·sin²φ, the derivatives with respect to φ are 1/Δ and Δ, and from DLMF 19.18.1 and 19.4.6 those with
// respect to m are sin³φ/6·R_D(cos²φ, 1, Δ²) for F and -sin³φ/6·R_D(cos²φ, Δ², 1) for E. The complete integrals are
// those at φ = π/2.
var (
	completeK = rule(form{
		name:  "CompleteK",
		value: func(x []float64) float64 { return mathext.CompleteK(x[0]) },
		partials: func(x []float64, _ float64) [most]float64 {
			return [most]float64{mathext.CompleteB(x[0]) / (2 * (1 - x[0]))}
		},
		partialsReal: func(x []nabla.Real, _ nabla.Real) [most]nabla.Real {
			return [most]nabla.Real{carlsonD(nabla.Real{}, nabla.Const(1), complement(x[0])).Scale(1. / 6)}
		},
	})
	completeE = rule(form{
		name:     "CompleteE",
		value:    func(x []float64) float64 { return mathext.CompleteE(x[0]) },
		partials: func(x []float64, _ float64) [most]float64 { return [most]float64{-mathext.CompleteD(x[0]) / 2} },
		partialsReal: func(x []nabla.Real, _ nabla.Real) [most]nabla.Real {
			return [most]nabla.Real{carlsonD(nabla.Real{}, complement(x[0]), nabla.Const(1)).Scale(-1. / 6)}
		},
	})
	ellipticF = rule(form{
		name:  "EllipticF",
		value: func(x []float64) float64 { return mathext.EllipticF(x[0], x[1]) },
		partials: func(x []float64, _ float64) [most]float64 {
			return [most]float64{1 / mathextad.EllipticDelta(x[0], x[1]), mathextad.EllipticFm(x[0], x[1])}
		},
		partialsReal: func(x []nabla.Real, _ nabla.Real) [most]nabla.Real {
			s, c, delta := angle(x[0], x[1])
			rd := carlsonD(c.Abs(), nabla.Const(1), delta)
			return [most]nabla.Real{nabla.Copysign(delta, c).Inv(), s.Sq().Mul(s).Mul(rd).Scale(1. / 6)}
		},
	})
	ellipticE = rule(form{
		name:  "EllipticE",
		value: func(x []float64) float64 { return mathext.EllipticE(x[0], x[1]) },
		partials: func(x []float64, _ float64) [most]float64 {
			return [most]float64{mathextad.EllipticDelta(x[0], x[1]), mathextad.EllipticEm(x[0], x[1])}
		},
		partialsReal: func(x []nabla.Real, _ nabla.Real) [most]nabla.Real {
			s, c, delta := angle(x[0], x[1])
			rd := carlsonD(c.Abs(), delta, nabla.Const(1))
			return [most]nabla.Real{nabla.Copysign(delta, c), s.Sq().Mul(s).Mul(rd).Scale(-1. / 6)}
		},
	})
)

// complement returns √(1-m), NaN with its derivatives where the complete integrals are.
func complement(m nabla.Real) nabla.Real {
	return nabla.Sqrt(nabla.Where(nabla.Lt(m, nabla.Real{}), m.Scale(math.NaN()), nabla.Const(1).Sub(m)))
}

// angle returns sin φ, cos φ and Δ. The square of Δ is computed as 1-m·sin²φ, whose derivative does not cancel for
// small m, or as cos²φ + (1-m)·sin²φ, which does not cancel where it is small.
func angle(phi, m nabla.Real) (s, c, delta nabla.Real) {
	s, c = nabla.Sincos(phi)
	small := nabla.Const(1).Sub(m.Mul(s.Sq()))
	large := c.Sq().Add(nabla.Const(1).Sub(m).Mul(s.Sq()))
	return s, c, nabla.Sqrt(nabla.Where(nabla.Lt(m, nabla.Const(0.5)), small, large))
}

// duplications is the number of steps after which x, y and z are equal to about 8 digits even if their ratio was 1e100;
// for 1e16 it is 10 digits. The truncation error of the final expansion is the fourth power of their distance.
const duplications = 12

// carlsonD returns the symmetric elliptic integral R_D(p², q², r²) for p, q, r ≥ 0, of which at most one of p and q is
// 0, by duplication (DLMF 19.36(i)). The number of steps is fixed, so that a recording has no guards. Derivatives of
// any order are accurate, since the terms of the computed function have derivatives of one sign.
func carlsonD(p, q, r nabla.Real) nabla.Real {
	x, y, z := p.Sq(), q.Sq(), r.Sq()
	mean := x.Add(y).Add(z.Scale(3)).Scale(0.2)
	fromX, fromY := mean.Sub(x), mean.Sub(y)
	var sum nabla.Real
	power := 1.0 // of 4
	for k := range duplications {
		if k > 0 {
			p, q, r = nabla.Sqrt(x), nabla.Sqrt(y), nabla.Sqrt(z)
		}
		shift := p.Mul(q).Add(q.Mul(r)).Add(r.Mul(p))
		sum = sum.Add(r.Mul(z.Add(shift)).Inv().Scale(1 / power))
		x, y, z = x.Add(shift).Scale(0.25), y.Add(shift).Scale(0.25), z.Add(shift).Scale(0.25)
		mean = mean.Add(shift).Scale(0.25)
		power *= 4
	}
	// DLMF 19.36.2, to the third order.
	scale := mean.Inv().Scale(1 / power)
	a, b := fromX.Mul(scale), fromY.Mul(scale)
	c := a.Add(b).Scale(-1. / 3)
	ab, cc := a.Mul(b), c.Sq()
	e2, e3 := ab.Sub(cc.Scale(6)), ab.Scale(3).Sub(cc.Scale(8)).Mul(c)
	series := e2.Scale(-3. / 14).Add(e3.Scale(1. / 6)).AddConst(1)
	return sum.Scale(3).Add(series.Mul(scale).Div(nabla.Sqrt(mean)))
}

// CompleteK is mathext.CompleteK.
func CompleteK(m nabla.Real) nabla.Real { return completeK(m)[0] }

// CompleteE is mathext.CompleteE.
func CompleteE(m nabla.Real) nabla.Real { return completeE(m)[0] }

// EllipticF is mathext.EllipticF.
func EllipticF(phi, m nabla.Real) nabla.Real { return ellipticF(phi, m)[0] }

// EllipticE is mathext.EllipticE.
func EllipticE(phi, m nabla.Real) nabla.Real { return ellipticE(phi, m)[0] }
