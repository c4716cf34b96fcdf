package mathextad

import "math"

// The functions of this file take a factor t, by which they multiply; where it is 0 they are 0 and compute nothing.
// They are rules, whose derivatives are functions of this file again: second derivatives do not differentiate a
// quadrature.

// GammaShape returns t times the derivative of order k ≥ 1 of P(a, x) with respect to a. It is NaN unless a is positive
// and finite.
//
//nabla:rule tangent=GammaShapeTangent pullback=GammaShapePullback
func GammaShape(k int, a, x, t float64) float64 {
	switch {
	case t == 0:
		return 0
	case !(a > 0 && a <= math.MaxFloat64):
		return math.NaN()
	case x == 0 || x > math.MaxFloat64:
		return 0
	}
	if f := x * GammaDensity(a, x); f != 0 {
		return t * f * gammaRatio(k, a, x)
	}
	return 0
}

// GammaShapeTangent is the tangent of GammaShape.
func GammaShapeTangent(k int, a, x, t, aDot, xDot, tDot float64) (v, vDot float64) {
	return GammaShape(k, a, x, t), GammaShape(k, a, x, tDot) + GammaShape(k+1, a, x, t*aDot) +
		GammaSlope(k, a, x, t*xDot)
}

// GammaShapePullback is the pullback of GammaShape.
func GammaShapePullback(k int, a, x, t, vBar float64) (aBar, xBar, tBar float64) {
	return GammaShape(k+1, a, x, t*vBar), GammaSlope(k, a, x, t*vBar), GammaShape(k, a, x, vBar)
}

// GammaSlope returns t times the derivative of order k of GammaDensity(a, x) with respect to a.
//
//nabla:rule tangent=GammaSlopeTangent pullback=GammaSlopePullback
func GammaSlope(k int, a, x, t float64) float64 {
	if t == 0 || x > math.MaxFloat64 {
		return 0
	}
	p := GammaDensity(a, x)
	if p == 0 || k == 0 {
		return t * p
	}
	return t * p * GammaBell(k, a, x, 1)
}

// GammaSlopeTangent is the tangent of GammaSlope.
func GammaSlopeTangent(k int, a, x, t, aDot, xDot, tDot float64) (v, vDot float64) {
	return GammaSlope(k, a, x, t), GammaSlope(k, a, x, tDot) + GammaSlope(k+1, a, x, t*aDot) +
		gammaBend(k, a, x, t*xDot)
}

// GammaSlopePullback is the pullback of GammaSlope.
func GammaSlopePullback(k int, a, x, t, vBar float64) (aBar, xBar, tBar float64) {
	return GammaSlope(k+1, a, x, t*vBar), gammaBend(k, a, x, t*vBar), GammaSlope(k, a, x, vBar)
}

// gammaBend returns t times the derivative of order k of GammaDensity with respect to a and 1 with respect to x.
func gammaBend(k int, a, x, t float64) float64 {
	if t == 0 || x == 0 && a > 2 || x > math.MaxFloat64 {
		return 0
	}
	sum := GammaSlope(k, a, x, t*((a-1-x)/x))
	if k > 0 {
		sum += GammaSlope(k-1, a, x, t*float64(k)/x)
	}
	return sum
}

// GammaBell returns t times the derivative of order k of GammaDensity with respect to a, over GammaDensity.
//
//nabla:rule tangent=GammaBellTangent pullback=GammaBellPullback
func GammaBell(k int, a, x, t float64) float64 {
	if t == 0 || k == 0 {
		return t
	}
	order(k)
	var c cumulants
	gammaCumulants(&c, k, a, x)
	return t * c.ratio(k, 0)
}

// GammaBellTangent is the tangent of GammaBell.
func GammaBellTangent(k int, a, x, t, aDot, xDot, tDot float64) (v, vDot float64) {
	aBar, xBar, _ := GammaBellPullback(k, a, x, t, 1)
	return GammaBell(k, a, x, t), GammaBell(k, a, x, tDot) + times(aBar, aDot) + times(xBar, xDot)
}

