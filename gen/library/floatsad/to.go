package floatsad

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// The functions overwrite dst, so a pullback consumes its cotangent and leaves 0.

// AddToTangent is the tangent of floats.AddTo.
func AddToTangent(dst, s, t, dstDot, sDot, tDot []float64) (sum, sumDot []float64) {
	for i := range dstDot {
		dstDot[i] = at(sDot, i) + at(tDot, i)
	}
	return floats.AddTo(dst, s, t), dstDot
}

// AddToPullback is the pullback of floats.AddTo.
func AddToPullback(dst, s, t, dstBar, sBar, tBar []float64) {
	for i, v := range dstBar {
		dstBar[i] = 0
		give(sBar, i, v)
		give(tBar, i, v)
	}
}

// SubToTangent is the tangent of floats.SubTo.
func SubToTangent(dst, s, t, dstDot, sDot, tDot []float64) (diff, diffDot []float64) {
	for i := range dstDot {
		dstDot[i] = at(sDot, i) - at(tDot, i)
	}
	return floats.SubTo(dst, s, t), dstDot
}

// SubToPullback is the pullback of floats.SubTo.
func SubToPullback(dst, s, t, dstBar, sBar, tBar []float64) {
	for i, v := range dstBar {
		dstBar[i] = 0
		give(sBar, i, v)
		give(tBar, i, -v)
	}
}

// MulToTangent is the tangent of floats.MulTo.
func MulToTangent(dst, s, t, dstDot, sDot, tDot []float64) (prod, prodDot []float64) {
	for i := range dstDot {
		dstDot[i] = at(sDot, i)*t[i] + s[i]*at(tDot, i)
	}
	return floats.MulTo(dst, s, t), dstDot
}

// MulToPullback is the pullback of floats.MulTo.
func MulToPullback(dst, s, t, dstBar, sBar, tBar []float64) {
	for i, v := range dstBar {
		dstBar[i] = 0
		give(sBar, i, v*t[i])
		give(tBar, i, v*s[i])
	}
}

// DivToTangent is the tangent of floats.DivTo.
func DivToTangent(dst, s, t, dstDot, sDot, tDot []float64) (quo, quoDot []float64) {
	for i := range dstDot {
		dstDot[i] = quotient(s[i], t[i], at(sDot, i), at(tDot, i))
	}
	return floats.DivTo(dst, s, t), dstDot
}

// DivToPullback is the pullback of floats.DivTo.
func DivToPullback(dst, s, t, dstBar, sBar, tBar []float64) {
	for i, v := range dstBar {
		dstBar[i] = 0
		v = over(v, t[i])
		give(sBar, i, v)
		give(tBar, i, -times(s[i]/t[i], v))
	}
}

// ScaleToTangent is the tangent of floats.ScaleTo.
func ScaleToTangent(dst []float64, c float64, s, dstDot []float64, cDot float64,
	sDot []float64) (scaled, scaledDot []float64) {
	for i := range dstDot {
		dstDot[i] = c*at(sDot, i) + cDot*s[i]
	}
	return floats.ScaleTo(dst, c, s), dstDot
}

// ScaleToPullback is the pullback of floats.ScaleTo.
func ScaleToPullback(dst []float64, c float64, s, dstBar, sBar []float64) (cBar float64) {
	for i, v := range dstBar {
		dstBar[i] = 0
		cBar += v * s[i]
		give(sBar, i, c*v)
	}
	return cBar
}

// AddScaledToTangent is the tangent of floats.AddScaledTo.
func AddScaledToTangent(dst, y []float64, alpha float64, s, dstDot, yDot []float64, alphaDot float64,
	sDot []float64) (sum, sumDot []float64) {
	for i := range dstDot {
		dstDot[i] = at(yDot, i) + (alpha*at(sDot, i) + alphaDot*s[i])
	}
	return floats.AddScaledTo(dst, y, alpha, s), dstDot
}

// AddScaledToPullback is the pullback of floats.AddScaledTo.
func AddScaledToPullback(dst, y []float64, alpha float64, s, dstBar, yBar, sBar []float64) (alphaBar float64) {
	for i, v := range dstBar {
		dstBar[i] = 0
		alphaBar += v * s[i]
		give(yBar, i, v)
		give(sBar, i, alpha*v)
	}
	return alphaBar
}

// CumSumTangent is the tangent of floats.CumSum.
func CumSumTangent(dst, s, dstDot, sDot []float64) (sums, sumsDot []float64) {
	sum := 0.0
	for i := range dstDot {
		sum += at(sDot, i)
		dstDot[i] = sum
	}
	return floats.CumSum(dst, s), dstDot
}

// CumSumPullback is the pullback of floats.CumSum.
func CumSumPullback(dst, s, dstBar, sBar []float64) {
	sum := 0.0
	for i := len(dstBar) - 1; i >= 0; i-- {
		sum += dstBar[i]
		dstBar[i] = 0
		give(sBar, i, sum)
	}
}

// CumProdTangent is the tangent of floats.CumProd.
func CumProdTangent(dst, s, dstDot, sDot []float64) (prods, prodsDot []float64) {
	prod, prodDot := 1.0, 0.0
	for i := range dstDot {
		prodDot = prodDot*s[i] + prod*at(sDot, i)
		prod *= s[i]
		dstDot[i] = prodDot
	}
	return floats.CumProd(dst, s), dstDot
}

// CumProdPullback is the pullback of floats.CumProd. It allocates.
func CumProdPullback(dst, s, dstBar, sBar []float64) {
	before := prefixes(s) // in front of each element
	sum := 0.0
	for i := len(dstBar) - 1; i >= 0; i-- {
		sum += dstBar[i]
		dstBar[i] = 0
		give(sBar, i, sum*before[i])
		sum *= s[i]
	}
}

// prefixes returns the products of the elements before each one.
func prefixes(s []float64) []float64 {
	out := make([]float64, len(s))
	prod := 1.0
	for i, v := range s {
		out[i] = prod
		prod *= v
	}
	return out
}

// SpanTangent is the tangent of floats.Span.
func SpanTangent(dst []float64, l, u float64, dstDot []float64, lDot, uDot float64) (span, spanDot []float64) {
	for i := range dstDot {
		wl, wu := shares(len(dst), i, l, u)
		dstDot[i] = wl*lDot + wu*uDot
	}
	return floats.Span(dst, l, u), dstDot
}

// SpanPullback is the pullback of floats.Span.
func SpanPullback(dst []float64, l, u float64, dstBar []float64) (lBar, uBar float64) {
	for i, t := range dstBar {
		dstBar[i] = 0
		wl, wu := shares(len(dst), i, l, u)
		lBar += wl * t
		uBar += wu * t
	}
	return lBar, uBar
}

// shares returns the derivatives of element i of a span with respect to its ends. Ends that are infinite or NaN are
// themselves elements of the span, as floats.Span defines it.
func shares(n, i int, l, u float64) (wl, wu float64) {
	finite := func(x float64) bool { return x-x == 0 }
	switch {
	case finite(l) && finite(u):
		wu = float64(i) / float64(n-1)
		return 1 - wu, wu
	case l != l && i < n-1, u != u && i > 0 && l == l:
		return 0, 0
	case math.IsInf(l, 0) && math.IsInf(u, 0):
		switch {
		case n%2 == 1 && i == n/2 && l != u:
			return 0, 0
		case i < (n+1)/2:
			return 1, 0
		}
		return 0, 1
	case finite(u) || l != l:
		if i < n-1 {
			return 1, 0
		}
		return 0, 1
	}
	if i > 0 {
		return 0, 1
	}
	return 1, 0
}
