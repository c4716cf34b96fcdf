package implicit_test

import (
	"errors"
	"math"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/source"
	"github.com/nabla-ad/nabla/implicit"
	"github.com/nabla-ad/nabla/implicit/internal/coded"
)

// TestGeneratedCode calls an implicit function from a function over float64 with generated code: its gradient by the
// engines of generated code, and second derivatives by those that run its form over Reals, against closed forms.
func TestGeneratedCode(t *testing.T) {
	p := []float64{1, 0.3}
	u := p[0]
	for range 50 {
		u = p[0] + p[1]*math.Sin(u)
	}
	s, c := math.Sincos(u)
	r := 1 - p[1]*c
	want := []float64{p[1] * s / r, p[1]*s*s/r - c} // by M and e
	for _, b := range []nabla.Backend{nil, source.Reverse{}, source.Forward{}, reversediff.Backend{Compile: true},
		forwarddiff.Backend{}} {
		y, g, err := nabla.ValueAndGradient(coded.Radius, b, p)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(y-r) > 1e-14 || math.Abs(g[0]-want[0]) > 1e-12 || math.Abs(g[1]-want[1]) > 1e-12 {
			t.Errorf("%v: got %v and %v, want %v and %v", b, y, g, r, want)
		}
	}
	second := (p[1]*c*r - p[1]*p[1]*s*s) / (r * r * r) // twice by M
	for _, b := range []nabla.Backend{nil, nabla.SecondOrder{Outer: forwarddiff.Backend{},
		Inner: reversediff.Backend{Compile: true}}} {
		h, err := nabla.HVP(coded.Radius, b, p, []float64{1, 0})
		if err != nil || math.Abs(h[0]-second) > 1e-11 {
			t.Errorf("%v: got %v, want %v, %v", b, h, second, err)
		}
	}
	if _, err := nabla.HVP(coded.Radius, source.Reverse{}, p, []float64{1, 0}); !errors.Is(err, nabla.ErrUnsupported) {
		t.Errorf("second derivatives of generated code: %v", err)
	}
	var unconverged *implicit.UnconvergedError
	if _, err := nabla.Gradient(coded.Radius, source.Reverse{}, []float64{1, 1.9}); !errors.As(err, &unconverged) {
		t.Errorf("a solver that has not converged: %v", err)
	}
}
