package matad

import (
	"math"
	"unsafe"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// The methods of mat.Cholesky. The shadow of a factorisation is that of the matrix A that it stands for, in the
// shadow of the memory of its factor. The derivative of its condition number is NaN.

// A cholesky has the fields of mat.Cholesky, see library.Twin.
type cholesky struct {
	chol *mat.TriDense
	cond float64
}

const badCholesky = "mat: invalid Cholesky factorization"

// factorOf returns the factor in c, and panics if there is none.
func factorOf(c *mat.Cholesky) blas64.Triangular {
	if c.IsEmpty() {
		panic(badCholesky)
	}
	return (*cholesky)(unsafe.Pointer(c)).chol.RawTriangular()
}

// conditionError returns the error of a solution with a matrix of condition number cond.
func conditionError(cond float64) error {
	if cond > mat.ConditionTolerance {
		return mat.Condition(cond)
	}
	return nil
}

// copySymmetric copies the triangle that t stores, the upper one, from a.
func copySymmetric(t blas64.Triangular, a mat.Symmetric) {
	switch a := a.(type) {
	case *mat.SymDense:
		copyTriangle(t, asTriangle(a.RawSymmetric()))
	default:
		for i := 0; i < t.N; i++ {
			for j := i; j < t.N; j++ {
				t.Data[i*t.Stride+j] = a.At(i, j)
			}
		}
	}
}

// CholeskyCond is the method Cond of mat.Cholesky.
func CholeskyCond(c *mat.Cholesky) float64 {
	return ConditionNumber(factorOf(c).Data, (*cholesky)(unsafe.Pointer(c)).cond)
}

// CholeskyFactorize is the method Factorize of mat.Cholesky.
func CholeskyFactorize(c *mat.Cholesky, a mat.Symmetric) (ok bool) {
	n := a.SymmetricDim()
	if (*cholesky)(unsafe.Pointer(c)).chol == nil {
		(*cholesky)(unsafe.Pointer(c)).chol = mat.NewTriDense(n, mat.Upper, nil)
	} else {
		(*cholesky)(unsafe.Pointer(c)).chol.Reset()
		(*cholesky)(unsafe.Pointer(c)).chol.ReuseAsTri(n, mat.Upper)
	}
	cond, ok := FactorCholesky(stored(a), (*cholesky)(unsafe.Pointer(c)).chol.RawTriangular())
	if ok {
		(*cholesky)(unsafe.Pointer(c)).cond = cond
	} else {
		c.Reset()
	}
	return ok
}

// CholeskyAt is the method At of mat.Cholesky.
func CholeskyAt(c *mat.Cholesky, i, j int) float64 {
	n := c.SymmetricDim()
	if i < 0 || n <= i {
		panic(mat.ErrRowAccess)
	}
	if j < 0 || n <= j {
		panic(mat.ErrColAccess)
	}
	return ElementCholesky((*cholesky)(unsafe.Pointer(c)).chol.RawTriangular(), i, j)
}

// receiveFactor makes the factor of c an n×n matrix if there is none, and panics if it has another size.
func receiveFactor(c *mat.Cholesky, n int) {
	if (*cholesky)(unsafe.Pointer(c)).chol == nil {
		(*cholesky)(unsafe.Pointer(c)).chol = mat.NewTriDense(n, mat.Upper, nil)
	} else if (*cholesky)(unsafe.Pointer(c)).chol.RawTriangular().N != n {
		panic(mat.ErrShape)
	}
}

// CholeskySetFromU is the method SetFromU of mat.Cholesky.
func CholeskySetFromU(c *mat.Cholesky, t mat.Triangular) {
	n, kind := t.Triangle()
	if kind != mat.Upper {
		panic("cholesky: matrix must be upper triangular")
	}
	if c.IsEmpty() && (*cholesky)(unsafe.Pointer(c)).chol != nil {
		(*cholesky)(unsafe.Pointer(c)).chol.ReuseAsTri(n, mat.Upper)
	}
	receiveFactor(c, n)
	f := newTriangle(n, blas.Upper)
	copyTriangular(f, t)
	u := factorOf(c)
	MakeCholesky(f, u)
	(*cholesky)(unsafe.Pointer(c)).cond = CholeskyCondition(u)
}

// CholeskyLogDet is the method LogDet of mat.Cholesky.
func CholeskyLogDet(c *mat.Cholesky) float64 { return LogDetCholesky(factorOf(c)) }

// CholeskySolveTo is the method SolveTo of mat.Cholesky.
func CholeskySolveTo(c *mat.Cholesky, dst *mat.Dense, b mat.Matrix) error {
	u := factorOf(c)
	rows, cols := b.Dims()
	if u.N != rows {
		panic(mat.ErrShape)
	}
	receive(dst, rows, cols)
	if !isDense(dst, b) {
		DenseCopy(dst, b)
	}
	x := dst.RawMatrix()
	SolveCholesky(u, x, x)
	return conditionError((*cholesky)(unsafe.Pointer(c)).cond)
}

// CholeskySolveVecTo is the method SolveVecTo of mat.Cholesky.
func CholeskySolveVecTo(c *mat.Cholesky, dst *mat.VecDense, b mat.Vector) error {
	u := factorOf(c)
	if rows, cols := b.Dims(); rows != u.N || cols != 1 {
		panic(mat.ErrShape)
	}
	receiveRight(dst, b, u.N)
	x := column(dst.RawVector())
	SolveCholesky(u, x, x)
	return conditionError((*cholesky)(unsafe.Pointer(c)).cond)
}

// receiveRight gives dst the length n if it is empty, and the elements of b.
func receiveRight(dst *mat.VecDense, b mat.Vector, n int) {
	switch b := b.(type) {
	case *mat.VecDense:
		if dst == b {
			return
		}
		CheckOverlapVec(dst.RawVector(), b.RawVector())
		receiveVec(dst, n)
		copyElements(column(dst.RawVector()), column(b.RawVector()), blas.NoTrans)
	default:
		receiveVec(dst, n)
		for i := 0; i < n; i++ {
			dst.SetVec(i, b.AtVec(i))
		}
	}
}

// CholeskySolveCholTo is the method SolveCholTo of mat.Cholesky.
func CholeskySolveCholTo(c *mat.Cholesky, dst *mat.Dense, b *mat.Cholesky) error {
	if c.IsEmpty() || b.IsEmpty() {
		panic(badCholesky)
	}
	u, v := factorOf(c), factorOf(b)
	if u.N != v.N {
		panic(mat.ErrShape)
	}
	receive(dst, u.N, u.N)
	SolveBoth(u, v, dst.RawMatrix())
	return conditionError((*cholesky)(unsafe.Pointer(c)).cond)
}

// CholeskyRawU is the method RawU of mat.Cholesky. The result is a copy, since a factorisation is invalid if its
// factor is written. It panics if there is no factorisation, where the original returns nil.
func CholeskyRawU(c *mat.Cholesky) mat.Triangular {
	u := factorOf(c)
	t := mat.NewTriDense(u.N, mat.Upper, nil)
	ReadCholesky(u, t.RawTriangular())
	return t
}

// receiveTri gives t the size n and a kind if it is empty, and panics if it has another one.
func receiveTri(t *mat.TriDense, n int, kind mat.TriKind) {
	if t.IsEmpty() {
		t.ReuseAsTri(n, kind)
		return
	}
	size, is := t.Triangle()
	if size != n {
		panic(mat.ErrShape)
	}
	if is != kind {
		panic(mat.ErrTriangle)
	}
}

// CholeskyUTo is the method UTo of mat.Cholesky.
func CholeskyUTo(c *mat.Cholesky, dst *mat.TriDense) {
	u := factorOf(c)
	receiveTri(dst, u.N, mat.Upper)
	ReadCholesky(u, dst.RawTriangular())
}

// CholeskyLTo is the method LTo of mat.Cholesky.
func CholeskyLTo(c *mat.Cholesky, dst *mat.TriDense) {
	u := factorOf(c)
	receiveTri(dst, u.N, mat.Lower)
	f := newTriangle(u.N, blas.Upper)
	ReadCholesky(u, f)
	t := dst.RawTriangular()
	for i := 0; i < t.N; i++ {
		for j := 0; j <= i; j++ {
			t.Data[i*t.Stride+j] = f.Data[j*f.Stride+i]
		}
	}
}

// receiveSym gives s the size n if it is empty, and panics if it has another size.
func receiveSym(s *mat.SymDense, n int) {
	if n == 0 {
		panic(mat.ErrZeroLength)
	}
	if s.IsEmpty() {
		s.ReuseAsSym(n)
		return
	}
	if s.SymmetricDim() != n {
		panic(mat.ErrShape)
	}
}

// CholeskyToSym is the method ToSym of mat.Cholesky.
func CholeskyToSym(c *mat.Cholesky, dst *mat.SymDense) {
	u := factorOf(c)
	receiveSym(dst, u.N)
	MatrixCholesky(u, dst.RawSymmetric())
}

// CholeskyInverseTo is the method InverseTo of mat.Cholesky.
func CholeskyInverseTo(c *mat.Cholesky, dst *mat.SymDense) error {
	u := factorOf(c)
	receiveSym(dst, u.N)
	if !InverseCholesky(u, dst.RawSymmetric()) {
		return mat.Condition(math.Inf(1))
	}
	return conditionError((*cholesky)(unsafe.Pointer(c)).cond)
}

// CholeskyScale is the method Scale of mat.Cholesky.
func CholeskyScale(c *mat.Cholesky, f float64, orig *mat.Cholesky) {
	v := factorOf(orig)
	if f <= 0 {
		panic("cholesky: scaling by a non-positive constant")
	}
	receiveFactor(c, v.N)
	t := newTriangle(v.N, blas.Upper)
	ReadCholesky(v, t)
	s := math.Sqrt(f)
	for i := 0; i < t.N; i++ {
		for j := i; j < t.N; j++ {
			t.Data[i*t.Stride+j] *= s
		}
	}
	MakeCholesky(t, (*cholesky)(unsafe.Pointer(c)).chol.RawTriangular())
	(*cholesky)(unsafe.Pointer(c)).cond = (*cholesky)(unsafe.Pointer(orig)).cond
}

// CholeskyExtendVecSym is the method ExtendVecSym of mat.Cholesky.
func CholeskyExtendVecSym(c, a *mat.Cholesky, v mat.Vector) (ok bool) {
	n := a.SymmetricDim()
	if v.Len() != n+1 {
		panic("mat: improper slice length")
	}
	u := factorOf(a)
	w := blas64.Vector{N: n, Inc: 1, Data: make([]float64, n)}
	for i := 0; i < n; i++ {
		w.Data[i] = v.AtVec(i)
	}
	k := v.AtVec(n)
	f := newTriangle(n, blas.Upper)
	ReadCholesky(u, f)
	TriSolve(blas.Trans, f, column(w), column(w))
	dot := blas64.Dot(w, w)
	if dot >= k {
		return false
	}
	t := newTriangle(n+1, blas.Upper)
	for i := 0; i < n; i++ {
		copy(t.Data[i*t.Stride+i:i*t.Stride+n], f.Data[i*f.Stride+i:i*f.Stride+n])
		t.Data[i*t.Stride+n] = w.Data[i]
	}
	t.Data[n*t.Stride+n] = math.Sqrt(k - dot)
	(*cholesky)(unsafe.Pointer(c)).chol = mat.NewTriDense(n+1, mat.Upper, nil)
	z := (*cholesky)(unsafe.Pointer(c)).chol.RawTriangular()
	MakeCholesky(t, z)
	(*cholesky)(unsafe.Pointer(c)).cond = CholeskyCondition(z)
	return true
}

// CholeskySymRankOne is the method SymRankOne of mat.Cholesky.
func CholeskySymRankOne(c, orig *mat.Cholesky, alpha float64, x mat.Vector) (ok bool) {
	v := factorOf(orig)
	if rows, cols := x.Dims(); rows != v.N || cols != 1 {
		panic(mat.ErrShape)
	}
	if orig != c {
		receiveFactor(c, v.N)
		copyTriangle((*cholesky)(unsafe.Pointer(c)).chol.RawTriangular(), v)
	}
	if alpha == 0 {
		return true
	}
	cond, ok := UpdateCholesky((*cholesky)(unsafe.Pointer(c)).chol.RawTriangular(), alpha, vector(x))
	if ok {
		(*cholesky)(unsafe.Pointer(c)).cond = cond
	}
	return ok
}
