package blas64ad

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// symmetric returns a matrix with the data of a and the shape of its primal of.
func symmetric(a, of blas64.Symmetric) blas64.Symmetric {
	return blas64.Symmetric{Uplo: of.Uplo, N: of.N, Stride: of.Stride, Data: a.Data}
}

// columns returns the first and the last column, plus 1, of the stored elements of row i of a triangle with n rows.
func columns(uplo blas.Uplo, n, i int) (from, to int) {
	if uplo == blas.Upper {
		return i, n
	}
	return 0, i + 1
}

// scaleTriangle sets the stored elements of cDot to beta·Ċ + betaDot·C.
func scaleTriangle(beta float64, c blas64.Symmetric, betaDot float64, cDot blas64.Symmetric) {
	for i := 0; i < c.N; i++ {
		from, to := columns(c.Uplo, c.N, i)
		for j := from; j < to; j++ {
			k := i*c.Stride + j
			cDot.Data[k] = times(cDot.Data[k], beta) + times(c.Data[k], betaDot)
		}
	}
}

// scaleTriangleBar multiplies the stored elements of C̄ by beta and returns β̄, the sum of the products of those of C̄,
// as they were before, and C.
func scaleTriangleBar(beta float64, c, cBar blas64.Symmetric) (betaBar float64) {
	for i := 0; i < c.N; i++ {
		from, to := columns(c.Uplo, c.N, i)
		for j := from; j < to; j++ {
			k := i*c.Stride + j
			betaBar += cBar.Data[k] * c.Data[k]
			cBar.Data[k] = times(cBar.Data[k], beta)
		}
	}
	return betaBar
}

// timesBoth returns (G + Gᵀ)·x, where G is the stored triangle of g and zero elsewhere.
func timesBoth(g blas64.Symmetric, x blas64.Vector) blas64.Vector {
	w := unit(x)
	for i := 0; i < g.N; i++ {
		w.Data[i] *= g.Data[i*g.Stride+i]
	}
	blas64.Symv(1, g, x, 1, w)
	return w
}

// timesBothGeneral returns (G + Gᵀ)·B, and B·(G + Gᵀ) on the right side, where G is the stored triangle of g and zero
// elsewhere.
func timesBothGeneral(s blas.Side, g blas64.Symmetric, b blas64.General) blas64.General {
	w := blas64.General{Rows: b.Rows, Cols: b.Cols, Stride: max(b.Cols, 1), Data: make([]float64, b.Rows*b.Cols)}
	for i := 0; i < b.Rows; i++ {
		for j := 0; j < b.Cols; j++ {
			k := i
			if s == blas.Right {
				k = j
			}
			w.Data[i*w.Stride+j] = g.Data[k*g.Stride+k] * b.Data[i*b.Stride+j]
		}
	}
	blas64.Symm(s, 1, g, b, 1, w)
	return w
}

// inner returns the sum of the products of the elements of a and b, which have the same shape.
func inner(a, b blas64.General) (sum float64) {
	for i := 0; i < a.Rows; i++ {
		for j := 0; j < a.Cols; j++ {
			sum += a.Data[i*a.Stride+j] * b.Data[i*b.Stride+j]
		}
	}
	return sum
}

// addScaled adds alpha·A to B, which has the same shape.
func addScaled(alpha float64, a, b blas64.General) {
	for i := 0; i < a.Rows; i++ {
		for j := 0; j < a.Cols; j++ {
			b.Data[i*b.Stride+j] += alpha * a.Data[i*a.Stride+j]
		}
	}
}

// sizedSyrk returns c with the number of rows of op(A), which gonum's products take in place of c.N.
func sizedSyrk(t blas.Transpose, a blas64.General, c blas64.Symmetric) blas64.Symmetric {
	c.N = a.Rows
	if t != blas.NoTrans {
		c.N = a.Cols
	}
	return c
}

// sideOf returns the side on which a symmetric matrix of the size of op(A)·op(A)ᵀ is multiplied with A, not op(A).
func sideOf(t blas.Transpose) blas.Side {
	if t == blas.NoTrans {
		return blas.Left
	}
	return blas.Right
}

