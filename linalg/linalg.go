package linalg

import (
	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/internal/core"
)

// MatMul returns the product a·b. b has as many rows as a has columns.
func MatMul(a, b *Matrix) *Matrix {
	check("MatMul", a)
	check("MatMul", b)
	if a.Cols != b.Rows {
		fail("MatMul", ErrShape, "%d×%d and %d×%d", a.Rows, a.Cols, b.Rows, b.Cols)
	}
	o := mulOp{a.Rows, a.Cols, b.Cols, false, false}
	return apply(o, a.array(), b.array()).matrix(a.Rows, b.Cols)
}

// MatVec returns the product a·x. x has an element for each column of a, the result one for each row.
func MatVec(a *Matrix, x []nabla.Real) []nabla.Real {
	check("MatVec", a)
	if a.Cols != len(x) {
		fail("MatVec", ErrShape, "%d×%d and a vector of %d", a.Rows, a.Cols, len(x))
	}
	return MatMul(a, column(x)).Data
}

// SolveLower returns the solution X of L·X = B for the lower triangle L of a square matrix l. The elements above the
// diagonal are not read. An element 0 on the diagonal is [ErrSingular].
func SolveLower(l, b *Matrix) *Matrix {
	n := square("SolveLower", l)
	m := rightSide("SolveLower", n, b)
	return apply(triSolveOp{n, m, false}, l.array().lower(n), b.array()).matrix(n, m)
}

// SolveUpper returns the solution X of U·X = B for the upper triangle U of a square matrix u. The elements below the
// diagonal are not read. An element 0 on the diagonal is [ErrSingular].
func SolveUpper(u, b *Matrix) *Matrix {
	n := square("SolveUpper", u)
	m := rightSide("SolveUpper", n, b)
	return apply(triSolveOp{n, m, true}, u.array().upper(n), b.array()).matrix(n, m)
}

// SolveLowerVec is SolveLower for a vector.
func SolveLowerVec(l *Matrix, b []nabla.Real) []nabla.Real { return SolveLower(l, column(b)).Data }

// SolveUpperVec is SolveUpper for a vector.
func SolveUpperVec(u *Matrix, b []nabla.Real) []nabla.Real { return SolveUpper(u, column(b)).Data }

// Solve returns the solution X of A·X = B, for a square matrix A, by [NewLU], which serves several right-hand sides at
// the cost of one factorisation. A pivot 0 is [ErrSingular].
func Solve(a, b *Matrix) *Matrix { return NewLU(a).Solve(b) }

// SolveVec is Solve for a vector.
func SolveVec(a *Matrix, b []nabla.Real) []nabla.Real { return NewLU(a).SolveVec(b) }

// Inverse returns the inverse of a square matrix a. To multiply by it, [Solve] is faster and more accurate.
func Inverse(a *Matrix) *Matrix { return NewLU(a).Inverse() }

// Det returns the determinant of a; see [LU.Det].
func Det(a *Matrix) nabla.Real { return NewLU(a).Det() }

// LogDet returns the logarithm of the magnitude of the determinant of a, and its sign; see [LU.LogDet].
func LogDet(a *Matrix) (log, sign nabla.Real) { return NewLU(a).LogDet() }

// A Cholesky is the factorisation L·Lᵀ of a symmetric positive definite matrix A.
type Cholesky struct {
	n         int
	a, factor array
}

// NewCholesky factorises the symmetric matrix whose lower triangle is that of a square matrix a. The elements above the
// diagonal are not read: a derivative with respect to an element below the diagonal is that with respect to both
// elements of A. A matrix that is not positive definite is [ErrNotPositiveDefinite].
func NewCholesky(a *Matrix) *Cholesky {
	n := square("NewCholesky", a)
	low := a.array().lower(n)
	return &Cholesky{n, low, apply(cholFactorOp{n}, low)}
}

// Lower returns L. Its derivatives cost several times those of the other methods, which do not need it.
func (c *Cholesky) Lower() *Matrix {
	return apply(cholLowerOp{c.n}, c.a, c.factor).triangular(c.n).matrix(c.n, c.n)
}

// Solve returns the solution X of A·X = B.
func (c *Cholesky) Solve(b *Matrix) *Matrix {
	m := rightSide("Cholesky.Solve", c.n, b)
	return apply(cholSolveOp{c.n, m}, c.a, c.factor, b.array()).matrix(c.n, m)
}

// SolveVec is Solve for a vector.
func (c *Cholesky) SolveVec(b []nabla.Real) []nabla.Real { return c.Solve(column(b)).Data }

