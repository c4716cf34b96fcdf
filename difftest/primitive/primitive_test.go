package primitive_test

import (
	"errors"
	"math"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/difftest"
	"github.com/nabla-ad/nabla/difftest/primitive"
)

// pushDifferences is a pushforward by a central difference of fourth order.
func pushDifferences(f primitive.Func, y, ydot, x, xdot []float64) error {
	clear(ydot)
	size := 0.0
	for i, v := range xdot {
		size = max(size, math.Abs(v)/max(1, math.Abs(x[i])))
	}
	if size > 0 {
		h := 2e-3 / size
		for _, p := range [][2]float64{{-2, 1. / 12}, {-1, -2. / 3}, {1, 2. / 3}, {2, -1. / 12}} {
			at := make([]float64, len(x))
			for i := range at {
				at[i] = x[i] + p[0]*h*xdot[i]
			}
			if err := f(y, at); err != nil {
				return err
			}
			for i, v := range y {
				ydot[i] += p[1] * v / h
			}
		}
	}
	return f(y, x)
}

// pullDifferences is a pullback by a difference for each input.
func pullDifferences(f primitive.Func, y, xbar, x, ybar []float64) error {
	dir, ydot := make([]float64, len(x)), make([]float64, len(y))
	for j := range x {
		clear(dir)
		dir[j] = 1
		if err := pushDifferences(f, y, ydot, x, dir); err != nil {
			return err
		}
		xbar[j] = 0
		for i, d := range ydot {
			xbar[j] += d * ybar[i]
		}
	}
	return f(y, x)
}

func TestConformance(t *testing.T) {
	o := &difftest.Options{Tol: 1e-6, SecondTol: 1e-4, Scenarios: difftest.Scenarios("default"),
		Skip: map[string]string{"behaviour/large": "second order takes n² evaluations squared"}}
	for _, b := range []nabla.Backend{
		primitive.Forward{Label: "differences", Push: pushDifferences},
		primitive.Reverse{Label: "differences", Pull: pullDifferences},
	} {
		t.Run(b.Name(), func(t *testing.T) { difftest.Run(t, b, o) })
		if testing.Short() {
			break // the goroutines of the other are the same
		}
	}
}

// product is x₀·x₁, and pushProduct its pushforward, which knows no other function.
func product(x []float64) float64 { return x[0] * x[1] }

func pushProduct(_ primitive.Func, y, ydot, x, xdot []float64) error {
	y[0], ydot[0] = x[0]*x[1], xdot[0]*x[1]+x[0]*xdot[1]
	return nil
}

func pullProduct(_ primitive.Func, y, xbar, x, ybar []float64) error {
	y[0], xbar[0], xbar[1] = x[0]*x[1], ybar[0]*x[1], ybar[0]*x[0]
	return nil
}

// TestOneFunction: an engine that knows one function differentiates it and refuses every other one.
func TestOneFunction(t *testing.T) {
	x := []float64{3, 5}
	for _, b := range []nabla.Backend{primitive.Forward{Push: pushProduct}, primitive.Reverse{Pull: pullProduct}} {
		g, err := nabla.Gradient(product, b, x)
		if err != nil || g[0] != 5 || g[1] != 3 {
			t.Errorf("%s: gradient %v, %v", b.Name(), g, err)
		}
		h, err := nabla.Hessian(product, nabla.SecondOrder{Outer: finitediff.Backend{}, Inner: b}, x)
		if err != nil || math.Abs(h.At(0, 1)-1) > 1e-6 || math.Abs(h.At(0, 0)) > 1e-6 {
			t.Errorf("%s: Hessian %v, %v", b.Name(), h, err)
		}
		var unsupported *nabla.UnsupportedError
		if _, err := nabla.PrepareHessian(product, b, x); !errors.As(err, &unsupported) {
			t.Errorf("%s: Hessian without another engine: %v", b.Name(), err)
		}
		other := func(x []float64) float64 { return x[0] + x[1] }
		if _, err := nabla.PrepareGradient(other, b, x); !errors.As(err, &unsupported) {
			t.Errorf("%s: another function: %v", b.Name(), err)
		}
	}
}

// TestMistakes: an engine that is wrong at first sight is refused.
func TestMistakes(t *testing.T) {
	f := func(x []float64) []float64 { return []float64{x[0], x[1]} }
	for what, b := range map[string]nabla.Backend{
		"no push": primitive.Forward{},
		"no pull": primitive.Reverse{},
		"an unwritten value": primitive.Forward{Push: func(_ primitive.Func, y, ydot, x, xdot []float64) error {
			copy(ydot, xdot)
			y[0] = x[0]
			return nil
		}},
		"an unwritten product": primitive.Reverse{Pull: func(f primitive.Func, y, xbar, x, ybar []float64) error {
			xbar[0] = ybar[0]
			return f(y, x)
		}},
	} {
		var unsupported *nabla.UnsupportedError
		if _, err := nabla.Jacobian(f, b, []float64{1, 2}); !errors.As(err, &unsupported) {
			t.Errorf("%s: %v", what, err)
		}
	}
	bad := errors.New("out of range")
	failing := primitive.Forward{Push: func(_ primitive.Func, _, _, _, _ []float64) error { return bad }}
	if _, err := nabla.Jacobian(f, failing, []float64{1, 2}); !errors.Is(err, bad) {
		t.Errorf("an error: %v", err)
	}
	panicking := primitive.Forward{Push: func(_ primitive.Func, _, _, _, _ []float64) error { panic("no") }}
	var p *nabla.PanicError
	if _, err := nabla.Jacobian(f, panicking, []float64{1, 2}); !errors.As(err, &p) {
		t.Errorf("a panic: %v", err)
	}
}
