// Package mathextad has the derivatives of functions of gonum's package mathext. Package mathextreal has the functions
// over nabla.Real, with the same derivatives.
//
// FTangent and FPullback of incomplete gamma and beta functions and their inverses are for calls whose shapes carry no
// derivative, FShapeTangent and FShapePullback for the others.
//
// The product of a zero tangent or cotangent with an infinite partial derivative is 0 (a strong zero).
package mathextad

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/nabla-ad/nabla/gen/rt"
)

// times returns a partial derivative times a tangent or cotangent: 0 if that is 0, even if the derivative is infinite.
func times(partial, t float64) float64 {
	p := partial * t
	if t == 0 && p != p {
		return 0
	}
	return p
}

// lgamma returns log Γ(x) for x > 0.
func lgamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}

// large is the argument from which on Stirling's series has nearly all digits.
const large = 16

// stirling returns log Γ(a) - ((a-1/2)·log a - a + log(2π)/2) for a ≥ large (DLMF 5.11.1).
func stirling(a float64) float64 {
	t := 1 / (a * a)
	return (1./12 - t*(1./360-t*(1./1260-t*(1./1680-t/1188)))) / a
}

// logRatio returns log(x/y), given d = x-y to more digits than the difference of x and y has.
func logRatio(x, y, d float64) float64 {
	if u := d / y; math.Abs(u) < 0.5 {
		return math.Log1p(u)
	}
	return math.Log(x / y)
}

// GammaDensity returns the derivative of P(a, x) with respect to x, x^(a-1)·e^(-x)/Γ(a) (DLMF 8.8.13). For large a the
// terms of its logarithm are large and cancel, so it is computed from the distance to the maximum.
func GammaDensity(a, x float64) float64 {
	if a < large {
		return math.Exp(rt.Xlogy(a-1, x) - x - lgamma(a))
	}
	d := x - a
	return math.Exp((a-1)*logRatio(x, a, d)-d-stirling(a)) / math.Sqrt(2*math.Pi*a)
}

// BetaDensity returns the derivative of I(x; a, b) with respect to x, x^(a-1)·(1-x)^(b-1)/B(a, b) (DLMF 8.17.1), for
// large a and b as in GammaDensity.
func BetaDensity(a, b, x float64) float64 {
	n := a + b
	switch {
	case a >= large && b >= large:
		d := n*x - a
		return math.Exp((a-1)*logRatio(n*x, a, d)+(b-1)*logRatio(n*(1-x), b, -d)+stirling(n)-stirling(a)-stirling(b)) *
			n * math.Sqrt(n/(2*math.Pi*a)/b)
	case b >= large:
		return math.Exp(rt.Xlogy(a-1, n*x)+(b-1)*math.Log1p(-x)+gammaQuotient(a, b)-lgamma(a)) * n
	case a >= large:
		return math.Exp(rt.Xlogy(b-1, n*(1-x))+(a-1)*math.Log(x)+gammaQuotient(b, a)-lgamma(b)) * n
	}
	return math.Exp(rt.Xlogy(a-1, x) + rt.Xlogy(b-1, 1-x) + lgamma(n) - lgamma(a) - lgamma(b))
}

// gammaQuotient returns log(Γ(a+b)/(Γ(b)·(a+b)^a)) for b ≥ large.
func gammaQuotient(a, b float64) float64 {
	return (b-0.5)*math.Log1p(a/b) - a + stirling(a+b) - stirling(b)
}

// MvDigamma returns the derivative of MvLgamma, the sum of ψ(v+(1-j)/2) for j from 1 to dim.
func MvDigamma(v float64, dim int) float64 {
	sum := 0.0
	for j := range dim {
		sum += rt.Digamma(v - float64(j)/2)
	}
	return sum
}

// EllipticDelta returns √(1-m·sin²φ) with the sign of cos φ: the derivatives of EllipticF and EllipticE are odd about φ
// = π/2.
func EllipticDelta(phi, m float64) float64 {
	s, c := math.Sincos(phi)
	return math.Copysign(math.Sqrt(1-m*s*s), c)
}

// EllipticFm returns the derivative of F(φ, m) with respect to m, sin³φ/6 · R_D(cos²φ, 1, 1-m·sin²φ), from DLMF
// 19.18.1.
func EllipticFm(phi, m float64) float64 {
	s, c := math.Sincos(phi)
	return s * s * s / 6 * mathext.EllipticRD(c*c, 1, 1-m*s*s)
}

// EllipticEm returns the derivative of E(φ, m) with respect to m, (E-F)/(2m) (DLMF 19.4.6).
func EllipticEm(phi, m float64) float64 {
	s, c := math.Sincos(phi)
	return -s * s * s / 6 * mathext.EllipticRD(c*c, 1-m*s*s, 1)
}

