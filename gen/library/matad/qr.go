package matad

import (
	"math"
	"unsafe"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// The methods of mat.QR and mat.LQ, and least squares. The shadow of a factorisation is that of the matrix A that it
// stands for, in the shadow of the memory of its factors. Its condition number has no derivative.

// A qr has the fields of mat.QR, see library.Twin.
type qr struct {
	qr   *mat.Dense
	q    *mat.Dense
	tau  []float64
	cond float64
}

// An lq has the fields of mat.LQ, see library.Twin.
type lq struct {
	lq   *mat.Dense
	q    *mat.Dense
	tau  []float64
	cond float64
}

const (
	badQR = "mat: invalid QR factorization"
	badLQ = "mat: invalid LQ factorization"
)

// factorsOfQR returns the memory of the factors, and panics if there are none.
func factorsOfQR(f *mat.QR) blas64.General {
	if r, _ := f.Dims(); r == 0 {
		panic(badQR)
	}
	return (*qr)(unsafe.Pointer(f)).qr.RawMatrix()
}

// factorsOfLQ returns the memory of the factors, and panics if there are none.
func factorsOfLQ(f *mat.LQ) blas64.General {
	if r, _ := f.Dims(); r == 0 {
		panic(badLQ)
	}
	return (*lq)(unsafe.Pointer(f)).lq.RawMatrix()
}

// elementsOf returns a copy of the elements of a.
func elementsOf(a mat.Matrix) blas64.General {
	r, c := a.Dims()
	g := newGeneral(r, c)
	x, t := operand(a)
	copyElements(g, x, t)
	return g
}

// QRFactorize is the method Factorize of mat.QR.
func QRFactorize(f *mat.QR, a mat.Matrix) {
	m, n := a.Dims()
	if m < n {
		panic(mat.ErrShape)
	}
	if (*qr)(unsafe.Pointer(f)).qr == nil {
		(*qr)(unsafe.Pointer(f)).qr = &mat.Dense{}
	}
	g := elementsOf(a)
	(*qr)(unsafe.Pointer(f)).qr.SetRawMatrix(g)
	tau := make([]float64, n)
	(*qr)(unsafe.Pointer(f)).tau = tau
	FactorQR(blas.NoTrans, g, tau)
	(*qr)(unsafe.Pointer(f)).cond = ConditionQR(blas.NoTrans, g)
	if (*qr)(unsafe.Pointer(f)).q != nil {
		(*qr)(unsafe.Pointer(f)).q.Reset()
	}
}

// QRCond is the method Cond of mat.QR.
func QRCond(f *mat.QR) float64 {
	return ConditionNumber(factorsOfQR(f).Data, (*qr)(unsafe.Pointer(f)).cond)
}

// LQCond is the method Cond of mat.LQ.
func LQCond(f *mat.LQ) float64 {
	return ConditionNumber(factorsOfLQ(f).Data, (*lq)(unsafe.Pointer(f)).cond)
}

// LQFactorize is the method Factorize of mat.LQ.
func LQFactorize(f *mat.LQ, a mat.Matrix) {
	m, n := a.Dims()
	if m > n {
		panic(mat.ErrShape)
	}
	if (*lq)(unsafe.Pointer(f)).lq == nil {
		(*lq)(unsafe.Pointer(f)).lq = &mat.Dense{}
	}
	g := elementsOf(a)
	(*lq)(unsafe.Pointer(f)).lq.SetRawMatrix(g)
	tau := make([]float64, m)
	(*lq)(unsafe.Pointer(f)).tau = tau
	FactorQR(blas.Trans, g, tau)
	(*lq)(unsafe.Pointer(f)).cond = ConditionQR(blas.Trans, g)
	if n == 0 {
		panic(mat.ErrZeroLength)
	}
}

// elementQR returns element (i, j) of the factorised matrix M.
func elementQR(t blas.Transpose, a blas64.General, tau []float64, i, j int) float64 {
	rows, n := max(a.Rows, a.Cols), min(a.Rows, a.Cols)
	e, c := newGeneral(n, 1), newGeneral(rows, 1)
	e.Data[j] = 1
	MultiplyQR(t, false, 1, a, tau, e, c)
	return c.Data[i]
}

// QRAt is the method At of mat.QR.
func QRAt(f *mat.QR, i, j int) float64 {
	a := factorsOfQR(f)
	if i < 0 || a.Rows <= i {
		panic(mat.ErrRowAccess)
	}
	if j < 0 || a.Cols <= j {
		panic(mat.ErrColAccess)
	}
	return elementQR(blas.NoTrans, a, (*qr)(unsafe.Pointer(f)).tau, i, j)
}

// LQAt is the method At of mat.LQ.
func LQAt(f *mat.LQ, i, j int) float64 {
	r, c := f.Dims()
	if i < 0 || r <= i {
		panic(mat.ErrRowAccess)
	}
	if j < 0 || c <= j {
		panic(mat.ErrColAccess)
	}
	return elementQR(blas.Trans, factorsOfLQ(f), (*lq)(unsafe.Pointer(f)).tau, j, i)
}

// fit gives m the size r×c if it is empty, and panics if it has another size.
func fit(m *mat.Dense, r, c int) {
	if m.IsEmpty() {
		m.ReuseAs(r, c)
		return
	}
	if have, of := m.Dims(); have != r || of != c {
		panic(mat.ErrShape)
	}
}

// QRRTo is the method RTo of mat.QR. It leaves rows below the triangle as they are.
func QRRTo(f *mat.QR, dst *mat.Dense) {
	a := factorsOfQR(f)
	fit(dst, a.Rows, a.Cols)
	to := dst.RawMatrix()
	UpperR(blas.NoTrans, a, (*qr)(unsafe.Pointer(f)).tau,
		blas64.General{Rows: a.Cols, Cols: a.Cols, Stride: to.Stride, Data: to.Data})
}

// LQLTo is the method LTo of mat.LQ.
func LQLTo(f *mat.LQ, dst *mat.Dense) {
	a := factorsOfLQ(f)
	fit(dst, a.Rows, a.Cols)
	r := newGeneral(a.Rows, a.Rows)
	UpperR(blas.Trans, a, (*lq)(unsafe.Pointer(f)).tau, r)
	to := dst.RawMatrix()
	clearAll(to)
	copyElements(blas64.General{Rows: a.Rows, Cols: a.Rows, Stride: to.Stride, Data: to.Data}, r, blas.Trans)
}

// QRQTo is the method QTo of mat.QR.
func QRQTo(f *mat.QR, dst *mat.Dense) {
	a := factorsOfQR(f)
	fit(dst, a.Rows, a.Rows)
	restore(dst, fullQ(blas.NoTrans, a, (*qr)(unsafe.Pointer(f)).tau))
}

// LQQTo is the method QTo of mat.LQ.
func LQQTo(f *mat.LQ, dst *mat.Dense) {
	a := factorsOfLQ(f)
	fit(dst, a.Cols, a.Cols)
	copyElements(dst.RawMatrix(), fullQ(blas.Trans, a, (*lq)(unsafe.Pointer(f)).tau), blas.Trans)
}

// solveQR sets x = M⁺·B, or M⁺ᵀ·B with trans set, and returns the error of the method SolveTo.
func solveQR(t blas.Transpose, trans bool, a blas64.General, tau []float64, cond float64, b, x blas64.General) error {
	if SingularQR(t, a) {
		return mat.Condition(math.Inf(1))
	}
	SolveQR(t, trans, a, tau, b, x)
	return conditionError(cond)
}

// solveTo sets dst to the solution of solveQR, of the method SolveTo of mat.QR or mat.LQ.
func solveTo(t blas.Transpose, trans bool, a blas64.General, tau []float64, cond float64, dst *mat.Dense,
	b mat.Matrix) error {
	rows, cols := b.Dims()
	in, out := sides(t, trans, a)
	if rows != in {
		panic(mat.ErrShape)
	}
	receive(dst, out, cols)
	return solveQR(t, trans, a, tau, cond, elementsOf(b), dst.RawMatrix())
}

// sides returns the numbers of rows of the right-hand side and of the solution of solveQR.
func sides(t blas.Transpose, trans bool, a blas64.General) (in, out int) {
	if (t == blas.Trans) != trans {
		return a.Cols, a.Rows
	}
	return a.Rows, a.Cols
}

// QRSolveTo is the method SolveTo of mat.QR.
func QRSolveTo(f *mat.QR, dst *mat.Dense, trans bool, b mat.Matrix) error {
	return solveTo(blas.NoTrans, trans, factorsOfQR(f), (*qr)(unsafe.Pointer(f)).tau, (*qr)(unsafe.Pointer(f)).cond,
		dst, b)
}

// LQSolveTo is the method SolveTo of mat.LQ.
func LQSolveTo(f *mat.LQ, dst *mat.Dense, trans bool, b mat.Matrix) error {
	return solveTo(blas.Trans, !trans, factorsOfLQ(f), (*lq)(unsafe.Pointer(f)).tau, (*lq)(unsafe.Pointer(f)).cond,
		dst, b)
}

// rightSideVec returns a copy of b as a matrix, and panics if it overlaps dst without being it.
func rightSideVec(dst *mat.VecDense, b mat.Vector) blas64.General {
	x := vector(b)
	if !isVec(dst, b) {
		CheckOverlapVec(dst.RawVector(), x)
	}
	return copyOf(column(x))
}

// solveVecTo is like solveTo, for the method SolveVecTo.
func solveVecTo(t blas.Transpose, trans bool, a blas64.General, tau []float64, cond float64, dst *mat.VecDense,
	b mat.Vector) error {
	rows, cols := b.Dims()
	if cols != 1 {
		panic(mat.ErrShape)
	}
	x := rightSideVec(dst, b)
	in, out := sides(t, trans, a)
	receiveVec(dst, out)
	if rows != in {
		panic(mat.ErrShape)
	}
	return solveQR(t, trans, a, tau, cond, x, column(dst.RawVector()))
}

// QRSolveVecTo is the method SolveVecTo of mat.QR.
func QRSolveVecTo(f *mat.QR, dst *mat.VecDense, trans bool, b mat.Vector) error {
	return solveVecTo(blas.NoTrans, trans, factorsOfQR(f), (*qr)(unsafe.Pointer(f)).tau,
		(*qr)(unsafe.Pointer(f)).cond, dst, b)
}

// LQSolveVecTo is the method SolveVecTo of mat.LQ.
func LQSolveVecTo(f *mat.LQ, dst *mat.VecDense, trans bool, b mat.Vector) error {
	return solveVecTo(blas.Trans, !trans, factorsOfLQ(f), (*lq)(unsafe.Pointer(f)).tau,
		(*lq)(unsafe.Pointer(f)).cond, dst, b)
}

// leastSquares sets dst to the solution X of A·X = B with the least squares, or that with the least norm if A has more
// columns than rows, for A that is not square, as the method Solve of mat.Dense does.
func leastSquares(dst *mat.Dense, a, b mat.Matrix) error {
	rows, cols := a.Dims()
	g, x := elementsOf(a), elementsOf(b)
	if rows != x.Rows {
		panic(mat.ErrShape)
	}
	receive(dst, cols, x.Cols)
	t := blas.NoTrans
	if rows < cols {
		t = blas.Trans
	}
	tau := make([]float64, min(rows, cols))
	FactorQR(t, g, tau)
	return solveQR(t, rows < cols, g, tau, ConditionQR(t, g), x, dst.RawMatrix())
}