// SyrTangent adds α·(ẋ·xᵀ + x·ẋᵀ) + α̇·x·xᵀ to the stored triangle of Ȧ, then α·x·xᵀ to that of A.
func SyrTangent(alpha float64, x blas64.Vector, a blas64.Symmetric,
	alphaDot float64, xDot blas64.Vector, aDot blas64.Symmetric) {
	x = sized(x, a.N)
	if aDot.Data != nil {
		aDot = symmetric(aDot, a)
		if xDot.Data != nil {
			blas64.Syr2(alpha, shadow(xDot, x), x, aDot)
		}
		blas64.Syr(alphaDot, x, aDot)
	}
	blas64.Syr(alpha, x, a)
}

// SyrPullback adds α·(G + Gᵀ)·x to x̄, where G is the stored triangle of Ā, and returns ᾱ = x·G·x. It leaves Ā as it
// is, since Syr adds to A. It allocates a vector.
func SyrPullback(alpha float64, x blas64.Vector, a blas64.Symmetric,
	xBar blas64.Vector, aBar blas64.Symmetric) (alphaBar float64) {
	if aBar.Data == nil {
		return 0
	}
	x = sized(x, a.N)
	w := timesBoth(symmetric(aBar, a), x)
	alphaBar = 0.5 * blas64.Dot(w, x)
	if xBar.Data != nil {
		blas64.Axpy(alpha, w, shadow(xBar, x))
	}
	return alphaBar
}

// Syr2Tangent adds α·(ẋ·yᵀ + y·ẋᵀ + x·ẏᵀ + ẏ·xᵀ) + α̇·(x·yᵀ + y·xᵀ) to the stored triangle of Ȧ, then
// α·(x·yᵀ + y·xᵀ) to that of A.
func Syr2Tangent(alpha float64, x, y blas64.Vector, a blas64.Symmetric,
	alphaDot float64, xDot, yDot blas64.Vector, aDot blas64.Symmetric) {
	x, y = sized(x, a.N), sized(y, a.N)
	if aDot.Data != nil {
		aDot = symmetric(aDot, a)
		if xDot.Data != nil {
			blas64.Syr2(alpha, shadow(xDot, x), y, aDot)
		}
		if yDot.Data != nil {
			blas64.Syr2(alpha, x, shadow(yDot, y), aDot)
		}
		blas64.Syr2(alphaDot, x, y, aDot)
	}
	blas64.Syr2(alpha, x, y, a)
}

// Syr2Pullback adds α·(G + Gᵀ)·y to x̄ and α·(G + Gᵀ)·x to ȳ, where G is the stored triangle of Ā, and returns
// ᾱ = x·(G + Gᵀ)·y. It leaves Ā as it is, since Syr2 adds to A. It allocates vectors.
func Syr2Pullback(alpha float64, x, y blas64.Vector, a blas64.Symmetric,
	xBar, yBar blas64.Vector, aBar blas64.Symmetric) (alphaBar float64) {
	if aBar.Data == nil {
		return 0
	}
	x, y = sized(x, a.N), sized(y, a.N)
	aBar = symmetric(aBar, a)
	w := timesBoth(aBar, y)
	alphaBar = blas64.Dot(w, x)
	if yBar.Data != nil {
		blas64.Axpy(alpha, timesBoth(aBar, x), shadow(yBar, y))
	}
	if xBar.Data != nil {
		blas64.Axpy(alpha, w, shadow(xBar, x))
	}
	return alphaBar
}

// SyrkTangent sets the stored triangle of Ċ to that of β·Ċ + β̇·C + α·(op(Ȧ)·op(A)ᵀ + op(A)·op(Ȧ)ᵀ) +
// α̇·op(A)·op(A)ᵀ, then that of C to α·op(A)·op(A)ᵀ + β·C.
func SyrkTangent(t blas.Transpose, alpha float64, a blas64.General, beta float64, c blas64.Symmetric,
	alphaDot float64, aDot blas64.General, betaDot float64, cDot blas64.Symmetric) {
	c = sizedSyrk(t, a, c)
	if cDot.Data != nil {
		cDot = symmetric(cDot, c)
		scaleTriangle(beta, c, betaDot, cDot)
		if aDot.Data != nil {
			blas64.Syr2k(t, alpha, general(aDot, a), a, 1, cDot)
		}
		blas64.Syrk(t, alphaDot, a, 1, cDot)
	}
	blas64.Syrk(t, alpha, a, beta, c)
}

