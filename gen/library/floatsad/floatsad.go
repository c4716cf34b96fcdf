// Package floatsad has the derivatives of functions of gonum's package floats.
//
// FTangent computes floats.F and the tangents of all that F writes or returns. FPullback does not compute F: it takes
// the arguments as they were before F and the cotangents of the results, adds to the cotangents of arguments that F
// only reads, and turns those of memory that F overwrites into those of its former contents. The tangent of x is xDot,
// its cotangent xBar. In derivatives of quotients and norms, a zero tangent or cotangent times an infinite factor is 0
// (a strong zero).
//
// A nil shadow means a zero tangent or a cotangent that is not needed. Slices may be equal if the function allows that;
// their shadows are equal then.
package floatsad

import (
	"gonum.org/v1/gonum/floats"
)

// at returns dot[i], or 0 if dot is nil.
func at(dot []float64, i int) float64 {
	if dot == nil {
		return 0
	}
	return dot[i]
}

// give adds t to bar[i], unless bar is nil.
func give(bar []float64, i int, t float64) {
	if bar != nil {
		bar[i] += t
	}
}

// AddTangent adds sDot to dstDot and s to dst.
func AddTangent(dst, s, dstDot, sDot []float64) {
	if dstDot != nil && sDot != nil {
		floats.Add(dstDot, sDot)
	}
	floats.Add(dst, s)
}

// AddPullback adds dstBar to sBar and leaves dstBar as it is.
func AddPullback(dst, s, dstBar, sBar []float64) {
	if dstBar != nil && sBar != nil {
		floats.Add(sBar, dstBar)
	}
}

// SubTangent subtracts sDot from dstDot and s from dst.
func SubTangent(dst, s, dstDot, sDot []float64) {
	if dstDot != nil && sDot != nil {
		floats.Sub(dstDot, sDot)
	}
	floats.Sub(dst, s)
}

// SubPullback subtracts dstBar from sBar and leaves dstBar as it is.
func SubPullback(dst, s, dstBar, sBar []float64) {
	if dstBar != nil && sBar != nil {
		floats.Sub(sBar, dstBar)
	}
}

// MulTangent sets dstDot[i] to dstDot[i]·s[i] + dst[i]·sDot[i], then dst[i] to dst[i]·s[i].
func MulTangent(dst, s, dstDot, sDot []float64) {
	for i := range dstDot {
		dstDot[i] = dstDot[i]*s[i] + dst[i]*at(sDot, i)
	}
	floats.Mul(dst, s)
}

// MulPullback sets dstBar[i] to t·s[i] and adds t·dst[i] to sBar[i], where t is the former dstBar[i] and dst is as
// before Mul.
func MulPullback(dst, s, dstBar, sBar []float64) {
	for i := range dstBar {
		t := dstBar[i]
		dstBar[i] = t * s[i]
		give(sBar, i, t*dst[i])
	}
}

// DivTangent sets dstDot[i] to (dstDot[i] - dst[i]/s[i]·sDot[i]) / s[i], then dst[i] to dst[i]/s[i].
func DivTangent(dst, s, dstDot, sDot []float64) {
	for i := range dstDot {
		dstDot[i] = quotient(dst[i], s[i], dstDot[i], at(sDot, i))
	}
	floats.Div(dst, s)
}

// quotient returns the tangent of x/y, (xDot - x/y·yDot) / y, with strong zeros for xDot and yDot.
func quotient(x, y, xDot, yDot float64) float64 {
	return over(xDot-times(x/y, yDot), y)
}

// times returns partial·t, a partial derivative times a tangent or cotangent, and 0 instead of NaN if t is 0 (a strong
// zero).
func times(partial, t float64) float64 {
	p := partial * t
	if t == 0 && p != p {
		return 0
	}
	return p
}

// over returns t/y, and 0 instead of NaN if t is 0.
func over(t, y float64) float64 {
	q := t / y
	if t == 0 && q != q {
		return 0
	}
	return q
}

// DivPullback sets dstBar[i] to t = dstBar[i]/s[i] and subtracts dst[i]/s[i]·t from sBar[i], with dst as before Div.
func DivPullback(dst, s, dstBar, sBar []float64) {
	for i := range dstBar {
		t := over(dstBar[i], s[i])
		dstBar[i] = t
		give(sBar, i, -times(dst[i]/s[i], t))
	}
}

// AddConstTangent adds cDot to each dstDot[i] and c to each dst[i].
func AddConstTangent(c float64, dst []float64, cDot float64, dstDot []float64) {
	floats.AddConst(cDot, dstDot)
	floats.AddConst(c, dst)
}

// AddConstPullback returns cBar = Σ dstBar[i] and leaves dstBar as it is.
func AddConstPullback(c float64, dst, dstBar []float64) (cBar float64) { return floats.Sum(dstBar) }

// ScaleTangent sets dstDot[i] to c·dstDot[i] + cDot·dst[i], then dst[i] to c·dst[i].
func ScaleTangent(c float64, dst []float64, cDot float64, dstDot []float64) {
	for i := range dstDot {
		dstDot[i] = c*dstDot[i] + cDot*dst[i]
	}
	floats.Scale(c, dst)
}

// ScalePullback returns cBar = Σ dstBar[i]·dst[i], with dst as before Scale, and multiplies dstBar by c.
func ScalePullback(c float64, dst, dstBar []float64) (cBar float64) {
	for i, t := range dstBar {
		cBar += t * dst[i]
		dstBar[i] = c * t
	}
	return cBar
}

// AddScaledTangent adds alpha·sDot[i] + alphaDot·s[i] to dstDot[i], then alpha·s[i] to dst[i].
func AddScaledTangent(dst []float64, alpha float64, s, dstDot []float64, alphaDot float64, sDot []float64) {
	for i := range dstDot {
		dstDot[i] += alpha*at(sDot, i) + alphaDot*s[i]
	}
	floats.AddScaled(dst, alpha, s)
}

// AddScaledPullback adds alpha·dstBar[i] to sBar[i], leaves dstBar as it is, and returns alphaBar = Σ dstBar[i]·s[i].
func AddScaledPullback(dst []float64, alpha float64, s, dstBar, sBar []float64) (alphaBar float64) {
	if dstBar == nil {
		return 0
	}
	alphaBar = floats.Dot(dstBar, s)
	if sBar != nil {
		floats.AddScaled(sBar, alpha, dstBar)
	}
	return alphaBar
}
