package blas64ad

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// SymvTangent sets ẏ to β·ẏ + α·A·ẋ + α·Ȧ·x + α̇·A·x + β̇·y, then y to α·A·x + β·y. Of Ȧ, as of A, only the triangle
// that a.Uplo selects is read, and Ȧ is symmetric too.
func SymvTangent(alpha float64, a blas64.Symmetric, x blas64.Vector, beta float64, y blas64.Vector,
	alphaDot float64, aDot blas64.Symmetric, xDot blas64.Vector, betaDot float64, yDot blas64.Vector) {
	x, y = sized(x, a.N), sized(y, a.N)
	if yDot.Data != nil {
		yDot = shadow(yDot, y)
		scale(beta, yDot)
		if xDot.Data != nil {
			blas64.Symv(alpha, a, shadow(xDot, x), 1, yDot)
		}
		if aDot.Data != nil {
			d := blas64.Symmetric{Uplo: a.Uplo, N: a.N, Stride: a.Stride, Data: aDot.Data}
			blas64.Symv(alpha, d, x, 1, yDot)
		}
		blas64.Symv(alphaDot, a, x, 1, yDot)
		blas64.Axpy(betaDot, y, yDot)
	}
	blas64.Symv(alpha, a, x, beta, y)
}

// SymvPullback adds the derivatives with respect to the stored elements to Ā: α·ȳᵢ·xᵢ on the diagonal and α·(ȳᵢ·xⱼ +
// ȳⱼ·xᵢ) off it, as a stored element off the diagonal occurs twice in the matrix. It adds α·A·ȳ to x̄, returns ᾱ =
// x·A·ȳ and β̄ = y·ȳ, with y as it was before Symv, and multiplies ȳ by β at the end. It allocates vectors.
func SymvPullback(alpha float64, a blas64.Symmetric, x blas64.Vector, beta float64, y blas64.Vector,
	aBar blas64.Symmetric, xBar, yBar blas64.Vector) (alphaBar, betaBar float64) {
	if yBar.Data == nil {
		return 0, 0
	}
	x, y = sized(x, a.N), sized(y, a.N)
	yBar = shadow(yBar, y)
	if aBar.Data != nil {
		u, v := unit(x), unit(yBar)
		addProduct(aBar.Data, a.Stride, a.N, a.Uplo, blas.NonUnit, alpha, u, v)
		addProduct(aBar.Data, a.Stride, a.N, a.Uplo, blas.Unit, alpha, v, u)
	}
	w := zeros(x.N) // A·ȳ
	blas64.Symv(1, a, yBar, 0, w)
	alphaBar = blas64.Dot(w, x)
	if xBar.Data != nil {
		blas64.Axpy(alpha, w, shadow(xBar, x))
	}
	betaBar = blas64.Dot(y, yBar)
	scale(beta, yBar)
	return alphaBar, betaBar
}

// unit returns a copy of v with increment 1.
func unit(v blas64.Vector) blas64.Vector {
	w := zeros(v.N)
	blas64.Copy(v, w)
	return w
}

// addProduct adds alpha·u·vᵀ to the triangle of data that uplo selects, without the diagonal if diag is Unit. The
// vectors have increment 1.
func addProduct(data []float64, stride, n int, uplo blas.Uplo, diag blas.Diag, alpha float64, u, v blas64.Vector) {
	for i := 0; i < n; i++ {
		lo, hi := 0, i+1
		if uplo == blas.Upper {
			lo, hi = i, n
		}
		for j := lo; j < hi; j++ {
			if i != j || diag != blas.Unit {
				data[i*stride+j] += alpha * u.Data[i] * v.Data[j]
			}
		}
	}
}

