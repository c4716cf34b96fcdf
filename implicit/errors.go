package implicit

import (
	"fmt"

	"github.com/nabla-ad/nabla/internal/page"
)

// An UnconvergedError says that a solver has returned no solution: Newton's method would still change an unknown by
// much.
type UnconvergedError struct {
	Name       string
	Index      int     // of the unknown
	Correction float64 // relative to the largest unknown, or to 1 if that is larger
	Tolerance  float64
	Residual   float64 // the largest element of the equations' values
}

func (e *UnconvergedError) Error() string {
	return page.Namef("implicit.UnconvergedError",
		"implicit: %s: unknown %d is not converged: a Newton step would change it by "+
			"%.3g, want at most %.3g; the largest residual is %.3g; let the solver go on for longer, "+
			"or set Settings.Tolerance", e.Name, e.Index,
		e.Correction, e.Tolerance, e.Residual)
}

// A SingularError says that the derivative of the equations by the unknowns is singular at the solution, to working
// precision, so that the solution has no derivative. Different units of equations and unknowns do not matter.
type SingularError struct {
	Name string
	Err  error // of the linear solver; nil if there is none
}

func (e *SingularError) Error() string {
	s := fmt.Sprintf("implicit: %s: the derivative of the equations by the unknowns is singular at the solution, "+
		"which has no derivative there", e.Name)
	if e.Err != nil {
		text, _ := page.Split(e.Err, "")
		s += ": " + text
	}
	return page.Named("implicit.SingularError", s)
}

// Unwrap returns the error of the linear solver.
func (e *SingularError) Unwrap() error { return e.Err }

// A NotMinimumError says that the Hessian is not positive definite where a solver of [Minimizer] ended: the point is a
// saddle or a maximum, or the minimum is not strict.
type NotMinimumError struct {
	Name string
}

func (e *NotMinimumError) Error() string {
	return page.Namef("implicit.NotMinimumError",
		"implicit: %s: the Hessian by the unknowns is not positive definite at the solution, which is "+
			"no strict minimum; use implicit.Root on the gradient for other stationary points", e.Name)
}

// A SolverError is an error of the user's solver.
type SolverError struct {
	Name string
	Err  error
}

func (e *SolverError) Error() string {
	return page.Namef("implicit.SolverError", "implicit: %s: the solver: %v", e.Name, e.Err)
}

// Unwrap returns the error of the solver.
func (e *SolverError) Unwrap() error { return e.Err }

// A LengthError says that a vector has not the length that the function was made for, or that there are not as many
// equations as unknowns.
type LengthError struct {
	Name, Arg string
	Got, Want int
}

func (e *LengthError) Error() string {
	return page.Namef("implicit.LengthError", "implicit: %s: %s has length %d, want %d", e.Name, e.Arg, e.Got, e.Want)
}

// A NonFiniteError says that an equation, or an unknown, is not a finite number at what the solver returned.
type NonFiniteError struct {
	Name  string
	What  string // "equation" or "unknown"
	Index int
	Value float64
}

func (e *NonFiniteError) Error() string {
	return page.Namef("implicit.NonFiniteError",
		"implicit: %s: %s %d is %v at the solution", e.Name, e.What, e.Index, e.Value)
}

// A SettingError says that a setting, or an argument, has no meaning.
type SettingError struct {
	Name    string
	Setting string
	Value   any
	Want    string
}

func (e *SettingError) Error() string {
	return page.Namef("implicit.SettingError", "implicit: %s: %s is %v, want %s", e.Name, e.Setting, e.Value, e.Want)
}
