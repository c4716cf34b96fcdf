package ode

import (
	"github.com/nabla-ad/nabla/internal/page"
)

// ErrSolution is the error of a call with a solution that is no solution of the problem, such as the zero Solution.
var ErrSolution = page.New("ode.ErrSolution",
	"ode: the solution is not one of this problem; use one that Solve has returned")

// A StepError says that the solution stopped because the step size became too small for the precision of the time: f is
// not smooth there, the solution ends, or the tolerance is below rounding errors. For a stiff problem use Rodas.
type StepError struct {
	T, Step float64
}

func (e *StepError) Error() string {
	return page.Namef("ode.StepError",
		"ode: the step size %.3g at t = %v is too small; the solution or its derivative may be "+
			"infinite there, the problem may be stiff (use ode.Rodas), or the tolerance too small", e.Step, e.T)
}

// A LimitError says that the solution stopped after Settings.MaxSteps steps.
type LimitError struct {
	T, End float64
	Steps  int
}

func (e *LimitError) Error() string {
	return page.Namef("ode.LimitError",
		"ode: %d steps led to t = %v, want %v; set Settings.MaxSteps, or use ode.Rodas if the "+
			"problem is stiff", e.Steps, e.T, e.End)
}

// A NonFiniteError says that the right-hand side is not finite at the start, or that no step from there is.
type NonFiniteError struct {
	T     float64
	Index int // of the element of the derivative of the state
	Value float64
}

func (e *NonFiniteError) Error() string {
	return page.Namef("ode.NonFiniteError",
		"ode: element %d of the right-hand side is %v at t = %v; see nabla.Trace for where it comes "+
			"from", e.Index, e.Value, e.T)
}

// A LengthError says that a vector has not the length that the problem was prepared for.
type LengthError struct {
	Arg       string
	Got, Want int
}

func (e *LengthError) Error() string {
	return page.Namef("ode.LengthError", "ode: %s has length %d, want %d", e.Arg, e.Got, e.Want)
}

// A SettingError says that a setting, or the interval, has no meaning.
type SettingError struct {
	Setting string
	Value   any
	Want    string
}

func (e *SettingError) Error() string {
	return page.Namef("ode.SettingError", "ode: %s is %v, want %s", e.Setting, e.Value, e.Want)
}

// A StopError says that the context or Progress ended the solution. The solution up to that time is beside it.
type StopError struct {
	T   float64
	Err error
}

func (e *StopError) Error() string {
	return page.Namef("ode.StopError", "ode: stopped at t = %v: %v", e.T, e.Err)
}

// Unwrap returns the cause.
func (e *StopError) Unwrap() error { return e.Err }

// A RangeError says that a time is outside of the interval of a solution.
type RangeError struct {
	T, From, To float64
}

func (e *RangeError) Error() string {
	return page.Namef("ode.RangeError",
		"ode: t = %v is not between %v and %v, where the solution is known", e.T, e.From, e.To)
}