// addTimes adds alpha·op(D)·x to y, where D is a triangle with the elements data and the shape of a, and a diagonal of
// zeros if a.Diag is Unit. The vectors have increment 1.
func addTimes(data []float64, a blas64.Triangular, t blas.Transpose, alpha float64, x, y blas64.Vector) {
	for i := 0; i < a.N; i++ {
		lo, hi := 0, i+1
		if a.Uplo == blas.Upper {
			lo, hi = i, a.N
		}
		for j := lo; j < hi; j++ {
			switch {
			case i == j && a.Diag == blas.Unit:
			case t == blas.NoTrans:
				y.Data[i] += alpha * data[i*a.Stride+j] * x.Data[j]
			default:
				y.Data[j] += alpha * data[i*a.Stride+j] * x.Data[i]
			}
		}
	}
}

// TrmvTangent sets ẋ to op(A)·ẋ + op(Ȧ)·x, then x to op(A)·x. If the diagonal of A is a unit one, that of Ȧ is zero and
// not read. It allocates vectors unless Ȧ is nil.
func TrmvTangent(t blas.Transpose, a blas64.Triangular, x blas64.Vector, aDot blas64.Triangular, xDot blas64.Vector) {
	if xDot.Data != nil {
		x = sized(x, a.N)
		xDot = shadow(xDot, x)
		blas64.Trmv(t, a, xDot)
		if aDot.Data != nil {
			w := zeros(x.N)
			addTimes(aDot.Data, a, t, 1, unit(x), w)
			blas64.Axpy(1, w, xDot)
		}
	}
	blas64.Trmv(t, a, x)
}

// TrmvPullback adds x̄·xᵀ to op(Ā), that is x·x̄ᵀ to Ā if op transposes, where A has stored elements, and then sets x̄
// to op(A)ᵀ·x̄. x is as before Trmv. It allocates vectors unless Ā is nil.
func TrmvPullback(t blas.Transpose, a blas64.Triangular, x blas64.Vector, aBar blas64.Triangular, xBar blas64.Vector) {
	if xBar.Data == nil {
		return
	}
	x = sized(x, a.N)
	xBar = shadow(xBar, x)
	if aBar.Data != nil {
		u, v := unit(xBar), unit(x)
		if t != blas.NoTrans {
			u, v = v, u
		}
		addProduct(aBar.Data, a.Stride, a.N, a.Uplo, a.Diag, 1, u, v)
	}
	blas64.Trmv(flip(t), a, xBar)
}

// TrsvTangent sets x to y, the solution of op(A)·y = x, and ẋ to op(A)⁻¹·(ẋ - op(Ȧ)·y). If the diagonal of A is a unit
// one, that of Ȧ is zero and not read. It allocates vectors unless Ȧ is nil.
func TrsvTangent(t blas.Transpose, a blas64.Triangular, x blas64.Vector, aDot blas64.Triangular, xDot blas64.Vector) {
	blas64.Trsv(t, a, x)
	if xDot.Data == nil {
		return
	}
	x = sized(x, a.N)
	xDot = shadow(xDot, x)
	if aDot.Data != nil {
		w := zeros(x.N)
		addTimes(aDot.Data, a, t, -1, unit(x), w)
		blas64.Axpy(1, w, xDot)
	}
	blas64.Trsv(t, a, xDot)
}

// TrsvPullback sets x̄ to b = op(A)⁻ᵀ·x̄ and subtracts b·yᵀ from op(Ā), that is y·bᵀ from Ā if op transposes, where A
// has stored elements. y is the solution of op(A)·y = x, computed again from x, which is as before Trsv. It allocates
// vectors unless Ā is nil.
func TrsvPullback(t blas.Transpose, a blas64.Triangular, x blas64.Vector, aBar blas64.Triangular, xBar blas64.Vector) {
	if xBar.Data == nil {
		return
	}
	x = sized(x, a.N)
	xBar = shadow(xBar, x)
	blas64.Trsv(flip(t), a, xBar)
	if aBar.Data != nil {
		y, b := unit(x), unit(xBar)
		blas64.Trsv(t, a, y)
		if t == blas.NoTrans {
			addProduct(aBar.Data, a.Stride, a.N, a.Uplo, a.Diag, -1, b, y)
		} else {
			addProduct(aBar.Data, a.Stride, a.N, a.Uplo, a.Diag, -1, y, b)
		}
	}
}

