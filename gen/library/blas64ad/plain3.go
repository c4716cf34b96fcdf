package blas64ad

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

const badSide = "blas: illegal side"

// stored returns the index in memory of element (i, j) of a symmetric matrix, of which a triangle is stored.
func stored(uplo blas.Uplo, i, j, stride int) int {
	if (j < i) == (uplo == blas.Upper) && i != j {
		return j*stride + i
	}
	return i*stride + j
}

// SyrPlain adds alpha·x·xᵀ to the triangle of a that a.Uplo selects, as blas64.Syr does.
func SyrPlain(alpha float64, x blas64.Vector, a blas64.Symmetric) {
	if a.Uplo != blas.Lower && a.Uplo != blas.Upper {
		panic(badUplo)
	}
	if a.N < 0 {
		panic(nLT0)
	}
	if a.Stride < max(1, a.N) {
		panic(badLdA)
	}
	if x.Inc == 0 {
		panic(zeroIncX)
	}
	if short(len(x.Data), a.N, x.Inc) {
		panic(shortX)
	}
	if a.N > 0 && len(a.Data) < a.Stride*(a.N-1)+a.N {
		panic(shortA)
	}
	noAlpha := alpha == 0
	from := start(a.N, x.Inc)
	for i := range a.N {
		lo, hi := columns(a.Uplo, a.N, i)
		for j := lo; j < hi; j++ {
			a.Data[i*a.Stride+j] += scaled(x.Data[from+i*x.Inc]*x.Data[from+j*x.Inc], alpha, noAlpha)
		}
	}
}

// Syr2Plain adds alpha·(x·yᵀ + y·xᵀ) to the triangle of a that a.Uplo selects, as blas64.Syr2 does.
func Syr2Plain(alpha float64, x, y blas64.Vector, a blas64.Symmetric) {
	if a.Uplo != blas.Lower && a.Uplo != blas.Upper {
		panic(badUplo)
	}
	if a.N < 0 {
		panic(nLT0)
	}
	if a.Stride < max(1, a.N) {
		panic(badLdA)
	}
	if x.Inc == 0 {
		panic(zeroIncX)
	}
	if y.Inc == 0 {
		panic(zeroIncY)
	}
	if short(len(x.Data), a.N, x.Inc) {
		panic(shortX)
	}
	if short(len(y.Data), a.N, y.Inc) {
		panic(shortY)
	}
	if a.N > 0 && len(a.Data) < a.Stride*(a.N-1)+a.N {
		panic(shortA)
	}
	noAlpha := alpha == 0
	p, q := start(a.N, x.Inc), start(a.N, y.Inc)
	for i := range a.N {
		lo, hi := columns(a.Uplo, a.N, i)
		for j := lo; j < hi; j++ {
			sum := x.Data[p+i*x.Inc]*y.Data[q+j*y.Inc] + x.Data[p+j*x.Inc]*y.Data[q+i*y.Inc]
			a.Data[i*a.Stride+j] += scaled(sum, alpha, noAlpha)
		}
	}
}

// rankK panics as gonum does if C, or one of the matrices A and B of op(A)·op(B)ᵀ, is malformed or has too little
// memory. It returns the number of rows and of columns of op(A), and the distances in memory between these.
func rankK(t blas.Transpose, a, b blas64.General, c blas64.Symmetric) (n, k, down, right, downB, rightB int) {
	if c.Uplo != blas.Lower && c.Uplo != blas.Upper {
		panic(badUplo)
	}
	trans := transposed(t)
	n, k = a.Rows, a.Cols
	down, right, downB, rightB = a.Stride, 1, b.Stride, 1
	if trans {
		n, k = k, n
		down, right, downB, rightB = 1, a.Stride, 1, b.Stride
	}
	if n < 0 {
		panic(nLT0)
	}
	if k < 0 {
		panic(kLT0)
	}
	if a.Stride < max(1, a.Cols) {
		panic(badLdA)
	}
	if b.Stride < max(1, a.Cols) {
		panic(badLdB)
	}
	if c.Stride < max(1, n) {
		panic(badLdC)
	}
	if n == 0 {
		return n, k, down, right, downB, rightB
	}
	if len(a.Data) < a.Stride*(a.Rows-1)+a.Cols {
		panic(shortA)
	}
	if len(b.Data) < b.Stride*(a.Rows-1)+a.Cols {
		panic(shortB)
	}
	if len(c.Data) < c.Stride*(n-1)+n {
		panic(shortC)
	}
	return n, k, down, right, downB, rightB
}

