package check

import (
	"math"
	"strings"
	"testing"
)

// cube is the case of y = (x0³x1, sin x1), with a mistake in one of its derivatives.
func cube(forward, reverse, second float64) *Case {
	f := func(x []float64) []float64 { return []float64{x[0] * x[0] * x[0] * x[1], math.Sin(x[1])} }
	gradient := func(x, w []float64) []float64 {
		return []float64{w[0] * 3 * x[0] * x[0] * x[1], w[0]*x[0]*x[0]*x[0] + w[1]*math.Cos(x[1])}
	}
	return &Case{
		Name: "cube", At: [][]float64{{0.7, 1.2}}, F: f,
		Tangent: func(x, d []float64) (y, dy []float64) {
			return f(x), []float64{3*x[0]*x[0]*x[1]*d[0] + x[0]*x[0]*x[0]*d[1], math.Cos(x[1])*d[1] + forward}
		},
		Adjoint: func(x, w []float64) (y, bar []float64) {
			bar = gradient(x, w)
			bar[1] += reverse
			return f(x), bar
		},
		Second: func(x, w, d []float64) (bar, dbar []float64) {
			bar = gradient(x, w)
			bar[1] += reverse
			a, b := w[0]*6*x[0]*x[1], w[0]*3*x[0]*x[0]
			return bar, []float64{a*d[0] + b*d[1], b*d[0] - w[1]*math.Sin(x[1])*d[1] + second}
		},
	}
}

func TestRun(t *testing.T) {
	for _, test := range []struct {
		forward, reverse, second float64
		want                     string
	}{
		{0, 0, 0, ""},
		{1e-5, 0, 0, "forward: component 1"},
		{0, 1e-5, 0, "reverse"},
		{0, 0, 1e-5, "second order: component 1"},
		{math.NaN(), 0, 0, "forward"},
		{0, math.NaN(), 0, "reverse"},
		{0, 0, math.NaN(), "second order"},
	} {
		r := Run(cube(test.forward, test.reverse, test.second))
		if !strings.Contains(r.Wrong, test.want) || (test.want == "") != (r.Wrong == "") || r.Unclear != "" {
			t.Errorf("%+v: wrong %q, unclear %q", test, r.Wrong, r.Unclear)
		}
	}
}

// TestRunCancels: where a derivative is zero by cancellation, as that of an expectation by a rotation that leaves it as
// it is, the rounding errors of the differences are no error of the derivative.
func TestRunCancels(t *testing.T) {
	f := func(x []float64) []float64 {
		p := math.Pow(math.Abs(math.Cos(x[0]/2)), 2) + math.Pow(math.Abs(math.Sin(x[0]/2)), 2)
		return []float64{p * math.Cos(x[1])}
	}
	r := Run(&Case{
		Name: "cancels", At: [][]float64{{0.4, 1.1}}, F: f,
		Tangent: func(x, d []float64) (y, dy []float64) {
			return f(x), []float64{2e-17*d[0] - math.Sin(x[1])*d[1]}
		},
		Adjoint: func(x, w []float64) (y, bar []float64) {
			return f(x), []float64{2e-17 * w[0], -w[0] * math.Sin(x[1])}
		},
		Second: func(x, w, d []float64) (bar, dbar []float64) {
			return []float64{2e-17 * w[0], -w[0] * math.Sin(x[1])}, []float64{0, -w[0] * math.Cos(x[1]) * d[1]}
		},
	})
	if r.Wrong != "" || r.Unclear != "" || r.Error > 1e-9 {
		t.Errorf("wrong %q, unclear %q, error %g", r.Wrong, r.Unclear, r.Error)
	}
}

func TestRunAtKink(t *testing.T) {
	c := cube(0, 0, 0)
	smooth := c.F
	c.F = func(x []float64) []float64 {
		y := smooth(x)
		y[1] += math.Max(x[1]-1.2, 0)
		return y
	}
	if r := Run(c); r.Wrong == "" && r.Unclear == "" {
		t.Error("a kink is not noticed")
	}
	c.F = func(x []float64) []float64 { panic("no value") }
	if r := Run(c); r.Unclear == "" {
		t.Error("a panic of the function is not noticed")
	}
}

// Derivatives of a function that is constant near the point say nothing.
func TestRunConstant(t *testing.T) {
	f := func(x []float64) []float64 { return []float64{math.Floor(x[0])} }
	c := &Case{Name: "floor", At: [][]float64{{0.5}}, F: f,
		Tangent: func(x, d []float64) (y, dy []float64) { return f(x), []float64{0} },
		Adjoint: func(x, w []float64) (y, bar []float64) { return f(x), []float64{0} },
		Second:  func(x, w, d []float64) (bar, dbar []float64) { return []float64{0}, []float64{0} },
	}
	if r := Run(c); r.Unclear == "" {
		t.Error("the derivatives of a constant pass")
	}
}

// A function with a kink near the point has a derivative, which smaller steps find.
func TestQuotientNearKink(t *testing.T) {
	f := func(x []float64) []float64 { return []float64{math.Max(x[0]*x[0], 1.0001)} }
	c := &Case{Name: "max", At: [][]float64{{1.001}}, F: f,
		Tangent: func(x, d []float64) (y, dy []float64) { return f(x), []float64{2 * x[0] * d[0]} },
		Adjoint: func(x, w []float64) (y, bar []float64) { return f(x), []float64{2 * x[0] * w[0]} },
		Second: func(x, w, d []float64) (bar, dbar []float64) {
			return []float64{2 * x[0] * w[0]}, []float64{2 * w[0] * d[0]}
		},
	}
	if r := Run(c); r.Wrong != "" || r.Unclear != "" {
		t.Errorf("%+v", r)
	}
}
