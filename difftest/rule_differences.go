package difftest

import (
	"math"
	"slices"

	"github.com/nabla-ad/nabla"
)

// slope returns the derivatives of g at 0 and their estimated errors, for each of the k numbers that g writes. It takes
// central differences over halved steps, from h on, and extrapolates them to step 0 by Neville's scheme in h² (Ridders
// 1982). For each component it chooses the entry of the table that is closest to its neighbours. If differences with
// smaller steps disagree with that entry, the error is infinite. ok is false if g fails.
func slope(k int, h float64, g func(dst []float64, h float64) bool) (d, off []float64, ok bool) {
	up, down := make([]float64, k), make([]float64, k)
	all := make([]neville, k)
	for i := range all {
		all[i].bestError = math.Inf(1)
	}
	for range levels {
		if !g(up, h) || !g(down, -h) {
			return nil, nil, false
		}
		for i := range all {
			all[i].add((up[i]-down[i])/(2*h), 4*0x1p-52*max(math.Abs(up[i]), math.Abs(down[i]))/h)
		}
		h /= 2
	}
	for i := range all {
		d, off = append(d, all[i].best), append(off, all[i].finalError())
	}
	return d, off, true
}

// levels is the number of halvings, tableWidth that of columns of the table.
const levels, tableWidth = 24, 8

// A neville is the extrapolation table of one component, of which the last row is kept.
type neville struct {
	row         []float64
	differences []float64 // first column
	// best is the best entry so far, bestError its estimated error.
	best, bestError float64
	level           int // row of the best entry
}

// add adds a row that begins with the difference a, whose rounding error is at most noise.
func (t *neville) add(a, noise float64) {
	l := len(t.differences)
	t.differences = append(t.differences, a)
	factor := 1.0
	for j, above := range t.row {
		t.row[j] = a
		factor *= 4
		next := a + (a-above)/(factor-1)
		e := max(math.Abs(next-a), math.Abs(next-above)) + noise
		if j+1 < len(t.row) { // the entry of the previous row above next
			if e = max(e, math.Abs(next-t.row[j+1])); e < t.bestError {
				t.best, t.bestError, t.level = next, e, l
			}
		}
		a = next
	}
	if len(t.row) < tableWidth {
		t.row = append(t.row, a)
	}
}

// finalError returns the estimated error of the best entry: infinite if the difference six rows later, whose truncation
// error is much smaller, disagrees with it.
func (t *neville) finalError() float64 {
	if a := t.differences[min(t.level+6, levels-1)]; !(math.Abs(a-t.best) <= 0.1*math.Abs(t.best)+100*t.bestError) {
		return math.Inf(1)
	}
	return t.bestError
}

// step returns the first step of differences with respect to a number v.
func step(v float64) float64 { return 0.05 * max(math.Abs(v), 1e-2) }

// differences computes the Jacobian and its errors from Value.
func (c *ruleChecker) differences() {
	n := len(c.x)
	c.jac, c.jacError = make([]float64, c.m*n), make([]float64, c.m*n)
	for j, v := range c.x {
		if c.fixed(j) {
			continue
		}
		p := slices.Clone(c.x)
		d, off, ok := slope(c.m, step(v), func(dst []float64, h float64) bool {
			p[j] = v + h
			return c.callRecovered("Value", func() { c.r.Value(dst, slices.Clone(p)) })
		})
		for i := range c.m {
			c.jacError[i*n+j] = math.Inf(1)
			if ok {
				c.jac[i*n+j], c.jacError[i*n+j] = d[i], off[i]
			}
		}
	}
}

// agreement is the tolerance of a derivative with respect to differences, relative to the largest entry of its row.
const agreement = 1e-6

// agreesWithDifferences reports whether a Jacobian agrees with the one by differences.
func (c *ruleChecker) agreesWithDifferences(f form, jac []float64) bool {
	n := len(c.x)
	for i := range c.m {
		size := 0.0
		for j := range n {
			size = max(size, math.Abs(jac[i*n+j]), math.Abs(c.jac[i*n+j]))
		}
		for j := range n {
			a, d, off := jac[i*n+j], c.jac[i*n+j], c.jacError[i*n+j]
			switch {
			case off > 0.01*size && off > 1e-9*max(1, math.Abs(c.y[i])):
				c.failf("differences",
					"differences of Value find no ∂y[%d]/∂x[%d], so that nothing is compared with them; "+
						"choose a point where the rule is smooth", i, j)
			case !(math.Abs(a-d) <= agreement*size+10*off):
				c.failf(f.name+" wrong", "%s has ∂y[%d]/∂x[%d] = %.9g, and differences of Value give %.9g", f.name, i,
					j, a, d)
				return false
			}
		}
	}
	return true
}

// compareForms compares two Jacobians that both agree with differences, to more digits.
func (c *ruleChecker) compareForms(kind string, a, b []float64, say func(i, j int, u, v float64) string) {
	n := len(c.x)
	for i := range c.m {
		size := 0.0
		for j := range n {
			size = max(size, math.Abs(a[i*n+j]))
		}
		for j := range n {
			if u, v := a[i*n+j], b[i*n+j]; !(math.Abs(u-v) <= 1e-9*size) && finite(u-v) {
				c.failf(kind, "%s", say(i, j, u, v))
				return
			}
		}
	}
}

