package blas64ad

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// SymvTangent is the tangent of blas64.Symv with respect to the stored elements.
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

// SymvPullback is the pullback of blas64.Symv. A stored element off the diagonal is two elements of the matrix. It
// allocates.
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

// unit returns a copy of a vector with increment 1.
func unit(v blas64.Vector) blas64.Vector {
	w := zeros(v.N)
	blas64.Copy(v, w)
	return w
}

// addProduct adds alpha·u·vᵀ to a triangle, without the diagonal if that is a unit one. The vectors have increment 1.
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

// addTimes adds alpha·op(A)·x to y, without the diagonal if that is a unit one. The vectors have increment 1.
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

// TrmvTangent is the tangent of blas64.Trmv. It allocates.
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

// TrmvPullback is the pullback of blas64.Trmv. It allocates.
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

// TrsvTangent is the tangent of blas64.Trsv: the derivative of the solution y of op(A)·y = x is op(A)⁻¹·(ẋ - op(Ȧ)·y).
// It allocates.
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

// TrsvPullback is the pullback of blas64.Trsv, by another solution. It allocates.
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
