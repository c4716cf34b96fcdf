// Package chemistry has programs about reactions, equilibria and molecules.
package chemistry

import (
	"errors"
	"fmt"
	"math"
	"sort"
)

// A Reaction has a rate and stoichiometric coefficients by species.
type Reaction struct {
	A, Ea    float64
	Reagents map[string]int
	Products map[string]int
}

// Rate is the rate constant at a temperature.
func (r Reaction) Rate(t float64) float64 { return r.A * math.Exp(-r.Ea/(8.314*t)) }

// Robertson is the stiff problem after implicit steps with Newton's method.
//
//corpus:at 0.04 3
func Robertson(k1, k2 float64) (float64, error) {
	y := [3]float64{1, 0, 0}
	const h = 0.1
	for step := 0; step < 5; step++ {
		z := y
		converged := false
		for iter := 0; iter < 30 && !converged; iter++ {
			r1, r2, r3 := k1*z[0], k2*z[1]*z[1], 0.5*z[1]*z[2]
			g := [3]float64{
				z[0] - y[0] - h*(-r1+r3),
				z[1] - y[1] - h*(r1-r2-r3),
				z[2] - y[2] - h*r2,
			}
			j := [3][3]float64{
				{1 + h*k1, -h * 0.5 * z[2], -h * 0.5 * z[1]},
				{-h * k1, 1 + h*(2*k2*z[1]+0.5*z[2]), h * 0.5 * z[1]},
				{0, -h * 2 * k2 * z[1], 1},
			}
			d, err := solve3(j, g)
			if err != nil {
				return 0, err
			}
			size := 0.0
			for i := range z {
				z[i] -= d[i]
				size = math.Max(size, math.Abs(d[i]))
			}
			converged = size < 1e-14
		}
		y = z
	}
	return y[2], nil
}

var errSingular = errors.New("singular matrix")

// solve3 is Gauss's elimination with pivots.
func solve3(m [3][3]float64, b [3]float64) ([3]float64, error) {
	for c := 0; c < 3; c++ {
		p := c
		for r := c + 1; r < 3; r++ {
			if math.Abs(m[r][c]) > math.Abs(m[p][c]) {
				p = r
			}
		}
		if m[p][c] == 0 {
			return b, errSingular
		}
		m[c], m[p] = m[p], m[c]
		b[c], b[p] = b[p], b[c]
		for r := c + 1; r < 3; r++ {
			w := m[r][c] / m[c][c]
			for k := c; k < 3; k++ {
				m[r][k] -= w * m[c][k]
			}
			b[r] -= w * b[c]
		}
	}
	for c := 2; c >= 0; c-- {
		for k := c + 1; k < 3; k++ {
			b[c] -= m[c][k] * b[k]
		}
		b[c] /= m[c][c]
	}
	return b, nil
}

// Network integrates reactions between species in maps.
//
//corpus:at 500 1 0.5
func Network(t, a, b float64) float64 {
	reactions := []Reaction{
		{A: 2, Ea: 3000, Reagents: map[string]int{"A": 1, "B": 1}, Products: map[string]int{"C": 1}},
		{A: 1, Ea: 2000, Reagents: map[string]int{"C": 1}, Products: map[string]int{"A": 1, "D": 1}},
	}
	conc := map[string]float64{"A": a, "B": b, "C": 0, "D": 0}
	for i := 0; i < 20; i++ {
		change := map[string]float64{}
		for _, r := range reactions {
			rate := r.Rate(t)
			for s, n := range r.Reagents {
				rate *= math.Pow(conc[s], float64(n))
			}
			for s, n := range r.Reagents {
				change[s] -= rate * float64(n)
			}
			for s, n := range r.Products {
				change[s] += rate * float64(n)
			}
		}
		for s, d := range change {
			conc[s] += 0.05 * d
		}
	}
	return conc["D"]
}

// PH is the pH of a weak acid, by Newton's method.
//
//corpus:at 0.1 0.000018
func PH(c, ka float64) float64 {
	const kw = 1e-14
	h := math.Sqrt(c * ka)
	for i := 0; i < 50; i++ {
		f := h - kw/h - c*ka/(h+ka)
		df := 1 + kw/(h*h) + c*ka/((h+ka)*(h+ka))
		next := h - f/df
		if next <= 0 {
			next = h / 2
		}
		if math.Abs(next-h) < 1e-17 {
			break
		}
		h = next
	}
	return -math.Log10(h)
}

// Flash is the vapour fraction of a mixture after Rachford and Rice.
//
//corpus:at 350 0.8
func Flash(t, p float64) float64 {
	type component struct{ z, a, b float64 }
	mixture := []component{{0.4, 11, 3500}, {0.35, 10.5, 3600}, {0.25, 12, 4300}}
	k := make([]float64, len(mixture))
	for i, c := range mixture {
		k[i] = math.Exp(c.a-c.b/t) / p
	}
	v := 0.5
	for range 40 {
		f, df := 0.0, 0.0
		for i, c := range mixture {
			d := 1 + v*(k[i]-1)
			f += c.z * (k[i] - 1) / d
			df -= c.z * (k[i] - 1) * (k[i] - 1) / (d * d)
		}
		v -= f / df
	}
	return v
}