// BetaTangent is the tangent of Beta. The derivative with respect to a is B·(ψ(a)-ψ(a+b)), from DLMF 5.12.1.
func BetaTangent(a, b, aDot, bDot float64) (v, vDot float64) {
	v = mathext.Beta(a, b)
	return v, times(v*(rt.Digamma(a)-rt.Digamma(a+b)), aDot) + times(v*(rt.Digamma(b)-rt.Digamma(a+b)), bDot)
}

// BetaPullback is the pullback of Beta.
func BetaPullback(a, b, vBar float64) (aBar, bBar float64) {
	v := mathext.Beta(a, b)
	return times(v*(rt.Digamma(a)-rt.Digamma(a+b)), vBar), times(v*(rt.Digamma(b)-rt.Digamma(a+b)), vBar)
}

// LbetaTangent is the tangent of Lbeta. The derivative with respect to a is ψ(a)-ψ(a+b).
func LbetaTangent(a, b, aDot, bDot float64) (v, vDot float64) {
	v = mathext.Lbeta(a, b)
	return v, times(rt.Digamma(a)-rt.Digamma(a+b), aDot) + times(rt.Digamma(b)-rt.Digamma(a+b), bDot)
}

// LbetaPullback is the pullback of Lbeta.
func LbetaPullback(a, b, vBar float64) (aBar, bBar float64) {
	return times(rt.Digamma(a)-rt.Digamma(a+b), vBar), times(rt.Digamma(b)-rt.Digamma(a+b), vBar)
}

// DigammaTangent is the tangent of Digamma. The derivative is ψ′ (DLMF §5.15).
func DigammaTangent(x, xDot float64) (v, vDot float64) {
	v = mathext.Digamma(x)
	return v, times(rt.Polygamma(1, x), xDot)
}

// DigammaPullback is the pullback of Digamma.
func DigammaPullback(x, vBar float64) (xBar float64) {
	return times(rt.Polygamma(1, x), vBar)
}

// MvLgammaTangent is the tangent of MvLgamma. The derivative is the sum of ψ(v+(1-j)/2) for j from 1 to dim.
func MvLgammaTangent(v float64, dim int, vDot float64) (value, valueDot float64) {
	value = mathext.MvLgamma(v, dim)
	return value, times(MvDigamma(v, dim), vDot)
}

// MvLgammaPullback is the pullback of MvLgamma.
func MvLgammaPullback(v float64, dim int, valueBar float64) (vBar float64) {
	return times(MvDigamma(v, dim), valueBar)
}

// NormalQuantileTangent is the tangent of NormalQuantile. The derivative is the reciprocal of the density at the
// quantile.
func NormalQuantileTangent(p, pDot float64) (v, vDot float64) {
	v = mathext.NormalQuantile(p)
	return v, times(math.Sqrt(2*math.Pi)*math.Exp(v*v/2), pDot)
}

// NormalQuantilePullback is the pullback of NormalQuantile.
func NormalQuantilePullback(p, vBar float64) (pBar float64) {
	v := mathext.NormalQuantile(p)
	return times(math.Sqrt(2*math.Pi)*math.Exp(v*v/2), vBar)
}

// CompleteKTangent is the tangent of CompleteK. The derivative is B(m)/(2(1-m)), which is DLMF 19.4.1 without
// cancellation.
func CompleteKTangent(m, mDot float64) (v, vDot float64) {
	v = mathext.CompleteK(m)
	return v, times(mathext.CompleteB(m)/(2*(1-m)), mDot)
}

// CompleteKPullback is the pullback of CompleteK.
func CompleteKPullback(m, vBar float64) (mBar float64) {
	return times(mathext.CompleteB(m)/(2*(1-m)), vBar)
}

// CompleteETangent is the tangent of CompleteE. The derivative is -D(m)/2, which is DLMF 19.4.2 without cancellation.
func CompleteETangent(m, mDot float64) (v, vDot float64) {
	v = mathext.CompleteE(m)
	return v, times(-mathext.CompleteD(m)/2, mDot)
}

// CompleteEPullback is the pullback of CompleteE.
func CompleteEPullback(m, vBar float64) (mBar float64) {
	return times(-mathext.CompleteD(m)/2, vBar)
}

// EllipticFTangent is the tangent of EllipticF. The derivative with respect to φ is 1/√(1-m·sin²φ); that with respect
// to m is from DLMF 19.18.1.
func EllipticFTangent(phi, m, phiDot, mDot float64) (v, vDot float64) {
	v = mathext.EllipticF(phi, m)
	return v, times(1/EllipticDelta(phi, m), phiDot) + times(EllipticFm(phi, m), mDot)
}

// EllipticFPullback is the pullback of EllipticF.
func EllipticFPullback(phi, m, vBar float64) (phiBar, mBar float64) {
	return times(1/EllipticDelta(phi, m), vBar), times(EllipticFm(phi, m), vBar)
}

