package source_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/source"
)

func bowl(x []float64) float64 { return x[0] * x[0] }

// bowlCalls are the calls of bowl's code: with the value, and without.
var bowlCalls []string

func init() {
	register(bowl, nabla.Generated{New: func() nabla.Code {
		return nabla.Code{
			Adjoint: func(y, xbar, x, ybar []float64, _ any) int {
				bowlCalls = append(bowlCalls, "value")
				y[0], xbar[0] = bowl(x), 2*x[0]*ybar[0]
				return 1
			},
			Gradient: func(xbar, x []float64, _ any) {
				bowlCalls = append(bowlCalls, "bare")
				xbar[0] = 2 * x[0]
			},
		}
	}})
}

// TestBare: the value is computed where it is asked for or compared with the function's,
// at calls 1, 2, 4 and 8.
func TestBare(t *testing.T) {
	for _, check := range []bool{true, false} {
		p, err := nabla.PrepareGradient(bowl, nabla.Policy{Backend: source.Reverse{}, NoStaleCheck: !check}, []float64{1})
		if err != nil {
			t.Fatal(err)
		}
		bowlCalls = nil
		for i := range 8 {
			if g, err := p.Gradient(nil, []float64{float64(i)}); err != nil || g[0] != 2*float64(i) {
				t.Errorf("call %d: %v, %v", i, g, err)
			}
		}
		if _, _, err := p.ValueAndGradient(nil, []float64{1}); err != nil {
			t.Error(err)
		}
		want := []string{"value", "value", "bare", "value", "bare", "bare", "bare", "value", "value"}
		if !check {
			want = append(slices.Repeat([]string{"bare"}, 8), "value")
		}
		if !slices.Equal(bowlCalls, want) {
			t.Errorf("%s, want %s", fmt.Sprint(bowlCalls), fmt.Sprint(want))
		}
	}
}
