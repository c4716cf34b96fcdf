package difftest

import (
	"fmt"
	"slices"

	"github.com/nabla-ad/nabla/engine"
)

// meter is a backend that differentiates nothing: it keeps the function that it is
// given, which any form of function can be evaluated by.
type meter struct{ f *engine.Function }

func (*meter) Name() string { return "plain" }

func (m *meter) PreparePushforward(f *engine.Function, _ []float64, _ int) (engine.Pushforward, error) {
	m.f = f
	return m, nil
}

func (*meter) Pushforward([]float64, engine.Block, []float64, engine.Block) error { return nil }

// firstOrder is the operator whose function is that of a second one.
var firstOrder = map[string]string{"hvp": "gradient", "hessian": "gradient", "second_derivative": "derivative"}

// evaluator is the function of s, to be evaluated.
func (s Scenario) evaluator(plain bool) (*engine.Function, error) {
	if first, ok := firstOrder[s.Operator]; ok {
		s.Operator = first
	}
	m := new(meter)
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
