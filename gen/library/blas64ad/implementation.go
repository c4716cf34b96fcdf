package blas64ad

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
)

// Methods of the implementation in package blas/gonum, in whose place calls of the functions of blas64 with the same
// sizes are differentiated, which have derivatives. The source of these methods leaves out products with zeros, in
// loops of which a part only changes elements that are zero, and divides large products among goroutines.

// Dgemm calls [blas64.Gemm].
func Dgemm(_ gonum.Implementation, tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int,
	b []float64, ldb int, beta float64, c []float64, ldc int) {
	x := blas64.General{Rows: m, Cols: k, Stride: lda, Data: a}
	if tA != blas.NoTrans {
		x.Rows, x.Cols = k, m
	}
	y := blas64.General{Rows: k, Cols: n, Stride: ldb, Data: b}
	if tB != blas.NoTrans {
		y.Rows, y.Cols = n, k
	}
	blas64.Gemm(tA, tB, alpha, x, y, beta, blas64.General{Rows: m, Cols: n, Stride: ldc, Data: c})
}

// Dgemv calls [blas64.Gemv].
func Dgemv(_ gonum.Implementation, tA blas.Transpose, m, n int, alpha float64, a []float64, lda int,
	x []float64, incX int, beta float64, y []float64, incY int) {
	nx, ny := n, m
	if tA != blas.NoTrans {
		nx, ny = m, n
	}
	blas64.Gemv(tA, alpha, blas64.General{Rows: m, Cols: n, Stride: lda, Data: a},
		blas64.Vector{N: nx, Data: x, Inc: incX}, beta, blas64.Vector{N: ny, Data: y, Inc: incY})
}

// Dger calls [blas64.Ger].
func Dger(_ gonum.Implementation, m, n int, alpha float64, x []float64, incX int, y []float64, incY int,
	a []float64, lda int) {
	blas64.Ger(alpha, blas64.Vector{N: m, Data: x, Inc: incX}, blas64.Vector{N: n, Data: y, Inc: incY},
		blas64.General{Rows: m, Cols: n, Stride: lda, Data: a})
}

// Dsymm calls [blas64.Symm].
func Dsymm(_ gonum.Implementation, s blas.Side, ul blas.Uplo, m, n int, alpha float64, a []float64, lda int,
	b []float64, ldb int, beta float64, c []float64, ldc int) {
	k := n
	if s == blas.Left {
		k = m
	}
	blas64.Symm(s, alpha, blas64.Symmetric{Uplo: ul, N: k, Stride: lda, Data: a},
		blas64.General{Rows: m, Cols: n, Stride: ldb, Data: b}, beta,
		blas64.General{Rows: m, Cols: n, Stride: ldc, Data: c})
}

// Dsymv calls [blas64.Symv].
func Dsymv(_ gonum.Implementation, ul blas.Uplo, n int, alpha float64, a []float64, lda int, x []float64, incX int,
	beta float64, y []float64, incY int) {
	blas64.Symv(alpha, blas64.Symmetric{Uplo: ul, N: n, Stride: lda, Data: a}, blas64.Vector{N: n, Data: x, Inc: incX},
		beta, blas64.Vector{N: n, Data: y, Inc: incY})
}

// Dsyr calls [blas64.Syr].
func Dsyr(_ gonum.Implementation, ul blas.Uplo, n int, alpha float64, x []float64, incX int, a []float64, lda int) {
	blas64.Syr(alpha, blas64.Vector{N: n, Data: x, Inc: incX}, blas64.Symmetric{Uplo: ul, N: n, Stride: lda, Data: a})
}

// Dsyr2 calls [blas64.Syr2].
func Dsyr2(_ gonum.Implementation, ul blas.Uplo, n int, alpha float64, x []float64, incX int, y []float64, incY int,
	a []float64, lda int) {
	blas64.Syr2(alpha, blas64.Vector{N: n, Data: x, Inc: incX}, blas64.Vector{N: n, Data: y, Inc: incY},
		blas64.Symmetric{Uplo: ul, N: n, Stride: lda, Data: a})
}

// Dsyr2k calls [blas64.Syr2k].
func Dsyr2k(_ gonum.Implementation, ul blas.Uplo, tA blas.Transpose, n, k int, alpha float64, a []float64, lda int,
	b []float64, ldb int, beta float64, c []float64, ldc int) {
	rows, cols := n, k
	if tA != blas.NoTrans {
		rows, cols = k, n
	}
	blas64.Syr2k(tA, alpha, blas64.General{Rows: rows, Cols: cols, Stride: lda, Data: a},
		blas64.General{Rows: rows, Cols: cols, Stride: ldb, Data: b}, beta,
		blas64.Symmetric{Uplo: ul, N: n, Stride: ldc, Data: c})
}

// Dsyrk calls [blas64.Syrk].
func Dsyrk(_ gonum.Implementation, ul blas.Uplo, tA blas.Transpose, n, k int, alpha float64, a []float64, lda int,
	beta float64, c []float64, ldc int) {
	rows, cols := n, k
	if tA != blas.NoTrans {
		rows, cols = k, n
	}
	blas64.Syrk(tA, alpha, blas64.General{Rows: rows, Cols: cols, Stride: lda, Data: a}, beta,
		blas64.Symmetric{Uplo: ul, N: n, Stride: ldc, Data: c})
}

// order returns the number of rows of the triangle in a product with an m×n matrix.
func order(s blas.Side, m, n int) int {
	if s == blas.Left {
		return m
	}
	return n
}

// Dtrmm calls [blas64.Trmm].
func Dtrmm(_ gonum.Implementation, s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64,
	a []float64, lda int, b []float64, ldb int) {
	blas64.Trmm(s, tA, alpha, blas64.Triangular{Uplo: ul, Diag: d, N: order(s, m, n), Stride: lda, Data: a},
		blas64.General{Rows: m, Cols: n, Stride: ldb, Data: b})
}

// Dtrmv calls [blas64.Trmv].
func Dtrmv(_ gonum.Implementation, ul blas.Uplo, tA blas.Transpose, d blas.Diag, n int, a []float64, lda int,
	x []float64, incX int) {
	blas64.Trmv(tA, blas64.Triangular{Uplo: ul, Diag: d, N: n, Stride: lda, Data: a},
		blas64.Vector{N: n, Data: x, Inc: incX})
}

// Dtrsm calls [blas64.Trsm].
func Dtrsm(_ gonum.Implementation, s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64,
	a []float64, lda int, b []float64, ldb int) {
	blas64.Trsm(s, tA, alpha, blas64.Triangular{Uplo: ul, Diag: d, N: order(s, m, n), Stride: lda, Data: a},
		blas64.General{Rows: m, Cols: n, Stride: ldb, Data: b})
}

// Dtrsv calls [blas64.Trsv].
func Dtrsv(_ gonum.Implementation, ul blas.Uplo, tA blas.Transpose, d blas.Diag, n int, a []float64, lda int,
	x []float64, incX int) {
	blas64.Trsv(tA, blas64.Triangular{Uplo: ul, Diag: d, N: n, Stride: lda, Data: a},
		blas64.Vector{N: n, Data: x, Inc: incX})
}
