package direct

import (
	"math"

	"github.com/nabla-ad/nabla/sparse"
	"gonum.org/v1/gonum/mat"
)

// LDL is a factorisation PAPᵀ = LDLᵀ of a symmetric matrix: L is unit lower triangular, D diagonal and P the
// permutation of a fill-reducing order. The pivots are on the diagonal of A in this order, whatever their values. This
// is stable for definite and quasi-definite matrices ([H Jᵀ; J -C] with H and C positive definite; Vanderbei, SIAM J.
// Optim. 5, 1995). For other indefinite matrices it may fail with a *[PivotError], or lose accuracy, which is an
// *[InaccurateError]; [LU] has pivoting.
//
// The zero value is ready for [LDL.Factorize]. The methods use memory of the LDL, so they must not run concurrently.
type LDL struct {
	// Ordering is the order of elimination at the next analysis: AMD, unless it is NaturalOrder.
	Ordering Ordering

	f       ldl
	memory  memory
	inverse selectedInverse
}

// Factorize computes the factorisation of a, of which any part may be stored. The pattern is analysed if it is another
// one than that of the last call: the order, the elimination tree and the pattern of L. Otherwise only the numbers are
// computed, without allocation.
//
// The error is a *[NonFiniteError] if an entry is NaN or infinite, or if a number overflows, a *[PivotError] if a pivot
// is zero and the rest of its column is not or has been lost, and a *[SingularError] if columns vanish in the course of
// elimination. In the last case [LDL.Inertia] is valid. After an error there is no factorisation to solve with. a is
// not retained, only its pattern.
//
// If the matrix is indefinite, the factorisation solves a test system. A backward error above 1e-8 is an
// *[InaccurateError], after which there is a factorisation, for [LDL.SolveRefined].
//
// The cost is the sum of the squares of the column counts of L.
func (l *LDL) Factorize(a *sparse.SymCSC) error { return l.factorize("LDL.Factorize", a, false) }

// FactorizeDefinite is [LDL.Factorize] for a matrix that has to be positive definite: a pivot that is not positive is
// an *[IndefiniteError]. It is the Cholesky factorisation without square roots.
func (l *LDL) FactorizeDefinite(a *sparse.SymCSC) error {
	return l.factorize("LDL.FactorizeDefinite", a, true)
}

func (l *LDL) factorize(op string, a *sparse.SymCSC, definite bool) error {
	f := &l.f
	if err := l.analyze(op, a); err != nil {
		return err
	}
	if err := finite(op, a.ColPtr(), a.RowIndex(), a.Data()); err != nil {
		return err
	}
	if f.d == nil {
		f.allocate()
	}
	if err := f.factorize(op, a.Data(), definite); err != nil {
		return err
	}
	f.norm = l.memory.norm1(symmetric{a}, f.n)
	if f.positive == f.n || f.negative == f.n {
		return nil // stable without pivoting
	}
	if backward := l.memory.probe(f, symmetric{a}, f.n); !(backward <= accurate) {
		return &InaccurateError{op, backward}
	}
	return nil
}

// analyze discards the factorisation, and analyses the pattern of a unless that was done.
func (l *LDL) analyze(op string, a *sparse.SymCSC) error {
	f := &l.f
	f.valid = false
	if f.pattern != nil && f.uplo == a.Uplo() && f.ordering == l.Ordering && f.pattern.Equal(a.Pattern()) {
		return nil
	}
	s, err := analyze(op, a, l.Ordering)
	if err != nil {
		return err
	}
	f.symbolic = *s
	f.d, l.inverse = nil, selectedInverse{}
	f.pattern, f.uplo, f.ordering = a.Pattern(), a.Uplo(), l.Ordering
	return nil
}

// Analyze analyses the pattern of a, as the first call of [LDL.Factorize] would do, and returns the cost of a
// factorisation: the number of entries of L with the diagonal, and that of multiplications. It replaces the last
// factorisation. The values of a are not read.
func (l *LDL) Analyze(a *sparse.SymCSC) (entries int, operations float64, err error) {
	if err := l.analyze("LDL.Analyze", a); err != nil {
		return 0, 0, err
	}
	f := &l.f
	for j := range f.n {
		c := float64(f.ptr[j+1] - f.ptr[j])
		operations += c * (c + 3) / 2
	}
	return l.NNZ(), operations, nil
}

// check returns a *NotFactorizedError if there is no factorisation.
func (l *LDL) check(op string) error {
	if !l.f.valid {
		return &NotFactorizedError{op}
	}
	return nil
}

