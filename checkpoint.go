package nabla

import (
	"errors"
	"sync"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/internal/loop"
)

// Checkpoint returns f as one operation of every engine: a recording of the function that calls it
// holds its inputs and outputs only, and a reverse sweep runs it again, over a tape that is used for
// the next such function afterwards. So a function that is a chain of them takes the memory of the
// longest one, for one more run of each; a loop of equal steps takes less as a [Scan]. Derivatives
// have any order and are exact. Second and higher ones record f at every call, which takes many
// times as long as f.
//
// The number of outputs must depend on the length of x alone; otherwise the error is a
// *[ShapeError]. f must not capture Reals of the function that calls it, which is ErrForeignReal:
// these are arguments. Nothing is kept of f between calls, so that other data which it captures may
// change.
//
// Several goroutines may call the result if they may call f.
func Checkpoint(f func(x []Real) []Real) func(x []Real) []Real {
	if f == nil {
		return func([]Real) []Real {
			panic(core.Abort{Err: &FuncError{Op: "Checkpoint", Problem: "the function is nil"}})
		}
	}
	c := &checkpointed{f: f, rules: map[int]*realRule{}}
	return func(x []Real) []Real {
		if core.Blind(reps(x)) { // for a pattern, which is that of the operations of f
			return f(x)
		}
		return reals(core.Call(c.rule(x), reps(x)))
	}
}

// checkpointed is a function with its rules.
type checkpointed struct {
	f     func(x []Real) []Real
	mu    sync.Mutex
	rules map[int]*realRule // by number of inputs
}

// rule returns f as a rule for the length of x. The number of outputs is found by an evaluation at x.
func (c *checkpointed) rule(x []Real) *realRule {
	c.mu.Lock()
	r := c.rules[len(x)]
	c.mu.Unlock()
	if r != nil {
		return r
	}
	at := make([]Real, len(x))
	for i, a := range x {
		at[i] = Const(a.v)
	}
	r = &realRule{name: "Checkpoint", n: len(x), m: len(c.f(at)), over: c.over}
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.rules[len(x)]; known != nil { // recordings are compared by their rules
		return known
	}
	c.rules[len(x)] = r
	return r
}

// over runs f.
func (c *checkpointed) over(y, x []core.Rep) {
	defer func() {
		v := recover()
		if a, ok := v.(core.Abort); ok && errors.Is(a.Err, core.ErrForeignReal) {
			v = core.Abort{Err: loop.Captured("Checkpoint", a.Err)}
		}
		if v != nil {
			panic(v)
		}
	}()
	out := reps(c.f(append([]Real(nil), reals(x)...)))
	if len(out) != len(y) {
		abort(&ShapeError{Op: "Checkpoint", Arg: "number of outputs", Got: len(out), Want: len(y)})
	}
	for _, r := range out {
		if r.ID != 0 && !r.Poisoned() && !sharesTrace(r, x) {
			abort(core.ErrForeignReal)
		}
	}
	copy(y, out)
}

// sharesTrace reports whether one of x belongs to the trace of r.
func sharesTrace(r core.Rep, x []core.Rep) bool {
	for _, a := range x {
		if a.ID != 0 && a.T == r.T {
			return true
		}
	}
	return false
}
