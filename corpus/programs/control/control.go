// Package control has controllers, filters and models of plants.
package control

import (
	"errors"
	"log"
	"math"

	"gonum.org/v1/gonum/mat"
)

// A PID is a controller.
type PID struct {
	Kp, Ki, Kd    float64
	integral, err float64
	started       bool
}

// Update returns the output for a deviation.
func (c *PID) Update(e, dt float64) float64 {
	c.integral += e * dt
	d := 0.0
	if c.started {
		d = (e - c.err) / dt
	}
	c.err, c.started = e, true
	return c.Kp*e + c.Ki*c.integral + c.Kd*d
}

// A Plant is a system with an input.
type Plant interface {
	Step(u, dt float64) (y float64)
}

// Tank is a tank with an outlet.
type Tank struct{ Level, Area, Outlet float64 }

// Step implements Plant.
func (t *Tank) Step(u, dt float64) float64 {
	out := t.Outlet * math.Sqrt(math.Max(t.Level, 0))
	t.Level += (u - out) / t.Area * dt
	return t.Level
}

// Motor is a motor with inertia.
type Motor struct{ Speed, Friction float64 }

// Step implements Plant.
func (m *Motor) Step(u, dt float64) float64 {
	m.Speed += (u - m.Friction*m.Speed) * dt
	return m.Speed
}

func simulate(p Plant, c *PID, target float64, steps int) (cost float64) {
	y := 0.5
	for i := 0; i < steps; i++ {
		u := c.Update(target-y, 0.1)
		y = p.Step(u, 0.1)
		cost += (target-y)*(target-y) + 0.01*u*u
	}
	return cost
}

// TankCost is the cost of a controller of a tank.
//
//corpus:at 1.5 0.4 0.1
func TankCost(kp, ki, kd float64) float64 {
	return simulate(&Tank{Level: 0.5, Area: 2, Outlet: 0.3}, &PID{Kp: kp, Ki: ki, Kd: kd}, 1, 30)
}

// MotorCost is the cost of a controller of a motor, concrete types.
//
//corpus:at 1.5 0.4 0.1
func MotorCost(gains []float64) float64 {
	c := PID{Kp: gains[0], Ki: gains[1], Kd: gains[2]}
	m := Motor{Friction: 0.7}
	y, cost := 0.0, 0.0
	for range 25 {
		y = m.Step(c.Update(1-y, 0.1), 0.1)
		cost += math.Abs(1 - y)
	}
	return cost
}

// Plants is the cost for plants in a table.
//
//corpus:at 1.5 0.4
func Plants(kp, ki float64) float64 {
	plants := map[string]Plant{"tank": &Tank{Level: 0.5, Area: 2, Outlet: 0.3}, "motor": &Motor{Friction: 0.5}}
	sum := 0.0
	for _, name := range []string{"tank", "motor"} {
		sum += simulate(plants[name], &PID{Kp: kp, Ki: ki}, 1, 10)
	}
	return sum
}

// Kalman1D is the last estimate of a filter, with respect to its noises.
//
//corpus:at 0.1 0.5
func Kalman1D(q, r float64) float64 {
	measured := []float64{1.1, 1.9, 3.2, 3.9, 5.1}
	x, p := 0.0, 1.0
	for _, z := range measured {
		p += q
		k := p / (p + r)
		x += k * (z - x)
		p *= 1 - k
	}
	return x
}

// KalmanLikelihood is the negative log likelihood of a filter with matrices of gonum.
//
//corpus:at 0.1 0.5
func KalmanLikelihood(q, r float64) (float64, error) {
	f := mat.NewDense(2, 2, []float64{1, 1, 0, 1})
	h := mat.NewVecDense(2, []float64{1, 0})
	x := mat.NewVecDense(2, nil)
	p := mat.NewDense(2, 2, []float64{1, 0, 0, 1})
	noise := mat.NewDense(2, 2, []float64{q / 3, q / 2, q / 2, q})
	ll := 0.0
	for _, z := range []float64{1.1, 1.9, 3.2, 3.9, 5.1} {
		var xn mat.VecDense
		xn.MulVec(f, x)
		var fp, pn mat.Dense
		fp.Mul(f, p)
		pn.Mul(&fp, f.T())
		pn.Add(&pn, noise)
		var ph mat.VecDense
		ph.MulVec(&pn, h)
		s := mat.Dot(h, &ph) + r
		if s <= 0 {
			return 0, errors.New("no variance")
		}
		e := z - mat.Dot(h, &xn)
		ll += 0.5 * (math.Log(2*math.Pi*s) + e*e/s)
		x.AddScaledVec(&xn, e/s, &ph)
		var outer mat.Dense
		outer.Outer(1/s, &ph, &ph)
		p.Sub(&pn, &outer)
	}
	return ll, nil
}

