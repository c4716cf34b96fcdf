package nabla_test

import (
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/engine"
)

// costly counts the preparations of an engine that has a cheaper form of itself for
// a single call.
type costly struct {
	reversediff.Backend
	prepared *int
}

func (b costly) OneShot() engine.Backend { return b.Backend }

func (b costly) PreparePullback(f *engine.Function, x []float64, lanes int) (engine.Pullback, error) {
	*b.prepared++
	return b.Backend.PreparePullback(f, x, lanes)
}

func (b costly) PrepareGradient(f *engine.Function, x []float64) (engine.Gradient, error) {
	*b.prepared++
	return b.Backend.PrepareGradient(f, x)
}

func (b costly) PrepareJacobian(f *engine.Function, x []float64) (engine.Jacobian, error) {
	*b.prepared++
	return b.Backend.PrepareJacobian(f, x)
}

// TestUnpreparedCallUsesOneShotEngine: an unprepared call uses the one-shot form of the engine, also inside wrappers.
func TestUnpreparedCallUsesOneShotEngine(t *testing.T) {
	scalar := func(x []nabla.Real) nabla.Real { return x[0].Mul(x[1]) }
	vector := func(x []nabla.Real) []nabla.Real { return []nabla.Real{x[0].Mul(x[1]), x[0], x[1]} }
	x := []float64{3, 4}
	for name, call := range map[string]func(b nabla.Backend) error{
		"derivative": func(b nabla.Backend) error { _, err := nabla.Derivative(nabla.Sin, b, 1); return err },
		"gradient":   func(b nabla.Backend) error { _, err := nabla.Gradient(scalar, b, x); return err },
		"pullback": func(b nabla.Backend) error {
			_, err := nabla.Pullback(vector, b, x, []float64{1, 2, 3})
			return err
		},
		"jacobian": func(b nabla.Backend) error { _, err := nabla.Jacobian(vector, b, x); return err },
	} {
		var prepared int
		c := costly{prepared: &prepared}
		for _, b := range []nabla.Backend{c, nabla.Policy{Backend: c}, nabla.SecondOrder{Outer: c, Inner: c}} {
			if err := call(b); err != nil || prepared != 0 {
				t.Errorf("%s on a %T: %d preparations, error %v", name, b, prepared, err)
			}
			prepared = 0
		}
	}
	var prepared int
	if _, err := nabla.PrepareJacobian(vector, costly{prepared: &prepared}, x); err != nil || prepared != 1 {
		t.Errorf("%d preparations, error %v", prepared, err)
	}
}