// SyrkPlain sets the triangle of c that c.Uplo selects to that of alpha·op(A)·op(A)ᵀ + beta·C, as blas64.Syrk does.
func SyrkPlain(t blas.Transpose, alpha float64, a blas64.General, beta float64, c blas64.Symmetric) {
	n, k, down, right, _, _ := rankK(t, a, a, c)
	noAlpha, noBeta := alpha == 0, beta == 0
	for i := range n {
		lo, hi := columns(c.Uplo, n, i)
		for j := lo; j < hi; j++ {
			sum := 0.0
			for l := range k {
				sum += a.Data[i*down+l*right] * a.Data[j*down+l*right]
			}
			at := i*c.Stride + j
			c.Data[at] = scaled(c.Data[at], beta, noBeta) + scaled(sum, alpha, noAlpha)
		}
	}
}

// Syr2kPlain sets the triangle of c that c.Uplo selects to that of alpha·(op(A)·op(B)ᵀ + op(B)·op(A)ᵀ) + beta·C, as
// blas64.Syr2k does.
func Syr2kPlain(t blas.Transpose, alpha float64, a, b blas64.General, beta float64, c blas64.Symmetric) {
	n, k, down, right, downB, rightB := rankK(t, a, b, c)
	noAlpha, noBeta := alpha == 0, beta == 0
	for i := range n {
		lo, hi := columns(c.Uplo, n, i)
		for j := lo; j < hi; j++ {
			sum := 0.0
			for l := range k {
				p, q := l*right, l*rightB
				sum += a.Data[i*down+p]*b.Data[j*downB+q] + b.Data[i*downB+q]*a.Data[j*down+p]
			}
			at := i*c.Stride + j
			c.Data[at] = scaled(c.Data[at], beta, noBeta) + scaled(sum, alpha, noAlpha)
		}
	}
}

// SymmPlain sets c to alpha·A·B + beta·C, or to alpha·B·A + beta·C on the right side, as blas64.Symm does, and reads
// only the triangle of A that a.Uplo selects.
func SymmPlain(s blas.Side, alpha float64, a blas64.Symmetric, b blas64.General, beta float64, c blas64.General) {
	left := isLeft(s)
	if a.Uplo != blas.Lower && a.Uplo != blas.Upper {
		panic(badUplo)
	}
	m, n := sizesSymm(s, a, b)
	rectangles(m, n, a.N, a.Stride, b.Stride)
	if c.Stride < max(1, n) {
		panic(badLdC)
	}
	if m == 0 || n == 0 {
		return
	}
	lengths(m, n, a.N, len(a.Data), a.Stride, len(b.Data), b.Stride)
	if len(c.Data) < c.Stride*(m-1)+n {
		panic(shortC)
	}
	noAlpha, noBeta := alpha == 0, beta == 0
	for i := range m {
		for j := range n {
			sum := 0.0
			for k := range a.N {
				if left {
					sum += a.Data[stored(a.Uplo, i, k, a.Stride)] * b.Data[k*b.Stride+j]
				} else {
					sum += b.Data[i*b.Stride+k] * a.Data[stored(a.Uplo, k, j, a.Stride)]
				}
			}
			at := i*c.Stride + j
			c.Data[at] = scaled(c.Data[at], beta, noBeta) + scaled(sum, alpha, noAlpha)
		}
	}
}

// isLeft reports whether s is the left side. It panics as gonum does if it is neither.
func isLeft(s blas.Side) bool {
	if s != blas.Left && s != blas.Right {
		panic(badSide)
	}
	return s == blas.Left
}

// rectangles panics as gonum does if the sizes of an m×n matrix, or the strides of it and of a k×k matrix, are too
// small.
func rectangles(m, n, k, strideA, strideB int) {
	if m < 0 {
		panic(mLT0)
	}
	if n < 0 {
		panic(nLT0)
	}
	if strideA < max(1, k) {
		panic(badLdA)
	}
	if strideB < max(1, n) {
		panic(badLdB)
	}
}

