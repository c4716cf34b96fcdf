package blas64ad

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Plain forms: the functions written as loops, which can be lifted to other number types than floats. Products with
// factors that are 0 are computed, so that their derivatives are, and are 0 where they would be NaN. Each call tests
// once whether a factor is 0, since over nabla.Real that is a guard.

const (
	badLength = "blas64: vector length mismatch"
	negInc    = "blas64: negative vector increment"

	zeroIncX = "blas: zero x index increment"
	zeroIncY = "blas: zero y index increment"

	mLT0 = "blas: m < 0"
	nLT0 = "blas: n < 0"
	kLT0 = "blas: k < 0"

	badUplo      = "blas: illegal triangle"
	badTranspose = "blas: illegal transpose"
	badDiag      = "blas: illegal diagonal"

	badLdA = "blas: bad leading dimension of A"
	badLdB = "blas: bad leading dimension of B"
	badLdC = "blas: bad leading dimension of C"

	shortX = "blas: insufficient length of x"
	shortY = "blas: insufficient length of y"
	shortA = "blas: insufficient length of a"
	shortB = "blas: insufficient length of b"
	shortC = "blas: insufficient length of c"
)

// short reports whether a vector of n elements is too large for memory of some length.
func short(length, n, inc int) bool {
	return n > 0 && (inc > 0 && length <= (n-1)*inc || inc < 0 && length <= (1-n)*inc)
}

// pair checks two vectors of n elements.
func pair(n, lenX, incX, lenY, incY int) {
	if incX == 0 {
		panic(zeroIncX)
	}
	if incY == 0 {
		panic(zeroIncY)
	}
	if n < 0 {
		panic(nLT0)
	}
	if short(lenX, n, incX) {
		panic(shortX)
	}
	if short(lenY, n, incY) {
		panic(shortY)
	}
}

// single checks a vector of n elements for functions that accept no negative increment.
func single(n, length, inc int) {
	if inc < 0 {
		panic(negInc)
	}
	if inc == 0 {
		panic(zeroIncX)
	}
	if n < 0 {
		panic(nLT0)
	}
	if short(length, n, inc) {
		panic(shortX)
	}
}

// start returns the index of element 0 of a vector of n elements.
func start(n, inc int) int {
	if inc < 0 {
		return (1 - n) * inc
	}
	return 0
}

// scaled returns x·t; if t is known to be 0, it is 0 where the product is NaN.
func scaled(x, t float64, none bool) float64 {
	p := x * t
	if none && math.IsNaN(p) {
		return 0
	}
	return p
}

// DotPlain is the plain form of blas64.Dot.
func DotPlain(x, y blas64.Vector) float64 {
	if x.N != y.N {
		panic(badLength)
	}
	pair(x.N, len(x.Data), x.Inc, len(y.Data), y.Inc)
	i, j := start(x.N, x.Inc), start(x.N, y.Inc)
	sum := 0.0
	for range x.N {
		sum += x.Data[i] * y.Data[j]
		i, j = i+x.Inc, j+y.Inc
	}
	return sum
}

// Nrm2Plain is the plain form of blas64.Nrm2. At 0 its derivative is 0.
func Nrm2Plain(x blas64.Vector) float64 {
	single(x.N, len(x.Data), x.Inc)
	sum := 0.0
	for i := range x.N {
		v := x.Data[i*x.Inc]
		sum += v * v
	}
	if 1e-280 < sum && sum < 1e280 {
		return math.Sqrt(sum)
	}
	if math.IsNaN(sum) {
		return sum
	}
	top := 0.0
	for i := range x.N {
		top = math.Max(top, math.Abs(x.Data[i*x.Inc]))
	}
	if top == 0 {
		return 0
	}
	if math.IsInf(top, 1) {
		return top
	}
	_, e := math.Frexp(top)
	sum = 0
	for i := range x.N {
		v := math.Ldexp(x.Data[i*x.Inc], -e)
		sum += v * v
	}
	return math.Ldexp(math.Sqrt(sum), e)
}

// AsumPlain is the plain form of blas64.Asum.
func AsumPlain(x blas64.Vector) float64 {
	single(x.N, len(x.Data), x.Inc)
	sum := 0.0
	for i := range x.N {
		sum += math.Abs(x.Data[i*x.Inc])
	}
	return sum
}

// AxpyPlain is the plain form of blas64.Axpy.
func AxpyPlain(alpha float64, x, y blas64.Vector) {
	if x.N != y.N {
		panic(badLength)
	}
	pair(x.N, len(x.Data), x.Inc, len(y.Data), y.Inc)
	noAlpha := alpha == 0
	i, j := start(x.N, x.Inc), start(x.N, y.Inc)
	for range x.N {
		y.Data[j] += scaled(x.Data[i], alpha, noAlpha)
		i, j = i+x.Inc, j+y.Inc
	}
}

// ScalPlain is the plain form of blas64.Scal.
func ScalPlain(alpha float64, x blas64.Vector) {
	single(x.N, len(x.Data), x.Inc)
	noAlpha := alpha == 0
	for i := range x.N {
		x.Data[i*x.Inc] = scaled(x.Data[i*x.Inc], alpha, noAlpha)
	}
}

