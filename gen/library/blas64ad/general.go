package blas64ad

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// general returns a matrix with the data of a and the size and stride of its primal of.
func general(a, of blas64.General) blas64.General {
	return blas64.General{Rows: of.Rows, Cols: of.Cols, Stride: of.Stride, Data: a.Data}
}

// flip returns the flag that transposes op(A): Trans for NoTrans, and NoTrans for any other.
func flip(t blas.Transpose) blas.Transpose {
	if t == blas.NoTrans {
		return blas.Trans
	}
	return blas.NoTrans
}

// sized returns v with length n. Gonum's products with matrices take the lengths of vectors from the matrix and ignore
// N.
func sized(v blas64.Vector, n int) blas64.Vector {
	return blas64.Vector{N: n, Data: v.Data, Inc: v.Inc}
}

// sizes returns the lengths of x and y in y = op(A)·x.
func sizes(t blas.Transpose, a blas64.General) (x, y int) {
	if t == blas.NoTrans {
		return a.Cols, a.Rows
	}
	return a.Rows, a.Cols
}

// zeros returns a new vector of n zeros.
func zeros(n int) blas64.Vector {
	return blas64.Vector{N: n, Data: make([]float64, n), Inc: 1}
}

// GemvTangent sets ẏ to β·ẏ + α·op(A)·ẋ + α·op(Ȧ)·x + α̇·op(A)·x + β̇·y, then y to α·op(A)·x + β·y.
func GemvTangent(t blas.Transpose, alpha float64, a blas64.General, x blas64.Vector, beta float64, y blas64.Vector,
	alphaDot float64, aDot blas64.General, xDot blas64.Vector, betaDot float64, yDot blas64.Vector) {
	nx, ny := sizes(t, a)
	x, y = sized(x, nx), sized(y, ny)
	if yDot.Data != nil {
		yDot = shadow(yDot, y)
		scale(beta, yDot)
		if xDot.Data != nil {
			blas64.Gemv(t, alpha, a, shadow(xDot, x), 1, yDot)
		}
		if aDot.Data != nil {
			blas64.Gemv(t, alpha, general(aDot, a), x, 1, yDot)
		}
		blas64.Gemv(t, alphaDot, a, x, 1, yDot)
		blas64.Axpy(betaDot, y, yDot)
	}
	blas64.Gemv(t, alpha, a, x, beta, y)
}

// GemvPullback adds α·ȳ·xᵀ to op(Ā), that is α·x·ȳᵀ to Ā if op transposes, and α·op(A)ᵀ·ȳ to x̄. It returns ᾱ =
// x·op(A)ᵀ·ȳ and β̄ = y·ȳ, with y as it was before Gemv, and multiplies ȳ by β at the end. It allocates a vector.
func GemvPullback(t blas.Transpose, alpha float64, a blas64.General, x blas64.Vector, beta float64, y blas64.Vector,
	aBar blas64.General, xBar, yBar blas64.Vector) (alphaBar, betaBar float64) {
	if yBar.Data == nil {
		return 0, 0
	}
	nx, ny := sizes(t, a)
	x, y = sized(x, nx), sized(y, ny)
	yBar = shadow(yBar, y)
	if aBar.Data != nil {
		if t == blas.NoTrans {
			ger(alpha, yBar, x, general(aBar, a))
		} else {
			ger(alpha, x, yBar, general(aBar, a))
		}
	}
	w := zeros(x.N) // op(A)ᵀ·ȳ
	blas64.Gemv(flip(t), 1, a, yBar, 0, w)
	alphaBar = blas64.Dot(w, x)
	if xBar.Data != nil {
		blas64.Axpy(alpha, w, shadow(xBar, x))
	}
	betaBar = blas64.Dot(y, yBar)
	scale(beta, yBar)
	return alphaBar, betaBar
}

// GerTangent adds α·ẋ·yᵀ + α·x·ẏᵀ + α̇·x·yᵀ to Ȧ, then α·x·yᵀ to A.
func GerTangent(alpha float64, x, y blas64.Vector, a blas64.General,
	alphaDot float64, xDot, yDot blas64.Vector, aDot blas64.General) {
	x, y = sized(x, a.Rows), sized(y, a.Cols)
	if aDot.Data != nil {
		aDot = general(aDot, a)
		if xDot.Data != nil {
			ger(alpha, shadow(xDot, x), y, aDot)
		}
		if yDot.Data != nil {
			ger(alpha, x, shadow(yDot, y), aDot)
		}
		ger(alphaDot, x, y, aDot)
	}
	blas64.Ger(alpha, x, y, a)
}

