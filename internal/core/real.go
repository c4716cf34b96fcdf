// Package core defines the number that user functions compute with, and the tracers that observe it. Package nabla
// exports the number as nabla.Real and package engine as engine.Real; the three have the same layout and are converted
// into each other by casts.
//
// A number is a constant (id 0) or belongs to an open tracer, whose kind determines the effect of an operation:
//
//	recorder  the operation is appended to a raw recording (record.go)
//	tape      its partial derivatives are appended to a tape (tape.go)
//	dual      tangents are computed in an arena (dual.go)
//	hyper     first and second derivatives are computed in an arena (hyper.go)
//	deferred  those of hyper, the second ones at the end (hyper_deferred.go)
//	series    Taylor coefficients are computed in an arena (series.go)
//	hook      a foreign engine is called (hook.go)
//
// Only a recorder can be opened inside another trace and capture its numbers.
package core

import (
	"math"
	"sync/atomic"

	"github.com/nabla-ad/nabla/rules"
)

// Rep is a number under differentiation. The zero value is the constant 0.
//
// ID and Gen are in a struct of their own because a struct of more than four fields is not kept in registers.
type Rep struct {
	_ [0]func() // == would compare trace identity
	V float64
	Mark
	T *Tracer
}

// Mark identifies a number of a tracer.
type Mark struct {
	ID  int32  // 0 for a constant
	Gen uint32 // the trace; it changes each time a tracer is opened
}

// poisonID marks an output that has not been written. Its tracer is nil.
const poisonID = -1

// Poison returns the initial value of an output of an in-place function, which marks it as unwritten.
func Poison() Rep { return Rep{V: math.NaN(), Mark: Mark{ID: poisonID}} }

// Poisoned reports whether r is an output that was never written.
func (r Rep) Poisoned() bool { return r.ID == poisonID && r.T == nil }

type kind uint8

const (
	kindClosed kind = iota
	kindRecord
	kindTape
	kindDual
	kindHyper
	kindDeferred // hyper-dual numbers whose second derivatives are deferred
	kindSeries
	kindHook
)

// A Tracer owns the numbers of one trace. It is opened, used by one goroutine or, if the function starts some, by
// several (goroutine.go), and closed. It may be opened again and reuses its memory.
type Tracer struct {
	owner      atomic.Uintptr // the goroutine that needs no lock, 0 if there is none
	kind       kind
	nested     bool // may capture numbers of traces opened earlier
	strong     bool // dual, hyper and series: -0 is a structural zero
	gen        atomic.Uint32
	birth      atomic.Uint64
	first      int32         // the id of the first operation
	next       int32         // the id of the next number
	limit      int32         // no id beyond this one
	operations int           // the limit on operations as requested, 0 for none
	stops      atomic.Uint64 // calls of Stop
	task       *Task         // the preparation that the trace belongs to, or nil

	sharing
	recording
	tape
	dual
	hyper
	expansion
	hook Hook
}

// births counts the traces opened so far.
var births atomic.Uint64

// open starts a trace of kind k with at most limit operations. It belongs to the calling goroutine.
func (t *Tracer) open(k kind, limit int) {
	t.unlist()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.renew()
	t.home = goroutine()
	t.owner.Store(t.home)
	t.all, t.met, t.failed = false, false, nil
	t.kind = k
	t.operations = limit
	t.nested = false
}

// renew invalidates all numbers of t, by giving it a new generation.
func (t *Tracer) renew() {
	n := births.Add(1)
	if uint32(n) == 0 { // a wrapped counter must not make a constant's generation valid
		n = births.Add(1)
	}
	t.birth.Store(n)
	t.gen.Store(uint32(n))
}

// begin sets next as the id of the first operation, and the limit of ids.
func (t *Tracer) begin(next int) {
	t.first, t.next = int32(next), int32(next)
	t.limit = math.MaxInt32 - 1
	if t.operations > 0 && t.operations < math.MaxInt32-next {
		t.limit = int32(next - 1 + t.operations)
	}
}

// room returns the number of operations that still fit and reports progress to the task. It panics with an Abort that
// holds a *LimitError if there is none; bytes returns the memory used.
func (t *Tracer) room(bytes func() int) int {
	t.task.Step("recording", int(t.next-t.first), 0)
	n := int(t.limit) - int(t.next) + 1
	if n <= 0 {
		panic(Abort{&LimitError{Limit: t.operations, Bytes: bytes()}})
	}
	return n
}

// Close ends the trace. Later uses of its numbers are detected.
func (t *Tracer) Close() {
	t.unlist()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gen.Store(0)
	t.owner.Store(0)
	t.kind, t.all = kindClosed, false
}

// Open reports whether the trace is open.
func (t *Tracer) Open() bool { return t.kind != kindClosed }

// number returns number id of this trace, with value v.
func (t *Tracer) number(v float64, id int32) Rep {
	return Rep{V: v, Mark: Mark{id, t.gen.Load()}, T: t}
}

// Own returns the id of r in t, 0 if r is a constant. It captures numbers of earlier traces if t is nested. Other
// numbers of foreign or closed traces, and unwritten outputs, make it panic with an Abort.
func (t *Tracer) Own(r Rep) int32 {
	switch {
	case r.ID == 0:
		return 0
	case r.T == t:
		if r.Gen != t.gen.Load() {
			panic(Abort{ErrForeignReal})
		}
		return r.ID
	case r.T == nil:
		panic(Abort{ErrOutputNotWritten})
	}
	return t.Capture(r).ID
}

