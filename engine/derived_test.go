package engine

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/rules"
)

// twice is x ↦ (x², 3x), of which silent leaves the second output out.
func twice(silent bool) *Function {
	return NewFunction(Def{Name: "twice", N: 1, M: 2, Traced: func(y, x []Real, _ Context) error {
		y[0] = core.Apply1(rules.Sq, x[0])
		if !silent {
			y[1] = core.Apply2(rules.Mul, Real{V: 3}, x[0])
		}
		return nil
	}})
}

// TestWithinTwoOutputs: every output of a function inside of another one is looked at.
func TestWithinTwoOutputs(t *testing.T) {
	y := make([]Real, 2)
	if err := twice(false).Nest(y, []Real{{V: 2}}); err != nil || y[0].V != 4 || y[1].V != 6 {
		t.Errorf("%v, %v", y, err)
	}
	y[1] = Real{V: 5} // of an earlier call
	if err := twice(true).Within(y, []Real{{V: 2}}, nil); !errors.Is(err, ErrOutputNotWritten) ||
		!strings.Contains(err.Error(), "output 1") {
		t.Errorf("an output that is left out: %v, %v", y, err)
	}
	plain := NewFunction(Def{Name: "plain", N: 2, M: 2, Plain: func(y, x []float64, _ Context) error {
		y[0], y[1] = x[0]*x[1], x[0]+x[1]
		return nil
	}})
	if err := plain.Nest(y, []Real{{V: 2}, {V: 5}}); err != nil || y[0].V != 10 || y[1].V != 7 {
		t.Errorf("over plain numbers: %v, %v", y, err)
	}
}

// TestWeightedCodeAtInfinity: weights that do not move are structural zeros, which an
// infinite derivative does not turn to NaN. The function is (√x, x) at 0.
func TestWeightedCodeAtInfinity(t *testing.T) {
	inf := math.Inf(1)
	adjoints := 0
	c := weightedCode(Code{
		Tangent: func(y, ydot, x, xdot []float64, _ any) int {
			y[0], y[1], ydot[0], ydot[1] = math.Sqrt(x[0]), x[0], inf, xdot[0]
			return 2
		},
		Adjoint: func(y, xbar, x, ybar []float64, _ any) int {
			adjoints++
			y[0], y[1], xbar[0] = math.Sqrt(x[0]), x[0], ybar[0]*inf+ybar[1]
			return 2
		},
		AdjointTangent: func(y, xbar, xbardot, x, xdot, ybar []float64, _ any) int {
			y[0], y[1], xbar[0], xbardot[0] = math.Sqrt(x[0]), x[0], 5, 7
			return 2
		},
	}, 1, 2)
	y, bar, bardot, one := make([]float64, 1), make([]float64, 3), make([]float64, 3), []float64{1}
	c.AdjointTangent(y, bar, bardot, []float64{0, 1, 1}, []float64{1, 0, 0}, one, nil)
	if bardot[0] != 7 || adjoints != 0 {
		t.Errorf("weights that stay: %v after %d adjoints, want 7 after none", bardot[0], adjoints)
	}
	c.AdjointTangent(y, bar, bardot, []float64{1, 1, 1}, []float64{1, 1, 0}, one, nil)
	if !math.IsInf(bardot[0], 1) || adjoints != 1 {
		t.Errorf("weights that move: %v after %d adjoints, want +Inf after one", bardot[0], adjoints)
	}
}

// TestPushforwardCodeAtInfinity is the same for the cotangents of the values.
func TestPushforwardCodeAtInfinity(t *testing.T) {
	adjoints := 0
	c := pushforwardCode(Code{
		Tangent: func(y, ydot, x, xdot []float64, _ any) int {
			y[0], ydot[0] = x[0], xdot[0]
			return 1
		},
		Adjoint: func(y, xbar, x, ybar []float64, _ any) int {
			adjoints++
			y[0], xbar[0] = x[0], ybar[0]*math.Inf(1)
			return 1
		},
		AdjointTangent: func(y, xbar, xbardot, x, xdot, ybar []float64, _ any) int {
			y[0], xbar[0], xbardot[0] = x[0], 2, 3
			return 1
		},
	}, 1, 1)
	y, xbar := make([]float64, 2), make([]float64, 2)
	c.Adjoint(y, xbar, []float64{1, 1}, []float64{1, 0}, nil)
	if xbar[0] != 3 || xbar[1] != 2 || adjoints != 0 {
		t.Errorf("%v after %d adjoints, want [3 2] after none", xbar, adjoints)
	}
	c.Adjoint(y, xbar, []float64{1, 1}, []float64{1, 1}, nil)
	if !math.IsInf(xbar[0], 1) || adjoints != 1 {
		t.Errorf("%v after %d adjoints, want +Inf first, after one", xbar, adjoints)
	}
}