// withoutUnit returns a triangle with the elements data and the shape of a, and a diagonal of zeros if a.Diag is Unit:
// the shadow of a, whose diagonal is constant then. It allocates a matrix in that case.
func withoutUnit(data []float64, a blas64.Triangular) blas64.Triangular {
	d := blas64.Triangular{Uplo: a.Uplo, Diag: blas.NonUnit, N: a.N, Stride: a.Stride, Data: data}
	if a.Diag != blas.Unit {
		return d
	}
	d.Stride, d.Data = max(a.N, 1), make([]float64, a.N*a.N)
	for i := 0; i < a.N; i++ {
		from, to := columns(a.Uplo, a.N, i)
		for j := from; j < to; j++ {
			if i != j {
				d.Data[i*d.Stride+j] = data[i*a.Stride+j]
			}
		}
	}
	return d
}

// copyOf returns a copy of m.
func copyOf(m blas64.General) blas64.General {
	w := blas64.General{Rows: m.Rows, Cols: m.Cols, Stride: max(m.Cols, 1), Data: make([]float64, m.Rows*m.Cols)}
	for i := 0; i < m.Rows; i++ {
		for j := 0; j < m.Cols; j++ {
			w.Data[i*w.Stride+j] = m.Data[i*m.Stride+j]
		}
	}
	return w
}

// sizedTriangle returns a with the number of rows that gonum takes: that of the rows of B, or of its columns on the
// right side.
func sizedTriangle(s blas.Side, a blas64.Triangular, b blas64.General) blas64.Triangular {
	a.N = b.Rows
	if s == blas.Right {
		a.N = b.Cols
	}
	return a
}

// addProducts adds alpha·X·Yᵀ to op(Ā), or alpha·Xᵀ·Y on the right side, where A has stored elements. It allocates a
// matrix of the size of A.
func addProducts(s blas.Side, t blas.Transpose, alpha float64, x, y blas64.General, a, aBar blas64.Triangular) {
	tX, tY := blas.NoTrans, blas.Trans
	if s == blas.Right {
		tX, tY = blas.Trans, blas.NoTrans
	}
	if t != blas.NoTrans {
		x, y = y, x
	}
	f := blas64.General{Rows: a.N, Cols: a.N, Stride: max(a.N, 1), Data: make([]float64, a.N*a.N)}
	blas64.Gemm(tX, tY, alpha, x, y, 0, f)
	for i := 0; i < a.N; i++ {
		from, to := columns(a.Uplo, a.N, i)
		for j := from; j < to; j++ {
			if i != j || a.Diag != blas.Unit {
				aBar.Data[i*a.Stride+j] += f.Data[i*f.Stride+j]
			}
		}
	}
}

// TrmmTangent sets Ḃ to α·op(A)·Ḃ + α·op(Ȧ)·B + α̇·op(A)·B, then B to α·op(A)·B; on the right side, with the factors of
// each product in the other order. If the diagonal of A is a unit one, that of Ȧ is zero and not read. It allocates
// matrices of the shape of B.
func TrmmTangent(s blas.Side, t blas.Transpose, alpha float64, a blas64.Triangular, b blas64.General,
	alphaDot float64, aDot blas64.Triangular, bDot blas64.General) {
	if bDot.Data != nil {
		a = sizedTriangle(s, a, b)
		bDot = general(bDot, b)
		blas64.Trmm(s, t, alpha, a, bDot)
		w := copyOf(b)
		blas64.Trmm(s, t, alphaDot, a, w)
		addScaled(1, w, bDot)
		if aDot.Data != nil {
			w = copyOf(b)
			blas64.Trmm(s, t, alpha, withoutUnit(aDot.Data, a), w)
			addScaled(1, w, bDot)
		}
	}
	blas64.Trmm(s, t, alpha, a, b)
}

