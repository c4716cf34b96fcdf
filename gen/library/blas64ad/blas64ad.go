// Package blas64ad has the derivatives of functions of gonum's package blas64.
//
// FTangent computes blas64.F and the tangents of all that F writes. FPullback does not compute F: it takes the
// arguments as they were before F and the cotangents of the results, adds to the cotangents of arguments that F only
// reads, and turns those of memory that F overwrites into those of its former contents. In comments, ẋ is the tangent
// xDot and x̄ the cotangent xBar; α and β are alpha and beta; op(A) is A or Aᵀ, as the flag t says.
//
// Shadows of vectors and matrices have data only; sizes, increments and strides are those of the primal. Nil data
// means a zero tangent, or a cotangent that is not needed. A pullback does nothing and returns 0 if the cotangents of
// all memory that F overwrites are nil. The adjoints of products follow Giles, "Collected Matrix Derivative Results
// for Forward and Reverse Mode Algorithmic Differentiation", Advances in Automatic Differentiation (2008).
package blas64ad

import "gonum.org/v1/gonum/blas/blas64"

// shadow returns a vector with the data of v and the length and increment of its primal of.
func shadow(v, of blas64.Vector) blas64.Vector {
	return blas64.Vector{N: of.N, Data: v.Data, Inc: of.Inc}
}

// first returns the index of element 0 in the data of a vector, which is not 0 if the increment is negative.
func first(v blas64.Vector) int {
	if v.Inc < 0 {
		return (1 - v.N) * v.Inc
	}
	return 0
}

// scale multiplies the elements of v, which may have any increment, by beta in place. For beta = 0 the result is 0,
// even if v holds infinities or NaNs.
func scale(beta float64, v blas64.Vector) {
	at := first(v)
	for i := 0; i < v.N; i++ {
		v.Data[at] = times(v.Data[at], beta)
		at += v.Inc
	}
}

// times returns x·t, and 0 instead of NaN if t is 0 (a strong zero).
func times(x, t float64) float64 {
	p := x * t
	if t == 0 && p != p {
		return 0
	}
	return p
}

// DotTangent returns x·y and its tangent ẋ·y + x·ẏ.
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

// DotPullback adds v̄·y to x̄ and v̄·x to ȳ.
func DotPullback(x, y, xBar, yBar blas64.Vector, vBar float64) {
	if xBar.Data != nil {
		blas64.Axpy(vBar, y, shadow(xBar, x))
	}
	if yBar.Data != nil {
		blas64.Axpy(vBar, x, shadow(yBar, y))
	}
}

// Nrm2Tangent returns v = ‖x‖₂ and its tangent Σ (xᵢ/v)·ẋᵢ, which is 0 at x = 0. Each xᵢ is divided by v, since 1/v may
// overflow where the quotient does not.
func Nrm2Tangent(x, xDot blas64.Vector) (v, vDot float64) {
	v = blas64.Nrm2(x)
	if xDot.Data != nil && v != 0 {
		for i := 0; i < x.N; i++ {
			vDot += x.Data[i*x.Inc] / v * xDot.Data[i*x.Inc]
		}
	}
	return v, vDot
}

// Nrm2Pullback adds (xᵢ/v)·v̄ to each x̄ᵢ, with v = ‖x‖₂, and nothing at x = 0.
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

// sign returns the derivative of |x|: -1, 1, or 0 if x is 0 or NaN.
func sign(x float64) float64 {
	if x > 0 {
		return 1
	}
	if x < 0 {
		return -1
	}
	return 0
}

// AsumTangent returns Σ |xᵢ| and its tangent Σ sign(xᵢ)·ẋᵢ, with sign(0) = 0.
func AsumTangent(x, xDot blas64.Vector) (v, vDot float64) {
	v = blas64.Asum(x)
	if xDot.Data != nil {
		for i := 0; i < x.N; i++ {
			vDot += sign(x.Data[i*x.Inc]) * xDot.Data[i*x.Inc]
		}
	}
	return v, vDot
}

// AsumPullback adds sign(xᵢ)·v̄ to each x̄ᵢ, with sign(0) = 0.
func AsumPullback(x, xBar blas64.Vector, vBar float64) {
	if xBar.Data != nil {
		for i := 0; i < x.N; i++ {
			xBar.Data[i*x.Inc] += sign(x.Data[i*x.Inc]) * vBar
		}
	}
}

// AxpyTangent adds α·ẋ + α̇·x to ẏ, then α·x to y.
func AxpyTangent(alpha float64, x, y blas64.Vector, alphaDot float64, xDot, yDot blas64.Vector) {
	if yDot.Data != nil {
		if xDot.Data != nil {
			blas64.Axpy(alpha, shadow(xDot, x), shadow(yDot, y))
		}
		blas64.Axpy(alphaDot, x, shadow(yDot, y))
	}
	blas64.Axpy(alpha, x, y)
}

// AxpyPullback adds α·ȳ to x̄ and returns ᾱ = x·ȳ. It leaves ȳ as it is, since Axpy adds to y.
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

// ScalTangent sets ẋ to α·ẋ + α̇·x, then x to α·x.
func ScalTangent(alpha float64, x blas64.Vector, alphaDot float64, xDot blas64.Vector) {
	if xDot.Data != nil {
		blas64.Scal(alpha, shadow(xDot, x))
		blas64.Axpy(alphaDot, x, shadow(xDot, x))
	}
	blas64.Scal(alpha, x)
}

// ScalPullback returns ᾱ = x·x̄, with x as it was before Scal, and multiplies x̄ by α.
func ScalPullback(alpha float64, x, xBar blas64.Vector) (alphaBar float64) {
	if xBar.Data == nil {
		return 0
	}
	alphaBar = blas64.Dot(x, shadow(xBar, x))
	blas64.Scal(alpha, shadow(xBar, x))
	return alphaBar
}

// CopyTangent copies ẋ to ẏ, or clears ẏ if ẋ is nil, and copies x to y.
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

// CopyPullback adds ȳ to x̄ and clears ȳ, one element after the other in the reverse order of Copy, so that it is
// right if the vectors overlap too.
func CopyPullback(x, y, xBar, yBar blas64.Vector) {
	if yBar.Data == nil {
		return
	}
	if !copiesBackward(x, y, xBar, yBar) {
		x, y = reversed(x), reversed(y)
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

// copiesBackward reports whether Copy of x to y, which have the given shadows, has the effect of a copy of one element
// after the other from the last to the first, and not the other way round: the builtin copy, which it calls for vectors
// with increment 1, copies so if y begins within x.
func copiesBackward(x, y, xSh, ySh blas64.Vector) bool {
	if x.Inc != 1 || y.Inc != 1 || xSh.Data == nil {
		return false
	}
	for i := 1; i < x.N; i++ {
		if &xSh.Data[i] == &ySh.Data[0] {
			return true
		}
	}
	return false
}

// reversed returns v with its elements in the reverse order.
func reversed(v blas64.Vector) blas64.Vector { return blas64.Vector{N: v.N, Data: v.Data, Inc: -v.Inc} }

// SwapTangent swaps ẋ with ẏ and x with y.
func SwapTangent(x, y, xDot, yDot blas64.Vector) {
	swap(x, y, xDot, yDot)
	blas64.Swap(x, y)
}

// SwapPullback swaps x̄ and ȳ, the elements in the reverse order of Swap, in case that the vectors overlap: a swap of
// two numbers is its own transpose.
func SwapPullback(x, y, xBar, yBar blas64.Vector) { swap(reversed(x), reversed(y), xBar, yBar) }

// swap swaps the shadows of x and y. If one is nil, it is zero, and the other is cleared.
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
