package direct

import (
	"fmt"
	"math"
	"slices"

	"github.com/nabla-ad/nabla/sparse"
	"gonum.org/v1/gonum/mat"
)

// LU is a factorisation PRAQ = LU of a square matrix: L is unit lower triangular, U upper triangular, Q the permutation
// of a fill-reducing order of the columns, R a diagonal matrix of powers of 2 that scales the rows, and P the
// permutation of row interchanges.
//
// The zero value is ready for [LU.Factorize]. The methods use memory of the LU, so they must not run concurrently.
type LU struct {
	// Ordering is the order of the columns at the next analysis.
	Ordering Ordering

	// Threshold is the magnitude at which an entry is acceptable as pivot, relative to the largest one of its column,
	// between 0 and 1; 0 means 0.1. Of the acceptable ones the diagonal is the pivot, unless the order is that of
	// ColAMD, or else the one in the row with the fewest entries. Larger values are more stable and lead to more fill;
	// with 1 the pivot is the largest entry (partial pivoting).
	Threshold float64

	f      lu
	memory memory
	pivots int
}

// Factorize computes the factorisation of a. The order of the columns is chosen if the pattern is another one than that
// of the last call; the pivots are chosen anew in each call. It allocates as far as the factors outgrow the memory of
// earlier ones. a is not retained, only its pattern.
//
// The error is a *[sparse.ShapeError] if a is not square or Threshold out of range, a *[NonFiniteError] if an entry is
// NaN or infinite or a number overflows, and a *[SingularError] if no pivot is left for a column but rounding errors.
// After these errors there is no factorisation to solve with. The factorisation solves a test system: a backward error
// above 1e-8 is an *[InaccurateError], after which there is one, for [LU.SolveRefined]. A matrix that is nearly
// singular is factorised; see [LU.Cond].
//
// The cost is proportional to the number of floating-point operations.
func (l *LU) Factorize(a *sparse.CSC) error { return l.factorize("LU.Factorize", a, false) }

// Refactorize is [LU.Factorize] with the pivots of the last factorisation, if the pattern is the same: it searches
// neither patterns nor pivots, and does not allocate. If a pivot is less than a hundredth of Threshold times the
// largest entry of its column, or small enough to be a rounding error, or if the solution of a test system has a
// backward error above 1e-12, it starts again with Factorize, as it does for another pattern or after an error.
// [LU.Pivotings] tells these cases apart.
func (l *LU) Refactorize(a *sparse.CSC) error { return l.factorize("LU.Refactorize", a, true) }

func (l *LU) factorize(op string, a *sparse.CSC, same bool) error {
	f := &l.f
	f.valid = false
	n, cols := a.Dims()
	threshold := l.Threshold
	switch {
	case n != cols:
		return notSquare(op, "a", n, cols)
	case !(threshold >= 0 && threshold <= 1):
		return &sparse.ShapeError{Op: op, Arg: "Threshold", Got: fmt.Sprint(threshold), Want: "a number from 0 to 1"}
	case l.Ordering < AutoOrder || l.Ordering > NaturalOrder:
		return badOrdering(op, l.Ordering)
	case threshold == 0:
		threshold = 0.1
	}
	if f.pattern == nil || f.ordering != l.Ordering || !f.pattern.Equal(a.Pattern()) {
		checkSize(n)
		f.prepare(a.Pattern(), l.Ordering)
	}
	if err := finite(op, a.ColPtr(), a.RowIndex(), a.Data()); err != nil {
		return err
	}
	f.norm = l.memory.norm1(general{a}, n)
	if same && f.fixed && f.refactorize(a.Data(), threshold/100) && l.memory.probe(f, general{a}, n) <= reusable {
		return nil
	}
	l.pivots++
	if err := f.factorize(op, a.Data(), threshold); err != nil {
		return err
	}
	if backward := l.memory.probe(f, general{a}, n); !(backward <= accurate) {
		return &InaccurateError{op, backward}
	}
	return nil
}

// reusable is the backward error up to which the pivots of another matrix are good enough.
const reusable = 1e-12

// Pivotings returns the number of factorisations that chose pivots: calls of Factorize, and those of Refactorize that
// could not use the last ones.
func (l *LU) Pivotings() int { return l.pivots }

func (l *LU) check(op string) error {
	if !l.f.valid {
		return &NotFactorizedError{op}
	}
	return nil
}