// TrmmPullback adds α·B̄·Bᵀ to op(Ā), or α·Bᵀ·B̄ on the right side, where A has stored elements, with B as it was
// before Trmm. It returns ᾱ, the sum of the products of the elements of B and of W = op(A)ᵀ·B̄, or B̄·op(A)ᵀ on the
// right side, and sets B̄ to α·W. It allocates a matrix of the size of A unless Ā is nil.
func TrmmPullback(s blas.Side, t blas.Transpose, alpha float64, a blas64.Triangular, b blas64.General,
	aBar blas64.Triangular, bBar blas64.General) (alphaBar float64) {
	if bBar.Data == nil {
		return 0
	}
	a = sizedTriangle(s, a, b)
	bBar = general(bBar, b)
	if aBar.Data != nil {
		if s == blas.Left {
			addProducts(s, t, alpha, bBar, b, a, aBar)
		} else {
			addProducts(s, t, alpha, b, bBar, a, aBar)
		}
	}
	blas64.Trmm(s, flip(t), 1, a, bBar)
	alphaBar = inner(bBar, b)
	scaleGeneral(alpha, bBar)
	return alphaBar
}

// scaleGeneral multiplies the elements of m by alpha. For alpha = 0 the result is 0, even if m holds infinities or
// NaNs.
func scaleGeneral(alpha float64, m blas64.General) {
	for i := 0; i < m.Rows; i++ {
		for j := 0; j < m.Cols; j++ {
			k := i*m.Stride + j
			m.Data[k] = times(m.Data[k], alpha)
		}
	}
}

// TrsmTangent sets B to X, the solution of op(A)·X = α·B, and Ḃ to op(A)⁻¹·(α·Ḃ + α̇·B - op(Ȧ)·X); on the right side,
// with the factors of each product in the other order. If the diagonal of A is a unit one, that of Ȧ is zero and not
// read. It allocates a matrix of the shape of B unless Ȧ is nil.
func TrsmTangent(s blas.Side, t blas.Transpose, alpha float64, a blas64.Triangular, b blas64.General,
	alphaDot float64, aDot blas64.Triangular, bDot blas64.General) {
	if bDot.Data == nil {
		blas64.Trsm(s, t, alpha, a, b)
		return
	}
	a = sizedTriangle(s, a, b)
	bDot = general(bDot, b)
	scaleGeneral(alpha, bDot)
	for i := 0; i < b.Rows; i++ {
		for j := 0; j < b.Cols; j++ {
			bDot.Data[i*b.Stride+j] += times(b.Data[i*b.Stride+j], alphaDot)
		}
	}
	blas64.Trsm(s, t, alpha, a, b)
	if aDot.Data != nil {
		w := copyOf(b)
		blas64.Trmm(s, t, 1, withoutUnit(aDot.Data, a), w)
		addScaled(-1, w, bDot)
	}
	blas64.Trsm(s, t, 1, a, bDot)
}

// TrsmPullback computes Y = op(A)⁻ᵀ·B̄, or B̄·op(A)⁻ᵀ on the right side, and subtracts Y·Xᵀ, or Xᵀ·Y on the right side,
// from op(Ā) where A has stored elements. X is the solution of op(A)·X = α·B, computed again from B, which is as before
// Trsm. It returns ᾱ, the sum of the products of the elements of B and Y, and sets B̄ to α·Y. It allocates a copy of B
// and a matrix of the size of A unless Ā is nil.
func TrsmPullback(s blas.Side, t blas.Transpose, alpha float64, a blas64.Triangular, b blas64.General,
	aBar blas64.Triangular, bBar blas64.General) (alphaBar float64) {
	if bBar.Data == nil {
		return 0
	}
	a = sizedTriangle(s, a, b)
	bBar = general(bBar, b)
	blas64.Trsm(s, flip(t), 1, a, bBar)
	if aBar.Data != nil {
		x := copyOf(b)
		blas64.Trsm(s, t, alpha, a, x)
		if s == blas.Left {
			addProducts(s, t, -1, bBar, x, a, aBar)
		} else {
			addProducts(s, t, -1, x, bBar, a, aBar)
		}
	}
	alphaBar = inner(bBar, b)
	scaleGeneral(alpha, bBar)
	return alphaBar
}