// Riccati is the gain of a linear-quadratic regulator by iteration.
//
//corpus:at 1.1 0.5
func Riccati(a, b float64) float64 {
	const q, r = 1.0, 0.3
	p := q
	for i := 0; i < 200; i++ {
		next := q + a*a*p - a*p*b*b*p*a/(r+b*b*p)
		if math.Abs(next-p) < 1e-14 {
			break
		}
		p = next
	}
	return a * b * p / (r + b*b*p)
}

// Margin is the phase of a loop where its gain is one, by bisection.
//
//corpus:at 2 0.3
func Margin(gain, delay float64) float64 {
	amplitude := func(w float64) float64 { return gain / (w * math.Sqrt(1+w*w)) }
	lo, hi := 1e-3, 1e3
	for hi-lo > 1e-12 {
		mid := (lo + hi) / 2
		if amplitude(mid) > 1 {
			lo = mid
		} else {
			hi = mid
		}
	}
	w := (lo + hi) / 2
	return math.Pi/2 - math.Atan(w) - w*delay
}

// A Biquad is a filter of second order.
type Biquad struct {
	b, a [3]float64
	z    [2]float64
}

// NewLowPass makes a low-pass filter.
func NewLowPass(f, q float64) *Biquad {
	w := 2 * math.Pi * f
	alpha := math.Sin(w) / (2 * q)
	c := math.Cos(w)
	return &Biquad{
		b: [3]float64{(1 - c) / 2, 1 - c, (1 - c) / 2},
		a: [3]float64{1 + alpha, -2 * c, 1 - alpha},
	}
}

// Process filters one sample.
func (f *Biquad) Process(x float64) float64 {
	y := (f.b[0]*x + f.z[0]) / f.a[0]
	f.z[0] = f.b[1]*x - f.a[1]*y + f.z[1]
	f.z[1] = f.b[2]*x - f.a[2]*y
	return y
}

// Ringing is the energy behind a filter.
//
//corpus:at 0.1 0.9
func Ringing(f, q float64) float64 {
	filter := NewLowPass(f, q)
	e := 0.0
	for i := range 30 {
		x := 0.0
		if i == 0 {
			x = 1
		}
		y := filter.Process(x)
		e += float64(i) * y * y
	}
	return e
}

// Cascade is a chain of filters, with a logger that is called in case of overflow.
//
//corpus:at 0.1 0.7
func Cascade(f, q float64) float64 {
	var chain []*Biquad
	for i := 0; i < 3; i++ {
		chain = append(chain, NewLowPass(f*float64(i+1), q))
	}
	y := 0.0
	for n := 0; n < 15; n++ {
		y = 1
		for _, stage := range chain {
			y = stage.Process(y)
			if math.IsInf(y, 0) {
				log.Printf("overflow in step %d", n)
			}
		}
	}
	return y
}

// Bode is the gain of a transfer function, by Horner's method in complex numbers.
//
//corpus:at 1 0.4 2
func Bode(num, damping, w float64) float64 {
	eval := func(coeffs []complex128, s complex128) (v complex128) {
		for i := len(coeffs) - 1; i >= 0; i-- {
			v = v*s + coeffs[i]
		}
		return v
	}
	s := complex(0, w)
	h := eval([]complex128{complex(num, 0)}, s) / eval([]complex128{1, complex(2*damping, 0), 1}, s)
	return real(h)*real(h) + imag(h)*imag(h)
}

// Horizon is the cost of the best of several constant inputs.
//
//corpus:at 0.3 -0.2
func Horizon(x0, v0 float64) float64 {
	best := math.Inf(1)
	for _, u := range []float64{-1, -0.5, 0, 0.5, 1} {
		x, v, cost := x0, v0, 0.0
		for i := 0; i < 10; i++ {
			v += u * 0.1
			x += v * 0.1
			cost += x*x + 0.1*u*u
		}
		if cost < best {
			best = cost
		}
	}
	return best
}
