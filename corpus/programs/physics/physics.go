// Package physics has simulations and formulas of physics.
package physics

import (
	"fmt"
	"math"
	"math/cmplx"
	"sync"
)

// Pendulum is the energy and angle of a double pendulum after some steps.
//
//corpus:at 1.2 0.7 1 0.8
func Pendulum(x []float64) (angle, energy float64) {
	type state struct{ a1, a2, w1, w2 float64 }
	m1, m2, l1, l2, g := 1.0, 0.7, x[2], x[3], 9.81
	s := state{a1: x[0], a2: x[1]}
	dt := 0.01
	for i := 0; i < 40; i++ {
		d := s.a1 - s.a2
		den := 2*m1 + m2 - m2*math.Cos(2*d)
		acc1 := (-g*(2*m1+m2)*math.Sin(s.a1) - m2*g*math.Sin(s.a1-2*s.a2) -
			2*math.Sin(d)*m2*(s.w2*s.w2*l2+s.w1*s.w1*l1*math.Cos(d))) / (l1 * den)
		acc2 := 2 * math.Sin(d) * (s.w1*s.w1*l1*(m1+m2) + g*(m1+m2)*math.Cos(s.a1) +
			s.w2*s.w2*l2*m2*math.Cos(d)) / (l2 * den)
		s.w1 += acc1 * dt
		s.w2 += acc2 * dt
		s.a1 += s.w1 * dt
		s.a2 += s.w2 * dt
	}
	y1 := -l1 * math.Cos(s.a1)
	y2 := y1 - l2*math.Cos(s.a2)
	energy = m1*g*y1 + m2*g*y2 + m1*l1*l1*s.w1*s.w1/2
	return s.a2, energy
}

// Heat is the temperature in a rod after some steps of an explicit scheme.
//
//corpus:at 1 0.5 2 0.3 0.1
func Heat(initial []float64) float64 {
	u := append([]float64(nil), initial...)
	next := make([]float64, len(u))
	for step := 0; step < 30; step++ {
		for i := range u {
			left, right := 0.0, 0.0
			if i > 0 {
				left = u[i-1]
			}
			if i < len(u)-1 {
				right = u[i+1]
			}
			next[i] = u[i] + 0.2*(left-2*u[i]+right)
		}
		u, next = next, u
	}
	return u[len(u)/2] * u[len(u)/2]
}

// Conduction is the flux through a wall, by an implicit scheme with Thomas's algorithm.
//
//corpus:at 0.8 1.3 300
func Conduction(k, c, outside float64) (float64, error) {
	const n = 8
	t := make([]float64, n)
	for i := range t {
		t[i] = 290
	}
	r := k / c * 0.5
	for range 10 {
		a, b, cc, d := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range t {
			a[i], b[i], cc[i], d[i] = -r, 1+2*r, -r, t[i]
		}
		d[0] += r * outside
		d[n-1] += r * 290
		for i := 1; i < n; i++ {
			if b[i-1] == 0 {
				return 0, fmt.Errorf("row %d: zero pivot", i)
			}
			w := a[i] / b[i-1]
			b[i] -= w * cc[i-1]
			d[i] -= w * d[i-1]
		}
		t[n-1] = d[n-1] / b[n-1]
		for i := n - 2; i >= 0; i-- {
			t[i] = (d[i] - cc[i]*t[i+1]) / b[i]
		}
	}
	return k * (t[0] - t[1]), nil
}

// Impedance is the current in a circuit with resistors, coils and capacitors.
//
//corpus:at 100 0.05 0.00001 60
func Impedance(r, l, c, f float64) (amplitude, phase float64) {
	w := 2 * math.Pi * f
	z := complex(r, 0) + complex(0, w*l) + 1/complex(0, w*c)
	i := 10 / z
	return cmplx.Abs(i), cmplx.Phase(i)
}

// Ladder is the gain of a chain of filters, as a product of complex matrices.
//
//corpus:at 1000 0.000001
func Ladder(r, c float64) float64 {
	type matrix [2][2]complex128
	mul := func(a, b matrix) (m matrix) {
		for i := range m {
			for j := range m[i] {
				for k := range b {
					m[i][j] += a[i][k] * b[k][j]
				}
			}
		}
		return m
	}
	m := matrix{{1, 0}, {0, 1}}
	for n := 1; n <= 3; n++ {
		s := complex(0, 2*math.Pi*200)
		y := s * complex(c/float64(n), 0)
		stage := matrix{{1 + complex(r, 0)*y, complex(r, 0)}, {y, 1}}
		m = mul(m, stage)
	}
	return 20 * math.Log10(1/cmplx.Abs(m[0][0]))
}

// Lens traces a ray through a lens with two surfaces.
//
//corpus:at 50 -40 1.52
func Lens(r1, r2, n float64) float64 {
	type ray struct{ y, u float64 }
	surfaces := []struct{ radius, before, after, gap float64 }{{r1, 1, n, 5}, {r2, n, 1, 0}}
	in := &ray{y: 4}
	for _, s := range surfaces {
		in.u = (s.before*in.u - in.y*(s.after-s.before)/s.radius) / s.after
		in.y += in.u * s.gap
	}
	return -in.y / in.u
}

// A Gas has an equation of state.
type Gas interface {
	Pressure(v, t float64) float64
}

// Ideal is an ideal gas.
type Ideal struct{}

// Pressure implements Gas.
func (Ideal) Pressure(v, t float64) float64 { return 8.314 * t / v }

