package floatsad

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// The functions of this file overwrite dst without reading it. So each pullback reads dstBar[i], clears it, and then
// adds to the cotangents of the other arguments, in this order because these may be the same slices. Comments name the
// additions only, with dstBar as it was before the call.

// AddToTangent sets dstDot to sDot + tDot and dst to s + t, and returns dst and dstDot.
func AddToTangent(dst, s, t, dstDot, sDot, tDot []float64) (sum, sumDot []float64) {
	for i := range dstDot {
		dstDot[i] = at(sDot, i) + at(tDot, i)
	}
	return floats.AddTo(dst, s, t), dstDot
}

// AddToPullback adds dstBar to sBar and to tBar.
func AddToPullback(dst, s, t, dstBar, sBar, tBar []float64) {
	for i, v := range dstBar {
		dstBar[i] = 0
		give(sBar, i, v)
		give(tBar, i, v)
	}
}

// SubToTangent sets dstDot to sDot - tDot and dst to s - t, and returns dst and dstDot.
func SubToTangent(dst, s, t, dstDot, sDot, tDot []float64) (diff, diffDot []float64) {
	for i := range dstDot {
		dstDot[i] = at(sDot, i) - at(tDot, i)
	}
	return floats.SubTo(dst, s, t), dstDot
}

// SubToPullback adds dstBar to sBar and subtracts it from tBar.
func SubToPullback(dst, s, t, dstBar, sBar, tBar []float64) {
	for i, v := range dstBar {
		dstBar[i] = 0
		give(sBar, i, v)
		give(tBar, i, -v)
	}
}

// MulToTangent sets dstDot[i] to sDot[i]·t[i] + s[i]·tDot[i] and dst[i] to s[i]·t[i], and returns dst and dstDot.
func MulToTangent(dst, s, t, dstDot, sDot, tDot []float64) (prod, prodDot []float64) {
	for i := range dstDot {
		dstDot[i] = at(sDot, i)*t[i] + s[i]*at(tDot, i)
	}
	return floats.MulTo(dst, s, t), dstDot
}

// MulToPullback adds dstBar[i]·t[i] to sBar[i] and dstBar[i]·s[i] to tBar[i].
func MulToPullback(dst, s, t, dstBar, sBar, tBar []float64) {
	for i, v := range dstBar {
		dstBar[i] = 0
		give(sBar, i, v*t[i])
		give(tBar, i, v*s[i])
	}
}

// DivToTangent sets dstDot[i] to (sDot[i] - s[i]/t[i]·tDot[i]) / t[i] and dst[i] to s[i]/t[i], and returns dst and
// dstDot.
func DivToTangent(dst, s, t, dstDot, sDot, tDot []float64) (quo, quoDot []float64) {
	for i := range dstDot {
		dstDot[i] = quotient(s[i], t[i], at(sDot, i), at(tDot, i))
	}
	return floats.DivTo(dst, s, t), dstDot
}

// DivToPullback adds q = dstBar[i]/t[i] to sBar[i] and subtracts s[i]/t[i]·q from tBar[i].
func DivToPullback(dst, s, t, dstBar, sBar, tBar []float64) {
	for i, v := range dstBar {
		dstBar[i] = 0
		v = over(v, t[i])
		give(sBar, i, v)
		give(tBar, i, -times(s[i]/t[i], v))
	}
}

// ScaleToTangent sets dstDot[i] to c·sDot[i] + cDot·s[i] and dst[i] to c·s[i], and returns dst and dstDot.
func ScaleToTangent(dst []float64, c float64, s, dstDot []float64, cDot float64,
	sDot []float64) (scaled, scaledDot []float64) {
	for i := range dstDot {
		dstDot[i] = c*at(sDot, i) + cDot*s[i]
	}
	return floats.ScaleTo(dst, c, s), dstDot
}

// ScaleToPullback adds c·dstBar[i] to sBar[i] and returns cBar = Σ dstBar[i]·s[i].
func ScaleToPullback(dst []float64, c float64, s, dstBar, sBar []float64) (cBar float64) {
	for i, v := range dstBar {
		dstBar[i] = 0
		cBar += v * s[i]
		give(sBar, i, c*v)
	}
	return cBar
}

