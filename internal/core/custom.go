package core

import (
	"math"

	"github.com/nabla-ad/nabla/rules"
)

// A Custom is a function with derivatives of its own, seen by every engine as one
// operation. JVP and VJP are those of its value; Tangent and Cotangent are again
// Customs, so that derivatives of any order exist.
type Custom interface {
	Name() string
	// Outputs is the number of outputs for n inputs.
	Outputs(n int) int
	// Value writes all of y.
	Value(y, x []float64)
	// JVP writes ydot = J(x)·xdot. y is the value at x.
	JVP(ydot, x, y, xdot []float64)
	// VJP adds J(x)ᵀ·ybar to xbar.
	VJP(xbar, x, y, ybar []float64)
	// Tangent is (x, xdot) ↦ J(x)·xdot for n inputs: 2n inputs.
	Tangent(n int) Custom
	// Cotangent is (x, ybar) ↦ J(x)ᵀ·ybar for n inputs: n+m inputs.
	Cotangent(n int) Custom
}

// A Structured is a Custom that knows what depends on what.
type Structured interface {
	Custom
	// Structure gives, for n inputs, the inputs that each output depends on, and
	// whether it depends on them linearly. Nil rows say that every output depends on
	// every input.
	Structure(n int) (rows [][]int, linear bool)
}

// Call applies c to xs. It does not keep xs.
func Call(c Custom, xs []Rep) []Rep {
	t := innermost(xs)
	if t == nil || t.owner.Load() != goroutine() {
		if t != nil || numberOf(nil, xs).Poisoned() {
			return strayCall(t, c, xs)
		}
	}
	for _, r := range xs {
		if r.ID != 0 {
			r.live()
		}
	}
	x, y := evaluate(c, xs, t != nil && t.kind == kindRecord && t.blind)
	return t.called(c, xs, x, y)
}

// evaluate returns the values of xs, and of c at them unless the trace is blind.
func evaluate(c Custom, xs []Rep, blind bool) (x, y []float64) {
	n := len(xs)
	buf := make([]float64, n+c.Outputs(n))
	x, y = buf[:n:n], buf[n:]
	for i, r := range xs {
		x[i] = r.V
	}
	if blind { // c may not be defined where the trace happens to be made
		for i := range y {
			y[i] = math.NaN()
		}
	} else {
		c.Value(y, x)
	}
	return x, y
}

// called is the outputs of c, with the values y at x, as numbers of t; constants where
// t is nil.
func (t *Tracer) called(c Custom, xs []Rep, x, y []float64) []Rep {
	out := make([]Rep, len(y))
	if t == nil {
		for i, v := range y {
			out[i].V = v
		}
		return out
	}
	switch t.kind {
	case kindRecord:
		t.recordCall(c, xs, y, out)
	case kindDual:
		t.dualCall(c, xs, x, y, out)
	case kindTape:
		t.tapeCall(c, xs, x, y, out)
	default:
		t.hookCall(c, xs, x, y, out)
	}
	return out
}

func (t *Tracer) recordCall(c Custom, xs []Rep, y []float64, out []Rep) {
	args := make([]uint32, len(xs))
	for i, r := range xs {
		args[i] = t.operand(t.bring(r))
	}
	for _, a := range args {
		t.record(OpArg, a, 0, 0)
	}
	t.customs = append(t.customs, c)
	t.record(OpCall, uint32(len(t.customs)-1), uint32(len(xs)), 0)
	for i, v := range y {
		out[i] = t.record(OpCallOut, uint32(i), 0, v)
	}
}

// hookCall shows a custom rule to a foreign engine as the linear map that it is
// at x: the engine's first derivatives are right, it needs to know nothing of
// rules.
func (t *Tracer) hookCall(c Custom, xs []Rep, x, y []float64, out []Rep) {
	xbar, ybar := make([]float64, len(x)), make([]float64, len(y))
	for i, v := range y {
		clear(xbar)
		clear(ybar)
		ybar[i] = 1
		c.VJP(xbar, x, y, ybar)
		sum := Rep{}
		for j, r := range xs {
			if r.ID == 0 || xbar[j] == 0 {
				continue
			}
			term := Binary(rules.Mul, r, Rep{V: xbar[j]}, r.V*xbar[j])
			if sum.ID == 0 {
				sum = term
			} else {
				sum = Binary(rules.Add, sum, term, v)
			}
		}
		sum.V = v
		out[i] = sum
	}
}
