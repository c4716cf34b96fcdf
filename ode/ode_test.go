package ode_test

import (
	"errors"
	"math"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/ode"
)

// linear is a damped oscillator: z is position, velocity, frequency², damping, time.
func linear(z []nabla.Real) []nabla.Real {
	return []nabla.Real{z[1], z[2].Mul(z[0]).Neg().Sub(z[3].Mul(z[1]))}
}

// oscillator is the solution of linear from position a and velocity b for p = (k, d), at t, in closed form.
func oscillator(a, b, k, d, t float64) float64 {
	w := math.Sqrt(k - d*d/4)
	return math.Exp(-d*t/2) * (a*math.Cos(w*t) + (b+d*a/2)/w*math.Sin(w*t))
}

var methods = []ode.Method{ode.DormandPrince, ode.Rodas}

func tight(m ode.Method) *ode.Settings {
	return &ode.Settings{Method: m, Relative: 1e-12, Absolute: 1e-13, MaxSteps: 1e6}
}

// TestOscillator compares solution, dense output, tangents and cotangents with the closed form.
func TestOscillator(t *testing.T) {
	for _, m := range methods {
		y0, p := []float64{1, 0.5}, []float64{2, 0.3}
		q, err := ode.Prepare(linear, nil, y0, p, tight(m))
		if err != nil {
			t.Fatal(err)
		}
		s, err := q.Solve(nil, y0, p, 0.5, 4.5)
		if err != nil {
			t.Fatal(err)
		}
		f := func(x []float64, t float64) float64 { return oscillator(x[0], x[1], x[2], x[3], t) }
		x := []float64{1, 0.5, 2, 0.3}
		if want := f(x, 4); math.Abs(s.Y[0]-want) > 1e-10 {
			t.Errorf("%v: %v, want %v", m, s.Y[0], want)
		}
		for _, at := range []float64{0.5, 0.7, 1.9, 3.3, 4.5} {
			y, err := s.At(nil, at)
			if want := f(x, at-0.5); err != nil || math.Abs(y[0]-want) > 1e-8 {
				t.Errorf("%v at %v: %v, want %v, error %v", m, at, y, want, err)
			}
		}
		xbar := make([]float64, 4)
		if err := q.Pullback(xbar[:2], xbar[2:], s, []float64{1, 0}, 0, nil); err != nil {
			t.Fatal(err)
		}
		for i := range x {
			const h = 1e-3 // fourth order differences of the closed form
			moved := func(d float64) float64 {
				v := append([]float64(nil), x...)
				v[i] += d
				return f(v, 4)
			}
			want := (8*(moved(h)-moved(-h)) - (moved(2*h) - moved(-2*h))) / (12 * h)
			if math.Abs(xbar[i]-want) > 1e-9 {
				t.Errorf("%v: derivative %d is %v, want %v", m, i, xbar[i], want)
			}
			xdot := make([]float64, 4)
			xdot[i] = 1
			if _, err := q.Pushforward(xdot[:2], xdot[2:], s, nil); err != nil {
				t.Fatal(err)
			}
			if math.Abs(xdot[0]-xbar[i]) > 1e-12 {
				t.Errorf("%v: tangent %d is %v, cotangent %v", m, i, xdot[0], xbar[i])
			}
		}
	}
}

// TestOrder: with fixed steps the error falls with the order of the method, in a problem that depends on the time.
func TestOrder(t *testing.T) {
	f := func(z []nabla.Real) []nabla.Real { // y' = p·y·cos(t), y = exp(p·sin(t))
		return []nabla.Real{z[1].Mul(z[0]).Mul(nabla.Cos(z[2]))}
	}
	for m, order := range map[ode.Method]float64{ode.DormandPrince: 5, ode.Rodas: 4} {
		var errs, dense []float64
		for _, h := range []float64{0.04, 0.02} {
			q, err := ode.Prepare(f, nil, []float64{1}, []float64{1.3}, fixed(m, h))
			if err != nil {
				t.Fatal(err)
			}
			s, err := q.Solve(nil, []float64{1}, []float64{1.3}, 0, 2)
			if err != nil {
				t.Fatal(err)
			}
			errs = append(errs, math.Abs(s.Y[0]-math.Exp(1.3*math.Sin(2))))
			largest := 0.0
			for at := 0.013; at < 2; at += 0.037 {
				y, err := s.At(nil, at)
				if err != nil {
					t.Fatal(err)
				}
				largest = max(largest, math.Abs(y[0]-math.Exp(1.3*math.Sin(at))))
			}
			dense = append(dense, largest)
		}
		if got := math.Log2(errs[0] / errs[1]); got < order-0.5 {
			t.Errorf("%v: order %.2f, want %v; errors %.2g", m, got, order, errs)
		}
		if got := math.Log2(dense[0] / dense[1]); got < order-1.5 {
			t.Errorf("%v: order of the dense output %.2f, want %v; errors %.2g", m, got, order-1, dense)
		}
	}
}

// TestRefusals: errors name what was wrong, and the solution beside them is what was computed.
func TestRefusals(t *testing.T) {
	blowup := func(z []nabla.Real) []nabla.Real { return []nabla.Real{z[0].Sq()} } // 1/(1-t)
	q, err := ode.Prepare(blowup, nil, []float64{1}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := q.Solve(nil, []float64{1}, nil, 0, 2)
	if !errors.As(err, new(*ode.StepError)) || s == nil || math.Abs(s.T-1) > 1e-3 {
		t.Errorf("error %v, solution %+v", err, s)
	}
	if _, err := q.Solve(nil, []float64{1, 2}, nil, 0, 1); !errors.As(err, new(*ode.LengthError)) {
		t.Errorf("error %v, want a LengthError", err)
	}
	if _, err := q.Solve(nil, []float64{1}, nil, 0, math.NaN()); !errors.As(err, new(*ode.SettingError)) {
		t.Errorf("error %v, want a SettingError", err)
	}
	if _, err := q.Solve(nil, []float64{math.NaN()}, nil, 0, 1); !errors.As(err, new(*ode.NonFiniteError)) {
		t.Errorf("error %v, want a NonFiniteError", err)
	}
}