// AddScaledToTangent sets dstDot[i] to yDot[i] + alpha·sDot[i] + alphaDot·s[i] and dst[i] to y[i] + alpha·s[i], and
// returns dst and dstDot.
func AddScaledToTangent(dst, y []float64, alpha float64, s, dstDot, yDot []float64, alphaDot float64,
	sDot []float64) (sum, sumDot []float64) {
	for i := range dstDot {
		dstDot[i] = at(yDot, i) + (alpha*at(sDot, i) + alphaDot*s[i])
	}
	return floats.AddScaledTo(dst, y, alpha, s), dstDot
}

// AddScaledToPullback adds dstBar[i] to yBar[i] and alpha·dstBar[i] to sBar[i], and returns alphaBar = Σ
// dstBar[i]·s[i].
func AddScaledToPullback(dst, y []float64, alpha float64, s, dstBar, yBar, sBar []float64) (alphaBar float64) {
	for i, v := range dstBar {
		dstBar[i] = 0
		alphaBar += v * s[i]
		give(yBar, i, v)
		give(sBar, i, alpha*v)
	}
	return alphaBar
}

// CumSumTangent sets dstDot[i] to the sum of sDot[0] to sDot[i] and dst[i] to that of s[0] to s[i], and returns dst and
// dstDot.
func CumSumTangent(dst, s, dstDot, sDot []float64) (sums, sumsDot []float64) {
	sum := 0.0
	for i := range dstDot {
		sum += at(sDot, i)
		dstDot[i] = sum
	}
	return floats.CumSum(dst, s), dstDot
}

// CumSumPullback adds the sum of dstBar[i] and all later elements of dstBar to sBar[i].
func CumSumPullback(dst, s, dstBar, sBar []float64) {
	sum := 0.0
	for i := len(dstBar) - 1; i >= 0; i-- {
		sum += dstBar[i]
		dstBar[i] = 0
		give(sBar, i, sum)
	}
}

// CumProdTangent sets dst[i] to the product of s[0] to s[i] and dstDot[i] to its tangent, by the product rule for one
// factor after the other, and returns dst and dstDot.
func CumProdTangent(dst, s, dstDot, sDot []float64) (prods, prodsDot []float64) {
	prod, prodDot := 1.0, 0.0
	for i := range dstDot {
		prodDot = prodDot*s[i] + prod*at(sDot, i)
		prod *= s[i]
		dstDot[i] = prodDot
	}
	return floats.CumProd(dst, s), dstDot
}

// CumProdPullback adds Σ dstBar[j]·(product of s[0] to s[j] without s[i]), over j ≥ i, to sBar[i]. It goes through the
// elements backwards, divides by none, and allocates the products of those before each one.
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

// prefixes returns a new slice whose element i is the product of s[0] to s[i-1], 1 for i = 0.
func prefixes(s []float64) []float64 {
	out := make([]float64, len(s))
	prod := 1.0
	for i, v := range s {
		out[i] = prod
		prod *= v
	}
	return out
}

// SpanTangent sets dst to n equidistant numbers from l to u, dstDot[i] to (1-i/(n-1))·lDot + i/(n-1)·uDot, and returns
// dst and dstDot. See shares for ends that are not finite.
func SpanTangent(dst []float64, l, u float64, dstDot []float64, lDot, uDot float64) (span, spanDot []float64) {
	for i := range dstDot {
		wl, wu := shares(len(dst), i, l, u)
		dstDot[i] = wl*lDot + wu*uDot
	}
	return floats.Span(dst, l, u), dstDot
}

// SpanPullback returns lBar = Σ (1-i/(n-1))·dstBar[i] and uBar = Σ i/(n-1)·dstBar[i]. See shares for ends that are not
// finite.
func SpanPullback(dst []float64, l, u float64, dstBar []float64) (lBar, uBar float64) {
	for i, t := range dstBar {
		dstBar[i] = 0
		wl, wu := shares(len(dst), i, l, u)
		lBar += wl * t
		uBar += wu * t
	}
	return lBar, uBar
}

// shares returns the derivatives of element i of a span of n elements with respect to its ends l and u. If an end is
// infinite or NaN, each element is l, u, or a constant, as floats.Span defines it, so that the derivatives are 0 or 1.
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
