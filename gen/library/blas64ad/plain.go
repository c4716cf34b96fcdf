package blas64ad

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Plain forms: the functions written as loops, without calls of gonum, from which code over nabla.Real is generated.
// Gonum skips products with alpha or beta if the factor is 0. Here they are computed, so that the derivative with
// respect to the factor is, and a NaN is replaced by 0. Each call compares a factor with 0 only once, since over
// nabla.Real a comparison is a guard.

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

// short reports whether memory of the given length is too short for a vector of n elements with increment inc.
func short(length, n, inc int) bool {
	return n > 0 && (inc > 0 && length <= (n-1)*inc || inc < 0 && length <= (1-n)*inc)
}

// pair panics as gonum does if vectors x and y of n elements have a zero increment or too little memory, or n is
// negative.
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

// single panics as gonum does if a vector of n elements has an increment below 1 or too little memory, or n is
// negative.
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

// start returns the index in memory of element 0 of a vector of n elements, which is not 0 if inc is negative.
func start(n, inc int) int {
	if inc < 0 {
		return (1 - n) * inc
	}
	return 0
}

// scaled returns x·t, and 0 instead of NaN if none is set. The caller sets none if t is 0.
func scaled(x, t float64, none bool) float64 {
	p := x * t
	if none && math.IsNaN(p) {
		return 0
	}
	return p
}

// DotPlain returns x·y, as blas64.Dot does.
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

// Nrm2Plain returns ‖x‖₂, as blas64.Nrm2 does. It divides by a power of two if the sum of squares leaves the range
// where it is accurate. At x = 0 the derivative is 0.
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

// AsumPlain returns Σ |xᵢ|, as blas64.Asum does.
func AsumPlain(x blas64.Vector) float64 {
	single(x.N, len(x.Data), x.Inc)
	sum := 0.0
	for i := range x.N {
		sum += math.Abs(x.Data[i*x.Inc])
	}
	return sum
}

// AxpyPlain adds alpha·x to y, as blas64.Axpy does.
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

// ScalPlain multiplies x by alpha, as blas64.Scal does.
func ScalPlain(alpha float64, x blas64.Vector) {
	single(x.N, len(x.Data), x.Inc)
	noAlpha := alpha == 0
	for i := range x.N {
		x.Data[i*x.Inc] = scaled(x.Data[i*x.Inc], alpha, noAlpha)
	}
}

// CopyPlain copies x to y, as blas64.Copy does.
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

// SwapPlain swaps the elements of x and y, as blas64.Swap does.
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

// transposed reports whether op(A) = Aᵀ for the flag t. It panics as gonum does if t is invalid.
func transposed(t blas.Transpose) bool {
	if t != blas.NoTrans && t != blas.Trans && t != blas.ConjTrans {
		panic(badTranspose)
	}
	return t != blas.NoTrans
}

// rectangle panics as gonum does if an m×n matrix, or one of two vectors of nx and ny elements, is malformed or has too
// little memory. With an empty matrix, the memory of the vectors is not checked.
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

// GemvPlain sets y to alpha·op(A)·x + beta·y, as blas64.Gemv does.
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

// GerPlain adds alpha·x·yᵀ to a, as blas64.Ger does.
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

// GemmPlain sets c to alpha·op(A)·op(B) + beta·c, as blas64.Gemm does.
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

// triangle panics as gonum does if a triangle of an n×n matrix, or a vector of n elements, is malformed or has too
// little memory.
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

// SymvPlain sets y to alpha·A·x + beta·y, as blas64.Symv does, and reads only the triangle of A that a.Uplo selects.
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

// TrmvPlain sets x to op(A)·x, as blas64.Trmv does.
func TrmvPlain(t blas.Transpose, a blas64.Triangular, x blas64.Vector) {
	down, right, upper := shape(t, a)
	triangle(a.Uplo, a.N, len(a.Data), a.Stride, len(x.Data), x.Inc)
	n, from := a.N, start(a.N, x.Inc)
	for k := range n {
		r := k // rows are in the order in which x[r] is overwritten after its last use
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

// TrsvPlain sets x to the solution y of op(A)·y = x by substitution, as blas64.Trsv does.
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

// shape returns the distances in memory between rows and between columns of op(A), and whether op(A) is an upper
// triangle. It panics as gonum does if a flag is invalid.
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
