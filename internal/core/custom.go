package core

import (
	"math"

	"github.com/nabla-ad/nabla/rules"
)

// A Custom is a function with its own derivatives, which every engine treats as one operation. JVP and VJP are the
// derivatives of Value; Tangent and Cotangent are Customs again, so that derivatives of any order exist. Methods must
// not retain their arguments.
type Custom interface {
	Name() string
	// Outputs returns the number of outputs m for n inputs.
	Outputs(n int) int
	// Value writes all of y = f(x).
	Value(y, x []float64)
	// JVP writes ydot = J(x)·xdot. y is the value at x.
	JVP(ydot, x, y, xdot []float64)
	// VJP adds J(x)ᵀ·ybar to xbar. y is the value at x.
	VJP(xbar, x, y, ybar []float64)
	// Tangent returns (x, xdot) ↦ J(x)·xdot for n inputs of the rule, 2n inputs in all.
	Tangent(n int) Custom
	// Cotangent returns (x, ybar) ↦ J(x)ᵀ·ybar for n inputs of the rule, n+m inputs in all.
	Cotangent(n int) Custom
}

// A Structured is a Custom with a known dependence structure.
type Structured interface {
	Custom
	// Structure returns, for n inputs, the inputs that each output depends on, and reports whether the dependence is
	// linear. Nil rows mean that every output depends on every input.
	Structure(n int) (rows [][]int, linear bool)
}

// An Inlined is a Custom whose derivatives are given over numbers. If they do not depend on the values of the numbers
// that they get, one recording of them holds everywhere, and a derived program has their operations in place of a call
// of Tangent or Cotangent. Derivatives of any order are derivatives of those operations then. A constant 0 among the
// results is structurally zero.
type Inlined interface {
	Custom
	// PushOver returns J(x)·xdot. y is the value at x, as numbers that depend on x.
	PushOver(x, y, xdot []Rep) []Rep
	// PullOver returns J(x)ᵀ·ybar. y is the value at x, as numbers that depend on x.
	PullOver(x, y, ybar []Rep) []Rep
}

// A Recordable is a Custom that is given as a function over numbers. If that does not depend on the values of the
// numbers, a derived program has the derivative of its operations in place of a call of Tangent or Cotangent.
type Recordable interface {
	Custom
	// Over writes all of y = f(x).
	Over(y, x []Rep)
}

// An Evaluable is a Custom that is given as a function over numbers, which may be run at every call.
type Evaluable interface {
	Custom
	// EvaluateOver writes all of y = f(x).
	EvaluateOver(y, x []Rep)
}

// A Pushable is a Custom whose derivative may be given over numbers. In contrast to an Inlined it may depend on the
// values of the numbers, and is run at every call.
type Pushable interface {
	Custom
	// Pushes reports whether it is given.
	Pushes() bool
	// PushAt writes J(x)·xdot to ydot. y is the value at x, as numbers that depend on x.
	PushAt(ydot, x, y, xdot []Rep)
}

// A Continuous is a Custom whose value does not jump where it is defined.
type Continuous interface {
	Custom
	Continuous()
}

// A Passive is a Custom whose outputs carry no derivative, although they are computed from the inputs: data for other
// rules, which have the inputs as arguments of their own.
type Passive interface {
	Custom
	Passive()
}

// A Grouped is a Custom each of whose outputs depends on two groups of inputs, and linearly on the second.
type Grouped interface {
	Custom
	// Groups returns, for n inputs, groups of inputs, and the two groups that each output depends on. It reports
	// whether an output may be nonlinear in its first group.
	Groups(n int) (groups [][]int, outputs [][2]int, curved bool)
}

// IsPassive reports whether the outputs of c carry no derivative.
func IsPassive(c Custom) bool {
	_, ok := c.(Passive)
	return ok
}

// Call applies c to xs and returns its outputs. It does not retain xs.
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

// evaluate returns the values x of xs and the outputs y of c at x, NaN if blind is set.
func evaluate(c Custom, xs []Rep, blind bool) (x, y []float64) {
	n := len(xs)
	buf := make([]float64, n+c.Outputs(n))
	x, y = buf[:n:n], buf[n:]
	for i, r := range xs {
		x[i] = r.V
	}
	if blind { // c may be undefined at the point of a blind trace
		for i := range y {
			y[i] = math.NaN()
		}
	} else {
		c.Value(y, x)
	}
	return x, y
}

// called returns the outputs of c, with values y at x, as numbers of t, or as constants if t is nil.
func (t *Tracer) called(c Custom, xs []Rep, x, y []float64) []Rep {
	out := make([]Rep, len(y))
	if t == nil || t.kind != kindRecord && IsPassive(c) {
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
	case kindHyper, kindDeferred:
		t.hyperCall(c, xs, x, y, out)
	case kindTape:
		t.tapeCall(c, xs, x, y, out)
	case kindSeries:
		t.seriesCall(c, xs, x, y, out)
	default:
		t.hookCall(c, xs, x, y, out)
	}
	return out
}

// recordCall records a call of c and sets out to its outputs.
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

// hookCall presents a custom rule to a foreign engine as its linearisation at x, which needs only Mul and Add. The
// first derivatives of the engine are then correct.
func (t *Tracer) hookCall(c Custom, xs []Rep, x, y []float64, out []Rep) {
	if h, ok := t.hook.(CallHook); ok {
		args, ids := make([]int32, len(xs)), make([]int32, len(y))
		for i, r := range xs {
			args[i] = t.bring(r).ID
		}
		h.Call(c, args, x, y, ids)
		for i, v := range y {
			if out[i].V = v; ids[i] != 0 {
				out[i] = t.number(v, ids[i])
			}
		}
		return
	}
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