// CopyPlain is the plain form of blas64.Copy.
func CopyPlain(x, y blas64.Vector) {
	if x.N != y.N {
		panic(badLength)
	}
	pair(x.N, len(x.Data), x.Inc, len(y.Data), y.Inc)
	if x.Inc == 1 && y.Inc == 1 {
		copy(y.Data[:x.N], x.Data[:x.N])
		return
	}
	i, j := start(x.N, x.Inc), start(x.N, y.Inc)
	for range x.N {
		y.Data[j] = x.Data[i]
		i, j = i+x.Inc, j+y.Inc
	}
}

// SwapPlain is the plain form of blas64.Swap.
func SwapPlain(x, y blas64.Vector) {
	if x.N != y.N {
		panic(badLength)
	}
	pair(x.N, len(x.Data), x.Inc, len(y.Data), y.Inc)
	i, j := start(x.N, x.Inc), start(x.N, y.Inc)
	for range x.N {
		x.Data[i], y.Data[j] = y.Data[j], x.Data[i]
		i, j = i+x.Inc, j+y.Inc
	}
}

// transposed reports whether t asks for the transpose.
func transposed(t blas.Transpose) bool {
	if t != blas.NoTrans && t != blas.Trans && t != blas.ConjTrans {
		panic(badTranspose)
	}
	return t != blas.NoTrans
}

// rectangle checks an m×n matrix, and vectors of nx and ny elements. An empty matrix is valid with any vectors.
func rectangle(m, n, lenA, stride, nx, lenX, incX, ny, lenY, incY int) {
	if m < 0 {
		panic(mLT0)
	}
	if n < 0 {
		panic(nLT0)
	}
	if stride < max(1, n) {
		panic(badLdA)
	}
	if incX == 0 {
		panic(zeroIncX)
	}
	if incY == 0 {
		panic(zeroIncY)
	}
	if m == 0 || n == 0 {
		return
	}
	if short(lenX, nx, incX) {
		panic(shortX)
	}
	if short(lenY, ny, incY) {
		panic(shortY)
	}
	if lenA < stride*(m-1)+n {
		panic(shortA)
	}
}

// GemvPlain is the plain form of blas64.Gemv.
func GemvPlain(t blas.Transpose, alpha float64, a blas64.General, x blas64.Vector, beta float64, y blas64.Vector) {
	trans := transposed(t)
	m, n := a.Rows, a.Cols
	nx, ny, down, right := n, m, a.Stride, 1 // the distances of elements of op(A)
	if trans {
		nx, ny, down, right = m, n, 1, a.Stride
	}
	rectangle(m, n, len(a.Data), a.Stride, nx, len(x.Data), x.Inc, ny, len(y.Data), y.Inc)
	if m == 0 || n == 0 {
		return
	}
	noAlpha, noBeta := alpha == 0, beta == 0
	j := start(ny, y.Inc)
	for k := range ny {
		i, at, sum := start(nx, x.Inc), k*down, 0.0
		for range nx {
			sum += a.Data[at] * x.Data[i]
			i, at = i+x.Inc, at+right
		}
		y.Data[j] = scaled(y.Data[j], beta, noBeta) + scaled(sum, alpha, noAlpha)
		j += y.Inc
	}
}

// GerPlain is the plain form of blas64.Ger.
func GerPlain(alpha float64, x, y blas64.Vector, a blas64.General) {
	m, n := a.Rows, a.Cols
	rectangle(m, n, len(a.Data), a.Stride, m, len(x.Data), x.Inc, n, len(y.Data), y.Inc)
	noAlpha := alpha == 0
	i := start(m, x.Inc)
	for r := range m {
		j := start(n, y.Inc)
		for c := range n {
			a.Data[r*a.Stride+c] += scaled(x.Data[i]*y.Data[j], alpha, noAlpha)
			j += y.Inc
		}
		i += x.Inc
	}
}

// GemmPlain is the plain form of blas64.Gemm.
func GemmPlain(tA, tB blas.Transpose, alpha float64, a, b blas64.General, beta float64, c blas64.General) {
	transA, transB := transposed(tA), transposed(tB)
	m, k, n := a.Rows, a.Cols, b.Cols
	if transA {
		m, k = k, m
	}
	if transB {
		n = b.Rows
	}
	if m < 0 {
		panic(mLT0)
	}
	if n < 0 {
		panic(nLT0)
	}
	if k < 0 {
		panic(kLT0)
	}
	rowsA, colsA, rowsB, colsB := m, k, k, n
	down, right, downB, rightB := a.Stride, 1, b.Stride, 1 // the distances of elements of op(A) and op(B)
	if transA {
		rowsA, colsA, down, right = k, m, 1, a.Stride
	}
	if transB {
		rowsB, colsB, downB, rightB = n, k, 1, b.Stride
	}
	if a.Stride < max(1, colsA) {
		panic(badLdA)
	}
	if b.Stride < max(1, colsB) {
		panic(badLdB)
	}
	if c.Stride < max(1, n) {
		panic(badLdC)
	}
	if m == 0 || n == 0 {
		return
	}
	if len(a.Data) < (rowsA-1)*a.Stride+colsA {
		panic(shortA)
	}
	if len(b.Data) < (rowsB-1)*b.Stride+colsB {
		panic(shortB)
	}
	if len(c.Data) < (m-1)*c.Stride+n {
		panic(shortC)
	}
	noAlpha, noBeta := alpha == 0, beta == 0
	for i := range m {
		for j := range n {
			p, q, sum := i*down, j*rightB, 0.0
			for range k {
				sum += a.Data[p] * b.Data[q]
				p, q = p+right, q+downB
			}
			at := i*c.Stride + j
			c.Data[at] = scaled(c.Data[at], beta, noBeta) + scaled(sum, alpha, noAlpha)
		}
	}
}

