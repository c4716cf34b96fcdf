package core

import (
	"math"

	"github.com/nabla-ad/nabla/rules"
)

// This file is forward over reverse mode, operation by operation, by the slow path of hyper-dual numbers: for tools
// that ask how a derivative comes about. All derivatives are those of strong mode, in which -0 is a structural zero.

// A Dual is a value with its derivative along a direction.
type Dual struct{ V, D float64 }

// Push returns the derivative of v = op(x, y) along the direction of x and y. For an operation with one operand y is
// ignored. Choices, such as Max, are not operations here.
func Push(op rules.Op, x, y Dual, v float64) float64 {
	s := strict{op: op, strong: true, x: x.V, y: y.V, v: v, on: [3]bool{true, true, true}}
	return s.first(x.D, y.D)
}

// PullAlong returns the derivative along a direction of what the cotangent bar of v = op(x, y) contributes to that of
// argument i: of bar times the partial derivative of op with respect to it. Op is as for Push.
func PullAlong(op rules.Op, i int, x, y, v, bar Dual) float64 {
	s := strict{op: op, strong: true, x: x.V, y: y.V, v: v.V, on: [3]bool{true, true, true}}
	s.args = [3]jet{s.jetOf(0, x.V, x.D), s.jetOf(1, y.V, y.D), s.jetOf(2, v.V, v.D)}
	return s.tangent(s.second(i, bar.V, bar.D))
}

// PushCall returns the derivatives of y = c(x) along the direction xdot.
func PushCall(c Custom, x, y, xdot []float64) []float64 {
	plain, moved := plainly(xdot)
	ydot := make([]float64, len(y))
	if moved {
		c.JVP(ydot, x, y, plain)
	}
	return strongly(ydot, moved)
}

// PullAlongCall returns the derivatives along a direction of what the cotangents ybar of y = c(x) contribute to those
// of the arguments. xdot, ydot and ybardot are the derivatives of x, y and ybar along it. A rule without second
// derivatives panics with an Abort.
func PullAlongCall(c Custom, x, y, ybar, xdot, ydot, ybardot []float64) []float64 {
	n, m := len(x), len(y)
	if given, ok := c.(Inlined); ok {
		return pullOverDuals(given, x, y, ybar, xdot, ydot, ybardot)
	}
	point, dir := make([]float64, n+m), make([]float64, n+m)
	copy(point, x)
	for i, w := range ybar {
		point[n+i] = w + 0
	}
	dx, bent := plainly(xdot)
	dw, moved := plainly(ybardot)
	copy(dir, dx)
	copy(dir[n:], dw)
	out := make([]float64, n)
	switch {
	case bent:
		bar := make([]float64, n)
		c.VJP(bar, x, y, point[n:])
		c.Cotangent(n).JVP(out, point, bar, dir)
	case moved:
		c.VJP(out, x, y, dw)
	}
	return strongly(out, bent || moved)
}

// plainly returns derivatives without structural zeros, and reports whether there are others.
func plainly(d []float64) (plain []float64, moved bool) {
	plain = make([]float64, len(d))
	for i, v := range d {
		plain[i] = v + 0
		moved = moved || !IsStructuralZero(v)
	}
	return plain, moved
}

// strongly makes d structurally zero unless moved is set, and free of structural zeros otherwise, which a rule does not
// distinguish.
func strongly(d []float64, moved bool) []float64 {
	for i := range d {
		if d[i] += 0; !moved {
			d[i] = math.Copysign(0, -1)
		}
	}
	return d
}

// pullOverDuals is PullAlongCall for a rule that gives its derivatives over numbers.
func pullOverDuals(c Inlined, x, y, ybar, xdot, ydot, ybardot []float64) []float64 {
	n, m := len(x), len(y)
	t := new(Tracer)
	t.StartDual(n+2*m, 1, 0, true)
	defer t.Close()
	args := make([]Rep, n+2*m)
	set := func(k int, v, d float64) {
		args[k] = Rep{V: v + 0}
		if t.Tangents(int32(k) + 1)[0] = d; !IsStructuralZero(d) {
			args[k] = t.number(v+0, int32(k)+1)
		}
	}
	for i, v := range x {
		set(i, v, xdot[i])
	}
	for i, v := range y {
		set(n+i, v, ydot[i])
		set(n+m+i, ybar[i], ybardot[i])
	}
	out := make([]float64, n)
	for i, r := range c.PullOver(args[:n:n], args[n:n+m:n+m], args[n+m:]) {
		if out[i] = math.Copysign(0, -1); t.Own(r) != 0 {
			out[i] = t.Tangents(t.Own(r))[0]
		}
	}
	return out
}