// LogDet returns the logarithm of the determinant of A.
func (c *Cholesky) LogDet() nabla.Real { return reals(apply(cholLogDetOp{c.n}, c.a, c.factor).r)[0] }

// Inverse returns the inverse of A, a symmetric matrix.
func (c *Cholesky) Inverse() *Matrix {
	return apply(cholInverseOp{c.n}, c.a, c.factor).symmetric(c.n).matrix(c.n, c.n)
}

// An LU is the factorisation of a square matrix A with partial pivoting.
type LU struct {
	n         int
	a, factor array
}

// NewLU factorises a square matrix a, of which it makes a copy. If a pivot is 0, the methods other than Det fail with
// [ErrSingular].
func NewLU(a *Matrix) *LU {
	n := square("NewLU", a)
	at := traced(append([]core.Rep(nil), a.array().r...))
	return &LU{n, at, apply(luFactorOp{n}, at)}
}

// Solve returns the solution X of A·X = B.
func (f *LU) Solve(b *Matrix) *Matrix { return f.solve("LU.Solve", b, false) }

// SolveVec is Solve for a vector.
func (f *LU) SolveVec(b []nabla.Real) []nabla.Real {
	return f.solve("LU.SolveVec", column(b), false).Data
}

// SolveTrans returns the solution X of Aᵀ·X = B.
func (f *LU) SolveTrans(b *Matrix) *Matrix { return f.solve("LU.SolveTrans", b, true) }

func (f *LU) solve(op string, b *Matrix, trans bool) *Matrix {
	m := rightSide(op, f.n, b)
	return apply(luSolveOp{f.n, m, trans}, f.a, f.factor, b.array()).matrix(f.n, m)
}

// Inverse returns the inverse of A.
func (f *LU) Inverse() *Matrix { return apply(luInverseOp{f.n}, f.a, f.factor).matrix(f.n, f.n) }

// Det returns the determinant of A. It is 0 if A is singular; its derivative is an error then, as it is computed from
// the inverse.
func (f *LU) Det() nabla.Real { return reals(apply(luDetOp{f.n, false}, f.a, f.factor).r)[0] }

// LogDet returns the logarithm of the magnitude of the determinant of A, and the sign of the determinant, 1 or -1,
// which carries no derivative.
func (f *LU) LogDet() (log, sign nabla.Real) {
	return reals(apply(luDetOp{f.n, true}, f.a, f.factor).r)[0],
		reals(apply(luSignOp{f.n}, f.a, f.factor).r)[0]
}

// An Eigen is the decomposition V·diag(λ)·Vᵀ of a symmetric matrix A.
type Eigen struct {
	n         int
	a, factor array
}

// NewEigen decomposes the symmetric matrix whose lower triangle is that of a; see [NewCholesky].
func NewEigen(a *Matrix) *Eigen {
	n := square("NewEigen", a)
	low := a.array().lower(n)
	return &Eigen{n, low, apply(eigenFactorOp{n}, low)}
}

// Values returns the eigenvalues, in ascending order. Where some are equal only the derivative of their sum exists, and
// those of the single results are the ones for the eigenvectors that were computed; second derivatives are an error
// there.
func (e *Eigen) Values() []nabla.Real { return reals(apply(eigenValuesOp{e.n}, e.a, e.factor).r) }

// Vectors returns the orthogonal matrix V, whose columns are the eigenvectors. The element of each that has the largest
// magnitude is positive. Where two eigenvalues are equal V has no derivative, and asking for one is an error, also that
// of a function of V and λ that is smooth there.
func (e *Eigen) Vectors() *Matrix {
	return apply(eigenVectorsOp{e.n}, e.a, e.factor).matrix(e.n, e.n)
}

// A QR is the factorisation Q·R of an m×n matrix A with m ≥ n: the columns of Q, m×n, are orthonormal, and R, n×n, is
// upper triangular, with a diagonal that is not negative.
type QR struct {
	of        qrFactorOp
	a, factor array
}

// NewQR factorises a, which has at least as many rows as columns.
func NewQR(a *Matrix) *QR {
	check("NewQR", a)
	if a.Rows < a.Cols {
		fail("NewQR", ErrShape, "the %d×%d matrix has more columns than rows", a.Rows, a.Cols)
	}
	at := traced(append([]core.Rep(nil), a.array().r...))
	o := qrFactorOp{a.Rows, a.Cols}
	return &QR{o, at, apply(o, at)}
}