// GammaBellPullback is the pullback of GammaBell.
func GammaBellPullback(k int, a, x, t, vBar float64) (aBar, xBar, tBar float64) {
	if k == 0 {
		return 0, 0, vBar
	}
	w := t * vBar
	return GammaBell(k+1, a, x, w) - GammaBell(k, a, x, GammaBell(1, a, x, w)), GammaBell(k-1, a, x, w*float64(k)/x),
		GammaBell(k, a, x, vBar)
}

// GammaInvShape returns -t times the derivative of order k ≥ 1 of P(a, x) with respect to a, over GammaDensity(a, x).
// For k = 1 it is t times the derivative of x with respect to a where P(a, x) is constant.
//
//nabla:rule tangent=GammaInvShapeTangent pullback=GammaInvShapePullback
func GammaInvShape(k int, a, x, t float64) float64 {
	if t == 0 || x == 0 && a > 0 {
		return 0
	}
	return -t * x * gammaRatio(k, a, x)
}

// GammaInvShapeTangent is the tangent of GammaInvShape.
func GammaInvShapeTangent(k int, a, x, t, aDot, xDot, tDot float64) (v, vDot float64) {
	return GammaInvShape(k, a, x, t), GammaInvShape(k, a, x, tDot) + GammaInvShape(k+1, a, x, t*aDot) -
		GammaInvShape(k, a, x, t*(GammaBell(1, a, x, aDot)+times((a-1-x)/x, xDot))) - GammaBell(k, a, x, t*xDot)
}

// GammaInvShapePullback is the pullback of GammaInvShape.
func GammaInvShapePullback(k int, a, x, t, vBar float64) (aBar, xBar, tBar float64) {
	h := GammaInvShape(k, a, x, vBar)
	return GammaInvShape(k+1, a, x, t*vBar) - GammaBell(1, a, x, t*h), -t*h*((a-1-x)/x) - GammaBell(k, a, x, t*vBar), h
}

// GammaInvSlope returns t/GammaDensity(a, x).
//
//nabla:rule tangent=GammaInvSlopeTangent pullback=GammaInvSlopePullback
func GammaInvSlope(a, x, t float64) float64 { return times(1/GammaDensity(a, x), t) }

// GammaInvSlopeTangent is the tangent of GammaInvSlope.
func GammaInvSlopeTangent(a, x, t, aDot, xDot, tDot float64) (v, vDot float64) {
	return GammaInvSlope(a, x, t), GammaInvSlope(a, x, tDot) -
		GammaInvSlope(a, x, t*(GammaBell(1, a, x, aDot)+times((a-1-x)/x, xDot)))
}

// GammaInvSlopePullback is the pullback of GammaInvSlope.
func GammaInvSlopePullback(a, x, t, vBar float64) (aBar, xBar, tBar float64) {
	h := GammaInvSlope(a, x, vBar)
	return -GammaBell(1, a, x, t*h), -t * h * ((a - 1 - x) / x), h
}

// betaSteep returns the derivative of log BetaDensity with respect to x.
func betaSteep(a, b, x float64) float64 { return (a-1)/x - (b-1)/(1-x) }

// BetaShape returns t times the derivative of I(x; a, b) of order j with respect to a and k with respect to b, j+k ≥ 1.
// It is NaN unless a and b are positive and finite.
//
//nabla:rule tangent=BetaShapeTangent pullback=BetaShapePullback
func BetaShape(j, k int, a, b, x, t float64) float64 {
	switch {
	case t == 0:
		return 0
	case !(a > 0 && b > 0 && a+b <= math.MaxFloat64):
		return math.NaN()
	case x == 0 || x == 1:
		return 0
	}
	if f := x * (1 - x) * BetaDensity(a, b, x); f != 0 {
		return t * f * betaRatio(j, k, a, b, x)
	}
	return 0
}

