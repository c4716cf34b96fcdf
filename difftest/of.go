package difftest

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/nabla-ad/nabla"
)

// Functions are the types that an operator takes: those of [nabla.AnyFunc], and for
// derivative and second_derivative those of one number.
type Functions interface {
	func([]nabla.Real) nabla.Real | func([]nabla.Real) []nabla.Real |
		func([]float64) float64 | func([]float64) []float64 |
		func(nabla.Real) nabla.Real | func(nabla.Real) []nabla.Real |
		func(float64) float64 | func(float64) []float64 | *nabla.Func
}

// Of is the scenario of one operator, applied to f at x: pushforward, pullback,
// derivative, gradient, jacobian, second_derivative, hvp or hessian. A pushforward,
// pullback or HVP needs a tangent, or more for a batch. It is prepared at x, and has
// no expected results; set Value, First and Second to have them compared. f, x and
// the tangents are not copied.
//
// An operator that there is not, or that f is not for, shows when the scenario is run:
// as an error of all backends.
func Of[F Functions](operator string, f F, x []float64, tangents ...[]float64) Scenario {
	s := Scenario{
		Name: fmt.Sprintf("%s n=%d", operator, len(x)), Group: "own", Operator: operator,
		X: x, PrepX: x, Tangents: tangents,
		Form: func(bool) any { return f },
	}
	switch any(f).(type) {
	case func(nabla.Real) nabla.Real, func(float64) float64:
		s.XShape.Number, s.YShape.Number = true, true
	case func(nabla.Real) []nabla.Real, func(float64) []float64:
		s.XShape.Number = true
	case func([]nabla.Real) nabla.Real, func([]float64) float64:
		s.YShape.Number = true
	}
	s.counting = func(n *atomic.Int64) any { return countedForm(f, n) }
	return s
}

// countedForm is f with its evaluations counted in n, nil for a *nabla.Func.
func countedForm(f any, n *atomic.Int64) any {
	switch f := f.(type) {
	case func([]nabla.Real) nabla.Real:
		return counted1(f, n)
	case func([]nabla.Real) []nabla.Real:
		return counted1(f, n)
	case func([]float64) float64:
		return counted1(f, n)
	case func([]float64) []float64:
		return counted1(f, n)
	case func(nabla.Real) nabla.Real:
		return counted1(f, n)
	case func(nabla.Real) []nabla.Real:
		return counted1(f, n)
	case func(float64) float64:
		return counted1(f, n)
	case func(float64) []float64:
		return counted1(f, n)
	}
	return nil
}

func counted1[X, Y any](f func(X) Y, n *atomic.Int64) func(X) Y {
	return func(x X) Y { n.Add(1); return f(x) }
}

// operators are the names of all operators.
var operators = []string{"pushforward", "pullback", "derivative", "gradient", "jacobian", "second_derivative", "hvp",
	"hessian"}

// misfit says why s cannot be run.
func (s *Scenario) misfit() error {
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
