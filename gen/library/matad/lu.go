package matad

import (
	"math"
	"unsafe"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// The methods of mat.LU, and the functions and methods that factorise a square matrix so. The shadow of a
// factorisation is that of the matrix A that it stands for. Its condition number has no derivative.

// An lu has the fields of mat.LU, see library.Twin.
type lu struct {
	lu    *mat.Dense
	swaps []int
	piv   []int
	cond  float64
	ok    bool
}

const badLU = "mat: invalid LU factorization"

// factorsOf returns the factors in f, and panics if there are none.
func factorsOf(f *mat.LU) blas64.General {
	if (*lu)(unsafe.Pointer(f)).lu == nil || (*lu)(unsafe.Pointer(f)).lu.IsEmpty() {
		panic(badLU)
	}
	return (*lu)(unsafe.Pointer(f)).lu.RawMatrix()
}

// resizeInts returns n ints, those of s if its memory suffices.
func resizeInts(s []int, n int) []int {
	if n <= cap(s) {
		return s[:n]
	}
	return make([]int, n)
}

// setPivots sets the permutation of rows that follows from swaps.
func setPivots(piv, swaps []int) {
	for i := range piv {
		piv[i] = i
	}
	for i := len(swaps) - 1; i >= 0; i-- {
		v := swaps[i]
		piv[i], piv[v] = piv[v], piv[i]
	}
}

// LUFactorize is the method Factorize of mat.LU.
func LUFactorize(f *mat.LU, a mat.Matrix) {
	m, n := a.Dims()
	if m != n {
		panic(mat.ErrSquare)
	}
	if (*lu)(unsafe.Pointer(f)).lu == nil {
		(*lu)(unsafe.Pointer(f)).lu = mat.NewDense(n, n, nil)
	} else {
		(*lu)(unsafe.Pointer(f)).lu.Reset()
		(*lu)(unsafe.Pointer(f)).lu.ReuseAs(n, n)
	}
	DenseCopy((*lu)(unsafe.Pointer(f)).lu, a)
	swaps, piv := resizeInts((*lu)(unsafe.Pointer(f)).swaps, n), resizeInts((*lu)(unsafe.Pointer(f)).piv, n)
	g := (*lu)(unsafe.Pointer(f)).lu.RawMatrix()
	norm := LUNorm(g)
	ok := FactorLU(g, swaps)
	setPivots(piv, swaps)
	(*lu)(unsafe.Pointer(f)).swaps, (*lu)(unsafe.Pointer(f)).piv = swaps, piv
	(*lu)(unsafe.Pointer(f)).ok = ok
	(*lu)(unsafe.Pointer(f)).cond = LUCondition(g, norm)
}

// LUAt is the method At of mat.LU.
func LUAt(f *mat.LU, i, j int) float64 {
	n, _ := f.Dims()
	if i < 0 || n <= i {
		panic(mat.ErrRowAccess)
	}
	if j < 0 || n <= j {
		panic(mat.ErrColAccess)
	}
	return ElementLU(factorsOf(f), (*lu)(unsafe.Pointer(f)).piv, i, j)
}

// LUDet is the method Det of mat.LU.
func LUDet(f *mat.LU) float64 {
	if (*lu)(unsafe.Pointer(f)).lu == nil {
		return 0
	}
	return DetLU(factorsOf(f), (*lu)(unsafe.Pointer(f)).swaps)
}

// LULogDet is the method LogDet of mat.LU.
func LULogDet(f *mat.LU) (det, sign float64) {
	g := factorsOf(f)
	return LogDetLU(g, (*lu)(unsafe.Pointer(f)).swaps)
}

// LULTo is the method LTo of mat.LU.
func LULTo(f *mat.LU, dst *mat.TriDense) *mat.TriDense {
	g := factorsOf(f)
	receiveTri(dst, g.Rows, mat.Lower)
	ReadLU(g, (*lu)(unsafe.Pointer(f)).piv, dst.RawTriangular(), newTriangle(g.Rows, blas.Upper))
	return dst
}

// LUUTo is the method UTo of mat.LU.
func LUUTo(f *mat.LU, dst *mat.TriDense) {
	g := factorsOf(f)
	receiveTri(dst, g.Rows, mat.Upper)
	ReadLU(g, (*lu)(unsafe.Pointer(f)).piv, newTriangle(g.Rows, blas.Lower), dst.RawTriangular())
}

// LURankOne is the method RankOne of mat.LU.
func LURankOne(f, orig *mat.LU, alpha float64, x, y mat.Vector) {
	g := factorsOf(orig)
	n := g.Rows
	if rows, cols := x.Dims(); rows != n || cols != 1 {
		panic(mat.ErrShape)
	}
	if rows, cols := y.Dims(); rows != n || cols != 1 {
		panic(mat.ErrShape)
	}
	if orig != f {
		if len((*lu)(unsafe.Pointer(f)).swaps) == 0 {
			(*lu)(unsafe.Pointer(f)).swaps = resizeInts((*lu)(unsafe.Pointer(f)).swaps, n)
			(*lu)(unsafe.Pointer(f)).piv = resizeInts((*lu)(unsafe.Pointer(f)).piv, n)
			if (*lu)(unsafe.Pointer(f)).lu == nil {
				(*lu)(unsafe.Pointer(f)).lu = mat.NewDense(n, n, nil)
			} else {
				(*lu)(unsafe.Pointer(f)).lu.ReuseAs(n, n)
			}
		} else if len((*lu)(unsafe.Pointer(f)).swaps) != n {
			panic(mat.ErrShape)
		}
		copy((*lu)(unsafe.Pointer(f)).swaps, (*lu)(unsafe.Pointer(orig)).swaps)
		copy((*lu)(unsafe.Pointer(f)).piv, (*lu)(unsafe.Pointer(orig)).piv)
		copyElements((*lu)(unsafe.Pointer(f)).lu.RawMatrix(), g, blas.NoTrans)
	}
	h := (*lu)(unsafe.Pointer(f)).lu.RawMatrix()
	UpdateLU(h, (*lu)(unsafe.Pointer(f)).swaps, alpha, vector(x), vector(y))
	(*lu)(unsafe.Pointer(f)).cond = LUCondition(h, -1)
}

// transposeIf returns the flag of BLAS.
func transposeIf(trans bool) blas.Transpose {
	if trans {
		return blas.Trans
	}
	return blas.NoTrans
}

// LUSolveTo is the method SolveTo of mat.LU.
func LUSolveTo(f *mat.LU, dst *mat.Dense, trans bool, b mat.Matrix) error {
	g := factorsOf(f)
	rows, cols := b.Dims()
	if rows != g.Rows {
		panic(mat.ErrShape)
	}
	if !(*lu)(unsafe.Pointer(f)).ok {
		return mat.Condition(math.Inf(1))
	}
	receive(dst, rows, cols)
	receiveElements(dst, b)
	x := dst.RawMatrix()
	SolveLU(transposeIf(trans), g, (*lu)(unsafe.Pointer(f)).swaps, x, x)
	return conditionError((*lu)(unsafe.Pointer(f)).cond)
}

// receiveElements copies b to dst, which it may be or be the transpose of. It panics if the two overlap otherwise.
func receiveElements(dst *mat.Dense, b mat.Matrix) {
	if isDense(dst, b) {
		return
	}
	if !isDenseTransposed(dst, b) {
		switch b := b.(type) {
		case *mat.Dense:
			CheckOverlap(dst.RawMatrix(), b.RawMatrix())
		case Transposed:
			CheckOverlap(dst.RawMatrix(), b.Of.RawMatrix())
		}
	}
	x, t := operand(b)
	z := dst.RawMatrix()
	if isDenseTransposed(dst, b) {
		x = copyOf(x)
	}
	copyElements(z, x, t)
}

// LUSolveVecTo is the method SolveVecTo of mat.LU.
func LUSolveVecTo(f *mat.LU, dst *mat.VecDense, trans bool, b mat.Vector) error {
	g := factorsOf(f)
	if rows, cols := b.Dims(); rows != g.Rows || cols != 1 {
		panic(mat.ErrShape)
	}
	if !(*lu)(unsafe.Pointer(f)).ok {
		switch b := b.(type) {
		case *mat.VecDense:
			if dst != b {
				CheckOverlapVec(dst.RawVector(), b.RawVector())
			}
		default:
			receiveVec(dst, g.Rows)
		}
		return mat.Condition(math.Inf(1))
	}
	receiveRight(dst, b, g.Rows)
	x := column(dst.RawVector())
	SolveLU(transposeIf(trans), g, (*lu)(unsafe.Pointer(f)).swaps, x, x)
	return conditionError((*lu)(unsafe.Pointer(f)).cond)
}

// factorised returns the elements of a square matrix in new memory, to be factorised there.
func factorised(a mat.Matrix) blas64.General {
	if rows, cols := a.Dims(); rows != cols {
		panic(mat.ErrSquare)
	}
	x, t := operand(a)
	n, _ := a.Dims()
	if n == 0 {
		panic(mat.ErrZeroLength)
	}
	g := newGeneral(n, n)
	copyElements(g, x, t)
	return g
}

// Det is the function Det of mat. Its derivative is the adjugate, also where a has no inverse.
func Det(a mat.Matrix) float64 {
	g := factorised(a)
	swaps := make([]int, g.Rows)
	FactorLU(g, swaps)
	return DetLU(g, swaps)
}

// LogDet is the function LogDet of mat.
func LogDet(a mat.Matrix) (det, sign float64) {
	g := factorised(a)
	swaps := make([]int, g.Rows)
	FactorLU(g, swaps)
	return LogDetLU(g, swaps)
}

// LUCond is the method Cond of mat.LU.
func LUCond(f *mat.LU) float64 {
	return ConditionNumber(factorsOf(f).Data, (*lu)(unsafe.Pointer(f)).cond)
}

// DenseInverse is the method Inverse of mat.Dense. Where it returns an infinite Condition, m keeps its elements.
func DenseInverse(m *mat.Dense, a mat.Matrix) error {
	g := factorised(a)
	receive(m, g.Rows, g.Rows)
	if isFull(a) {
		checkDense(m, a)
	}
	swaps := make([]int, g.Rows)
	norm := LUNorm(g)
	if !FactorLU(g, swaps) {
		return mat.Condition(math.Inf(1))
	}
	cond := LUCondition(g, norm)
	if !InverseLU(g, swaps, m.RawMatrix()) || math.IsInf(cond, 1) {
		return mat.Condition(math.Inf(1))
	}
	return conditionError(cond)
}

// DenseSolve is the method Solve of mat.Dense.
func DenseSolve(m *mat.Dense, a, b mat.Matrix) error {
	switch a := a.(type) {
	case *mat.TriDense:
		return TriDenseSolveTo(a, m, false, b)
	case TransposedTri:
		return TriDenseSolveTo(a.Of, m, true, b)
	case *mat.LU:
		return LUSolveTo(a, m, false, b)
	case *mat.QR:
		return QRSolveTo(a, m, false, b)
	case *mat.LQ:
		return LQSolveTo(a, m, false, b)
	}
	r, c := a.Dims()
	if rows, _ := b.Dims(); rows != r {
		panic(mat.ErrShape)
	}
	_, cols := b.Dims()
	receive(m, c, cols)
	if r != c {
		return leastSquares(m, a, b)
	}
	if areSame(a, b) {
		for i := 0; i < r; i++ {
			for j := 0; j < c; j++ {
				m.Set(i, j, 0)
			}
			m.Set(i, i, 1)
		}
		return nil
	}
	var f mat.LU
	LUFactorize(&f, a)
	return LUSolveTo(&f, m, false, b)
}

// areSame reports whether two matrices are one.
func areSame(a, b mat.Matrix) bool {
	switch a := a.(type) {
	case *mat.Dense:
		return isDense(a, b)
	case *mat.VecDense:
		return isVec(a, b)
	case *mat.SymDense:
		return isSym(a, b)
	case Transposed:
		return isDenseTransposed(a.Of, b)
	case TransposedVec:
		return isVecTransposed(a.Of, b)
	case *mat.DiagDense:
		switch b := b.(type) {
		case *mat.DiagDense:
			return a == b
		}
	}
	return false
}

// VecDenseSolveVec is the method SolveVec of mat.VecDense.
func VecDenseSolveVec(v *mat.VecDense, a mat.Matrix, b mat.Vector) error {
	if _, cols := b.Dims(); cols != 1 {
		panic(mat.ErrShape)
	}
	_, n := a.Dims()
	var m mat.Dense
	switch b := b.(type) {
	case *mat.VecDense:
		if v != b {
			CheckOverlapVec(v.RawVector(), b.RawVector())
		}
		receiveVec(v, n)
		m.SetRawMatrix(column(v.RawVector()))
		if v == b {
			return DenseSolve(&m, a, &m)
		}
		var right mat.Dense
		right.SetRawMatrix(column(b.RawVector()))
		return DenseSolve(&m, a, &right)
	}
	receiveVec(v, n)
	m.SetRawMatrix(column(v.RawVector()))
	return DenseSolve(&m, a, b)
}

// TriDenseSolveTo is the method SolveTo of mat.TriDense.
func TriDenseSolveTo(t *mat.TriDense, dst *mat.Dense, trans bool, b mat.Matrix) error {
	rows, cols := b.Dims()
	u := t.RawTriangular()
	if rows != u.N {
		panic(mat.ErrShape)
	}
	receive(dst, rows, cols)
	receiveElements(dst, b)
	x := dst.RawMatrix()
	if !TriSolve(transposeIf(trans), u, x, x) {
		return mat.Condition(math.Inf(1))
	}
	return nil
}

// TriDenseInverseTri is the method InverseTri of mat.TriDense.
func TriDenseInverseTri(t *mat.TriDense, a mat.Triangular) error {
	n, kind := a.Triangle()
	switch a := a.(type) {
	case *mat.TriDense:
		if t != a {
			CheckOverlap(raw(t), raw(a))
		}
	}
	if n == 0 {
		panic(mat.ErrZeroLength)
	}
	receiveTri(t, n, kind)
	x := t.RawTriangular()
	f := newTriangle(n, x.Uplo)
	copyTriangular(f, a)
	if !InverseTri(f, x) {
		return mat.Condition(math.Inf(1))
	}
	return nil
}

// copyTriangular copies the triangle that t stores from a.
func copyTriangular(t blas64.Triangular, a mat.Triangular) {
	switch a := a.(type) {
	case *mat.TriDense:
		copyTriangle(t, a.RawTriangular())
	default:
		for i := 0; i < t.N; i++ {
			from, to := i, t.N
			if t.Uplo == blas.Lower {
				from, to = 0, i+1
			}
			for j := from; j < to; j++ {
				t.Data[i*t.Stride+j] = a.At(i, j)
			}
		}
	}
}