// BetaShapeTangent is the tangent of BetaShape.
func BetaShapeTangent(j, k int, a, b, x, t, aDot, bDot, xDot, tDot float64) (v, vDot float64) {
	return BetaShape(j, k, a, b, x, t), BetaShape(j, k, a, b, x, tDot) + BetaShape(j+1, k, a, b, x, t*aDot) +
		BetaShape(j, k+1, a, b, x, t*bDot) + BetaSlope(j, k, a, b, x, t*xDot)
}

// BetaShapePullback is the pullback of BetaShape.
func BetaShapePullback(j, k int, a, b, x, t, vBar float64) (aBar, bBar, xBar, tBar float64) {
	return BetaShape(j+1, k, a, b, x, t*vBar), BetaShape(j, k+1, a, b, x, t*vBar), BetaSlope(j, k, a, b, x, t*vBar),
		BetaShape(j, k, a, b, x, vBar)
}

// BetaSlope returns t times the derivative of BetaDensity(a, b, x) of order j with respect to a and k with respect to
// b.
//
//nabla:rule tangent=BetaSlopeTangent pullback=BetaSlopePullback
func BetaSlope(j, k int, a, b, x, t float64) float64 {
	if t == 0 {
		return 0
	}
	p := BetaDensity(a, b, x)
	if p == 0 || j+k == 0 {
		return t * p
	}
	return t * p * BetaBell(j, k, a, b, x, 1)
}

// BetaSlopeTangent is the tangent of BetaSlope.
func BetaSlopeTangent(j, k int, a, b, x, t, aDot, bDot, xDot, tDot float64) (v, vDot float64) {
	return BetaSlope(j, k, a, b, x, t), BetaSlope(j, k, a, b, x, tDot) + BetaSlope(j+1, k, a, b, x, t*aDot) +
		BetaSlope(j, k+1, a, b, x, t*bDot) + betaBend(j, k, a, b, x, t*xDot)
}

// BetaSlopePullback is the pullback of BetaSlope.
func BetaSlopePullback(j, k int, a, b, x, t, vBar float64) (aBar, bBar, xBar, tBar float64) {
	return BetaSlope(j+1, k, a, b, x, t*vBar), BetaSlope(j, k+1, a, b, x, t*vBar), betaBend(j, k, a, b, x, t*vBar),
		BetaSlope(j, k, a, b, x, vBar)
}

// betaBend returns t times the derivative of BetaDensity of order j with respect to a, k with respect to b and 1 with
// respect to x.
func betaBend(j, k int, a, b, x, t float64) float64 {
	if t == 0 || x == 0 && a > 2 || x == 1 && b > 2 {
		return 0
	}
	sum := BetaSlope(j, k, a, b, x, t*betaSteep(a, b, x))
	if j > 0 {
		sum += BetaSlope(j-1, k, a, b, x, t*float64(j)/x)
	}
	if k > 0 {
		sum -= BetaSlope(j, k-1, a, b, x, t*float64(k)/(1-x))
	}
	return sum
}

// BetaBell returns t times the derivative of BetaDensity of order j with respect to a and k with respect to b, over
// BetaDensity.
//
//nabla:rule tangent=BetaBellTangent pullback=BetaBellPullback
func BetaBell(j, k int, a, b, x, t float64) float64 {
	if t == 0 || j+k == 0 {
		return t
	}
	order(j + k)
	var c cumulants
	betaCumulants(&c, j, k, a, b, math.Log(x), math.Log1p(-x))
	return t * c.ratio(j, k)
}

// BetaBellTangent is the tangent of BetaBell.
func BetaBellTangent(j, k int, a, b, x, t, aDot, bDot, xDot, tDot float64) (v, vDot float64) {
	aBar, bBar, xBar, _ := BetaBellPullback(j, k, a, b, x, t, 1)
	return BetaBell(j, k, a, b, x, t), BetaBell(j, k, a, b, x, tDot) + times(aBar, aDot) + times(bBar, bDot) +
		times(xBar, xDot)
}