// EllipticETangent is the tangent of EllipticE. The derivative with respect to φ is √(1-m·sin²φ); that with respect to
// m is DLMF 19.4.6.
func EllipticETangent(phi, m, phiDot, mDot float64) (v, vDot float64) {
	v = mathext.EllipticE(phi, m)
	return v, times(EllipticDelta(phi, m), phiDot) + times(EllipticEm(phi, m), mDot)
}

// EllipticEPullback is the pullback of EllipticE.
func EllipticEPullback(phi, m, vBar float64) (phiBar, mBar float64) {
	return times(EllipticDelta(phi, m), vBar), times(EllipticEm(phi, m), vBar)
}

// GammaIncRegTangent is the tangent of GammaIncReg with respect to x, DLMF 8.8.13.
func GammaIncRegTangent(a, x, xDot float64) (v, vDot float64) {
	v = mathext.GammaIncReg(a, x)
	return v, times(GammaDensity(a, x), xDot)
}

// GammaIncRegPullback is the pullback of GammaIncReg.
func GammaIncRegPullback(a, x, vBar float64) (xBar float64) {
	return times(GammaDensity(a, x), vBar)
}

// GammaIncRegCompTangent is the tangent of GammaIncRegComp with respect to x, DLMF 8.8.14.
func GammaIncRegCompTangent(a, x, xDot float64) (v, vDot float64) {
	v = mathext.GammaIncRegComp(a, x)
	return v, times(-GammaDensity(a, x), xDot)
}

// GammaIncRegCompPullback is the pullback of GammaIncRegComp.
func GammaIncRegCompPullback(a, x, vBar float64) (xBar float64) {
	return times(-GammaDensity(a, x), vBar)
}

// GammaIncRegInvTangent is the tangent of GammaIncRegInv. The derivative is the reciprocal of that of GammaIncReg.
func GammaIncRegInvTangent(a, y, yDot float64) (v, vDot float64) {
	v = mathext.GammaIncRegInv(a, y)
	return v, times(1/GammaDensity(a, v), yDot)
}

// GammaIncRegInvPullback is the pullback of GammaIncRegInv.
func GammaIncRegInvPullback(a, y, vBar float64) (yBar float64) {
	v := mathext.GammaIncRegInv(a, y)
	return times(1/GammaDensity(a, v), vBar)
}

// GammaIncRegCompInvTangent is the tangent of GammaIncRegCompInv. The derivative is the reciprocal of that of
// GammaIncRegComp.
func GammaIncRegCompInvTangent(a, y, yDot float64) (v, vDot float64) {
	v = mathext.GammaIncRegCompInv(a, y)
	return v, times(-1/GammaDensity(a, v), yDot)
}

// GammaIncRegCompInvPullback is the pullback of GammaIncRegCompInv.
func GammaIncRegCompInvPullback(a, y, vBar float64) (yBar float64) {
	v := mathext.GammaIncRegCompInv(a, y)
	return times(-1/GammaDensity(a, v), vBar)
}

// RegIncBetaTangent is the tangent of RegIncBeta with respect to x. The derivative is the integrand of DLMF 8.17.1.
func RegIncBetaTangent(a, b, x, xDot float64) (v, vDot float64) {
	v = mathext.RegIncBeta(a, b, x)
	return v, times(BetaDensity(a, b, x), xDot)
}

// RegIncBetaPullback is the pullback of RegIncBeta.
func RegIncBetaPullback(a, b, x, vBar float64) (xBar float64) {
	return times(BetaDensity(a, b, x), vBar)
}

// InvRegIncBetaTangent is the tangent of InvRegIncBeta. The derivative is the reciprocal of that of RegIncBeta.
func InvRegIncBetaTangent(a, b, y, yDot float64) (v, vDot float64) {
	v = mathext.InvRegIncBeta(a, b, y)
	return v, times(1/BetaDensity(a, b, v), yDot)
}

// InvRegIncBetaPullback is the pullback of InvRegIncBeta.
func InvRegIncBetaPullback(a, b, y, vBar float64) (yBar float64) {
	v := mathext.InvRegIncBeta(a, b, y)
	return times(1/BetaDensity(a, b, v), vBar)
}

// ZetaTangent is the tangent of Zeta with respect to q. The derivative is -x·ζ(x+1, q) (DLMF 25.11.17).
func ZetaTangent(x, q, qDot float64) (v, vDot float64) {
	v = mathext.Zeta(x, q)
	return v, times(-x*mathext.Zeta(x+1, q), qDot)
}

// ZetaPullback is the pullback of Zeta.
func ZetaPullback(x, q, vBar float64) (qBar float64) {
	return times(-x*mathext.Zeta(x+1, q), vBar)
}
