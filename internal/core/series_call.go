package core

import (
	"math"

	"github.com/nabla-ad/nabla/internal/series"
	"github.com/nabla-ad/nabla/internal/vector"
)

// This file computes series of custom rules. A rule y = f(x) has ∂y = J(x)·∂x. If its derivative is given over numbers
// it is applied to series, of which that of ∂y has one order less than that of y. For any other rule the tangent, which
// is a rule again, is evaluated at numbers.

// seriesCall sets out to the outputs of a custom rule, whose value at x is y.
func (t *Tracer) seriesCall(c Custom, xs []Rep, x, y []float64, out []Rep) {
	active := false
	for _, r := range xs {
		active = t.Own(r) != 0 || active
	}
	if !active || t.arith.Order() == 0 {
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
		if bilinear(c, len(xs)) {
			t.seriesBilinear(c, xs, x, y, out)
			return
		}
		switch c := c.(type) {
		case Inlined:
			t.seriesPush(c, func(ydot, x, y, xdot []Rep) { copy(ydot, c.PushOver(x, y, xdot)) }, xs, out)
			t.seriesFirst(c, xs, x, y, out)
			return
		case Pushable:
			if c.Pushes() {
				t.seriesPush(c, c.PushAt, xs, out)
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

// maxPushes is the largest number of runs of derivatives over series in one call of a rule. It is not reached by a rule
// whose derivative consists of elementary functions and products, but by one that calls itself, as that of a solution
// of linear equations does: the runs double with every order.
const maxPushes = 1 << 14

// seriesPush computes the coefficients of out, the outputs of a rule at xs, by push, its derivative over numbers. Part
// p of the outputs follows from their parts below p: ∂y = J(x)·∂x is computed to order p-1, for the derivatives ∂ by
// each direction or variable.
func (t *Tracer) seriesPush(c Custom, push func(ydot, x, y, xdot []Rep), xs, out []Rep) {
	order, space := t.arith.Order(), t.arith.Space()
	from, end := space.Block(1)
	directions := end - from
	if space.Polynomial() {
		directions = space.Variables()
	}
	if t.pushDepth == 0 {
		t.pushes = 0
	}
	t.pushDepth++
	defer func() {
		t.pushDepth--
		t.arith.Start(order, t.strong)
	}()
	xdot, ydot, y := make([]Rep, len(xs)), make([]Rep, len(out)), make([]Rep, len(out))
	for p := 1; p <= order; p++ {
		t.arith.Start(p-1, t.strong)
		for h := range directions {
			if t.pushes++; t.pushes > maxPushes {
				panic(Abort{&OrderError{Op: "rule " + c.Name(), Order: order, Max: p - 1,
					Remedy: "its derivative is computed by itself, in a time that doubles with every order"}})
			}
			for j, r := range xs {
				if xdot[j] = (Rep{}); r.ID != 0 {
					xdot[j] = t.differentiated(r.ID, p, h, directions)
				}
			}
			copy(y, out)
			push(ydot, xs, y, xdot)
			for i, r := range ydot {
				t.integrate(out[i].ID, r, p, h, directions)
			}
		}
	}
}

// differentiated returns the derivative of number id by direction h of several, to order p-1.
func (t *Tracer) differentiated(id int32, p, h, directions int) Rep {
	space := t.arith.Space()
	to := t.freshSeries()
	t.clearSeries(to)
	src, d := t.Series(id)
	dst := t.SetSeries(to, p-1)
	_, end := space.Block(min(d, p))
	v := 0.0
	if space.Polynomial() {
		_, less := space.Block(p - 1)
		v = space.Differentiate(dst[:less], src[:end], h, t.strong)
		return t.number(v+0, to)
	}
	for k := 1; k <= min(d, p); k++ {
		c := src[(k-1)*directions+h]
		if k == 1 {
			v = c + 0
		} else if !t.strong || !IsStructuralZero(c) {
			dst[(k-2)*directions+h] = float64(k)*c + 0
		}
	}
	return t.number(v, to)
}

// integrate adds to part p of number id that of the derivative r by direction h.
func (t *Tracer) integrate(id int32, r Rep, p, h, directions int) {
	var c []float64
	if from := t.Own(r); from != 0 {
		s, d := t.Series(from)
		_, end := t.arith.Space().Block(min(d, p-1))
		c = s[:end]
	} else if r.V == 0 && p == 1 {
		return // structurally zero
	}
	dst, _ := t.Series(id)
	if space := t.arith.Space(); space.Polynomial() {
		space.AddIntegral(dst, r.V, c, h, p)
		return
	}
	at := (p-1)*directions + h
	switch {
	case p == 1:
		dst[at] = r.V
	case (p-2)*directions+h < len(c):
		dst[at] = c[(p-2)*directions+h] / float64(p)
	}
}

// seriesBilinear sets the coefficients of out, the outputs of a rule that is bilinear in its inputs, at xs: part k is
// the sum of the values at the products of parts, which for different parts are derivatives of one along the other.
func (t *Tracer) seriesBilinear(c Custom, xs []Rep, x, y []float64, out []Rep) {
	space, order := t.arith.Space(), t.arith.Order()
	value, ydot := make([]float64, len(out)), make([]float64, len(out))
	a, b := make([]float64, len(x)), make([]float64, len(x))
	load := func(dst []float64, at int) (any bool) {
		for j, r := range xs {
			dst[j] = 0
			if r.ID != 0 {
				s, _ := t.Series(r.ID)
				dst[j] = s[at] + 0
				any = any || s[at] != 0 || t.strong && !IsStructuralZero(s[at])
			}
		}
		return any
	}
	add := func(to int, v []float64) {
		for i, r := range out {
			s, _ := t.Series(r.ID)
			s[to] += v[i] + 0
		}
	}
	for k := 1; k <= order; k++ {
		for at, end := space.Block(k); at < end; at++ {
			if load(b, at) {
				c.JVP(ydot, x, y, b)
				add(at, ydot)
			}
		}
		space.Products(k, func(i, j, to int) {
			if !load(a, i) || !load(b, j) {
				return
			}
			if c.Value(value, a); i != j {
				c.JVP(ydot, a, value, b)
				add(to, ydot)
				return
			}
			add(to, value)
		})
	}
}

// bilinear reports whether c is linear in each of two groups of inputs.
func bilinear(c Custom, n int) bool {
	g, ok := c.(Grouped)
	if !ok {
		return false
	}
	_, _, curved := g.Groups(n)
	return !curved
}

// seriesFirst replaces the parts of degree 1 of out by those that the rule computes from numbers if one is NaN, since
// these distinguish structural zeros.
func (t *Tracer) seriesFirst(c Custom, xs []Rep, x, y []float64, out []Rep) {
	from, end := t.arith.Space().Block(1)
	nan := false
	for _, r := range out {
		s, _ := t.Series(r.ID)
		nan = nan || vector.AnyNaN(s[from:end])
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

// maxNumericOrder is the highest order of a rule with derivatives at numbers. Beyond order 1 these are differentiated
// by differences, with some twenty evaluations and the loss of two or three digits for each further order.
const maxNumericOrder = 4

// seriesNumeric computes the coefficients of out, the outputs of c at xs, by values of its tangents.
func (t *Tracer) seriesNumeric(c Custom, xs, out []Rep) {
	space, order := t.arith.Space(), t.arith.Order()
	if order > maxNumericOrder {
		panic(Abort{&OrderError{Op: "rule " + c.Name(), Order: order, Max: maxNumericOrder,
			Remedy: "give the rule JVPReal or VJPReal, whose derivatives have any order"}})
	}
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
			_, end := poly.Block(min(d, order))
			for i := range end {
				v := s[i*lanes+lane]
				in[j].c[i] = v + 0
				moved = moved || v != 0 || t.strong && !IsStructuralZero(v)
			}
		}
		if !moved {
			continue
		}
		for i, p := range numericSeries(poly, c, in, order) {
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
// each variable h, divided by k, with the tangent T of c and the derivatives ∂x by the variable.
func numericSeries(s *series.Space, c Custom, in []polynomial, order int) []polynomial {
	n := len(in)
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
			args[n+j].v = s.Differentiate(args[n+j].c, p.c[:size], h, false)
		}
		for i, p := range numericSeries(s, tangent, args, order-1) {
			s.AddIntegral(out[i].c, p.v, p.c, h, 0)
		}
	}
	return out
}
