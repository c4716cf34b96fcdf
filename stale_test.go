package nabla_test

import (
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/engine"
)

// noGradient is reverse mode that must not be asked for a gradient over numbers.
type noGradient struct {
	reversediff.Backend
	t *testing.T
}

func (b noGradient) PrepareGradient(*engine.Function, []float64) (engine.Gradient, error) {
	b.t.Error("a gradient was prepared")
	return nil, engine.ErrUnsupported
}

func (b noGradient) GradientFunction(f *engine.Function) (*engine.Function, error) {
	return engine.GradientFunction(f, b, true)
}

// TestStaleCheckOfGradient holds that comparing the replayed gradient function with
// the function takes a value of that, not a gradient that has to be prepared first.
func TestStaleCheckOfGradient(t *testing.T) {
	scale := 1.0
	f := func(x []nabla.Real) nabla.Real { return nabla.Exp(x[0]).Mul(x[1]).Scale(scale) }
	b := nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: noGradient{compiled, t}}
	p, err := nabla.PrepareHVP(f, b, []float64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, scale = range []float64{1, 3} {
		hv, err := p.HVP(nil, []float64{0, 1}, []float64{1, 0})
		if err != nil || hv[0] != scale || hv[1] != scale {
			t.Errorf("scale %v: %v, %v", scale, hv, err)
		}
	}
}