// VanDerWaals is a real gas.
type VanDerWaals struct{ A, B float64 }

// Pressure implements Gas.
func (g VanDerWaals) Pressure(v, t float64) float64 { return 8.314*t/(v-g.B) - g.A/(v*v) }

// Work is the work of an expansion, for a gas that a function returns.
//
//corpus:at 0.02 300
func Work(v, t float64) float64 {
	gas := newGas(v)
	sum := 0.0
	const n = 20
	for i := 0; i < n; i++ {
		at := v * (1 + (float64(i)+0.5)/n)
		sum += gas.Pressure(at, t) * v / n
	}
	return sum
}

func newGas(v float64) Gas {
	if v > 1 {
		return Ideal{}
	}
	return VanDerWaals{A: 0.137, B: 3.87e-5}
}

// Mixture adds pressures of gases in a list.
//
//corpus:at 0.02 300
func Mixture(v, t float64) (total float64) {
	for _, g := range []Gas{Ideal{}, VanDerWaals{0.137, 3.87e-5}, &VanDerWaals{0.2, 4e-5}} {
		total += g.Pressure(v, t)
	}
	return
}

// Potential is the energy of charges, computed by goroutines.
//
//corpus:at 0 0.1 1 0.2 0.5 1.3
func Potential(x []float64) float64 {
	n := len(x) / 2
	parts := make([]float64, n)
	var wg sync.WaitGroup
	for i := 0; i < n; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for j := 0; j < i; j++ {
				parts[i] += 1 / math.Hypot(x[2*i]-x[2*j], x[2*i+1]-x[2*j+1])
			}
		}()
	}
	wg.Wait()
	sum := 0.0
	for _, p := range parts {
		sum += p
	}
	return sum
}

// LennardJones is the energy of a cluster with a cut-off.
//
//corpus:at 0 0 0 1.1 0 0.1 0.5 1 0 0.4 0.3 1.2
func LennardJones(x []float64) float64 {
	type atom = [3]float64
	atoms := make([]atom, 0, len(x)/3)
	for len(x) >= 3 {
		atoms = append(atoms, atom(x[:3]))
		x = x[3:]
	}
	e := 0.0
	for i, a := range atoms {
		for _, b := range atoms[i+1:] {
			d2 := 0.0
			for k := range a {
				d2 += (a[k] - b[k]) * (a[k] - b[k])
			}
			if d2 > 9 {
				continue
			}
			s6 := 1 / (d2 * d2 * d2)
			e += 4 * (s6*s6 - s6)
		}
	}
	return e
}

// Barrier is the probability that a particle passes a barrier.
//
//corpus:at 0.7 1.5 1.2
func Barrier(energy, height, width float64) float64 {
	if energy < height {
		k := math.Sqrt(2 * (height - energy))
		s := math.Sinh(k * width)
		return 1 / (1 + height*height*s*s/(4*energy*(height-energy)))
	}
	k := math.Sqrt(2 * (energy - height))
	s := math.Sin(k * width)
	return 1 / (1 + height*height*s*s/(4*energy*(energy-height)))
}

// Ising is the mean-field magnetisation at a temperature and field, by iteration to a fixed point.
//
//corpus:at 0.8 0.1
func Ising(temperature, field float64) float64 {
	m := 0.5
	for n := 0; ; n++ {
		next := math.Tanh((m + field) / temperature)
		if math.Abs(next-m) < 1e-15 || n > 500 {
			return next
		}
		m = next
	}
}

// Partition is the heat capacity of levels in a table.
//
//corpus:at 0.6
func Partition(t float64) float64 {
	levels := map[int]float64{0: 0, 1: 0.5, 2: 1.2, 3: 2.1}
	z, e, e2 := 0.0, 0.0, 0.0
	for g := 0; g < len(levels); g++ {
		energy := levels[g]
		w := float64(2*g+1) * math.Exp(-energy/t)
		z += w
		e += w * energy
		e2 += w * energy * energy
	}
	return (e2/z - e*e/(z*z)) / (t * t)
}

// Projectile is the range of a throw with drag, up to the ground between two steps.
//
//corpus:at 30 0.8 0.01
func Projectile(speed, angle, drag float64) float64 {
	x, y := 0.0, 0.0
	vx, vy := speed*math.Cos(angle), speed*math.Sin(angle)
	const dt = 0.02
	for {
		v := math.Hypot(vx, vy)
		lastX, lastY := x, y
		x += vx * dt
		y += vy * dt
		vx -= drag * v * vx * dt
		vy -= (9.81 + drag*v*vy) * dt
		if y < 0 {
			t := lastY / (lastY - y)
			return lastX + t*(x-lastX)
		}
	}
}

// Relativistic adds velocities one after the other.
//
//corpus:at 0.3 0.5 0.2
func Relativistic(v []float64) float64 {
	return compose(v...)
}

func compose(v ...float64) float64 {
	if len(v) == 1 {
		return v[0]
	}
	rest := compose(v[1:]...)
	return (v[0] + rest) / (1 + v[0]*rest)
}

// Planck is the colour temperature ratio of two bands.
//
//corpus:at 5800
func Planck(t float64) float64 {
	radiance := func(lambda float64) float64 {
		const h, c, k = 6.62607015e-34, 299792458, 1.380649e-23
		return 2 * h * c * c / math.Pow(lambda, 5) / math.Expm1(h*c/(lambda*k*t))
	}
	return radiance(450e-9) / radiance(650e-9)
}
