package matad

import (
	"unsafe"

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

// CheckOverlap panics if memory of a that b reads is written, as package mat does.
//
//nabla:passive
func CheckOverlap(a, b blas64.General) {
	if len(a.Data) == 0 || len(b.Data) == 0 {
		return
	}
	from, to := uintptr(unsafe.Pointer(&a.Data[0])), uintptr(unsafe.Pointer(&b.Data[0]))
	if from == to {
		panic("mat: bad region: identical")
	}
	first, second := a, b
	if to < from {
		from, to, first, second = to, from, b, a
	}
	off := int((to - from) / unsafe.Sizeof(a.Data[0]))
	if off >= (first.Rows-1)*first.Stride+first.Cols {
		return
	}
	if a.Stride != b.Stride && a.Stride != 1 && b.Stride != 1 {
		panic("mat: bad region: different strides")
	}
	if rectanglesOverlap(off, first.Cols, second.Cols, min(a.Stride, b.Stride)) {
		panic("mat: bad region: overlap")
	}
}

// rectanglesOverlap reports whether two matrices share elements: the second begins off numbers behind the first and
// within it, and both have a stride.
func rectanglesOverlap(off, cols, of, stride int) bool {
	if stride == 1 {
		return true
	}
	from := off % stride
	to := (from + of) % stride
	return to != 0 && to <= from || from < cols
}