// SyrkPullback adds α·(G + Gᵀ)·op(A) to op(Ā), where G is the stored triangle of C̄. It returns ᾱ, the sum of the
// products of the elements of G and of op(A)·op(A)ᵀ, and β̄, that of the stored elements of C̄ and of C as it was
// before Syrk, and multiplies those of C̄ by β. It allocates a matrix of the shape of A.
func SyrkPullback(t blas.Transpose, alpha float64, a blas64.General, beta float64, c blas64.Symmetric,
	aBar blas64.General, cBar blas64.Symmetric) (alphaBar, betaBar float64) {
	if cBar.Data == nil {
		return 0, 0
	}
	c = sizedSyrk(t, a, c)
	cBar = symmetric(cBar, c)
	w := timesBothGeneral(sideOf(t), cBar, a)
	alphaBar = 0.5 * inner(w, a)
	if aBar.Data != nil {
		addScaled(alpha, w, general(aBar, a))
	}
	return alphaBar, scaleTriangleBar(beta, c, cBar)
}

// Syr2kTangent sets the stored triangle of Ċ to that of β·Ċ + β̇·C + α·(P + Pᵀ) + α̇·(Q + Qᵀ), with
// P = op(Ȧ)·op(B)ᵀ + op(A)·op(Ḃ)ᵀ and Q = op(A)·op(B)ᵀ, then that of C to α·(Q + Qᵀ) + β·C.
func Syr2kTangent(t blas.Transpose, alpha float64, a, b blas64.General, beta float64, c blas64.Symmetric,
	alphaDot float64, aDot, bDot blas64.General, betaDot float64, cDot blas64.Symmetric) {
	c = sizedSyrk(t, a, c)
	if cDot.Data != nil {
		cDot = symmetric(cDot, c)
		scaleTriangle(beta, c, betaDot, cDot)
		if aDot.Data != nil {
			blas64.Syr2k(t, alpha, general(aDot, a), b, 1, cDot)
		}
		if bDot.Data != nil {
			blas64.Syr2k(t, alpha, a, general(bDot, b), 1, cDot)
		}
		blas64.Syr2k(t, alphaDot, a, b, 1, cDot)
	}
	blas64.Syr2k(t, alpha, a, b, beta, c)
}

// Syr2kPullback adds α·(G + Gᵀ)·op(B) to op(Ā) and α·(G + Gᵀ)·op(A) to op(B̄), where G is the stored triangle of C̄. It
// returns ᾱ, the sum of the products of the elements of G + Gᵀ and of op(A)·op(B)ᵀ, and β̄, that of the stored elements
// of C̄ and of C as it was before Syr2k, and multiplies those of C̄ by β. It allocates matrices of the shape of A.
func Syr2kPullback(t blas.Transpose, alpha float64, a, b blas64.General, beta float64, c blas64.Symmetric,
	aBar, bBar blas64.General, cBar blas64.Symmetric) (alphaBar, betaBar float64) {
	if cBar.Data == nil {
		return 0, 0
	}
	c = sizedSyrk(t, a, c)
	b.Rows, b.Cols = a.Rows, a.Cols // as gonum takes them
	cBar = symmetric(cBar, c)
	w := timesBothGeneral(sideOf(t), cBar, b)
	alphaBar = inner(w, a)
	if aBar.Data != nil {
		addScaled(alpha, w, general(aBar, a))
	}
	if bBar.Data != nil {
		addScaled(alpha, timesBothGeneral(sideOf(t), cBar, a), general(bBar, b))
	}
	return alphaBar, scaleTriangleBar(beta, c, cBar)
}

