package difftest

import (
	"fmt"
	"slices"

	"github.com/nabla-ad/nabla/engine"
)

// A functionCapture is a backend that differentiates nothing and keeps the function it is given. It makes functions of
// all forms available for evaluation.
type functionCapture struct{ f *engine.Function }

func (*functionCapture) Name() string { return "plain" }

func (m *functionCapture) PreparePushforward(f *engine.Function, _ []float64, _ int) (engine.Pushforward, error) {
	m.f = f
	return m, nil
}

func (*functionCapture) Pushforward([]float64, engine.Block, []float64, engine.Block) error {
	return nil
}

// firstOrder maps operators of second order to operators of first order that take the same functions.
var firstOrder = map[string]string{"hvp": "gradient", "hessian": "gradient", "second_derivative": "derivative"}

// evaluator returns the function of s for evaluation.
func (s Scenario) evaluator(plain bool) (*engine.Function, error) {
	if first, ok := firstOrder[s.Operator]; ok {
		s.Operator = first
	}
	m := new(functionCapture)
	f := s.function(m, plain)
	if f.after != nil {
		f.after()
	}
	if _, err := subjectOf(&s, m, f.f).prepare(slices.Clone(s.X)); err != nil {
		return nil, err
	}
	if m.f == nil {
		return nil, fmt.Errorf("difftest: scenario %q: the function cannot be evaluated on its own", s.Name)
	}
	return m.f, nil
}
