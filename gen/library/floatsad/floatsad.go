// Package floatsad has the derivatives of functions of gonum's package floats.
//
// A nil shadow means a zero tangent or a cotangent that is not needed. Slices may be equal if the function allows that;
// their shadows are equal then.
package floatsad

import (
	"gonum.org/v1/gonum/floats"
)

// at returns an element of a tangent, 0 if it is nil.
func at(dot []float64, i int) float64 {
	if dot == nil {
		return 0
	}
	return dot[i]
}

// give adds to an element of a cotangent, unless that is nil.
func give(bar []float64, i int, t float64) {
	if bar != nil {
		bar[i] += t
	}
}

// AddTangent is the tangent of floats.Add.
func AddTangent(dst, s, dstDot, sDot []float64) {
	if dstDot != nil && sDot != nil {
		floats.Add(dstDot, sDot)
	}
	floats.Add(dst, s)
}

// AddPullback is the pullback of floats.Add.
func AddPullback(dst, s, dstBar, sBar []float64) {
	if dstBar != nil && sBar != nil {
		floats.Add(sBar, dstBar)
	}
}

// SubTangent is the tangent of floats.Sub.
func SubTangent(dst, s, dstDot, sDot []float64) {
	if dstDot != nil && sDot != nil {
		floats.Sub(dstDot, sDot)
	}
	floats.Sub(dst, s)
}

// SubPullback is the pullback of floats.Sub.
func SubPullback(dst, s, dstBar, sBar []float64) {
	if dstBar != nil && sBar != nil {
		floats.Sub(sBar, dstBar)
	}
}

// MulTangent is the tangent of floats.Mul.
func MulTangent(dst, s, dstDot, sDot []float64) {
	for i := range dstDot {
		dstDot[i] = dstDot[i]*s[i] + dst[i]*at(sDot, i)
	}
	floats.Mul(dst, s)
}

// MulPullback is the pullback of floats.Mul.
func MulPullback(dst, s, dstBar, sBar []float64) {
	for i := range dstBar {
		t := dstBar[i]
		dstBar[i] = t * s[i]
		give(sBar, i, t*dst[i])
	}
}

// DivTangent is the tangent of floats.Div.
func DivTangent(dst, s, dstDot, sDot []float64) {
	for i := range dstDot {
		dstDot[i] = quotient(dst[i], s[i], dstDot[i], at(sDot, i))
	}
	floats.Div(dst, s)
}

// quotient returns the derivative of x/y.
func quotient(x, y, xDot, yDot float64) float64 {
	return over(xDot-times(x/y, yDot), y)
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

// over returns t / y, 0 for t = 0.
func over(t, y float64) float64 {
	q := t / y
	if t == 0 && q != q {
		return 0
	}
	return q
}

// DivPullback is the pullback of floats.Div.
func DivPullback(dst, s, dstBar, sBar []float64) {
	for i := range dstBar {
		t := over(dstBar[i], s[i])
		dstBar[i] = t
		give(sBar, i, -times(dst[i]/s[i], t))
	}
}

// AddConstTangent is the tangent of floats.AddConst.
func AddConstTangent(c float64, dst []float64, cDot float64, dstDot []float64) {
	floats.AddConst(cDot, dstDot)
	floats.AddConst(c, dst)
}

// AddConstPullback is the pullback of floats.AddConst.
func AddConstPullback(c float64, dst, dstBar []float64) (cBar float64) { return floats.Sum(dstBar) }

// ScaleTangent is the tangent of floats.Scale.
func ScaleTangent(c float64, dst []float64, cDot float64, dstDot []float64) {
	for i := range dstDot {
		dstDot[i] = c*dstDot[i] + cDot*dst[i]
	}
	floats.Scale(c, dst)
}

// ScalePullback is the pullback of floats.Scale.
func ScalePullback(c float64, dst, dstBar []float64) (cBar float64) {
	for i, t := range dstBar {
		cBar += t * dst[i]
		dstBar[i] = c * t
	}
	return cBar
}

// AddScaledTangent is the tangent of floats.AddScaled.
func AddScaledTangent(dst []float64, alpha float64, s, dstDot []float64, alphaDot float64, sDot []float64) {
	for i := range dstDot {
		dstDot[i] += alpha*at(sDot, i) + alphaDot*s[i]
	}
	floats.AddScaled(dst, alpha, s)
}

// AddScaledPullback is the pullback of floats.AddScaled.
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
