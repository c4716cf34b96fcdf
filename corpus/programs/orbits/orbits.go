// Package orbits has programs of celestial mechanics.
package orbits

import (
	"errors"
	"fmt"
	"math"
)

// Mu is the gravitational parameter of the earth in km³/s².
const Mu = 398600.4418

// A Vec is a vector in space.
type Vec [3]float64

// Add is the sum.
func (a Vec) Add(b Vec) Vec { return Vec{a[0] + b[0], a[1] + b[1], a[2] + b[2]} }

// Scale is a multiple.
func (a Vec) Scale(s float64) Vec { return Vec{s * a[0], s * a[1], s * a[2]} }

// Dot is the scalar product.
func (a Vec) Dot(b Vec) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

// Norm is the length.
func (a Vec) Norm() float64 { return math.Sqrt(a.Dot(a)) }

// Cross is the vector product.
func (a Vec) Cross(b Vec) Vec {
	return Vec{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}

// A State is position and velocity.
type State struct {
	R, V Vec
	T    float64
}

// Elements are the shape and attitude of an orbit.
type Elements struct {
	A, E, I, Node, Peri, Nu float64
}

// Elements computes the elements of a state.
func (s State) Elements() (el Elements, err error) {
	h := s.R.Cross(s.V)
	n := Vec{0, 0, 1}.Cross(h)
	r, v := s.R.Norm(), s.V.Norm()
	e := s.R.Scale((v*v - Mu/r) / Mu).Add(s.V.Scale(-s.R.Dot(s.V) / Mu))
	el.E = e.Norm()
	if el.E < 1e-9 {
		return el, errors.New("circular orbit")
	}
	el.A = 1 / (2/r - v*v/Mu)
	el.I = math.Acos(h[2] / h.Norm())
	el.Node = math.Acos(n[0] / n.Norm())
	if n[1] < 0 {
		el.Node = 2*math.Pi - el.Node
	}
	el.Peri = math.Acos(n.Dot(e) / (n.Norm() * el.E))
	if e[2] < 0 {
		el.Peri = 2*math.Pi - el.Peri
	}
	el.Nu = math.Acos(e.Dot(s.R) / (el.E * r))
	if s.R.Dot(s.V) < 0 {
		el.Nu = 2*math.Pi - el.Nu
	}
	return el, nil
}

// ToElements returns the elements of position and velocity.
//
//corpus:at 6524.834 6862.875 6448.296 4.901327 5.533756 -1.976341
func ToElements(x []float64) ([]float64, error) {
	s := State{R: Vec{x[0], x[1], x[2]}, V: Vec{x[3], x[4], x[5]}}
	el, err := s.Elements()
	if err != nil {
		return nil, fmt.Errorf("elements: %w", err)
	}
	return []float64{el.A / 1000, el.E, el.I, el.Node, el.Peri, el.Nu}, nil
}

// Hohmann is the velocity change of a transfer between circular orbits.
//
//corpus:at 7000 42164
func Hohmann(r1, r2 float64) (dv1, dv2 float64) {
	a := (r1 + r2) / 2
	visviva := func(r, a float64) float64 { return math.Sqrt(Mu * (2/r - 1/a)) }
	dv1 = visviva(r1, a) - visviva(r1, r1)
	dv2 = visviva(r2, r2) - visviva(r2, a)
	return
}

// kepler solves M = E - e sin E by recursion.
func kepler(m, e, guess float64, depth int) float64 {
	next := guess - (guess-e*math.Sin(guess)-m)/(1-e*math.Cos(guess))
	if depth == 0 || math.Abs(next-guess) < 1e-14 {
		return next
	}
	return kepler(m, e, next, depth-1)
}

// Position is the place in the orbit at a mean anomaly.
//
//corpus:at 1.1 0.3
func Position(m, e float64) (x, y float64) {
	ecc := kepler(m, e, m, 20)
	return math.Cos(ecc) - e, math.Sqrt(1-e*e) * math.Sin(ecc)
}

// A Force is an acceleration that depends on the state.
type Force interface {
	Acceleration(s State) Vec
}

// Gravity attracts to the centre.
type Gravity struct{ Mu float64 }

// Acceleration implements Force.
func (g Gravity) Acceleration(s State) Vec {
	r := s.R.Norm()
	return s.R.Scale(-g.Mu / (r * r * r))
}

// Oblateness is the perturbation by the flattening of the earth.
type Oblateness struct{ J2, Radius float64 }

// Acceleration implements Force.
func (o Oblateness) Acceleration(s State) Vec {
	r := s.R.Norm()
	k := 1.5 * o.J2 * Mu * o.Radius * o.Radius / math.Pow(r, 5)
	z := 5 * s.R[2] * s.R[2] / (r * r)
	return Vec{k * s.R[0] * (z - 1), k * s.R[1] * (z - 1), k * s.R[2] * (z - 3)}
}

// Drag slows down.
type Drag struct{ Coefficient float64 }

// Acceleration implements Force.
func (d *Drag) Acceleration(s State) Vec {
	height := s.R.Norm() - 6378
	rho := 1e-4 * math.Exp(-height/60)
	return s.V.Scale(-d.Coefficient * rho * s.V.Norm())
}

// A Propagator integrates the motion under forces.
type Propagator struct {
	Forces []Force
	Step   float64
}

// Run propagates by the method of Runge and Kutta.
func (p *Propagator) Run(s State, steps int) State {
	deriv := func(s State) (Vec, Vec) {
		var a Vec
		for _, f := range p.Forces {
			a = a.Add(f.Acceleration(s))
		}
		return s.V, a
	}
	move := func(s State, dr, dv Vec, h float64) State {
		return State{R: s.R.Add(dr.Scale(h)), V: s.V.Add(dv.Scale(h)), T: s.T + h}
	}
	for i := 0; i < steps; i++ {
		h := p.Step
		r1, v1 := deriv(s)
		r2, v2 := deriv(move(s, r1, v1, h/2))
		r3, v3 := deriv(move(s, r2, v2, h/2))
		r4, v4 := deriv(move(s, r3, v3, h))
		dr := r1.Add(r2.Scale(2)).Add(r3.Scale(2)).Add(r4).Scale(1. / 6)
		dv := v1.Add(v2.Scale(2)).Add(v3.Scale(2)).Add(v4).Scale(1. / 6)
		s = move(s, dr, dv, h)
	}
	return s
}

// Perturbed is the height after some minutes under several forces.
//
//corpus:at 7000 0.5 7.4 1.2
func Perturbed(x []float64) float64 {
	p := &Propagator{Step: 30, Forces: []Force{Gravity{Mu}, Oblateness{1.0826e-3, 6378}, &Drag{0.01}}}
	s := p.Run(State{R: Vec{x[0], 0, 0}, V: Vec{x[1], x[2], x[3]}}, 20)
	return s.R.Norm() - 6378
}

// TwoBody is the same with one force, by a function value.
//
//corpus:at 7000 0.5 7.4 1.2
func TwoBody(x []float64) float64 {
	r, v := Vec{x[0], 0, 0}, Vec{x[1], x[2], x[3]}
	force := Gravity{Mu}.Acceleration
	const h = 20
	a := force(State{R: r, V: v})
	for range 30 {
		v = v.Add(a.Scale(h / 2))
		r = r.Add(v.Scale(h))
		a = force(State{R: r, V: v})
		v = v.Add(a.Scale(h / 2))
	}
	return r.Norm()
}

// Energy is the drift of the energy of three bodies.
//
//corpus:at 0.97 -0.243 0.466 0.432
func Energy(x []float64) float64 {
	type body struct {
		m    float64
		r, v Vec
	}
	bodies := []*body{
		{1, Vec{x[0], x[1], 0}, Vec{x[2], x[3], 0}},
		{1, Vec{-x[0], -x[1], 0}, Vec{x[2], x[3], 0}},
		{1, Vec{}, Vec{-2 * x[2], -2 * x[3], 0}},
	}
	energy := func() float64 {
		e := 0.0
		for i, b := range bodies {
			e += b.m * b.v.Dot(b.v) / 2
			for _, c := range bodies[:i] {
				e -= b.m * c.m / b.r.Add(c.r.Scale(-1)).Norm()
			}
		}
		return e
	}
	const h = 0.02
	for range 20 {
		for _, b := range bodies {
			var a Vec
			for _, c := range bodies {
				if c == b {
					continue
				}
				d := c.r.Add(b.r.Scale(-1))
				a = a.Add(d.Scale(c.m / math.Pow(d.Norm(), 3)))
			}
			b.v = b.v.Add(a.Scale(h))
		}
		for _, b := range bodies {
			b.r = b.r.Add(b.v.Scale(h))
		}
	}
	return energy() + bodies[0].r[0]
}

// Lambert is the semimajor axis of the orbit between two places in a given time, by Newton's method on its parameter.
//
//corpus:at 1.1 1.4
func Lambert(r2, dt float64) (float64, error) {
	const r1, angle = 1.0, 1.5
	c := math.Sqrt(r1*r1 + r2*r2 - 2*r1*r2*math.Cos(angle))
	s := (r1 + r2 + c) / 2
	flight := func(a float64) float64 {
		alpha := 2 * math.Asin(math.Sqrt(s/(2*a)))
		beta := 2 * math.Asin(math.Sqrt((s-c)/(2*a)))
		return math.Pow(a, 1.5) * (alpha - math.Sin(alpha) - beta + math.Sin(beta))
	}
	a := 1.3
	for i := 0; i < 60; i++ {
		const h = 1e-6
		f := flight(a) - dt
		slope := (flight(a+h) - flight(a-h)) / (2 * h)
		step := f / slope
		a -= step
		if math.IsNaN(a) || a < s/2 {
			return 0, fmt.Errorf("no orbit: %v", a)
		}
		if math.Abs(step) < 1e-13 {
			break
		}
	}
	return a, nil
}

// Tisserand is the Tisserand parameter and the period of a comet.
//
//corpus:at 3.5 0.6 0.2
func Tisserand(a, e, i float64) (t, period float64) {
	const jupiter = 5.2044
	t = jupiter/a + 2*math.Cos(i)*math.Sqrt(a/jupiter*(1-e*e))
	period = math.Pow(a, 1.5)
	return t, period
}

// Eclipse is the length of the shadow on an orbit.
//
//corpus:at 7200 0.4
func Eclipse(radius, beta float64) (seconds float64) {
	const earth = 6378.0
	period := 2 * math.Pi * math.Sqrt(math.Pow(radius, 3)/Mu)
	switch critical := math.Asin(earth / radius); {
	case math.Abs(beta) >= critical:
		seconds = 0
	default:
		seconds = period / math.Pi * math.Acos(math.Sqrt(radius*radius-earth*earth)/(radius*math.Cos(beta)))
	}
	return
}
