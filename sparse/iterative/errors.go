package iterative

import (
	"fmt"

	"github.com/nabla-ad/nabla/internal/page"
	"github.com/nabla-ad/nabla/sparse"
)

// A NotConvergedError is returned if the residual is not small enough after the maximal number of iterations, or if
// further iterations would not reduce it (Stagnated). The solution is the best one found.
type NotConvergedError struct {
	Method    string
	Stagnated bool
	Result    Result
	Target    float64 // norm of the residual that was wanted
}

func (e *NotConvergedError) Error() string {
	how, next := "not converged", "raise MaxIterations, or use a better preconditioner"
	if e.Stagnated {
		how, next = "stagnated", "raise the tolerance, or use a better preconditioner or another method"
	}
	return page.Namef("iterative.NotConvergedError",
		"iterative: %s: %s after %d iterations: the residual is %.3g, want %.3g; %s", e.Method, how,
		e.Result.Iterations, e.Result.Residual, e.Target, next)
}

// A BreakdownError is returned if a method divides by zero: the matrix is singular, or the method unsuitable for it.
// The solution is the best one found.
type BreakdownError struct {
	Method   string
	Quantity string  // what vanishes or has the wrong sign
	Value    float64 // its value
	Result   Result
}

func (e *BreakdownError) Error() string {
	return page.Namef("iterative.BreakdownError",
		"iterative: %s: breakdown in iteration %d: %s is %.3g; the residual is %.3g", e.Method,
		e.Result.Iterations+1, e.Quantity, e.Value, e.Result.Residual)
}

// An IndefiniteError is returned by CG if a direction p with p·A·p ≤ 0 shows that the matrix is not positive definite,
// and by IC0 for a diagonal entry that is not positive.
type IndefiniteError struct {
	Method    string
	Curvature float64 // p·A·p / p·p, between the least and the largest eigenvalue; for IC0 the entry
	Result    Result
}

func (e *IndefiniteError) Error() string {
	return page.Namef("iterative.IndefiniteError",
		"iterative: %s: the matrix is not positive definite: it has the curvature %.3g; use MINRES for "+
			"symmetric matrices, GMRES or BiCGStab for others", e.Method, e.Curvature)
}

// A CanceledError is returned if the context ends. The solution is the best one found.
type CanceledError struct {
	Method string
	Result Result
	Err    error // that of the context
}

func (e *CanceledError) Error() string {
	return page.Namef("iterative.CanceledError",
		"iterative: %s: stopped after %d iterations with the residual %.3g: %v", e.Method,
		e.Result.Iterations, e.Result.Residual, e.Err)
}

// Unwrap returns the error of the context.
func (e *CanceledError) Unwrap() error { return e.Err }

// A NonFiniteError is returned if an argument has NaN or an infinity, or if a product or a preconditioner returns one.
type NonFiniteError struct {
	Method string
	What   string
	Index  int
	Value  float64
}

func (e *NonFiniteError) Error() string {
	return page.Namef("iterative.NonFiniteError",
		"iterative: %s: element %d of %s is %g, want a finite number", e.Method, e.Index, e.What,
		e.Value)
}

// A PivotError is returned by a preconditioner that would divide by zero. Row is the row and column of the pivot.
type PivotError struct {
	Method string
	Row    int
	Pivot  float64
}

func (e *PivotError) Error() string {
	return page.Namef("iterative.PivotError",
		"iterative: %s: the pivot of row %d is %.3g; permute the rows so that the diagonal has no "+
			"zeros, or use another preconditioner", e.Method, e.Row, e.Pivot)
}

// A SettingError names a setting that is out of range.
type SettingError struct {
	Method, Setting string
	Got, Want       string
}

func (e *SettingError) Error() string {
	return page.Namef("iterative.SettingError", "iterative: %s: %s is %s, want %s", e.Method, e.Setting, e.Got, e.Want)
}

// A NotFactorizedError is returned by a preconditioner before Factorize has succeeded.
type NotFactorizedError struct{ Method string }

func (e *NotFactorizedError) Error() string {
	return page.Named("iterative.NotFactorizedError", "iterative: "+e.Method+
		": there is no factorisation; call Factorize, and use it only if the error is nil")
}

// checkLen returns a *sparse.ShapeError unless a vector has n elements.
func checkLen(op, arg string, got, n int) error {
	if got == n {
		return nil
	}
	return &sparse.ShapeError{Op: op, Arg: "len(" + arg + ")", Got: fmt.Sprint(got), Want: fmt.Sprint(n)}
}

// checkSquare returns a *sparse.ShapeError unless a matrix is square.
func checkSquare(op string, rows, cols int) error {
	if rows == cols {
		return nil
	}
	return &sparse.ShapeError{Op: op, Arg: "the shape of a", Got: fmt.Sprintf("%d×%d", rows, cols),
		Want: "a square one"}
}
