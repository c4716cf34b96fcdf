// Package mathad has the derivatives of the functions of package math with several
// results.
package mathad

import (
	"math"

	"github.com/nabla-ad/nabla/gen/rt"
)

// SincosTangent is the tangent of math.Sincos.
func SincosTangent(x, xDot float64) (sin, cos, sinDot, cosDot float64) {
	sin, cos = math.Sincos(x)
	return sin, cos, cos * xDot, -sin * xDot
}

// SincosPullback is the pullback of math.Sincos.
func SincosPullback(x, sinBar, cosBar float64) (xBar float64) {
	sin, cos := math.Sincos(x)
	return cos*sinBar - sin*cosBar
}

// LgammaTangent is the tangent of math.Lgamma: the derivative is the digamma function
// (DLMF §5.2). What does not move has none at a pole either.
func LgammaTangent(x, xDot float64) (lgamma float64, sign int, lgammaDot float64) {
	lgamma, sign = math.Lgamma(x)
	return lgamma, sign, times(rt.Digamma(x), xDot)
}

// LgammaPullback is the pullback of math.Lgamma.
func LgammaPullback(x, lgammaBar float64) (xBar float64) {
	return times(rt.Digamma(x), lgammaBar)
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

// ModfTangent is the tangent of math.Modf: the fraction moves, the integer does not.
func ModfTangent(f, fDot float64) (integer, frac, integerDot, fracDot float64) {
	integer, frac = math.Modf(f)
	return integer, frac, 0, fDot
}

// ModfPullback is the pullback of math.Modf.
func ModfPullback(f, integerBar, fracBar float64) (fBar float64) { return fracBar }

// FrexpTangent is the tangent of math.Frexp: the fraction is f by a power of two, which
// does not move.
func FrexpTangent(f, fDot float64) (frac float64, exp int, fracDot float64) {
	frac, exp = math.Frexp(f)
	return frac, exp, math.Ldexp(fDot, -exp)
}

// FrexpPullback is the pullback of math.Frexp.
func FrexpPullback(f, fracBar float64) (fBar float64) {
	_, exp := math.Frexp(f)
	return math.Ldexp(fracBar, -exp)
}
