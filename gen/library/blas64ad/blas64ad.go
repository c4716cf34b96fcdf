// Package blas64ad has the derivatives of functions of gonum's package blas64.
//
// Shadows of vectors and matrices have data only; sizes, increments and strides are those of the primal. Nil data means
// a zero tangent or a cotangent that is not needed. The adjoints of products follow Giles, "Collected Matrix Derivative
// Results for Forward and Reverse Mode Algorithmic Differentiation", Advances in Automatic Differentiation (2008).
package blas64ad

import "gonum.org/v1/gonum/blas/blas64"

// shadow returns a shadow with the shape of its primal.
func shadow(v, of blas64.Vector) blas64.Vector {
	return blas64.Vector{N: of.N, Data: v.Data, Inc: of.Inc}
}

// first returns the index of element 0 of a vector.
func first(v blas64.Vector) int {
	if v.Inc < 0 {
		return (1 - v.N) * v.Inc
	}
	return 0
}

// scale multiplies a vector of any increment by beta. For beta = 0 the result is 0.
func scale(beta float64, v blas64.Vector) {
	at := first(v)
	for i := 0; i < v.N; i++ {
		v.Data[at] = times(v.Data[at], beta)
		at += v.Inc
	}
}

// times returns x·t, 0 for t = 0 (a strong zero).
func times(x, t float64) float64 {
	p := x * t
	if t == 0 && p != p {
		return 0
	}
	return p
}

// DotTangent is the tangent of blas64.Dot.
func DotTangent(x, y, xDot, yDot blas64.Vector) (v, vDot float64) {
	v = blas64.Dot(x, y)
	if xDot.Data != nil {
		vDot += blas64.Dot(shadow(xDot, x), y)
	}
	if yDot.Data != nil {
		vDot += blas64.Dot(x, shadow(yDot, y))
	}
	return v, vDot
}

// DotPullback is the pullback of blas64.Dot.
func DotPullback(x, y, xBar, yBar blas64.Vector, vBar float64) {
	if xBar.Data != nil {
		blas64.Axpy(vBar, y, shadow(xBar, x))
	}
	if yBar.Data != nil {
		blas64.Axpy(vBar, x, shadow(yBar, y))
	}
}

// Nrm2Tangent is the tangent of blas64.Nrm2. At 0 the derivative is 0. It uses quotients of elements and the norm,
// which are in range where the derivatives of the reciprocal of the norm are not.
func Nrm2Tangent(x, xDot blas64.Vector) (v, vDot float64) {
	v = blas64.Nrm2(x)
	if xDot.Data != nil && v != 0 {
		for i := 0; i < x.N; i++ {
			vDot += x.Data[i*x.Inc] / v * xDot.Data[i*x.Inc]
		}
	}
	return v, vDot
}

// Nrm2Pullback is the pullback of blas64.Nrm2.
func Nrm2Pullback(x, xBar blas64.Vector, vBar float64) {
	if xBar.Data == nil {
		return
	}
	if v := blas64.Nrm2(x); v != 0 {
		for i := 0; i < x.N; i++ {
			xBar.Data[i*x.Inc] += x.Data[i*x.Inc] / v * vBar
		}
	}
}

// sign returns the derivative of the magnitude, 0 at 0.
func sign(x float64) float64 {
	if x > 0 {
		return 1
	}
	if x < 0 {
		return -1
	}
	return 0
}

// AsumTangent is the tangent of blas64.Asum.
func AsumTangent(x, xDot blas64.Vector) (v, vDot float64) {
	v = blas64.Asum(x)
	if xDot.Data != nil {
		for i := 0; i < x.N; i++ {
			vDot += sign(x.Data[i*x.Inc]) * xDot.Data[i*x.Inc]
		}
	}
	return v, vDot
}

// AsumPullback is the pullback of blas64.Asum.
func AsumPullback(x, xBar blas64.Vector, vBar float64) {
	if xBar.Data != nil {
		for i := 0; i < x.N; i++ {
			xBar.Data[i*x.Inc] += sign(x.Data[i*x.Inc]) * vBar
		}
	}
}

// AxpyTangent is the tangent of blas64.Axpy.
func AxpyTangent(alpha float64, x, y blas64.Vector, alphaDot float64, xDot, yDot blas64.Vector) {
	if yDot.Data != nil {
		if xDot.Data != nil {
			blas64.Axpy(alpha, shadow(xDot, x), shadow(yDot, y))
		}
		blas64.Axpy(alphaDot, x, shadow(yDot, y))
	}
	blas64.Axpy(alpha, x, y)
}

// AxpyPullback is the pullback of blas64.Axpy.
func AxpyPullback(alpha float64, x, y, xBar, yBar blas64.Vector) (alphaBar float64) {
	if yBar.Data == nil {
		return 0
	}
	alphaBar = blas64.Dot(x, shadow(yBar, y))
	if xBar.Data != nil {
		blas64.Axpy(alpha, shadow(yBar, y), shadow(xBar, x))
	}
	return alphaBar
}

// ScalTangent is the tangent of blas64.Scal.
func ScalTangent(alpha float64, x blas64.Vector, alphaDot float64, xDot blas64.Vector) {
	if xDot.Data != nil {
		blas64.Scal(alpha, shadow(xDot, x))
		blas64.Axpy(alphaDot, x, shadow(xDot, x))
	}
	blas64.Scal(alpha, x)
}

// ScalPullback is the pullback of blas64.Scal.
func ScalPullback(alpha float64, x, xBar blas64.Vector) (alphaBar float64) {
	if xBar.Data == nil {
		return 0
	}
	alphaBar = blas64.Dot(x, shadow(xBar, x))
	blas64.Scal(alpha, shadow(xBar, x))
	return alphaBar
}

// CopyTangent is the tangent of blas64.Copy.
func CopyTangent(x, y, xDot, yDot blas64.Vector) {
	switch {
	case yDot.Data == nil:
	case xDot.Data == nil:
		scale(0, shadow(yDot, y))
	default:
		blas64.Copy(shadow(xDot, x), shadow(yDot, y))
	}
	blas64.Copy(x, y)
}

// CopyPullback is the pullback of blas64.Copy. The cotangent of a vector copied to itself does not change.
func CopyPullback(x, y, xBar, yBar blas64.Vector) {
	if yBar.Data == nil {
		return
	}
	from, to := first(x), first(y)
	for i := 0; i < y.N; i++ {
		t := yBar.Data[to]
		yBar.Data[to] = 0
		if xBar.Data != nil {
			xBar.Data[from] += t
		}
		from, to = from+x.Inc, to+y.Inc
	}
}

// SwapTangent is the tangent of blas64.Swap.
func SwapTangent(x, y, xDot, yDot blas64.Vector) {
	swap(x, y, xDot, yDot)
	blas64.Swap(x, y)
}

// SwapPullback is the pullback of blas64.Swap, which is its own transpose.
func SwapPullback(x, y, xBar, yBar blas64.Vector) { swap(x, y, xBar, yBar) }

// swap swaps the shadows of x and y. A nil shadow is zero.
func swap(x, y, xSh, ySh blas64.Vector) {
	switch {
	case xSh.Data != nil && ySh.Data != nil:
		blas64.Swap(shadow(xSh, x), shadow(ySh, y))
	case xSh.Data != nil:
		scale(0, shadow(xSh, x))
	case ySh.Data != nil:
		scale(0, shadow(ySh, y))
	}
}
