package engine

import "fmt"

// Structure is the places of the entries of a Rows×Cols matrix, compressed by
// columns: the rows of column j are Index[Ptr[j]:Ptr[j+1]], ascending. Whoever gets
// one may keep it and must not write to it.
type Structure struct {
	Rows, Cols int
	Ptr, Index []int
}

// A SparseJacobianer can compute the entries of a sparse Jacobian without compressing
// it into products.
type SparseJacobianer interface {
	// PrepareSparseJacobian returns nil where products would be cheaper. An entry that
	// is not zero and not in s is a *PatternError of the call that meets it.
	PrepareSparseJacobian(f *Function, x []float64, s Structure) (SparseJacobian, error)
}

// SparseJacobian writes y = f(x) and the entries of J(x) in the order of the structure.
type SparseJacobian interface {
	ValueAndEntries(y, entries, x []float64) error
}

// A SparseHessianer is the same for Hessians.
type SparseHessianer interface {
	// PrepareSparseHessian is for the first s.Rows inputs of f. s is symmetric; where some is
	// set, it has only a part of the entries that are not zero.
	PrepareSparseHessian(f *Function, x []float64, s Structure, some bool) (SparseHessian, error)
}

// SparseHessian writes the entries of ∇²f(x) in the order of the structure, and the
// gradient, and returns f(x). Where grad is nil neither gradient nor value is wanted.
type SparseHessian interface {
	ValueGradientAndEntries(grad, entries, x []float64) (float64, error)
}

// PatternError says that a matrix has an entry that its pattern has not, or that a
// pattern is not the one that is wanted.
type PatternError struct {
	Op       string
	Row, Col int // of the entry; -1 where it is about the whole pattern
	Value    float64
	Reason   string
}

func (e *PatternError) Error() string {
	if e.Row < 0 {
		return fmt.Sprintf("nabla: %s: %s", e.Op, e.Reason)
	}
	return fmt.Sprintf("nabla: %s: entry (%d, %d) is %v and not in the sparsity pattern; %s", e.Op, e.Row, e.Col,
		e.Value, e.Reason)
}

// The way out of a pattern that misses something.
const patternRemedy = "use a detector that sees every branch, such as sparsity.Global, or give the right pattern, " +
	"and prepare again"

// MissingEntry is the error for an entry that a pattern has not.
func MissingEntry(op string, row, col int, v float64) error {
	return &PatternError{Op: op, Row: row, Col: col, Value: v, Reason: patternRemedy}
}

// WrongPattern is the error for a pattern that misses entries, nobody knows which:
// got of the sparse matrix stands against want of the function, in a product with a
// random vector.
func WrongPattern(op string, got, want float64) error {
	return &PatternError{
		Op: op, Row: -1,
		Reason: fmt.Sprintf("the sparsity pattern misses entries: times a random vector the matrix gives %v where "+
			"the derivative of the function gives %v; %s", got, want, patternRemedy),
	}
}
