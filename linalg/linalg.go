package linalg

import (
	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/internal/core"
)

// MatMul returns the product a·b.
func MatMul(a, b *Matrix) *Matrix {
	check("MatMul", a)
	check("MatMul", b)
	if a.Cols != b.Rows {
		fail("MatMul", ErrShape, "%d×%d and %d×%d", a.Rows, a.Cols, b.Rows, b.Cols)
	}
	o := mulOp{a.Rows, a.Cols, b.Cols, false, false}
	return apply(o, a.array(), b.array()).matrix(a.Rows, b.Cols)
}

// MatVec returns the product a·x.
func MatVec(a *Matrix, x []nabla.Real) []nabla.Real {
	check("MatVec", a)
	if a.Cols != len(x) {
		fail("MatVec", ErrShape, "%d×%d and a vector of %d", a.Rows, a.Cols, len(x))
	}
	return MatMul(a, column(x)).Data
}

// SolveLower returns the solution X of L·X = B for the lower triangle L of l. The elements above the diagonal are not
// read.
func SolveLower(l, b *Matrix) *Matrix {
	n := square("SolveLower", l)
	m := rightSide("SolveLower", n, b)
	return apply(triSolveOp{n, m, false}, l.array().lower(n), b.array()).matrix(n, m)
}

// SolveUpper returns the solution X of U·X = B for the upper triangle U of u. The elements below the diagonal are not
// read.
func SolveUpper(u, b *Matrix) *Matrix {
	n := square("SolveUpper", u)
	m := rightSide("SolveUpper", n, b)
	return apply(triSolveOp{n, m, true}, u.array().upper(n), b.array()).matrix(n, m)
}

// SolveLowerVec is SolveLower for a vector.
func SolveLowerVec(l *Matrix, b []nabla.Real) []nabla.Real { return SolveLower(l, column(b)).Data }

// SolveUpperVec is SolveUpper for a vector.
func SolveUpperVec(u *Matrix, b []nabla.Real) []nabla.Real { return SolveUpper(u, column(b)).Data }

// Solve returns the solution X of A·X = B, for a square matrix A.
func Solve(a, b *Matrix) *Matrix { return NewLU(a).Solve(b) }

// SolveVec is Solve for a vector.
func SolveVec(a *Matrix, b []nabla.Real) []nabla.Real { return NewLU(a).SolveVec(b) }

// Inverse returns the inverse of a. Solve is faster and more accurate where the inverse is only multiplied.
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

// NewCholesky factorises the symmetric matrix whose lower triangle is that of a. The elements above the diagonal are
// not read: a derivative with respect to an element below the diagonal is that with respect to both elements of A.
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

// NewLU factorises a. A singular matrix is an error in the methods other than Det.
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
