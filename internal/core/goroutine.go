package core

import (
	"math"
	"runtime"
	"strings"
	"sync"

	"github.com/nabla-ad/nabla/rules"
)

// A trace belongs to the goroutine that opened it, whose operations take no lock. A function may compute in goroutines
// of its own, though. The first operation in one of them marks the trace as met and returns a placeholder with the
// right value. When the function has returned, [Tracer.End] requests another run with a shared trace, in which every
// operation takes the lock. A panic in a goroutine that nabla did not start would end the process, so its value is
// stored until the function has returned.

// sharing is the part of a Tracer that concerns several goroutines. mu guards it, and the rest of the Tracer if a
// goroutine other than the owner accesses it.
type sharing struct {
	mu     sync.Mutex
	home   uintptr // the goroutine that opened the trace
	all    bool    // all goroutines may use the trace
	met    bool    // another goroutine used the trace while it was not shared
	failed any     // the first panic in another goroutine than home
}

// Begin must be called before a function is run in t. All goroutines may use t if share is set, or if t already has
// operations, which cannot be discarded.
func (t *Tracer) Begin(share bool, task *Task) {
	t.task = task
	if share || t.next != t.first {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.share()
	}
}

// share lets all goroutines use t. The caller holds t.mu.
func (t *Tracer) share() {
	t.met, t.all = false, true
	t.owner.Store(0)
}

// End must be called when the function has returned. If another goroutine used t while it was not shared, again is true
// and the function must be run again: End has discarded the operations, shared t and renewed the input numbers x.
// Otherwise t belongs to its goroutine alone again, and failed is the value of the first panic in another goroutine, or
// nil.
func (t *Tracer) End(x []Rep) (again bool, failed any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.met {
		t.failed = nil
		t.share()
		t.restart(x)
		return true, nil
	}
	if t.all && t.kind != kindClosed {
		t.all = false
		t.owner.Store(t.home)
	}
	failed, t.failed = t.failed, nil
	return false, failed
}

// restart discards the operations and renews the numbers x. The operations of a foreign engine are kept by the engine;
// those that are not used do no harm.
func (t *Tracer) restart(x []Rep) {
	if t.kind == kindHook {
		return
	}
	old := t.gen.Load()
	t.renew()
	for i := range x {
		if x[i].T == t && x[i].Gen == old {
			x[i].Gen = t.gen.Load()
		}
	}
	t.next = t.first
	switch t.kind {
	case kindRecord:
		t.rewindRecording()
	case kindTape:
		t.rewindTape()
	case kindHyper:
		t.filled = t.base
	case kindDeferred: // numbers are overwritten
	}
}

// Keeps stores the panic value v until the end of the call if this goroutine is not the one that opened the innermost
// trace of x, and reports whether it did. It then sets y to numbers of that trace with the value NaN: they are no
// constants, so that a later call cannot take them for its own.
func Keeps(x []Rep, v any, y []Rep) bool {
	t := innermost(x)
	r := numberOf(t, x)
	if !t.keeps(r, v) {
		return false
	}
	for i := range y {
		y[i] = placeholder(t, r)
	}
	return true
}

// placeholder returns a number of t, as r is, with the value NaN.
func placeholder(t *Tracer, r Rep) Rep { return Rep{V: math.NaN(), Mark: r.Mark, T: t} }

// fail stores the panic value v, unless there is one.
func (t *Tracer) fail(v any) {
	if t.failed == nil {
		t.failed = v
	}
}

// innermost returns the latest of the traces that the numbers x belong to, or nil if there is none.
func innermost(x []Rep) (t *Tracer) {
	for _, r := range x {
		if r.ID != 0 && r.T != nil && (t == nil || r.T.birth.Load() > t.birth.Load()) {
			t = r.T
		}
	}
	return t
}

// latest returns the innermost trace of two numbers, at least one of which is traced. It returns nil if one is an
// unwritten output.
func latest(a, b Rep) *Tracer {
	switch {
	case a.ID == 0:
		return b.T
	case b.ID == 0 || a.T == nil:
		return a.T
	case b.T == nil || a.T.birth.Load() < b.T.birth.Load():
		return b.T
	}
	return a.T
}

// strayUnary is Unary in a goroutine that does not own the trace of a. See stray.
func strayUnary(op rules.Op, a Rep, v float64) Rep {
	return stray(a.T, []Rep{a}, v, func() Rep { return Unary(op, a, v) })
}

// strayBinary is Binary in a goroutine that does not own t. See stray.
func strayBinary(t *Tracer, op rules.Op, a, b Rep, v float64) Rep {
	return stray(t, []Rep{a, b}, v, func() Rep { return Binary(op, a, b, v) })
}