// checkSecond compares the derivatives of JVPReal and VJPReal with differences of these functions. A function that
// takes the value out of a Real loses them.
func (c *ruleChecker) checkSecond() {
	for _, f := range []struct {
		name string
		over func(out, x, y, d []nabla.Real)
	}{{"JVPReal", c.r.JVPReal}, {"VJPReal", c.r.VJPReal}} {
		if f.over == nil || c.reported[f.name+" wrong"] || c.reported["panic "+f.name] {
			continue
		}
		c.checkSecondOf(f.name, f.over)
	}
}

// checkSecondOf compares the derivative of out = over(x, y(x), d), along a direction in x and through the rule, with
// differences.
func (c *ruleChecker) checkSecondOf(name string, over func(out, x, y, d []nabla.Real)) {
	n := len(c.x)
	rule := c.r.Func()
	k, d := c.m, constants(c.direction(form{forward: true}))
	if name == "VJPReal" {
		k, d = n, constants(zigzag(c.m))
	}
	compute := func(out, x []nabla.Real) {
		x = slices.Clone(x)
		for _, i := range c.r.NoTangent {
			x[i] = nabla.StopGradient(x[i])
		}
		over(out, x, rule(x...), slices.Clone(d))
		if name == "VJPReal" {
			for _, i := range c.r.NoTangent { // engines drop these
				out[i] = nabla.Real{}
			}
		}
	}
	v := make([]float64, n)
	for i, x := range c.x {
		if !c.fixed(i) {
			v[i] = max(math.Abs(x), 1e-2) * (1 + float64(i%3)/2)
		}
	}
	along, ok := c.alongReals(name, k, v, compute)
	if !ok {
		return
	}
	want, off, ok := slope(k, 0.05, func(dst []float64, h float64) bool {
		return c.callRecovered(name, func() {
			p := slices.Clone(c.x)
			for i := range p {
				p[i] += h * v[i]
			}
			out := make([]nabla.Real, k)
			compute(out, constants(p))
			for i, a := range out {
				dst[i] = a.Value()
			}
		})
	})
	if !ok {
		return
	}
	size := 0.0
	for i := range k {
		size = max(size, math.Abs(want[i]), math.Abs(along[i]))
	}
	for i := range k {
		if off[i] <= 0.01*size && !(math.Abs(along[i]-want[i]) <= agreement*size+10*off[i]) {
			c.failf(name+" second",
				"the derivative of result %d of %s along %v is %.9g, and differences of %s give %.9g: "+
					"second derivatives would be wrong; compute with Reals to the end, from x, y and the last argument",
				i, name, v, along[i], name, want[i])
			return
		}
	}
}

// alongReals returns the derivative of compute at x along v, as the tangent of its recording.
func (c *ruleChecker) alongReals(name string, k int, v []float64, compute func(out, x []nabla.Real)) ([]float64, bool) {
	g := nabla.PushforwardFunc(nabla.InPlace(k, func(y, x []nabla.Real) {
		clear(y) // VJPReal adds
		compute(y, x)
	}), recorded{})
	out := make([]float64, k)
	ok := c.callRecovered(name, func() {
		for i, a := range g(constants(c.x), constants(v))[:k] {
			out[i] = a.Value()
		}
	})
	return out, ok
}

// recorded is a backend without methods, so that package nabla differentiates the recorded program.
type recorded struct{}

func (recorded) Name() string { return "recorded" }

// checkPromises checks Pattern and Linear.
func (c *ruleChecker) checkPromises() {
	n := len(c.x)
	if c.r.Pattern != nil {
		c.callRecovered("Pattern", func() {
			p := c.r.Pattern(n)
			if p == nil {
				return
			}
			if rows, cols := p.Dims(); rows != c.m || cols != n {
				c.failf("Pattern", "Pattern(%d) is %d×%d, want %d×%d, outputs by inputs", n, rows, cols, c.m, n)
				return
			}
			for i := range c.m {
				for j := range n {
					if e := i*n + j; !p.Has(i, j) && math.Abs(c.jac[e]) > 10*c.jacError[e] {
						c.failf("Pattern", "Pattern(%d) has no entry (%d, %d), and ∂y[%d]/∂x[%d] is %.9g", n, i, j, i,
							j, c.jac[e])
						return
					}
				}
			}
		})
	}
	if !c.r.Linear {
		return
	}
	elsewhere := &ruleChecker{
		t:        c.t,
		r:        c.r,
		label:    c.label,
		x:        c.perturbed(c.perturbed(c.x)),
		y:        c.y,
		m:        c.m,
		reported: c.reported,
	}
	for i, v := range elsewhere.x {
		if !c.fixed(i) {
			elsewhere.x[i] = v + 0.5*math.Abs(v)
		}
	}
	elsewhere.differences()
	for e, v := range c.jac {
		if w := elsewhere.jac[e]; math.Abs(v-w) > 10*(c.jacError[e]+elsewhere.jacError[e])+agreement*math.Abs(v) {
			c.failf("Linear", "Linear is set, and ∂y[%d]/∂x[%d] is %.9g there and %.9g at %v", e/n, e%n, v, w,
				elsewhere.x)
			return
		}
	}
}