// triangle checks a triangle of a square matrix, and a vector.
func triangle(uplo blas.Uplo, n, lenA, stride, lenX, incX int) {
	if uplo != blas.Lower && uplo != blas.Upper {
		panic(badUplo)
	}
	if n < 0 {
		panic(nLT0)
	}
	if stride < max(1, n) {
		panic(badLdA)
	}
	if incX == 0 {
		panic(zeroIncX)
	}
	if n == 0 {
		return
	}
	if lenA < stride*(n-1)+n {
		panic(shortA)
	}
	if short(lenX, n, incX) {
		panic(shortX)
	}
}

// SymvPlain is the plain form of blas64.Symv.
func SymvPlain(alpha float64, a blas64.Symmetric, x blas64.Vector, beta float64, y blas64.Vector) {
	if y.Inc == 0 && x.Inc != 0 && a.N >= 0 && a.Stride >= max(1, a.N) &&
		(a.Uplo == blas.Lower || a.Uplo == blas.Upper) {
		panic(zeroIncY)
	}
	triangle(a.Uplo, a.N, len(a.Data), a.Stride, len(x.Data), x.Inc)
	if short(len(y.Data), a.N, y.Inc) {
		panic(shortY)
	}
	noAlpha, noBeta := alpha == 0, beta == 0
	j := start(a.N, y.Inc)
	for r := range a.N {
		i, sum := start(a.N, x.Inc), 0.0
		for c := range a.N {
			at := r*a.Stride + c
			if (c < r) == (a.Uplo == blas.Upper) && c != r {
				at = c*a.Stride + r
			}
			sum += a.Data[at] * x.Data[i]
			i += x.Inc
		}
		y.Data[j] = scaled(y.Data[j], beta, noBeta) + scaled(sum, alpha, noAlpha)
		j += y.Inc
	}
}

// TrmvPlain is the plain form of blas64.Trmv.
func TrmvPlain(t blas.Transpose, a blas64.Triangular, x blas64.Vector) {
	down, right, upper := shape(t, a)
	triangle(a.Uplo, a.N, len(a.Data), a.Stride, len(x.Data), x.Inc)
	n, from := a.N, start(a.N, x.Inc)
	for k := range n {
		r := k // the elements of x that others need stay until these are done
		if !upper {
			r = n - 1 - k
		}
		lo, hi := 0, r
		if upper {
			lo, hi = r+1, n
		}
		sum := x.Data[from+r*x.Inc]
		if a.Diag == blas.NonUnit {
			sum *= a.Data[r*(down+right)]
		}
		for c := lo; c < hi; c++ {
			sum += a.Data[r*down+c*right] * x.Data[from+c*x.Inc]
		}
		x.Data[from+r*x.Inc] = sum
	}
}

// TrsvPlain is the plain form of blas64.Trsv.
func TrsvPlain(t blas.Transpose, a blas64.Triangular, x blas64.Vector) {
	down, right, upper := shape(t, a)
	triangle(a.Uplo, a.N, len(a.Data), a.Stride, len(x.Data), x.Inc)
	n, from := a.N, start(a.N, x.Inc)
	for k := range n {
		r := k
		if upper {
			r = n - 1 - k
		}
		lo, hi := 0, r
		if upper {
			lo, hi = r+1, n
		}
		sum := 0.0
		for c := lo; c < hi; c++ {
			sum += a.Data[r*down+c*right] * x.Data[from+c*x.Inc]
		}
		v := x.Data[from+r*x.Inc] - sum
		if a.Diag == blas.NonUnit {
			v /= a.Data[r*(down+right)]
		}
		x.Data[from+r*x.Inc] = v
	}
}

// shape returns the distances in memory between rows and columns of op(A), and whether it is an upper triangle.
func shape(t blas.Transpose, a blas64.Triangular) (down, right int, upper bool) {
	if a.Uplo != blas.Lower && a.Uplo != blas.Upper {
		panic(badUplo)
	}
	trans := transposed(t)
	if a.Diag != blas.NonUnit && a.Diag != blas.Unit {
		panic(badDiag)
	}
	if trans {
		return 1, a.Stride, a.Uplo == blas.Lower
	}
	return a.Stride, 1, a.Uplo == blas.Upper
}
