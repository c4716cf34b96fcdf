package core

import (
	"math"

	"github.com/nabla-ad/nabla/internal/series"
)

// This file computes series of custom rules. The rule y = f(x) has E y = J(x)·E x, with E the Euler operator of package
// series. A rule whose derivative is given over numbers is applied to series: part k of the result is right if y is
// right below k. For any other rule the tangent, which is a rule again, is evaluated at numbers.

// seriesCall sets out to the outputs of a custom rule, whose value at x is y.
func (t *Tracer) seriesCall(c Custom, xs []Rep, x, y []float64, out []Rep) {
	active := false
	for _, r := range xs {
		active = t.Own(r) != 0 || active
	}
	if !active {
		for i, v := range y {
			out[i] = Rep{V: v}
		}
		return
	}
	if c, ok := c.(Evaluable); ok {
		c.EvaluateOver(out, xs)
		return
	}
	for i, v := range y {
		id := t.freshSeries()
		out[i] = t.number(v, id)
		t.clearSeries(id)
	}
	if t.arith.Order() > 1 {
		switch c := c.(type) {
		case Inlined:
			t.seriesPush(func(ydot, x, y, xdot []Rep) { copy(ydot, c.PushOver(x, y, xdot)) }, xs, out)
			t.seriesFirst(c, xs, x, y, out)
			return
		case Pushable:
			if c.Pushes() {
				t.seriesPush(c.PushAt, xs, out)
				t.seriesFirst(c, xs, x, y, out)
				return
			}
		}
	}
	t.seriesNumeric(c, xs, out)
}

// clearSeries makes number id a series of the full degree that is structurally zero.
func (t *Tracer) clearSeries(id int32) {
	c := t.SetSeries(id, t.arith.Order())
	for i := range c {
		c[i] = 0
		if t.strong {
			c[i] = math.Copysign(0, -1)
		}
	}
}

// seriesPush computes the coefficients of out, the outputs of a rule at xs, by push, its derivative over numbers. It
// repeats this until the coefficients no longer change, which takes as many runs as the order if the derivative reads
// the outputs, and two runs otherwise.
func (t *Tracer) seriesPush(push func(ydot, x, y, xdot []Rep), xs, out []Rep) {
	order, space := t.arith.Order(), t.arith.Space()
	xdot, ydot, y := make([]Rep, len(xs)), make([]Rep, len(out)), make([]Rep, len(out))
	for j, r := range xs {
		if r.ID == 0 {
			continue
		}
		id := t.freshSeries()
		src, d := t.Series(r.ID)
		dst := t.SetSeries(id, d)
		for k := 1; k <= order; k++ {
			for i, end := space.Block(k); i < end; i++ {
				dst[i] = float64(k) * src[i]
			}
		}
		xdot[j] = t.number(0, id)
	}
	for i, r := range out {
		y[i] = Rep{V: r.V} // nothing but the value is known
	}
	for range order {
		push(ydot, xs, y, xdot)
		changed := false
		for i, r := range ydot {
			if id := t.Own(r); id != 0 {
				changed = t.integrate(out[i].ID, id) || changed
			}
		}
		if !changed {
			return
		}
		copy(y, out)
	}
}

// integrate sets the coefficients of number dst to those of src, divided by the degree, and reports whether they were
// others before.
func (t *Tracer) integrate(dst, src int32) (changed bool) {
	from, d := t.Series(src)
	to, _ := t.Series(dst)
	for k := 1; k <= d; k++ {
		for i, end := t.arith.Space().Block(k); i < end; i++ {
			v := from[i] / float64(k)
			if math.Float64bits(v) != math.Float64bits(to[i]) {
				to[i], changed = v, true
			}
		}
	}
	return changed
}