// ger adds alpha·x·yᵀ to a for vectors of any increment. It copies vectors with negative ones, which the assembly of
// blas64.Ger does not accept (gonum v0.16.0).
func ger(alpha float64, x, y blas64.Vector, a blas64.General) {
	if x.Inc < 0 {
		x = unit(x)
	}
	if y.Inc < 0 {
		y = unit(y)
	}
	blas64.Ger(alpha, x, y, a)
}

// GerPullback adds α·Ā·y to x̄ and α·Āᵀ·x to ȳ, and returns ᾱ = x·Ā·y. It leaves Ā as it is, since Ger adds to A. It
// allocates a vector.
func GerPullback(alpha float64, x, y blas64.Vector, a blas64.General,
	xBar, yBar blas64.Vector, aBar blas64.General) (alphaBar float64) {
	if aBar.Data == nil {
		return 0
	}
	x, y = sized(x, a.Rows), sized(y, a.Cols)
	aBar = general(aBar, a)
	w := zeros(x.N) // Ā·y
	blas64.Gemv(blas.NoTrans, 1, aBar, y, 0, w)
	alphaBar = blas64.Dot(w, x)
	if yBar.Data != nil {
		blas64.Gemv(blas.Trans, alpha, aBar, x, 1, shadow(yBar, y))
	}
	if xBar.Data != nil {
		blas64.Axpy(alpha, w, shadow(xBar, x))
	}
	return alphaBar
}

// GemmTangent sets Ċ to β·Ċ + β̇·C + α·op(Ȧ)·op(B) + α·op(A)·op(Ḃ) + α̇·op(A)·op(B), then C to α·op(A)·op(B) + β·C.
func GemmTangent(tA, tB blas.Transpose, alpha float64, a, b blas64.General, beta float64, c blas64.General,
	alphaDot float64, aDot, bDot blas64.General, betaDot float64, cDot blas64.General) {
	if cDot.Data != nil {
		cDot = general(cDot, c)
		for i := 0; i < c.Rows; i++ {
			for j := 0; j < c.Cols; j++ {
				k := i*c.Stride + j
				cDot.Data[k] = times(cDot.Data[k], beta) + times(c.Data[k], betaDot)
			}
		}
		if aDot.Data != nil {
			blas64.Gemm(tA, tB, alpha, general(aDot, a), b, 1, cDot)
		}
		if bDot.Data != nil {
			blas64.Gemm(tA, tB, alpha, a, general(bDot, b), 1, cDot)
		}
		blas64.Gemm(tA, tB, alphaDot, a, b, 1, cDot)
	}
	blas64.Gemm(tA, tB, alpha, a, b, beta, c)
}

// GemmPullback adds α·C̄·op(B)ᵀ to op(Ā) and α·op(A)ᵀ·C̄ to op(B̄). It returns ᾱ, the sum of the elementwise product of
// op(A) and C̄·op(B)ᵀ, and β̄, that of C̄ and C as it was before Gemm, and multiplies C̄ by β. It allocates a matrix of
// the shape of op(A).
func GemmPullback(tA, tB blas.Transpose, alpha float64, a, b blas64.General, beta float64, c blas64.General,
	aBar, bBar, cBar blas64.General) (alphaBar, betaBar float64) {
	if cBar.Data == nil {
		return 0, 0
	}
	cBar = general(cBar, c)
	inner := a.Cols
	if tA != blas.NoTrans {
		inner = a.Rows
	}
	// C̄·op(B)ᵀ
	m := blas64.General{Rows: c.Rows, Cols: inner, Stride: max(inner, 1), Data: make([]float64, c.Rows*inner)}
	blas64.Gemm(blas.NoTrans, flip(tB), 1, cBar, b, 0, m)
	for i := 0; i < c.Rows; i++ {
		for j := 0; j < inner; j++ {
			k := i*a.Stride + j
			if tA != blas.NoTrans {
				k = j*a.Stride + i
			}
			t := m.Data[i*m.Stride+j]
			alphaBar += t * a.Data[k]
			if aBar.Data != nil {
				aBar.Data[k] += alpha * t
			}
		}
	}
	if bBar.Data != nil {
		if tB == blas.NoTrans {
			blas64.Gemm(flip(tA), blas.NoTrans, alpha, a, cBar, 1, general(bBar, b))
		} else {
			blas64.Gemm(blas.Trans, tA, alpha, cBar, a, 1, general(bBar, b))
		}
	}
	for i := 0; i < c.Rows; i++ {
		for j := 0; j < c.Cols; j++ {
			k := i*c.Stride + j
			betaBar += cBar.Data[k] * c.Data[k]
			cBar.Data[k] = times(cBar.Data[k], beta)
		}
	}
	return alphaBar, betaBar
}