// Solve returns the matrix X with the least squares of the elements of A·X - B. A has full rank; see the section on
// errors.
func (f *QR) Solve(b *Matrix) *Matrix { return f.solve("QR.Solve", b, false) }

// SolveVec is Solve for a vector.
func (f *QR) SolveVec(b []nabla.Real) []nabla.Real {
	return f.solve("QR.SolveVec", column(b), false).Data
}

// SolveTrans returns the solution X of Aᵀ·X = B that has the least norm. A has full rank.
func (f *QR) SolveTrans(b *Matrix) *Matrix { return f.solve("QR.SolveTrans", b, true) }

func (f *QR) solve(op string, b *Matrix, trans bool) *Matrix {
	check(op, b)
	o := pinvOp{f.of.m, f.of.n, b.Cols, trans}
	out, in := o.rows()
	if b.Rows != in {
		fail(op, ErrShape, "%d×%d and a right-hand side of %d×%d", in, out, b.Rows, b.Cols)
	}
	return apply(o, f.a, f.factor, b.array()).matrix(out, b.Cols)
}

// Q returns Q. It has derivatives if A has full rank.
func (f *QR) Q() *Matrix { return apply(qrOrthogonalOp(f.of), f.a, f.factor).matrix(f.of.m, f.of.n) }

// R returns R. It has derivatives if A has full rank.
func (f *QR) R() *Matrix {
	n := f.of.n
	return apply(qrUpperOp(f.of), f.a, f.factor).triangular(n).transposed(n, n).matrix(n, n)
}

// LeastSquares returns the matrix X for which A·X - B has the least sum of squares, and of these the one with the least
// norm: the least squares solution if A has at least as many rows as columns, and otherwise the solution of A·X = B
// with the least norm. A has full rank; see the section on errors.
func LeastSquares(a, b *Matrix) *Matrix {
	check("LeastSquares", a)
	check("LeastSquares", b)
	if b.Rows != a.Rows {
		fail("LeastSquares", ErrShape, "%d×%d and a right-hand side of %d×%d", a.Rows, a.Cols, b.Rows, b.Cols)
	}
	if a.Rows < a.Cols {
		return NewQR(a.T()).SolveTrans(b)
	}
	return NewQR(a).Solve(b)
}

// LeastSquaresVec is LeastSquares for a vector.
func LeastSquaresVec(a *Matrix, b []nabla.Real) []nabla.Real { return LeastSquares(a, column(b)).Data }

// PseudoInverse returns the pseudo-inverse of a matrix with full rank, by which LeastSquares multiplies B.
func PseudoInverse(a *Matrix) *Matrix {
	check("PseudoInverse", a)
	if a.Rows < a.Cols {
		return NewQR(a.T()).SolveTrans(Identity(a.Rows))
	}
	return NewQR(a).SolveTrans(Identity(a.Cols)).T()
}

// An SVD is the decomposition U·diag(s)·Vᵀ of an m×n matrix A. With k the smaller of m and n, U is m×k, V is n×k, and
// the columns of both are orthonormal.
type SVD struct {
	of        svdFactorOp
	a, factor array
}

// NewSVD decomposes a.
func NewSVD(a *Matrix) *SVD {
	check("NewSVD", a)
	at := traced(append([]core.Rep(nil), a.array().r...))
	o := svdFactorOp{a.Rows, a.Cols}
	return &SVD{o, at, apply(o, at)}
}

// Values returns the k singular values, in descending order. Where some are equal only the derivative of their sum
// exists, and those of the single results are the ones for the vectors that were computed; second derivatives are an
// error there. Where one is 0 it has a kink, as the absolute value has, and its derivative is that for the vectors that
// were computed; if A is not square second derivatives are an error there.
func (s *SVD) Values() []nabla.Real { return reals(apply(svdValuesOp(s.of), s.a, s.factor).r) }

// U returns the left singular vectors as the columns of a matrix. The element of each that has the largest magnitude is
// positive. Where two singular values are equal, or one is 0 and A has more rows than columns, U has no derivative, and
// asking for one is an error, also that of a function of U, V and the singular values that is smooth there.
func (s *SVD) U() *Matrix { return s.vectors(false) }

// V returns the right singular vectors as the columns of a matrix. Their signs follow from those of U. V has no
// derivative where two singular values are equal, or one is 0 and A has more columns than rows.
func (s *SVD) V() *Matrix { return s.vectors(true) }

func (s *SVD) vectors(right bool) *Matrix {
	o := svdVectorsOp{s.of.m, s.of.n, right}
	return apply(o, s.a, s.factor).matrix(o.rows(), s.of.k())
}
