package matad

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Operations on whole matrices. FTangent computes F and the tangent of its result. FPullback does not compute F: it
// adds to the cotangents of arguments that F reads, and turns those of memory that F overwrites into those of its
// former contents. Shadows have data only; nil data is a zero tangent, or a cotangent that is not needed. In comments
// Ẋ is the tangent and X̄ the cotangent of X. The adjoints follow Giles, "Collected Matrix Derivative Results for
// Forward and Reverse Mode Algorithmic Differentiation", Advances in Automatic Differentiation (2008).

// shadow returns the shadow s of a matrix with the size and stride of its primal.
func shadow(s, of blas64.General) blas64.General {
	return blas64.General{Rows: of.Rows, Cols: of.Cols, Stride: of.Stride, Data: s.Data}
}

// other returns the other transpose.
func other(t blas.Transpose) blas.Transpose {
	if t == blas.NoTrans {
		return blas.Trans
	}
	return blas.NoTrans
}

// Product sets C = op(A)·op(B), where op transposes as the flags say.
//
//nabla:rule tangent=ProductTangent pullback=ProductPullback
func Product(ta, tb blas.Transpose, a, b, c blas64.General) {
	blas64.Gemm(ta, tb, 1, a, b, 0, c)
}

// ProductTangent sets C and Ċ = op(Ȧ)·op(B) + op(A)·op(Ḃ).
func ProductTangent(ta, tb blas.Transpose, a, b, c, aDot, bDot, cDot blas64.General) {
	if cDot.Data != nil {
		d := shadow(cDot, c)
		beta := 0.0
		if aDot.Data != nil {
			blas64.Gemm(ta, tb, 1, shadow(aDot, a), b, 0, d)
			beta = 1
		}
		if bDot.Data != nil {
			blas64.Gemm(ta, tb, 1, a, shadow(bDot, b), beta, d)
			beta = 1
		}
		if beta == 0 {
			clearAll(d)
		}
	}
	blas64.Gemm(ta, tb, 1, a, b, 0, c)
}

// ProductPullback adds C̄·op(B)ᵀ to the cotangent of op(A) and op(A)ᵀ·C̄ to that of op(B), and sets C̄ = 0.
func ProductPullback(ta, tb blas.Transpose, a, b, c, aBar, bBar, cBar blas64.General) {
	if cBar.Data == nil {
		return
	}
	d := shadow(cBar, c)
	if aBar.Data != nil {
		if ta == blas.NoTrans {
			blas64.Gemm(blas.NoTrans, other(tb), 1, d, b, 1, shadow(aBar, a))
		} else {
			blas64.Gemm(tb, blas.Trans, 1, b, d, 1, shadow(aBar, a))
		}
	}
	if bBar.Data != nil {
		if tb == blas.NoTrans {
			blas64.Gemm(other(ta), blas.NoTrans, 1, a, d, 1, shadow(bBar, b))
		} else {
			blas64.Gemm(blas.Trans, ta, 1, d, a, 1, shadow(bBar, b))
		}
	}
	clearAll(d)
}

// clearAll sets the elements of a to 0.
func clearAll(a blas64.General) {
	for i := 0; i < a.Rows; i++ {
		clear(a.Data[i*a.Stride : i*a.Stride+a.Cols])
	}
}

// ProductVec sets y = op(A)·x.
//
//nabla:rule tangent=ProductVecTangent pullback=ProductVecPullback
func ProductVec(t blas.Transpose, a blas64.General, x, y blas64.Vector) {
	blas64.Gemv(t, 1, a, x, 0, y)
}

// shadowVec returns the shadow s of a vector with the length and increment of its primal.
func shadowVec(s, of blas64.Vector) blas64.Vector {
	return blas64.Vector{N: of.N, Inc: of.Inc, Data: s.Data}
}

// ProductVecTangent sets y and ẏ = op(Ȧ)·x + op(A)·ẋ.
func ProductVecTangent(t blas.Transpose, a blas64.General, x, y blas64.Vector, aDot blas64.General,
	xDot, yDot blas64.Vector) {
	if yDot.Data != nil {
		d := shadowVec(yDot, y)
		beta := 0.0
		if aDot.Data != nil {
			blas64.Gemv(t, 1, shadow(aDot, a), x, 0, d)
			beta = 1
		}
		if xDot.Data != nil {
			blas64.Gemv(t, 1, a, shadowVec(xDot, x), beta, d)
			beta = 1
		}
		if beta == 0 {
			clearVec(d)
		}
	}
	blas64.Gemv(t, 1, a, x, 0, y)
}

// ProductVecPullback adds ȳ·xᵀ to the cotangent of op(A) and op(A)ᵀ·ȳ to x̄, and sets ȳ = 0.
func ProductVecPullback(t blas.Transpose, a blas64.General, x, y blas64.Vector, aBar blas64.General,
	xBar, yBar blas64.Vector) {
	if yBar.Data == nil {
		return
	}
	d := shadowVec(yBar, y)
	if aBar.Data != nil {
		if t == blas.NoTrans {
			blas64.Ger(1, d, x, shadow(aBar, a))
		} else {
			blas64.Ger(1, x, d, shadow(aBar, a))
		}
	}
	if xBar.Data != nil {
		blas64.Gemv(other(t), 1, a, d, 1, shadowVec(xBar, x))
	}
	clearVec(d)
}

// clearVec sets the elements of x to 0.
func clearVec(x blas64.Vector) {
	for i := 0; i < x.N; i++ {
		x.Data[i*x.Inc] = 0
	}
}
