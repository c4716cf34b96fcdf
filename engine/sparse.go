package engine

import (
	"fmt"

	"github.com/nabla-ad/nabla/internal/page"
)

// Structure is the sparsity structure of a Rows×Cols matrix in compressed column form: the rows of the entries of
// column j are Index[Ptr[j]:Ptr[j+1]], ascending. A recipient may retain the slices and must not modify them.
type Structure struct {
	Rows, Cols int
	Ptr, Index []int
}

// A SparseJacobianer computes the entries of a sparse Jacobian directly, without coloured products.
type SparseJacobianer interface {
	// PrepareSparseJacobian returns nil without an error if products would be cheaper. A nonzero entry outside s makes
	// the call that finds it return a *[PatternError], unless some is set: s then holds only a part of the nonzero
	// entries.
	PrepareSparseJacobian(f *Function, x []float64, s Structure, some bool) (SparseJacobian, error)
}

// A Structurer finds the structure of sparse derivatives by itself, so that they need no sparsity detector. The
// structure holds at all points. It returns nil without an error if a detector would be cheaper.
type Structurer interface {
	JacobianStructure(f *Function, x []float64) (*Structure, error)
	HessianStructure(f *Function, x []float64) (*Structure, error)
}

// SparseJacobian writes y = f(x) and the entries of J(x), in the order of the structure.
type SparseJacobian interface {
	ValueAndEntries(y, entries, x []float64) error
}

// A SparseHessianer computes the entries of a sparse Hessian directly, without coloured products.
type SparseHessianer interface {
	// PrepareSparseHessian prepares the Hessian with respect to the first s.Rows inputs of f. s is symmetric. If some
	// is set, s holds only a part of the nonzero entries.
	PrepareSparseHessian(f *Function, x []float64, s Structure, some bool) (SparseHessian, error)
}

// SparseHessian writes the gradient and the entries of ∇²f(x), in the order of the structure, and returns f(x). If grad
// is nil, neither gradient nor value is computed.
type SparseHessian interface {
	ValueGradientAndEntries(grad, entries, x []float64) (float64, error)
}

// PatternError reports a matrix entry that is missing in its sparsity pattern, or a pattern that does not fit.
type PatternError struct {
	Op       string
	Row, Col int // of the entry; Row is -1 if the whole pattern is meant
	Value    float64
	Reason   string
}

func (e *PatternError) Error() string {
	if e.Row < 0 {
		return page.Namef("nabla.PatternError", "nabla: %s: %s", e.Op, e.Reason)
	}
	return page.Namef("nabla.PatternError",
		"nabla: %s: entry (%d, %d) is %v and not in the sparsity pattern; %s", e.Op, e.Row, e.Col,
		e.Value, e.Reason)
}

// patternRemedy is the advice for a pattern that misses entries.
const patternRemedy = "call Extend of the prepared object, which adds the entries at a point, or prepare again with " +
	"a detector that sees every branch, such as sparsity.Global, or with the right pattern"

// MissingEntry returns the *PatternError for entry (row, col) with value v, which is not in the pattern.
func MissingEntry(op string, row, col int, v float64) error {
	return &PatternError{Op: op, Row: row, Col: col, Value: v, Reason: patternRemedy}
}

// WrongPattern returns the *PatternError for a pattern that misses unknown entries. A product with a random vector gave
// got for the sparse matrix and want for the derivative of the function.
func WrongPattern(op string, got, want float64) error {
	return &PatternError{
		Op: op, Row: -1,
		Reason: fmt.Sprintf("the sparsity pattern misses entries: times a random vector the matrix gives %v where "+
			"the derivative of the function gives %v; %s", got, want, patternRemedy),
	}
}
