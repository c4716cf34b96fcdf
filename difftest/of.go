package difftest

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/nabla-ad/nabla"
)

// Functions lists the types of functions that operators take: those of [nabla.AnyFunc], and functions of one number for
// derivative and second_derivative. A function that returns an error must not do so at the points of the scenario.
type Functions interface {
	func([]nabla.Real) nabla.Real | func([]nabla.Real) (nabla.Real, error) |
		func([]nabla.Real) []nabla.Real | func([]nabla.Real) ([]nabla.Real, error) |
		func([]float64) float64 | func([]float64) (float64, error) |
		func([]float64) []float64 | func([]float64) ([]float64, error) |
		func(nabla.Real) nabla.Real | func(nabla.Real) (nabla.Real, error) |
		func(nabla.Real) []nabla.Real | func(nabla.Real) ([]nabla.Real, error) |
		func(float64) float64 | func(float64) (float64, error) |
		func(float64) []float64 | func(float64) ([]float64, error) | *nabla.Func
}

// Of returns the scenario of one operator, applied to f at x: pushforward, pullback, derivative, gradient, jacobian,
// second_derivative, hvp or hessian. A pushforward, pullback or HVP needs a tangent, or several for a batch. The
// scenario is prepared at x and has no expected results; set Value, First and Second to have them compared. f, x and
// the tangents are not copied.
//
// An unknown operator, or one that does not take f, is an error of all backends when the scenario is run.
func Of[F Functions](operator string, f F, x []float64, tangents ...[]float64) Scenario {
	s := Scenario{
		Name: fmt.Sprintf("%s n=%d", operator, len(x)), Group: "own", Operator: operator,
		X: x, PrepX: x, Tangents: tangents,
		Form: func(bool) any { return f },
	}
	switch any(f).(type) {
	case func(nabla.Real) nabla.Real, func(nabla.Real) (nabla.Real, error),
		func(float64) float64, func(float64) (float64, error):
		s.XShape.Number, s.YShape.Number = true, true
	case func(nabla.Real) []nabla.Real, func(nabla.Real) ([]nabla.Real, error),
		func(float64) []float64, func(float64) ([]float64, error):
		s.XShape.Number = true
	case func([]nabla.Real) nabla.Real, func([]nabla.Real) (nabla.Real, error),
		func([]float64) float64, func([]float64) (float64, error):
		s.YShape.Number = true
	}
	s.countedForm = func(n *atomic.Int64) any { return countingForm(f, n) }
	return s
}

// countingForm returns f with its evaluations counted in n, nil for a *nabla.Func.
func countingForm(f any, n *atomic.Int64) any {
	switch f := f.(type) {
	case func([]nabla.Real) nabla.Real:
		return counter(f, n)
	case func([]nabla.Real) []nabla.Real:
		return counter(f, n)
	case func([]float64) float64:
		return counter(f, n)
	case func([]float64) []float64:
		return counter(f, n)
	case func(nabla.Real) nabla.Real:
		return counter(f, n)
	case func(nabla.Real) []nabla.Real:
		return counter(f, n)
	case func(float64) float64:
		return counter(f, n)
	case func(float64) []float64:
		return counter(f, n)
	}
	return countingErrors(f, n)
}

// countingErrors is countingForm for functions that may return an error.
func countingErrors(f any, n *atomic.Int64) any {
	switch f := f.(type) {
	case func([]nabla.Real) (nabla.Real, error):
		return errorCounter(f, n)
	case func([]nabla.Real) ([]nabla.Real, error):
		return errorCounter(f, n)
	case func([]float64) (float64, error):
		return errorCounter(f, n)
	case func([]float64) ([]float64, error):
		return errorCounter(f, n)
	case func(nabla.Real) (nabla.Real, error):
		return errorCounter(f, n)
	case func(nabla.Real) ([]nabla.Real, error):
		return errorCounter(f, n)
	case func(float64) (float64, error):
		return errorCounter(f, n)
	case func(float64) ([]float64, error):
		return errorCounter(f, n)
	}
	return nil
}

// counter returns f with its calls counted in n.
func counter[X, Y any](f func(X) Y, n *atomic.Int64) func(X) Y {
	return func(x X) Y { n.Add(1); return f(x) }
}

// errorCounter is counter for functions that may return an error.
func errorCounter[X, Y any](f func(X) (Y, error), n *atomic.Int64) func(X) (Y, error) {
	return func(x X) (Y, error) { n.Add(1); return f(x) }
}

// operators holds the names of all operators.
var operators = []string{"pushforward", "pullback", "derivative", "gradient", "jacobian", "second_derivative", "hvp",
	"hessian"}

// validate returns why s cannot be run, or nil.
func (s *Scenario) validate() error {
	if !slices.Contains(operators, s.Operator) {
		return fmt.Errorf("difftest: scenario %q: no operator %q; operators: %q", s.Name, s.Operator, operators)
	}
	if s.Func == nil && s.OnBackend == nil && s.Form == nil {
		return fmt.Errorf("difftest: scenario %q: no function: set Func, or use Of", s.Name)
	}
	if slices.Contains([]string{"pushforward", "pullback", "hvp"}, s.Operator) && len(s.Tangents) == 0 {
		return fmt.Errorf("difftest: scenario %q: a %s needs a tangent", s.Name, s.Operator)
	}
	return nil
}
