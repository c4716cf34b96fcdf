// Orbit determines the orbit of a satellite from a pass of eight minutes over one radar station: ranges, azimuths and
// elevations, by least squares over the position and velocity at the first of them.
//
// The force is that of the earth with its flattening (the term J2), integrated by the method of Runge and Kutta within
// the function that is differentiated. The observations are made, with errors of 20 m and 0.02° and a fixed seed, so
// that the answer is known; constants are those of WGS 84.
package main

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"math/rand/v2"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/examples/internal/show"
	"github.com/nabla-ad/nabla/optim"
	"gonum.org/v1/gonum/spatial/r3"
	"gonum.org/v1/plot/plotter"
)

//go:generate go tool nabla gen

const (
	mu       = 398600.4418 // km³/s², the earth's gravity
	radius   = 6378.137    // km
	j2       = 1.08262982e-3
	spin     = 7.292115e-5 // rad/s
	step     = 10.0        // s, of the integration and between observations
	count    = 48
	sigma    = 0.02                 // km, of a range
	sigmaDir = 0.02 * math.Pi / 180 // of an angle
	latitude = 50.6 * math.Pi / 180 // of the station, at longitude 0 when the time is 0
)

// truth is the position in km and the velocity in km/s at time 0.
var truth = []float64{2906.1, -1460.8, 6093.5, 6.8890, 1.5602, -2.9112}

// A Pass has an observation for each time.
type Pass struct{ Range, Azimuth, Elevation []float64 }

// acceleration is that of a satellite at p.
func acceleration(p r3.Vec) r3.Vec {
	r2 := r3.Norm2(p)
	r := math.Sqrt(r2)
	k := 1.5 * j2 * radius * radius / r2
	z := 5 * p.Z * p.Z / r2
	g := -mu / (r2 * r)
	return r3.Vec{X: g * p.X * (1 + k*(1-z)), Y: g * p.Y * (1 + k*(1-z)), Z: g * p.Z * (1 + k*(3-z))}
}

// next returns position and velocity after a step.
func next(p, v r3.Vec) (r3.Vec, r3.Vec) {
	const h = step
	v1, a1 := v, acceleration(p)
	v2 := r3.Add(v, r3.Scale(h/2, a1))
	a2 := acceleration(r3.Add(p, r3.Scale(h/2, v1)))
	v3 := r3.Add(v, r3.Scale(h/2, a2))
	a3 := acceleration(r3.Add(p, r3.Scale(h/2, v2)))
	v4 := r3.Add(v, r3.Scale(h, a3))
	a4 := acceleration(r3.Add(p, r3.Scale(h, v3)))
	sum := func(a, b, c, d r3.Vec) r3.Vec { return r3.Add(r3.Add(a, d), r3.Scale(2, r3.Add(b, c))) }
	return r3.Add(p, r3.Scale(h/6, sum(v1, v2, v3, v4))), r3.Add(v, r3.Scale(h/6, sum(a1, a2, a3, a4)))
}

// seen returns range, azimuth and elevation of p at time t.
func seen(p r3.Vec, t float64) (distance, azimuth, elevation float64) {
	sl, cl := math.Sincos(latitude)
	s, c := math.Sincos(spin * t)
	up := r3.Vec{X: cl * c, Y: cl * s, Z: sl}
	north := r3.Vec{X: -sl * c, Y: -sl * s, Z: cl}
	east := r3.Vec{X: -s, Y: c}
	d := r3.Sub(p, r3.Scale(radius, up)) // on a sphere
	n, e, u := r3.Dot(d, north), r3.Dot(d, east), r3.Dot(d, up)
	return r3.Norm(d), math.Atan2(e, n), math.Atan2(u, math.Hypot(n, e))
}

// Misses are the deviations of the observations from the orbit with the state x at time 0, in standard deviations.
func Misses(x []float64, o *Pass) []float64 {
	p, v := r3.Vec{X: x[0], Y: x[1], Z: x[2]}, r3.Vec{X: x[3], Y: x[4], Z: x[5]}
	m := make([]float64, 0, 3*len(o.Range))
	for i := range o.Range {
		distance, azimuth, elevation := seen(p, step*float64(i))
		m = append(m, (o.Range[i]-distance)/sigma,
			math.Remainder(o.Azimuth[i]-azimuth, 2*math.Pi)*math.Cos(elevation)/sigmaDir,
			(o.Elevation[i]-elevation)/sigmaDir)
		p, v = next(p, v)
	}
	return m
}

// observe returns observations of the truth with errors.
func observe(r *rand.Rand) *Pass {
	o := new(Pass)
	p, v := r3.Vec{X: truth[0], Y: truth[1], Z: truth[2]}, r3.Vec{X: truth[3], Y: truth[4], Z: truth[5]}
	for i := range count {
		distance, azimuth, elevation := seen(p, step*float64(i))
		o.Range = append(o.Range, distance+sigma*r.NormFloat64())
		o.Azimuth = append(o.Azimuth, azimuth+sigmaDir/math.Cos(elevation)*r.NormFloat64())
		o.Elevation = append(o.Elevation, elevation+sigmaDir*r.NormFloat64())
		p, v = next(p, v)
	}
	return o
}