// strayApply3 is Apply3 in a goroutine that does not own t. See stray.
func strayApply3(t *Tracer, op rules.Op, a, b, c Rep, v float64) Rep {
	return stray(t, []Rep{a, b, c}, v, func() Rep { return Apply3(op, a, b, c) })
}

// strayCompare is Compare in a goroutine that does not own t. See stray.
func strayCompare(t *Tracer, op uint32, a, b Rep, holds bool) {
	stray(t, []Rep{a, b}, 0, func() Rep {
		Compare(op, a, b, holds)
		return Rep{}
	})
}

// strayEscape is Escape in a goroutine that does not own the trace of a. See stray.
func strayEscape(op uint32, a Rep, v float64) {
	stray(a.T, []Rep{a}, 0, func() Rep {
		Escape(op, a, v)
		return Rep{}
	})
}

// stray performs an operation on x in a goroutine that does not own t, the innermost trace of x, nil if x has an
// unwritten output. If t is shared it returns the result of do, called under the lock of t. Otherwise it returns a
// placeholder: a number of t with the value v.
func stray(t *Tracer, x []Rep, v float64, do func() Rep) (result Rep) {
	r := numberOf(t, x)
	result = Rep{V: v, Mark: r.Mark, T: t}
	if t == nil {
		if caught() {
			panic(Abort{ErrOutputNotWritten})
		}
		return result
	}
	if !t.enter(r) {
		return result
	}
	defer func() { t.leave(recover()) }()
	return do()
}

// strayCall is stray for a custom rule, whose value is computed without the lock.
func strayCall(t *Tracer, c Custom, xs []Rep) (out []Rep) {
	r := numberOf(t, xs)
	defer func() {
		if v := recover(); v != nil && !t.keeps(r, v) {
			panic(v)
		}
	}()
	m := c.Outputs(len(xs))
	out = make([]Rep, m)
	for i := range out {
		out[i] = placeholder(t, r)
	}
	if t == nil {
		if caught() {
			panic(Abort{ErrOutputNotWritten})
		}
		return out
	}
	x, y, p := (*Tracer)(nil).evaluate(c, xs)
	for i, v := range y {
		out[i].V = v
	}
	if t.enter(r) {
		defer func() { t.leave(recover()) }()
		for _, r := range xs {
			if r.ID != 0 {
				r.live()
			}
		}
		return t.called(c, xs, x, y, p)
	}
	return out
}

// keeps stores the panic value v until the end of the call that the number r of t belongs to, and reports whether v has
// been dealt with. It returns false in the goroutine of the call, which must panic itself.
func (t *Tracer) keeps(r Rep, v any) bool {
	if t == nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.home == goroutine():
		return false
	case r.Gen != t.gen.Load():
		return !caught() // the call has ended: drop the panic of a goroutine that outlives it
	}
	t.fail(v)
	return true
}

// numberOf returns the first of the numbers x that belongs to t or, if t is nil, the first unwritten output; the zero
// Rep if there is none.
func numberOf(t *Tracer, x []Rep) Rep {
	for _, r := range x {
		if r.ID != 0 && r.T == t {
			return r
		}
	}
	return Rep{}
}

// enter locks t for an operation on r by this goroutine, which leave must end, and reports whether it did. It returns
// false, without the lock, if r is no longer a number of t or t is not shared.
func (t *Tracer) enter(r Rep) bool {
	t.mu.Lock()
	switch {
	case r.Gen != t.gen.Load():
		mine := t.home == goroutine()
		t.mu.Unlock()
		if mine || caught() {
			panic(Abort{ErrForeignReal})
		}
		return false
	case !t.all:
		t.met = true
		t.mu.Unlock()
		return false
	}
	t.owner.Store(goroutine())
	return true
}

// leave ends an operation and unlocks t. v is the value of a panic in the operation, or nil; it is stored in goroutines
// other than that of the call and raised again otherwise.
func (t *Tracer) leave(v any) {
	mine := t.owner.Load() == t.home
	t.owner.Store(0)
	if v != nil && !mine {
		t.fail(v)
		v = nil
	}
	t.mu.Unlock()
	if v != nil {
		panic(v)
	}
}

// caught reports whether a panic with an Abort is recovered in this goroutine, because it evaluates a function for an
// engine. It searches the stack.
func caught() bool {
	pcs := make([]uintptr, 256)
	n := 0
	for n = runtime.Callers(1, pcs); n == len(pcs); n = runtime.Callers(1, pcs) {
		pcs = make([]uintptr, 2*len(pcs))
	}
	frames := runtime.CallersFrames(pcs[:n])
	for {
		f, more := frames.Next()
		if strings.HasSuffix(f.Function, "/engine.(*Function).traced") {
			return true
		}
		if !more {
			return false
		}
	}
}
