// Pendulum swings a pendulum on a cart up and holds it there, by model predictive control: at each instant the forces
// of the next 1.2 seconds are optimised within their bounds, and the first of them is applied. After four seconds
// somebody hits the pendulum.
//
// The cost of a plan is a simulation of it, by the method of Runge and Kutta, whose exact Hessian with respect to the
// forces serves the projected Newton method.
package main

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/examples/internal/show"
	"github.com/nabla-ad/nabla/optim"
	"gonum.org/v1/plot/plotter"
)

//go:generate go tool nabla gen

const (
	horizon  = 30   // forces in a plan
	step     = 0.04 // s, for which a force acts
	limit    = 10.0 // N, of a force
	mass     = 0.2  // kg, of the pendulum
	cart     = 0.5  // kg
	length   = 0.4  // m
	gravity  = 9.81 // m/s²
	friction = 0.1  // N·s/m, of the cart
	instants = 200  // of the simulation
	hit      = 100  // the instant of the disturbance
	blow     = -3.5 // rad/s
)

// A State is the position of the cart in m, the angle from upright in rad, and their rates.
type State struct{ X, Angle, V, Rate float64 }

// Plant is what a plan begins with.
type Plant struct{ Now State }

// rates returns the derivative of s with time under a force.
func rates(s State, force float64) State {
	sin, cos := math.Sincos(s.Angle)
	push := force - friction*s.V + mass*length*s.Rate*s.Rate*sin
	accel := (push - mass*gravity*sin*cos) / (cart + mass*sin*sin)
	return State{s.V, s.Rate, accel, (gravity*sin - accel*cos) / length}
}

// after returns s + h·d.
func after(s, d State, h float64) State {
	return State{s.X + h*d.X, s.Angle + h*d.Angle, s.V + h*d.V, s.Rate + h*d.Rate}
}

// next returns the state after a step under a force.
func next(s State, force float64) State {
	a := rates(s, force)
	b := rates(after(s, a, step/2), force)
	c := rates(after(s, b, step/2), force)
	d := rates(after(s, c, step), force)
	s = after(s, a, step/6)
	s = after(s, b, step/3)
	s = after(s, c, step/3)
	return after(s, d, step/6)
}

// Cost is that of a plan: the distance from upright and from the middle at its instants, more at the end, and the
// forces.
func Cost(forces []float64, p *Plant) float64 {
	s, sum := p.Now, 0.0
	for i, f := range forces {
		s = next(s, f)
		w := 1.0
		if i == len(forces)-1 {
			w = 20
		}
		sum += w*(10*(1-math.Cos(s.Angle))+s.X*s.X+0.02*s.V*s.V+0.02*s.Rate*s.Rate) + 1e-3*f*f
	}
	return sum
}

// A Record is what happened.
type Record struct {
	States []State
	Forces []float64
	Solves int // Hessians that were computed
}

// control simulates the plant under control.
func control(b nabla.Backend) (*Record, error) {
	plant := &Plant{State{Angle: math.Pi}}
	rec := &Record{States: []State{plant.Now}}
	lower, upper := make([]float64, horizon), make([]float64, horizon)
	plan := make([]float64, horizon)
	for i := range plan {
		lower[i], upper[i] = -limit, limit
		plan[i] = 2 * math.Sin(float64(i)/4) // any but 0, at which the pendulum hangs in balance
	}
	for i := range instants {
		res, err := optim.Bounded(nabla.Bind(Cost, plant), b, plan, lower, upper,
			&optim.MinimizeSettings{GTol: 1e-4, MaxEvaluations: 60})
		var limit *optim.ConvergenceError
		if err != nil && !errors.As(err, &limit) { // a plan that could be better will do
			return nil, err
		}
		rec.Solves += res.Hessians
		rec.Forces = append(rec.Forces, res.X[0])
		plant.Now = next(plant.Now, res.X[0])
		if i == hit {
			plant.Now.Rate += blow
		}
		rec.States = append(rec.States, plant.Now)
		copy(plan, res.X[1:])
	}
	return rec, nil
}

var example = show.Example{Run: run, Solve: func(b nabla.Backend) (show.Solution, error) {
	rec, err := control(b)
	if err != nil {
		return show.Solution{}, err
	}
	return show.Solution{X: rec.Forces, Calls: rec.Solves}, nil
}}

func main() { example.Main() }

func run(w io.Writer, picture string) error {
	rec, err := control(nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%d plans of %d forces, %d Hessians\n\n", instants, horizon, rec.Solves)
	fmt.Fprintln(w, "time s   angle °   cart m   force N")
	for i := 0; i < instants; i += 10 {
		s := rec.States[i]
		fmt.Fprintf(w, "%6.1f %9.1f %8.2f %9.2f\n", step*float64(i), s.Angle*180/math.Pi, s.X, rec.Forces[i])
	}
	return draw(rec, picture)
}

func draw(rec *Record, picture string) error {
	angle := show.New("Swinging up, and a blow after 4 s", "s", "angle from upright, °")
	force := show.New("", "s", "force in N, position in dm")
	var a, f, x plotter.XYs
	for i, s := range rec.States {
		t := step * float64(i)
		a = append(a, plotter.XY{X: t, Y: s.Angle * 180 / math.Pi})
		x = append(x, plotter.XY{X: t, Y: 10 * s.X})
		if i < len(rec.Forces) {
			f = append(f, plotter.XY{X: t, Y: rec.Forces[i]}, plotter.XY{X: t + step, Y: rec.Forces[i]})
		}
	}
	angle.Line("", a, show.Blue, 2)
	force.Line("force", f, show.Red, 1.2)
	force.Line("position", x, show.Green, 2)
	return show.SaveGrid(picture, 1, angle, force)
}