// SymmTangent sets Ċ to β·Ċ + β̇·C + α·(Ȧ·B + A·Ḃ) + α̇·A·B, then C to α·A·B + β·C; on the right side, with the
// factors of each product in the other order. Of Ȧ, as of A, only the triangle that a.Uplo selects is read.
func SymmTangent(s blas.Side, alpha float64, a blas64.Symmetric, b blas64.General, beta float64, c blas64.General,
	alphaDot float64, aDot blas64.Symmetric, bDot blas64.General, betaDot float64, cDot blas64.General) {
	if cDot.Data != nil {
		cDot = general(cDot, c)
		m, n := sizesSymm(s, a, b)
		for i := 0; i < m; i++ {
			for j := 0; j < n; j++ {
				k := i*c.Stride + j
				cDot.Data[k] = times(cDot.Data[k], beta) + times(c.Data[k], betaDot)
			}
		}
		if aDot.Data != nil {
			blas64.Symm(s, alpha, symmetric(aDot, a), b, 1, cDot)
		}
		if bDot.Data != nil {
			blas64.Symm(s, alpha, a, general(bDot, b), 1, cDot)
		}
		blas64.Symm(s, alphaDot, a, b, 1, cDot)
	}
	blas64.Symm(s, alpha, a, b, beta, c)
}

// sizesSymm returns the numbers of rows and columns of A·B, or of B·A on the right side. Gonum ignores those of C, and
// those of B which A determines.
func sizesSymm(s blas.Side, a blas64.Symmetric, b blas64.General) (m, n int) {
	if s == blas.Left {
		return a.N, b.Cols
	}
	return b.Rows, a.N
}

// SymmPullback adds α·A·C̄ to B̄, or α·C̄·A on the right side, and the derivatives with respect to the stored elements
// to Ā: with F = C̄·Bᵀ, or Bᵀ·C̄ on the right side, α·Fᵢᵢ on the diagonal and α·(Fᵢⱼ + Fⱼᵢ) off it, as a stored element
// off the diagonal occurs twice in the matrix. It returns ᾱ, the sum of the products of the elements of B and of A·C̄
// or C̄·A, and β̄, that of C̄ and C as it was before Symm, and multiplies C̄ by β. It allocates matrices of the shapes
// of A and C.
func SymmPullback(s blas.Side, alpha float64, a blas64.Symmetric, b blas64.General, beta float64, c blas64.General,
	aBar blas64.Symmetric, bBar, cBar blas64.General) (alphaBar, betaBar float64) {
	if cBar.Data == nil {
		return 0, 0
	}
	m, n := sizesSymm(s, a, b)
	b.Rows, b.Cols, c.Rows, c.Cols = m, n, m, n
	cBar = general(cBar, c)
	if aBar.Data != nil {
		f := blas64.General{Rows: a.N, Cols: a.N, Stride: max(a.N, 1), Data: make([]float64, a.N*a.N)}
		if s == blas.Left {
			blas64.Gemm(blas.NoTrans, blas.Trans, alpha, cBar, b, 0, f)
		} else {
			blas64.Gemm(blas.Trans, blas.NoTrans, alpha, b, cBar, 0, f)
		}
		for i := 0; i < a.N; i++ {
			from, to := columns(a.Uplo, a.N, i)
			for j := from; j < to; j++ {
				v := f.Data[i*f.Stride+j]
				if i != j {
					v += f.Data[j*f.Stride+i]
				}
				aBar.Data[i*a.Stride+j] += v
			}
		}
	}
	w := blas64.General{Rows: m, Cols: n, Stride: max(n, 1), Data: make([]float64, m*n)}
	blas64.Symm(s, 1, a, cBar, 0, w)
	alphaBar = inner(w, b)
	if bBar.Data != nil {
		addScaled(alpha, w, general(bBar, b))
	}
	for i := 0; i < m; i++ {
		for j := 0; j < n; j++ {
			k := i*c.Stride + j
			betaBar += cBar.Data[k] * c.Data[k]
			cBar.Data[k] = times(cBar.Data[k], beta)
		}
	}
	return alphaBar, betaBar
}
