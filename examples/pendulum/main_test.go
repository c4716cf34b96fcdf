package main

import (
	"math"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/examples/internal/showtest"
)

func TestRun(t *testing.T) { showtest.Run(t, example) }

// energy is that of cart and pendulum.
func energy(s State) float64 {
	sin, cos := math.Sincos(s.Angle)
	vx, vy := s.V+length*s.Rate*cos, -length*s.Rate*sin
	return cart*s.V*s.V/2 + mass*(vx*vx+vy*vy)/2 + mass*gravity*length*cos
}

// TestRates: the energy grows by what the force does less what friction takes.
func TestRates(t *testing.T) {
	for _, c := range []struct {
		s     State
		force float64
	}{{State{0, 1, 0.3, -2}, 4}, {State{1, -2, -1, 3}, -7}, {State{0, 3, 2, 0.1}, 0}} {
		const h = 1e-6
		d := rates(c.s, c.force)
		got := (energy(after(c.s, d, h)) - energy(after(c.s, d, -h))) / (2 * h)
		if want := (c.force - friction*c.s.V) * c.s.V; math.Abs(got-want) > 1e-7 {
			t.Errorf("%+v: power %v, want %v", c, got, want)
		}
	}
}

// TestCost compares the derivatives of a plan's cost with central differences of the cost and of the gradient.
func TestCost(t *testing.T) {
	f := nabla.Bind(Cost, &Plant{State{Angle: 2, Rate: 1}})
	plan := make([]float64, horizon)
	for i := range plan {
		plan[i] = 3 * math.Sin(float64(i))
	}
	h, err := nabla.Hessian(f, nil, plan)
	if err != nil {
		t.Fatal(err)
	}
	g, err := nabla.PrepareGradient(f, nil, plan)
	if err != nil {
		t.Fatal(err)
	}
	for i := range plan {
		const step = 1e-5
		shifted := func(by float64) (float64, []float64) {
			x := append([]float64(nil), plan...)
			x[i] += by
			y, grad, err := g.ValueAndGradient(nil, x)
			if err != nil {
				t.Fatal(err)
			}
			return y, grad
		}
		above, gAbove := shifted(step)
		below, gBelow := shifted(-step)
		_, at := shifted(0)
		if d := (above - below) / (2 * step); math.Abs(d-at[i]) > 1e-6*(1+math.Abs(d)) {
			t.Errorf("derivative %d is %v, differences give %v", i, at[i], d)
		}
		for k := range plan {
			if d := (gAbove[k] - gBelow[k]) / (2 * step); math.Abs(d-h.At(i, k)) > 1e-5*(1+math.Abs(d)) {
				t.Errorf("second derivative %d, %d is %v, differences give %v", i, k, h.At(i, k), d)
			}
		}
	}
}

// TestControl: the pendulum is upright before the blow and at the end, and the forces are within their limits.
func TestControl(t *testing.T) {
	rec, err := control(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{hit, instants} {
		if s := rec.States[i]; math.Cos(s.Angle) < 0.9999 || math.Abs(s.X) > 0.02 || math.Abs(s.Rate) > 0.05 {
			t.Errorf("at instant %d: %+v", i, s)
		}
	}
	at := 0
	for _, f := range rec.Forces {
		if math.Abs(f) > limit {
			t.Errorf("force %v", f)
		} else if math.Abs(f) == limit {
			at++
		}
	}
	if at == 0 {
		t.Error("no force is at its limit")
	}
}