// lengths panics as gonum does if there is too little memory for a k×k and an m×n matrix.
func lengths(m, n, k, lenA, strideA, lenB, strideB int) {
	if lenA < strideA*(k-1)+k {
		panic(shortA)
	}
	if lenB < strideB*(m-1)+n {
		panic(shortB)
	}
}

// A side is a product or an equation with the triangle op(A), as one with the vectors that are the columns of B, or the
// rows of B on the right side, where op(A)ᵀ is the factor.
type side struct {
	n, vectors  int  // elements of a vector, and the number of vectors
	next, along int  // the distances in memory between vectors, and between the elements of one
	down, right int  // the distances between rows and between columns of the triangle
	upper       bool // the triangle is an upper one
}

// sideways returns the form of a product with a triangle as one with vectors. It panics as gonum does if the matrices
// are malformed or have too little memory.
func sideways(s blas.Side, t blas.Transpose, a blas64.Triangular, b blas64.General) side {
	left := isLeft(s)
	down, right, upper := shape(t, a)
	k := b.Cols
	if left {
		k = b.Rows
	}
	rectangles(b.Rows, b.Cols, k, a.Stride, b.Stride)
	if b.Rows == 0 || b.Cols == 0 {
		return side{}
	}
	lengths(b.Rows, b.Cols, k, len(a.Data), a.Stride, len(b.Data), b.Stride)
	if left {
		return side{n: k, vectors: b.Cols, next: 1, along: b.Stride, down: down, right: right, upper: upper}
	}
	return side{n: k, vectors: b.Rows, next: b.Stride, along: 1, down: right, right: down, upper: !upper}
}

// row returns the k-th row of the triangle in the order in which the rows are treated, forward or backward, and the
// columns from lo to hi of its elements off the diagonal.
func (s side) row(k int, forward bool) (r, lo, hi int) {
	r = k
	if !forward {
		r = s.n - 1 - k
	}
	if s.upper {
		return r, r + 1, s.n
	}
	return r, 0, r
}

// TrmmPlain sets b to alpha·op(A)·B, or to alpha·B·op(A) on the right side, as blas64.Trmm does.
func TrmmPlain(s blas.Side, t blas.Transpose, alpha float64, a blas64.Triangular, b blas64.General) {
	w := sideways(s, t, a, b)
	noAlpha := alpha == 0
	for v := range w.vectors {
		for k := range w.n {
			r, lo, hi := w.row(k, w.upper) // an element is overwritten after its last use
			at := v*w.next + r*w.along
			sum := b.Data[at]
			if a.Diag == blas.NonUnit {
				sum *= a.Data[r*(w.down+w.right)]
			}
			for c := lo; c < hi; c++ {
				sum += a.Data[r*w.down+c*w.right] * b.Data[v*w.next+c*w.along]
			}
			b.Data[at] = scaled(sum, alpha, noAlpha)
		}
	}
}

// TrsmPlain sets b to the solution X of op(A)·X = alpha·B, or of X·op(A) = alpha·B on the right side, by substitution,
// as blas64.Trsm does. There gonum does not divide zeros by the diagonal unless op transposes.
func TrsmPlain(s blas.Side, t blas.Transpose, alpha float64, a blas64.Triangular, b blas64.General) {
	w := sideways(s, t, a, b)
	noAlpha := alpha == 0
	for k := range w.n {
		r, lo, hi := w.row(k, !w.upper)
		d, skip := 1.0, false
		if a.Diag == blas.NonUnit {
			d = a.Data[r*(w.down+w.right)]
			skip = d == 0 && (noAlpha || s == blas.Right && t == blas.NoTrans)
		}
		for v := range w.vectors {
			sum := 0.0
			for c := lo; c < hi; c++ {
				sum += a.Data[r*w.down+c*w.right] * b.Data[v*w.next+c*w.along]
			}
			at := v*w.next + r*w.along
			x := scaled(b.Data[at], alpha, noAlpha) - sum
			if noAlpha && math.IsNaN(x) {
				x = 0
			}
			if a.Diag == blas.NonUnit && (!skip || x != 0) {
				x /= d
			}
			b.Data[at] = x
		}
	}
}