// start returns the first state that the observations suggest: the first position, and the mean velocity to a later
// one.
func start(o *Pass) []float64 {
	at := func(i int) r3.Vec {
		sl, cl := math.Sincos(latitude)
		s, c := math.Sincos(spin * step * float64(i))
		se, ce := math.Sincos(o.Elevation[i])
		sa, ca := math.Sincos(o.Azimuth[i])
		n, e, u := ce*ca, ce*sa, se
		d := r3.Vec{X: u*cl*c - n*sl*c - e*s, Y: u*cl*s - n*sl*s + e*c, Z: u*sl + n*cl}
		return r3.Add(r3.Scale(radius, r3.Vec{X: cl * c, Y: cl * s, Z: sl}), r3.Scale(o.Range[i], d))
	}
	p, v := at(0), r3.Scale(1/(6*step), r3.Sub(at(6), at(0)))
	return []float64{p.X, p.Y, p.Z, v.X, v.Y, v.Z}
}

// determine returns the orbit of the observations.
func determine(o *Pass, b nabla.Backend) (*optim.LeastSquaresResult, error) {
	return optim.LeastSquares(nabla.Bind(Misses, o), b, start(o), &optim.LeastSquaresSettings{Covariance: true})
}

var example = show.Example{Run: run, Solve: func(b nabla.Backend) (show.Solution, error) {
	res, err := determine(observe(rand.New(rand.NewPCG(1801, 1))), b)
	if err != nil {
		return show.Solution{}, err
	}
	return show.Solution{X: res.X, Calls: res.Jacobians}, nil
}}

func main() { example.Main() }

// Elements returns the half-axis in km, the eccentricity and the inclination in degrees of the orbit with state x.
func Elements(x []float64) []float64 {
	p, v := r3.Vec{X: x[0], Y: x[1], Z: x[2]}, r3.Vec{X: x[3], Y: x[4], Z: x[5]}
	h := r3.Cross(p, v)
	e := r3.Sub(r3.Scale(1/mu, r3.Cross(v, h)), r3.Unit(p))
	axis := 1 / (2/r3.Norm(p) - r3.Norm2(v)/mu)
	return []float64{axis, r3.Norm(e), math.Acos(h.Z/r3.Norm(h)) * 180 / math.Pi}
}

func run(w io.Writer, picture string) error {
	o := observe(rand.New(rand.NewPCG(1801, 1)))
	x0 := start(o)
	before := Misses(x0, o)
	res, err := determine(o, nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "after %d Jacobians: χ² %.1f with %d degrees of freedom\n\n", res.Jacobians, 2*res.Cost,
		3*count-len(truth))
	fmt.Fprintln(w, "                        start     estimate   ± standard error        truth")
	for i, name := range []string{"x km", "y km", "z km", "x km/s", "y km/s", "z km/s"} {
		fmt.Fprintf(w, "%-15s %12.4f %12.4f   ± %.4f %19.4f\n", name, x0[i], res.X[i],
			math.Sqrt(res.Covariance.At(i, i)), truth[i])
	}
	fmt.Fprintln(w)
	j, err := nabla.Jacobian(Elements, nil, res.X)
	if err != nil {
		return err
	}
	first, last, want := Elements(x0), Elements(res.X), Elements(truth)
	for k, name := range []string{"half-axis km", "eccentricity", "inclination °"} {
		variance := 0.0 // of the element, to first order
		for a := range truth {
			for b := range truth {
				variance += j.At(k, a) * res.Covariance.At(a, b) * j.At(k, b)
			}
		}
		fmt.Fprintf(w, "%-15s %12.5f %12.5f   ± %.5f %19.5f\n", name, first[k], last[k], math.Sqrt(variance), want[k])
	}
	return draw(before, res.Residuals, picture)
}

// draw draws the deviations of the observations before and after.
func draw(before, after []float64, picture string) error {
	var plots []*show.Picture
	for k, m := range [][]float64{before, after} {
		p := show.New([]string{"from the start", "from the orbit"}[k], "s", "standard deviations")
		for i, name := range []string{"range", "azimuth", "elevation"} {
			if k == 1 {
				name = ""
			}
			var at plotter.XYs
			for n := i; n < len(m); n += 3 {
				at = append(at, plotter.XY{X: step * float64(n/3), Y: m[n]})
			}
			p.Points(name, at, []color.Color{show.Blue, show.Red, show.Green}[i], 1.8)
		}
		plots = append(plots, p)
	}
	plots[0].Y.Max *= 1.2 // above the curves there is the legend
	return show.SaveGrid(picture, 2, plots...)
}