// VanderWaals is the compressibility by Cardano's formula.
//
//corpus:at 400 20
func VanderWaals(t, p float64) float64 {
	const tc, pc = 304.1, 73.8
	tr, pr := t/tc, p/pc
	a, b := 27./64*pr/(tr*tr), pr/(8*tr)
	c2, c1, c0 := -(1 + b), a, -a*b
	q := (3*c1 - c2*c2) / 9
	r := (9*c2*c1 - 27*c0 - 2*c2*c2*c2) / 54
	d := q*q*q + r*r
	if d > 0 {
		s := math.Sqrt(d)
		return math.Cbrt(r+s) + math.Cbrt(r-s) - c2/3
	}
	theta := math.Acos(r / math.Sqrt(-q*q*q))
	return 2*math.Sqrt(-q)*math.Cos(theta/3) - c2/3
}

// Bond is the energy of a molecule with bonds, angles and a torsion.
//
//corpus:at 0 0 0 1.5 0 0.1 2 1.4 0 3.4 1.5 0.6
func Bond(x []float64) float64 {
	type vec = [3]float64
	at := func(i int) vec { return vec{x[3*i], x[3*i+1], x[3*i+2]} }
	sub := func(a, b vec) (d vec) {
		for k := range d {
			d[k] = a[k] - b[k]
		}
		return
	}
	dot := func(a, b vec) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }
	cross := func(a, b vec) vec {
		return vec{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
	}
	norm := func(a vec) float64 { return math.Sqrt(dot(a, a)) }
	e := 0.0
	for i := 0; i < 3; i++ {
		d := norm(sub(at(i+1), at(i))) - 1.53
		e += 300 * d * d
	}
	for i := 0; i < 2; i++ {
		u, v := sub(at(i), at(i+1)), sub(at(i+2), at(i+1))
		angle := math.Acos(dot(u, v)/(norm(u)*norm(v))) - 1.95
		e += 60 * angle * angle
	}
	b1, b2, b3 := sub(at(1), at(0)), sub(at(2), at(1)), sub(at(3), at(2))
	n1, n2 := cross(b1, b2), cross(b2, b3)
	phi := math.Atan2(norm(b2)*dot(b1, n2), dot(n1, n2))
	return e + 1.4*(1+math.Cos(3*phi))
}

// Titration is the volume where a curve is steepest, by a table that is sorted.
//
//corpus:at 0.1 0.0212
func Titration(c, v float64) float64 {
	type point struct{ volume, slope float64 }
	var table []point
	for i := 1; i < 8; i++ {
		x := float64(i) * 0.005
		table = append(table, point{x, c * v / (math.Abs(x-v) + 0.001)})
	}
	sort.Slice(table, func(i, j int) bool { return table[i].slope > table[j].slope })
	return table[0].volume*table[0].slope + table[1].slope
}

// Enthalpy is an enthalpy by polynomials in ranges.
//
//corpus:at 700
//corpus:at 1300
func Enthalpy(t float64) (float64, error) {
	ranges := []struct {
		lo, hi float64
		c      []float64
	}{
		{200, 1000, []float64{3.53, -1.2e-4, -5e-7, 2.4e-9, -1.4e-12}},
		{1000, 6000, []float64{2.95, 1.4e-3, -4.9e-7, 7.9e-11, -4.6e-15}},
	}
	for _, r := range ranges {
		if t >= r.lo && t < r.hi {
			h, power := 0.0, t
			for i, c := range r.c {
				h += c * power / float64(i+1)
				power *= t
			}
			return 8.314 * h, nil
		}
	}
	return 0, fmt.Errorf("no data at %g K", t)
}

// Huckel is the lowest energy of a ring of atoms by power iteration.
//
//corpus:at -1 0.2
func Huckel(beta, alpha float64) float64 {
	const n = 6
	h := [n][n]float64{}
	for i := range h {
		h[i][i] = alpha * float64(i%2)
		h[i][(i+1)%n], h[(i+1)%n][i] = beta, beta
	}
	v := [n]float64{1, 0.9, 1, 0.8, 1, 0.9}
	e := 0.0
	for iter := 0; iter < 40; iter++ {
		var w [n]float64
		for i := range h {
			for j := range h[i] {
				w[i] += h[i][j] * v[j]
			}
			w[i] -= 2 * v[i]
		}
		norm := 0.0
		for _, c := range w {
			norm += c * c
		}
		norm = math.Sqrt(norm)
		for i := range w {
			v[i] = w[i] / norm
		}
		e = 2 - norm
	}
	return e
}
