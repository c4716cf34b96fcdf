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

// A Pullable is a Custom that may compute its value so that the pullback at that point need not compute the same again.
type Pullable interface {
	Custom
	// Pulls reports whether it does.
	Pulls() bool
	// ValueVJP writes all of y = f(x) and returns the pullback at x, which may be used until the call that the
	// function is part of ends.
	ValueVJP(y, x []float64) Pullback
	// Identity is equal for two Customs if their calls have the same pullbacks.
	Identity() any
}

// A Pullback is the pullback of a Pullable at the point of a call, with all that it keeps of the call.
type Pullback interface {
	// Point returns the inputs of the call, which may only be read.
	Point() []float64
	// Pull adds J(x)ᵀ·ybar to xbar. It may be called any number of times.
	Pull(xbar, ybar []float64)
}

// A Cotangent is the cotangent of a Pullable.
type Cotangent interface {
	Custom
	// Of is the identity of that Pullable, nil if it keeps nothing.
	Of() any
	// ValueBy writes Jᵀ·w to y, where w follows the inputs of the Pullable in xw, by a pullback at those inputs.
	ValueBy(p Pullback, y, xw []float64)
}

// A Joint is a Custom that may compute its value and a directional derivative together.
type Joint interface {
	Custom
	// Joins reports whether it does.
	Joins() bool
	// ValueJVP writes all of y = f(x) and ydot = J(x)·xdot.
	ValueJVP(y, ydot, x, xdot []float64)
}

// joint returns c as a Joint that joins, nil if it is none.
func joint(c Custom) Joint {
	if j, ok := c.(Joint); ok && j.Joins() {
		return j
	}
	return nil
}

// pullable returns c as a Pullable that keeps its pullback, nil if it is none.
func pullable(c Custom) Pullable {
	if p, ok := c.(Pullable); ok && p.Pulls() {
		return p
	}
	return nil
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
	if t != nil && t.kind == kindDual && joint(c) != nil {
		return t.dualJoint(joint(c), xs)
	}
	x, y, p := t.evaluate(c, xs)
	return t.called(c, xs, x, y, p)
}

// arguments returns the values x of xs, and memory for the outputs of c.
func arguments(c Custom, xs []Rep) (x, y []float64) {
	n := len(xs)
	buf := make([]float64, n+c.Outputs(n))
	x, y = buf[:n:n], buf[n:]
	for i, r := range xs {
		x[i] = r.V
	}
	return x, y
}

// evaluate returns the values x of xs and the outputs y of c at x, NaN if t is blind, and the pullback at x if t uses
// it and c keeps it. t is nil outside of traces.
func (t *Tracer) evaluate(c Custom, xs []Rep) (x, y []float64, p Pullback) {
	x, y = arguments(c, xs)
	switch {
	case t != nil && t.kind == kindRecord && t.blind: // c may be undefined at the point of a blind trace
		for i := range y {
			y[i] = math.NaN()
		}
		return x, y, nil
	case t != nil && (t.kind == kindTape || t.kind == kindHook || t.kind == kindRecord && t.pulls):
		if k := pullable(c); k != nil {
			return x, y, k.ValueVJP(y, x)
		}
	}
	c.Value(y, x)
	return x, y, nil
}

// called returns the outputs of c, with values y and maybe a pullback at x, as numbers of t, or as constants if t is
// nil.
func (t *Tracer) called(c Custom, xs []Rep, x, y []float64, p Pullback) []Rep {
	out := make([]Rep, len(y))
	if t == nil || t.kind != kindRecord && IsPassive(c) {
		for i, v := range y {
			out[i].V = v
		}
		return out
	}
	switch t.kind {
	case kindRecord:
		t.recordCall(c, xs, y, out, p)
	case kindDual:
		t.dualCall(c, xs, x, y, out)
	case kindHyper, kindDeferred:
		t.hyperCall(c, xs, x, y, out)
	case kindTape:
		t.tapeCall(c, xs, x, y, out, p)
	case kindSeries:
		t.seriesCall(c, xs, x, y, out)
	default:
		t.hookCall(c, xs, x, y, out, p)
	}
	return out
}

// A pulled is a Custom at one point, whose pullback has been kept.
type pulled struct {
	Custom
	by Pullback
}

// VJP implements Custom.
func (p pulled) VJP(xbar, _, _, ybar []float64) { p.by.Pull(xbar, ybar) }

// pulledBy returns c with the pullback p, or c if that is nil.
func pulledBy(c Custom, p Pullback) Custom {
	if p == nil {
		return c
	}
	return pulled{c, p}
}

// recordCall records a call of c and sets out to its outputs.
func (t *Tracer) recordCall(c Custom, xs []Rep, y []float64, out []Rep, p Pullback) {
	args := make([]uint32, len(xs))
	for i, r := range xs {
		args[i] = t.operand(t.bring(r))
	}
	for _, a := range args {
		t.record(OpArg, a, 0, 0)
	}
	t.customs = append(t.customs, c)
	if t.pulls {
		t.pullbacks = append(t.pullbacks, p)
	}
	t.record(OpCall, uint32(len(t.customs)-1), uint32(len(xs)), 0)
	for i, v := range y {
		out[i] = t.record(OpCallOut, uint32(i), 0, v)
	}
}

// hookCall presents a custom rule to a foreign engine as its linearisation at x, which needs only Mul and Add. The
// first derivatives of the engine are then correct.
func (t *Tracer) hookCall(c Custom, xs []Rep, x, y []float64, out []Rep, p Pullback) {
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
	c = pulledBy(c, p)
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
