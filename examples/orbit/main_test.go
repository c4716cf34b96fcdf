package main

import (
	"math/rand/v2"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/examples/internal/showtest"
	"github.com/nabla-ad/nabla/ode"
	"github.com/nabla-ad/nabla/optim"
	"gonum.org/v1/gonum/spatial/r3"
)

func TestRun(t *testing.T) { showtest.Run(t, example) }

// TestOrbit integrates the orbit by package ode, to ten digits, from the gradient of the potential, and compares the
// positions with those of the steps.
func TestOrbit(t *testing.T) {
	potential := func(p []nabla.Real) nabla.Real {
		r2 := nabla.Dot(p, p)
		r := nabla.Sqrt(r2)
		sin2 := p[2].Sq().Div(r2)
		flat := sin2.Scale(3).AddConst(-1).Scale(0.5 * j2 * radius * radius).Div(r2)
		return nabla.Const(mu).Div(r).Mul(nabla.Const(1).Sub(flat))
	}
	gradient := nabla.GradientFunc(potential, nil)
	rhs := func(z []nabla.Real) []nabla.Real {
		return append(append([]nabla.Real{}, z[3:6]...), gradient(z[:3])...)
	}
	p, err := ode.Prepare(rhs, nil, truth, nil, &ode.Settings{Relative: 1e-11, Absolute: 1e-9})
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.Solve(nil, truth, nil, 0, step*count)
	if err != nil {
		t.Fatal(err)
	}
	at, v := r3.Vec{X: truth[0], Y: truth[1], Z: truth[2]}, r3.Vec{X: truth[3], Y: truth[4], Z: truth[5]}
	for i := range count {
		y, err := s.At(nil, step*float64(i))
		if err != nil {
			t.Fatal(err)
		}
		if d := r3.Norm(r3.Sub(at, r3.Vec{X: y[0], Y: y[1], Z: y[2]})); d > 1e-3 {
			t.Errorf("after %d steps the positions are %v km apart", i, d)
		}
		at, v = next(at, v)
	}
}

// TestDetermine: the orbits of many passes scatter around the truth as their standard errors say.
func TestDetermine(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	showtest.Scatter(t, 200, truth[:], func() (*optim.LeastSquaresResult, error) { return determine(observe(r), nil) })
}
