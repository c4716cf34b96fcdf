package linalg

import (
	"fmt"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/internal/page"
)

// The causes of an [Error].
var (
	// ErrShape reports matrices or vectors whose shapes do not fit.
	ErrShape = page.New("linalg.ErrShape", "shapes do not fit")
	// ErrNotPositiveDefinite reports a matrix without a Cholesky factor.
	ErrNotPositiveDefinite = page.New("linalg.ErrNotPositiveDefinite", "matrix is not positive definite")
	// ErrSingular reports a matrix with a pivot, or an element on its diagonal, that is exactly 0.
	ErrSingular = page.New("linalg.ErrSingular", "matrix is singular")
	// ErrEqualEigenvalues reports a derivative of eigenvectors, or a second derivative of eigenvalues, of a matrix with
	// equal eigenvalues.
	ErrEqualEigenvalues = page.New("linalg.ErrEqualEigenvalues", "eigenvalues are equal")
	// ErrRank reports a least squares problem or a derivative of a factorisation whose matrix does not have full rank.
	ErrRank = page.New("linalg.ErrRank", "matrix does not have full rank")
	// ErrEqualSingularValues reports a derivative of singular vectors, or a second derivative of singular values, of a
	// matrix with equal singular values.
	ErrEqualSingularValues = page.New("linalg.ErrEqualSingularValues", "singular values are equal")
	// ErrNoConvergence reports that the iteration for eigenvalues or singular values did not converge.
	ErrNoConvergence = page.New("linalg.ErrNoConvergence", "iteration did not converge")
)

// An Error reports that an operation is not defined for its arguments. It ends the function that calls the operation,
// and the operator that differentiates the function returns it. Outside of a derivative the operation panics with it.
type Error struct {
	Op     string // the operation, such as "Cholesky"
	Detail string // shapes, or the position in the matrix
	Err    error  // ErrShape, one of the variables above
}

func (e *Error) Error() string {
	text, cause := page.Split(e.Err, "linalg.Error")
	return page.Namef(cause, "nabla: linalg.%s: %s: %s", e.Op, text, e.Detail)
}

// Unwrap returns e.Err.
func (e *Error) Unwrap() error { return e.Err }

// fail ends the function that is differentiated.
func fail(op string, err error, format string, args ...any) {
	panic(core.Abort{Err: &Error{Op: op, Detail: fmt.Sprintf(format, args...), Err: err}})
}