// seriesFirst replaces the parts of degree 1 of out by those that the rule computes from numbers if one is NaN: a rule
// over series multiplies the value of E x, which is 0, by derivatives that may be infinite.
func (t *Tracer) seriesFirst(c Custom, xs []Rep, x, y []float64, out []Rep) {
	from, end := t.arith.Space().Block(1)
	nan := false
	for _, r := range out {
		s, _ := t.Series(r.ID)
		nan = nan || AnyNaN(s[from:end])
	}
	if !nan {
		return
	}
	xdot, ydot := make([]float64, len(x)), make([]float64, len(y))
	for l := from; l < end; l++ {
		for j, r := range xs {
			xdot[j] = 0
			if r.ID != 0 {
				s, _ := t.Series(r.ID)
				xdot[j] = s[l] + 0
			}
		}
		c.JVP(ydot, x, y, xdot)
		for i, r := range out {
			s, _ := t.Series(r.ID)
			if !t.strong || !IsStructuralZero(s[l]) {
				s[l] = ydot[i] + 0
			}
		}
	}
}

// maxTangentInputs is the largest number of inputs of a tangent of a rule that is evaluated at numbers. The inputs
// double with every order.
const maxTangentInputs = 1 << 14

// seriesNumeric computes the coefficients of out, the outputs of c at xs, by values of its tangents.
func (t *Tracer) seriesNumeric(c Custom, xs, out []Rep) {
	space, order := t.arith.Space(), t.arith.Order()
	poly, lanes := space, 1
	if !space.Polynomial() {
		from, end := space.Block(1)
		lanes = end - from
		if t.univariate == nil || t.univariate.Order() != order {
			t.univariate = series.Powers(order, []int{order})
		}
		poly = t.univariate
	}
	_, size := poly.Block(order)
	in := make([]polynomial, len(xs))
	for lane := range lanes {
		moved := false
		for j, r := range xs {
			in[j] = polynomial{r.V, make([]float64, size)}
			if r.ID == 0 {
				continue
			}
			s, d := t.Series(r.ID)
			_, end := poly.Block(d)
			for i := range end {
				v := s[i*lanes+lane]
				in[j].c[i] = v + 0
				moved = moved || v != 0 || t.strong && !IsStructuralZero(v)
			}
		}
		if !moved {
			continue
		}
		for i, p := range numericSeries(poly, c, in, order, order) {
			s, _ := t.Series(out[i].ID)
			for k, v := range p.c {
				s[k*lanes+lane] = v + 0
			}
		}
	}
}

// A polynomial is a value and the coefficients in a space of powers.
type polynomial struct {
	v float64
	c []float64
}

// numericSeries returns the outputs of c at in up to the given order: part k of y is that of the sum of h·T(x, ∂x), for
// each variable h, divided by k, with the tangent T of c and the derivatives ∂x by the variable. total is the order of
// the first call.
func numericSeries(s *series.Space, c Custom, in []polynomial, order, total int) []polynomial {
	n := len(in)
	if n > maxTangentInputs {
		panic(Abort{&OrderError{Op: "rule " + c.Name(), Order: total, Max: total - order,
			Remedy: "give the rule JVPReal or VJPReal, whose derivatives have any order"}})
	}
	out := make([]polynomial, c.Outputs(n))
	x, y := make([]float64, n), make([]float64, len(out))
	for j, p := range in {
		x[j] = p.v
	}
	c.Value(y, x)
	_, size := s.Block(order)
	for i := range out {
		out[i] = polynomial{y[i], make([]float64, size)}
	}
	if order == 0 {
		return out
	}
	tangent := c.Tangent(n)
	args := make([]polynomial, 2*n)
	_, less := s.Block(order - 1)
	for h := range s.Variables() {
		for j, p := range in {
			args[j] = polynomial{p.v, p.c[:less]}
			args[n+j] = polynomial{c: make([]float64, less)}
			args[n+j].v = s.Differentiate(args[n+j].c, p.c[:size], h)
		}
		for i, p := range numericSeries(s, tangent, args, order-1, total) {
			s.AddIntegral(out[i].c, p.v, p.c, h)
		}
	}
	return out
}
