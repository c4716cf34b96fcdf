package direct

import (
	"fmt"
	"math"

	"github.com/nabla-ad/nabla/internal/page"
	"github.com/nabla-ad/nabla/sparse"
)

// A NonFiniteError names an entry of a matrix that is NaN or infinite. If Row is negative, the entries are finite and
// the factorisation of column Col overflowed.
type NonFiniteError struct {
	Op       string
	Row, Col int
	Value    float64
}

func (e *NonFiniteError) Error() string {
	if e.Row < 0 {
		return page.Namef("direct.NonFiniteError", "direct: %s: overflow in column %d; scale the matrix", e.Op, e.Col)
	}
	return page.Namef("direct.NonFiniteError",
		"direct: %s: entry (%d, %d) is %g, want a finite number", e.Op, e.Row, e.Col, e.Value)
}

// A SingularError is returned for a matrix that is singular to working precision: after the elimination of others
// column Col is zero, up to rounding errors. If StructuralRank is less than the order of the matrix, every matrix with
// the same pattern is singular.
type SingularError struct {
	Op             string
	Col            int // column of the matrix
	Step           int // number of columns eliminated before
	Order          int // number of columns
	StructuralRank int // largest number of entries without two in a row or column
}

func (e *SingularError) Error() string {
	s := fmt.Sprintf("direct: %s: the matrix is singular: column %d depends on the %d columns eliminated before it",
		e.Op, e.Col, e.Step)
	if e.StructuralRank < e.Order {
		s += fmt.Sprintf("; its pattern allows rank %d of %d: an entry is missing from it, or a variable or equation "+
			"is superfluous", e.StructuralRank, e.Order)
	}
	return page.Named("direct.SingularError", s)
}

// A PivotError is returned by LDL if pivot Col is zero up to rounding errors and the rest of its column is not, or the
// numbers have grown so much that the errors hide the pivot: the matrix need not be singular, but has no usable
// factorisation with this order of pivots.
type PivotError struct {
	Op    string
	Col   int     // column of the matrix
	Pivot float64 // the value found
	Scale float64 // sum of the magnitudes of the terms of which it is made
}

func (e *PivotError) Error() string {
	return page.Namef("direct.PivotError",
		"direct: %s: the pivot of column %d is %.3g, made of terms of magnitude %.3g: no LDLᵀ with "+
			"pivots on the diagonal; use LU, or add a multiple of the identity to the block",
		e.Op, e.Col, e.Pivot, e.Scale)
}

// An IndefiniteError is returned by [LDL.FactorizeDefinite] if a pivot is not positive: the matrix is not positive
// definite.
type IndefiniteError struct {
	Op    string
	Col   int     // column of the matrix
	Pivot float64 // the value found
	Scale float64 // sum of the magnitudes of the terms of which it is made
}

func (e *IndefiniteError) Error() string {
	return page.Namef("direct.IndefiniteError",
		"direct: %s: the matrix is not positive definite: the pivot of column %d is %.3g, made of "+
			"terms of magnitude %.3g; use LDL or LU", e.Op, e.Col, e.Pivot, e.Scale)
}

// An InaccurateError is returned for a factorisation that solves a test system with a large backward error: its numbers
// have grown. There is a factorisation nevertheless: SolveRefined may reach the accuracy that the other methods lack,
// and tells if it does.
type InaccurateError struct {
	Op       string
	Backward float64 // of the test system, relative to its scaled rows
}

func (e *InaccurateError) Error() string {
	return page.Namef("direct.InaccurateError",
		"direct: %s: solutions have a backward error of %.3g; use LU in place of LDL, a larger "+
			"Threshold of LU, or SolveRefined, whose error tells if it helps", e.Op, e.Backward)
}

// A NotFactorizedError is returned by methods that need a factorisation if there is none, or the last one failed.
type NotFactorizedError struct{ Op string }

func (e *NotFactorizedError) Error() string {
	return page.Named("direct.NotFactorizedError",
		"direct: "+e.Op+": there is no factorisation; call Factorize, and use it only if the error is nil")
}

// A RefinementError is returned if iterative refinement does not reach a backward error near the rounding error of a
// number. The solution is the best one found.
type RefinementError struct {
	Op       string
	Backward float64
}

func (e *RefinementError) Error() string {
	return page.Namef("direct.RefinementError",
		"direct: %s: the backward error remains %.3g; the factorisation is not of this matrix, or too "+
			"inaccurate: factorise again, with a larger Threshold", e.Op, e.Backward)
}

// notSquare returns the error for an argument that has to be square.
func notSquare(op, arg string, rows, cols int) *sparse.ShapeError {
	return &sparse.ShapeError{Op: op, Arg: "the shape of " + arg, Got: dims(rows, cols), Want: "a square one"}
}

// badOrdering returns the error for an Ordering that is not one of the constants.
func badOrdering(op string, o Ordering) *sparse.ShapeError {
	return &sparse.ShapeError{Op: op, Arg: "Ordering", Got: o.String(), Want: "one of the constants"}
}

// checkSize panics if indices below n do not fit the 32 bits in which the factors hold them.
func checkSize(n int) {
	if n > math.MaxInt32/2 {
		panic(&sparse.ShapeError{Op: "direct", Arg: "the order of the matrix", Got: fmt.Sprint(n),
			Want: "at most 2³⁰"})
	}
}

// checkLen returns a *sparse.ShapeError unless a vector has n elements.
func checkLen(op, arg string, got, n int) error {
	if got == n {
		return nil
	}
	return &sparse.ShapeError{Op: op, Arg: "len(" + arg + ")", Got: fmt.Sprint(got), Want: fmt.Sprint(n)}
}

// finite returns a *NonFiniteError if a value in compressed columns is NaN or infinite, and nil otherwise.
func finite(op string, ptr, idx []int, data []float64) error {
	sum := 0.0
	for _, v := range data {
		sum += 0 * v // NaN if v is not finite
	}
	if sum == 0 {
		return nil
	}
	for j := range len(ptr) - 1 {
		for k := ptr[j]; k < ptr[j+1]; k++ {
			if v := data[k]; math.IsNaN(v) || math.IsInf(v, 0) {
				return &NonFiniteError{op, idx[k], j, v}
			}
		}
	}
	return nil
}