// Dims returns the order of the factorised matrix twice, and zeros before the first call of Factorize.
func (l *LU) Dims() (rows, cols int) { return l.f.n, l.f.n }

// NNZ returns the numbers of entries of L and U, both with the diagonal.
func (l *LU) NNZ() (lower, upper int) { return len(l.f.li) + l.f.n, len(l.f.ui) + l.f.n }

// Pivots returns the rows and columns of the pivots in the order of elimination, as copies.
func (l *LU) Pivots() (rows, cols []int) { return slices.Clone(l.f.p), slices.Clone(l.f.q) }

// Solve stores the solution x of A·x = b in dst. Both have one element per row, and dst may be b. It does not allocate.
// The error is a *[sparse.ShapeError] or a *[NotFactorizedError]. The cost is linear in the entries of L and U.
func (l *LU) Solve(dst, b []float64) error { return l.solve("LU.Solve", dst, b, false) }

// SolveTrans stores the solution x of Aᵀ·x = b in dst, with the rules of [LU.Solve].
func (l *LU) SolveTrans(dst, b []float64) error { return l.solve("LU.SolveTrans", dst, b, true) }

func (l *LU) solve(op string, dst, b []float64, trans bool) error {
	if err := l.check(op); err != nil {
		return err
	}
	return solveVec(op, &l.f, l.f.n, dst, b, trans)
}

// SolveVecTo is [LU.Solve], or [LU.SolveTrans] if trans is set, for vectors of gonum, as the method of mat.LU: an empty
// dst is sized. Unlike that method it does not return a mat.Condition for ill-conditioned matrices; see [LU.Cond].
func (l *LU) SolveVecTo(dst *mat.VecDense, trans bool, b mat.Vector) error {
	const op = "LU.SolveVecTo"
	if err := l.check(op); err != nil {
		return err
	}
	return l.memory.solveVecTo(op, &l.f, l.f.n, dst, trans, b)
}

// SolveTo stores the solution X of A·X = B, or of Aᵀ·X = B if trans is set, in dst, one column for each of B, as the
// method of mat.LU: an empty dst is sized, and dst may be b.
func (l *LU) SolveTo(dst *mat.Dense, trans bool, b mat.Matrix) error {
	const op = "LU.SolveTo"
	if err := l.check(op); err != nil {
		return err
	}
	return l.memory.solveTo(op, &l.f, l.f.n, dst, trans, b)
}

// SolveRefined is [LU.Solve], or [LU.SolveTrans] if trans is set, followed by iterative refinement with the matrix a,
// which must be the factorised one or close to it. It returns the componentwise backward error: dst is the exact
// solution for a matrix and a right-hand side whose entries differ from a and b by this relative amount at most. If it
// remains above 2·10⁻¹³, the error is a *[RefinementError] and dst the best solution found.
func (l *LU) SolveRefined(dst []float64, trans bool, a *sparse.CSC, b []float64) (backward float64, err error) {
	const op = "LU.SolveRefined"
	if err := l.check(op); err != nil {
		return 0, err
	}
	if rows, cols := a.Dims(); rows != l.f.n || cols != l.f.n {
		return 0, shapeError(op, "a", rows, cols, l.f.n, l.f.n)
	}
	if err := checkLen(op, "b", len(b), l.f.n); err != nil {
		return 0, err
	}
	if err := checkLen(op, "dst", len(dst), l.f.n); err != nil {
		return 0, err
	}
	return l.memory.refine(op, &l.f, general{a}, dst, b, trans)
}

// Cond returns an estimate of the condition number of A in the 1-norm, with the rules of [LDL.Cond].
func (l *LU) Cond() float64 {
	if !l.f.valid {
		return math.NaN()
	}
	return l.memory.cond(&l.f, l.f.n, l.f.norm)
}

// LogDet returns the logarithm of the magnitude of the determinant of A, and its sign. Without a factorisation both are
// NaN; after a *[SingularError] the determinant is 0 up to rounding errors.
func (l *LU) LogDet() (det, sign float64) {
	if !l.f.valid {
		return math.NaN(), math.NaN()
	}
	return l.f.logDet()
}

// Det returns the determinant of A, which overflows where that is out of range; see [LU.LogDet].
func (l *LU) Det() float64 {
	det, sign := l.LogDet()
	return math.Exp(det) * sign
}