// Dims returns the order of the factorised matrix twice, and zeros before the first call of Factorize.
func (l *LDL) Dims() (rows, cols int) { return l.f.n, l.f.n }

// NNZ returns the number of entries of L, with the diagonal.
func (l *LDL) NNZ() int {
	if l.f.pattern == nil {
		return 0
	}
	return l.f.ptr[l.f.n] + l.f.n
}

// Order returns the order of elimination: pivot k is in row and column Order()[k] of the matrix. It is a copy.
func (l *LDL) Order() []int { return append([]int(nil), l.f.order...) }

// Inertia returns the numbers of positive, negative and zero pivots, which are those of the eigenvalues of A
// (Sylvester's law). It is valid after a call of Factorize that returned nil or a *[SingularError]; otherwise the
// numbers do not sum up to the order of the matrix.
func (l *LDL) Inertia() (positive, negative, zero int) { return l.f.positive, l.f.negative, l.f.zero }

// Solve stores the solution x of A·x = b in dst. Both have one element per row, and dst may be b. It does not allocate.
// The error is a *[sparse.ShapeError] or a *[NotFactorizedError]. The cost is linear in the entries of L.
func (l *LDL) Solve(dst, b []float64) error {
	const op = "LDL.Solve"
	if err := l.check(op); err != nil {
		return err
	}
	return solveVec(op, &l.f, l.f.n, dst, b, false)
}

// SolveVecTo is [LDL.Solve] for vectors of gonum, as the method of mat.Cholesky: an empty dst is sized.
func (l *LDL) SolveVecTo(dst *mat.VecDense, b mat.Vector) error {
	const op = "LDL.SolveVecTo"
	if err := l.check(op); err != nil {
		return err
	}
	return l.memory.solveVecTo(op, &l.f, l.f.n, dst, false, b)
}

// SolveTo stores the solution X of A·X = B in dst, one column for each of B, as the method of mat.Cholesky: an empty
// dst is sized, and dst may be b.
func (l *LDL) SolveTo(dst *mat.Dense, b mat.Matrix) error {
	const op = "LDL.SolveTo"
	if err := l.check(op); err != nil {
		return err
	}
	return l.memory.solveTo(op, &l.f, l.f.n, dst, false, b)
}

// SolveRefined is [LDL.Solve] followed by iterative refinement with the matrix a, which must be the factorised one or
// close to it. It returns the componentwise backward error: dst is the exact solution for a matrix and a right-hand
// side whose entries differ from a and b by this relative amount at most. If it remains above 2·10⁻¹³, the error is a
// *[RefinementError] and dst the best solution found.
func (l *LDL) SolveRefined(dst []float64, a *sparse.SymCSC, b []float64) (backward float64, err error) {
	const op = "LDL.SolveRefined"
	if err := l.check(op); err != nil {
		return 0, err
	}
	if n := a.SymmetricDim(); n != l.f.n {
		return 0, shapeError(op, "a", n, n, l.f.n, l.f.n)
	}
	if err := checkLen(op, "b", len(b), l.f.n); err != nil {
		return 0, err
	}
	if err := checkLen(op, "dst", len(dst), l.f.n); err != nil {
		return 0, err
	}
	return l.memory.refine(op, &l.f, symmetric{a}, dst, b, false)
}

// Cond returns an estimate of the condition number of A in the 1-norm, at most a little above it and seldom less than a
// third of it (Higham, ACM Trans. Math. Software 14, 1988). Relative errors of A and b are multiplied by up to this
// number in the solution. It takes about five solutions, and is NaN without a factorisation.
func (l *LDL) Cond() float64 {
	if !l.f.valid {
		return math.NaN()
	}
	return l.memory.cond(&l.f, l.f.n, l.f.norm)
}

// LogDet returns the logarithm of the magnitude of the determinant of A, and its sign. Without a factorisation both are
// NaN.
func (l *LDL) LogDet() (det, sign float64) {
	if !l.f.valid {
		return math.NaN(), math.NaN()
	}
	sign = 1
	for _, d := range l.f.d {
		det += math.Log(math.Abs(d))
		sign = math.Copysign(sign, sign*d)
	}
	return det, sign
}

// Det returns the determinant of A, which overflows where that is out of range; see [LDL.LogDet].
func (l *LDL) Det() float64 {
	det, sign := l.LogDet()
	return math.Exp(det) * sign
}
