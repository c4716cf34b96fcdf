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