// live panics with an Abort unless r belongs to an open trace.
func (r Rep) live() {
	if r.T == nil {
		panic(Abort{ErrOutputNotWritten})
	}
	if r.Gen != r.T.gen.Load() {
		panic(Abort{ErrForeignReal})
	}
}

// bring returns r, a constant or a number of an open trace, as a constant or number of t.
func (t *Tracer) bring(r Rep) Rep {
	if r.ID == 0 {
		return r
	}
	r.live()
	if r.T == t {
		return r
	}
	return t.Capture(r)
}

// Unary returns the result of op on a traced number. v is its value.
func Unary(op rules.Op, a Rep, v float64) Rep {
	t := a.T
	if t == nil || t.owner.Load() != goroutine() {
		return strayUnary(op, a, v)
	}
	if a.Gen != t.gen.Load() {
		a.live()
	}
	switch t.kind {
	case kindRecord:
		return t.record(uint32(op), uint32(a.ID), 0, v)
	case kindDual:
		return t.dualUnary(op, a, v)
	case kindHyper:
		return t.hyperUnary(op, a, v)
	case kindDeferred:
		return t.deferUnary(op, a, v)
	case kindTape:
		return t.tapeUnary(op, a, v)
	case kindSeries:
		return t.seriesApply(op, a, Rep{}, v)
	}
	return t.hookUnary(op, a, v)
}

// Binary returns the result of op on two numbers, at least one of which is traced. v is its value.
func Binary(op rules.Op, a, b Rep, v float64) Rep {
	t := a.T
	switch {
	case t == b.T || b.ID == 0:
	case a.ID == 0:
		t = b.T
	default:
		t = latest(a, b)
	}
	if t == nil || t.owner.Load() != goroutine() {
		return strayBinary(t, op, a, b, v)
	}
	if gen := t.gen.Load(); a.ID != 0 && (t != a.T || a.Gen != gen) || b.ID != 0 && (t != b.T || b.Gen != gen) {
		a, b = t.bring(a), t.bring(b)
	}
	switch t.kind {
	case kindRecord:
		return t.record(uint32(op), t.operand(a), t.operand(b), v)
	case kindDual:
		return t.dualBinary(op, a, b, v)
	case kindHyper:
		return t.hyperBinary(op, a, b, v)
	case kindDeferred:
		return t.deferBinary(op, a, b, v)
	case kindTape:
		return t.tapeBinary(op, a, b, v)
	case kindSeries:
		return t.seriesBinary(op, a, b, v)
	}
	return t.hookBinary(op, a, b, v)
}

// Apply1 returns op(a). a may be a constant.
func Apply1(op rules.Op, a Rep) Rep {
	v := rules.Value1(op, a.V)
	if a.ID == 0 {
		return Rep{V: v}
	}
	return Unary(op, a, v)
}

// Apply2 returns op(a, b). a and b may be constants.
func Apply2(op rules.Op, a, b Rep) Rep {
	v := rules.Value2(op, a.V, b.V)
	if a.ID|b.ID == 0 {
		return Rep{V: v}
	}
	if op.Strong() && IsStructuralZero(a.V) {
		// A structural zero is one wherever the other operand moves, too.
		switch {
		case a.ID == 0:
			b.live()
			return Rep{V: v}
		case a.T != nil && a.T.kind != kindRecord:
			b = Rep{V: b.V}
		}
	}
	return Binary(op, a, b, v)
}

// Apply3 returns op(a, b, c) for Select or FMA. The arguments may be constants.
func Apply3(op rules.Op, a, b, c Rep) Rep {
	v := rules.Value3(op, a.V, b.V, c.V)
	if a.ID|b.ID|c.ID == 0 {
		return Rep{V: v}
	}
	t := latest(a, b)
	switch {
	case a.ID|b.ID == 0:
		t = c.T
	case c.ID != 0 && t != nil && (c.T == nil || c.T.birth.Load() > t.birth.Load()):
		t = c.T
	}
	if t == nil || t.owner.Load() != goroutine() {
		return strayApply3(t, op, a, b, c, v)
	}
	if t.kind == kindRecord {
		a, b, c = t.bring(a), t.bring(b), t.bring(c)
		t.record(OpArg, t.operand(c), 0, 0)
		return t.record(uint32(op), t.operand(a), t.operand(b), v)
	}
	for _, r := range [...]Rep{a, b, c} {
		if r.ID != 0 {
			r.live()
		}
	}
	if op == rules.Select {
		if a.V == 0 {
			b = c
		}
		b.V = v
		if b.ID != 0 {
			t.Own(b)
		}
		return b
	}
	// The derivatives are those of a·b + c; the value v is the fused one.
	m := Apply2(rules.Mul, a, b)
	if c.ID != 0 || m.ID != 0 {
		m = Apply2(rules.Add, m, c)
	}
	m.V = v
	return m
}

// Owns reports whether r is a number of the current trace of t.
func (t *Tracer) Owns(r Rep) bool { return r.T == t && r.Gen == t.gen.Load() }