// BetaBellPullback is the pullback of BetaBell.
func BetaBellPullback(j, k int, a, b, x, t, vBar float64) (aBar, bBar, xBar, tBar float64) {
	if j+k == 0 {
		return 0, 0, 0, vBar
	}
	w := t * vBar
	v := BetaBell(j, k, a, b, x, w)
	if j > 0 {
		xBar += BetaBell(j-1, k, a, b, x, w*float64(j)/x)
	}
	if k > 0 {
		xBar -= BetaBell(j, k-1, a, b, x, w*float64(k)/(1-x))
	}
	return BetaBell(j+1, k, a, b, x, w) - BetaBell(1, 0, a, b, x, v),
		BetaBell(j, k+1, a, b, x, w) - BetaBell(0, 1, a, b, x, v), xBar, BetaBell(j, k, a, b, x, vBar)
}

// BetaInvShape returns -t times the derivative of I(x; a, b) of order j with respect to a and k with respect to b, over
// BetaDensity(a, b, x). If the order is 1 it is t times the derivative of x where I(x; a, b) is constant.
//
//nabla:rule tangent=BetaInvShapeTangent pullback=BetaInvShapePullback
func BetaInvShape(j, k int, a, b, x, t float64) float64 {
	if t == 0 || (x == 0 || x == 1) && a > 0 && b > 0 {
		return 0
	}
	return -t * x * (1 - x) * betaRatio(j, k, a, b, x)
}

// BetaInvShapeTangent is the tangent of BetaInvShape.
func BetaInvShapeTangent(j, k int, a, b, x, t, aDot, bDot, xDot, tDot float64) (v, vDot float64) {
	return BetaInvShape(j, k, a, b, x, t), BetaInvShape(j, k, a, b, x, tDot) +
		BetaInvShape(j+1, k, a, b, x, t*aDot) + BetaInvShape(j, k+1, a, b, x, t*bDot) -
		BetaInvShape(j, k, a, b, x, t*(BetaBell(1, 0, a, b, x, aDot)+BetaBell(0, 1, a, b, x, bDot)+
			times(betaSteep(a, b, x), xDot))) - BetaBell(j, k, a, b, x, t*xDot)
}

// BetaInvShapePullback is the pullback of BetaInvShape.
func BetaInvShapePullback(j, k int, a, b, x, t, vBar float64) (aBar, bBar, xBar, tBar float64) {
	h := BetaInvShape(j, k, a, b, x, vBar)
	return BetaInvShape(j+1, k, a, b, x, t*vBar) - BetaBell(1, 0, a, b, x, t*h),
		BetaInvShape(j, k+1, a, b, x, t*vBar) - BetaBell(0, 1, a, b, x, t*h),
		-t*h*betaSteep(a, b, x) - BetaBell(j, k, a, b, x, t*vBar), h
}

// BetaInvSlope returns t/BetaDensity(a, b, x).
//
//nabla:rule tangent=BetaInvSlopeTangent pullback=BetaInvSlopePullback
func BetaInvSlope(a, b, x, t float64) float64 { return times(1/BetaDensity(a, b, x), t) }

// BetaInvSlopeTangent is the tangent of BetaInvSlope.
func BetaInvSlopeTangent(a, b, x, t, aDot, bDot, xDot, tDot float64) (v, vDot float64) {
	return BetaInvSlope(a, b, x, t), BetaInvSlope(a, b, x, tDot) -
		BetaInvSlope(a, b, x, t*(BetaBell(1, 0, a, b, x, aDot)+BetaBell(0, 1, a, b, x, bDot)+
			times(betaSteep(a, b, x), xDot)))
}

// BetaInvSlopePullback is the pullback of BetaInvSlope.
func BetaInvSlopePullback(a, b, x, t, vBar float64) (aBar, bBar, xBar, tBar float64) {
	h := BetaInvSlope(a, b, x, vBar)
	return -BetaBell(1, 0, a, b, x, t*h), -BetaBell(0, 1, a, b, x, t*h), -t * h * betaSteep(a, b, x), h
}
