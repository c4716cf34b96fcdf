package core

import (
	"math"
	"runtime"
	"strings"
	"sync"

	"github.com/nabla-ad/nabla/rules"
)

// A trace belongs to the goroutine that opened it, whose operations take no lock. A
// function may compute in goroutines of its own, though. The first operation in one
// of them marks the trace as met and gives a placeholder with the right value; when
// the function has returned, [Tracer.End] asks for another run with a shared trace, in
// which every operation takes the lock. An error in a goroutine that nabla did not
// start is kept until the function has returned, since a panic there would end the
// process.

// sharing is the part of a Tracer that concerns several goroutines. mu guards all of
// it, and the rest of the Tracer where another goroutine than the owner looks at it.
type sharing struct {
	mu     sync.Mutex
	home   uintptr // the goroutine that opened the trace
	all    bool    // all goroutines may use the trace
	met    bool    // another goroutine used the trace before that was so
	failed any     // the first panic in another goroutine than home
}

// Begin says that a function is run next. With share, or if t has operations that
// cannot be thrown away, all goroutines may use t.
func (t *Tracer) Begin(share bool, task *Task) {
	t.task = task
	if share || t.next != t.first {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.share()
	}
}

func (t *Tracer) share() {
	t.met, t.all = false, true
	t.owner.Store(0)
}

// End says that the function has returned. If another goroutine used t though it was
// not shared, the function has to run again: End throws the operations away, shares t
// and renews the numbers x of the inputs. Otherwise t is the caller's alone again, and
// failed the value of a panic in another goroutine, nil if there was none.
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

// restart throws the operations away and renews the numbers x. A foreign engine has
// its operations itself, and need not forget those without a use.
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
	}
}

// Keeps keeps the value v of a panic for the end of the call, where this goroutine is
// not that which opened the innermost trace of x, and reports whether it did.
func Keeps(x []Rep, v any) bool {
	t := innermost(x)
	return t.keeps(numberOf(t, x), v)
}

// fail keeps the value of a panic.
func (t *Tracer) fail(v any) {
	if t.failed == nil {
		t.failed = v
	}
}

// innermost is the latest of the traces that the numbers x belong to, nil if there
// is none.
func innermost(x []Rep) (t *Tracer) {
	for _, r := range x {
		if r.ID != 0 && r.T != nil && (t == nil || r.T.birth.Load() > t.birth.Load()) {
			t = r.T
		}
	}
	return t
}

// latest is innermost of two numbers of which at least one is traced. It is nil
// where one is an output that was not written.
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

func strayUnary(op rules.Op, a Rep, v float64) Rep {
	return stray(a.T, []Rep{a}, v, func() Rep { return Unary(op, a, v) })
}

func strayBinary(t *Tracer, op rules.Op, a, b Rep, v float64) Rep {
	return stray(t, []Rep{a, b}, v, func() Rep { return Binary(op, a, b, v) })
}

func strayApply3(t *Tracer, op rules.Op, a, b, c Rep, v float64) Rep {
	return stray(t, []Rep{a, b, c}, v, func() Rep { return Apply3(op, a, b, c) })
}

func strayCompare(t *Tracer, op uint32, a, b Rep, holds bool) {
	stray(t, []Rep{a, b}, 0, func() Rep {
		Compare(op, a, b, holds)
		return Rep{}
	})
}

func strayEscape(op uint32, a Rep, v float64) {
	stray(a.T, []Rep{a}, 0, func() Rep {
		Escape(op, a, v)
		return Rep{}
	})
}

// stray does an operation on x in another goroutine than the owner of t, the
// innermost trace of x, nil if x has an output that was not written. v is the value of
// the result. The result is do's where t is shared, otherwise a placeholder: a number
// of t with that value.
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

// strayCall is stray for a rule. Its value is computed without the lock.
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
		out[i] = Rep{V: math.NaN(), Mark: r.Mark, T: t}
	}
	if t == nil {
		if caught() {
			panic(Abort{ErrOutputNotWritten})
		}
		return out
	}
	x, y := evaluate(c, xs, false)
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
		return t.called(c, xs, x, y)
	}
	return out
}

// keeps keeps the value of a panic for the end of the call that the number r of t is of,
// and reports whether it did: not in the goroutine of the call.
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
		return !caught() // a goroutine that outlives the call: nobody wants to know
	}
	t.fail(v)
	return true
}

// numberOf is the first of the numbers x that is of trace t, or an output that was not
// written where t is nil.
func numberOf(t *Tracer, x []Rep) Rep {
	for _, r := range x {
		if r.ID != 0 && r.T == t {
			return r
		}
	}
	return Rep{}
}

// enter readies t for an operation on r by this goroutine, which leave has to end.
// It is false where r is no number of t any more or t is not shared.
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

// leave ends an operation. v is the value of a panic in it.
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

// caught reports whether a panic with an Abort is recovered in this goroutine: it is
// one that evaluates a function for an engine.
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
