package ode_test

import (
	"math"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/source"
	"github.com/nabla-ad/nabla/ode/internal/coded"
)

// TestGeneratedCode calls a solution from a function over float64 with generated code, and compares with the closed
// form.
func TestGeneratedCode(t *testing.T) {
	x := []float64{0.2, 0.7} // the population at time 0, and the rate
	e := math.Exp(2 * x[1])
	d := 1 - x[0] + x[0]*e
	y := x[0] * e / d
	byY := math.Log((1 - y) / y)
	want := []float64{byY * e / (d * d), byY * 2 * y * (1 - y)}
	value := -y*math.Log(y) - (1-y)*math.Log(1-y)
	for _, b := range []nabla.Backend{nil, source.Reverse{}, source.Forward{}, reversediff.Backend{Compile: true},
		forwarddiff.Backend{}} {
		got, g, err := nabla.ValueAndGradient(coded.Entropy, b, x)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got-value) > 1e-10 || math.Abs(g[0]-want[0]) > 1e-9 || math.Abs(g[1]-want[1]) > 1e-9 {
			t.Errorf("%v: got %v and %v, want %v and %v", b, got, g, value, want)
		}
	}
	h, err := nabla.HVP(coded.Entropy, nil, x, []float64{0, 1})
	w := y * (1 - y) // the derivative of y by twice the rate
	if second := 4 * (byY*w*(1-2*y) - w); err != nil || math.Abs(h[1]-second) > 1e-9 {
		t.Errorf("the second derivative by the rate is %v, want %v, %v", h, second, err)
	}
}
