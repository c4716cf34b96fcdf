package nabla

import (
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/internal/loop"
)

// Scan is a loop of equal steps, such as those of an integrator, as one operation of every engine. A
// recording of the function that calls it holds the inputs and outputs of the loop only, and a
// reverse sweep keeps the states before some steps and computes the others again. So derivatives of
// any order, which are exact, take a fixed amount of memory, however many steps there are.
//
// The step is recorded once for each of its branches, of which 16 are kept. At every call the
// branches that it takes are compared with the step, so that data which Step captures may change
// between calls, though not during one. Beside the loop itself, a reverse sweep takes a run of the
// steps, the reverse of each step, which computes it once more, and further runs if Memory does not
// hold all states: s snapshots and r runs suffice for C(s+r, s) steps. Engines in forward mode keep
// no states; taylor keeps all of its series.
//
// A derivative that is zero is no structural zero of the function that calls the loop, as for a
// [Rule].
type Scan struct {
	// Name names the loop in messages.
	Name string
	// Step computes one step. It may read data that it captures, but no Reals of the function that
	// calls the loop: these are parameters or inputs. It may start goroutines if it waits for them.
	Step func(s *ScanStep)
	// Outputs is the number of outputs of a step.
	Outputs int
	// Memory is the largest number of bytes for the states that one reverse sweep keeps; 0 means
	// 64 MiB. Each order of derivatives beyond the first has states of twice the length, in the
	// same memory. Goroutines have memory of their own, which is kept for later calls. If it does
	// not suffice to run each step at most 100 times more, the error is a *[LimitError] with the
	// number of bytes that does.
	Memory int64
}

// ScanStep is one step of a [Scan]: what it computes from, and the results that it writes. The
// slices belong to the call.
type ScanStep struct {
	// Index is the number of the step, from 0, without a derivative. A comparison with it makes a
	// branch, and [Real.Int] as an index makes one for each step, which is recorded each time: data
	// for single steps are Inputs.
	Index Real
	// State is the state before the step.
	State []Real
	// Params are the parameters, the same for all steps.
	Params []Real
	// Inputs are the inputs of this step.
	Inputs []Real
	// Next is the state after the step, of the length of State. All of it must be written.
	Next []Real
	// Outputs are the outputs of this step, Scan.Outputs in number. All of them must be written.
	Outputs []Real
}

// A ScanFunc runs n steps from state. All steps get params, and step i gets the elements i·k to
// (i+1)·k-1 of inputs, which has length n·k. It returns the last state, of the length of state, and
// the outputs of all steps, those of the first step first.
type ScanFunc func(n int, state, params, inputs []Real) (last, outputs []Real)

// defaultScanMemory is Memory of a Scan that has none.
const defaultScanMemory = 64 << 20

// Func returns the loop as a function over Reals. It should be called once, outside of the function
// that is differentiated, so that recordings of the step are kept. A mistake ends the function that
// calls the loop, and the operator returns it as an error: a *[FuncError] for arguments that do not
// fit and results of another length, ErrForeignReal for Reals that the step captures, and
// ErrOutputNotWritten for results that it does not write.
//
// Several goroutines may call the result if they may call Step.
func (s Scan) Func() ScanFunc {
	c := &scanCalls{s: s, bodies: map[[3]int]*loop.Body{}}
	return func(n int, state, params, inputs []Real) (last, outputs []Real) {
		x := make([]Real, 0, len(state)+len(params)+len(inputs))
		x = append(append(append(x, state...), params...), inputs...)
		custom, err := c.custom(n, len(state), len(params), len(inputs))
		if err != nil {
			y := make([]Real, len(state)+max(n, 0)*max(s.Outputs, 0))
			if !core.Keeps(reps(x), core.Abort{Err: err}, reps(y)) {
				panic(core.Abort{Err: err})
			}
			return y[:len(state):len(state)], y[len(state):]
		}
		y := reals(core.Call(custom, reps(x)))
		return y[:len(state):len(state)], y[len(state):]
	}
}

// scanCalls are the loops of a Scan.
type scanCalls struct {
	s      Scan
	mu     sync.Mutex
	bodies map[[3]int]*loop.Body // by the lengths of the state, of the parameters, and of the inputs of a step
}

// custom returns the loop of n steps for arguments of the given lengths.
func (c *scanCalls) custom(n, state, params, inputs int) (core.Custom, error) {
	wrong := func(format string, args ...any) (core.Custom, error) {
		return nil, &FuncError{Op: "Scan", Function: c.s.Name, Problem: fmt.Sprintf(format, args...)}
	}
	switch {
	case c.s.Step == nil:
		return wrong("it has no Step; give it one, which writes Next from State")
	case c.s.Outputs < 0:
		return wrong("Outputs is %d, want 0 or more", c.s.Outputs)
	case c.s.Memory < 0:
		return wrong("Memory is %d, want a number of bytes, or 0 for %d", c.s.Memory, defaultScanMemory)
	case n < 0:
		return wrong("it is called for %d steps, want 0 or more", n)
	case n == 0 && inputs > 0:
		return wrong("it is called with %d inputs for 0 steps, want none", inputs)
	case n > 0 && inputs%n != 0:
		return wrong("it is called with %d inputs for %d steps, want as many for each step", inputs, n)
	}
	each := 0
	if n > 0 {
		each = inputs / n
	}
	key := [3]int{state, params, each}
	c.mu.Lock()
	b := c.bodies[key]
	if b == nil {
		b = &loop.Body{
			Name: scanName(c.s.Name), State: state, Params: params, Inputs: each, Output: c.s.Outputs,
			Memory: c.s.Memory, Limit: engine.DefaultLimit,
		}
		if b.Memory == 0 {
			b.Memory = defaultScanMemory
		}
		b.New = func() loop.Step { return (&scanStep{s: c.s, b: b}).run }
		c.bodies[key] = b
	}
	c.mu.Unlock()
	if _, err := b.Snapshots(n, 1); err != nil {
		return nil, err
	}
	return b.Times(n), nil
}

func scanName(name string) string {
	if name == "" {
		return "Scan"
	}
	return "Scan " + name
}

// A scanStep runs the step of a Scan.
type scanStep struct {
	s    Scan
	b    *loop.Body
	step ScanStep
}

// run implements loop.Step.
func (r *scanStep) run(y, x []core.Rep, i core.Rep) {
	defer r.caught()
	ys, xs, b := reals(y), reals(x), r.b
	cut := func(v []Real, n int) (first, rest []Real) { return v[:n:n], v[n:] }
	r.step.Index = real(i)
	r.step.State, xs = cut(xs, b.State)
	r.step.Params, r.step.Inputs = cut(xs, b.Params)
	r.step.Next, r.step.Outputs = cut(ys, b.State)
	r.s.Step(&r.step)
	r.written("Next", ys[:b.State], r.step.Next)
	r.written("Outputs", ys[b.State:], r.step.Outputs)
}

// written copies a slice of results that the step has replaced by another one, which must be as long.
func (r *scanStep) written(field string, own, got []Real) {
	if len(got) != len(own) {
		abort(&FuncError{Op: "Scan", Function: r.s.Name, Problem: fmt.Sprintf(
			"Step sets %s to a slice of length %d, want %d; write its elements", field, len(got), len(own))})
	}
	copy(own, got)
}

// caught is deferred. It turns a panic of the step into an error that names the loop.
func (r *scanStep) caught() {
	switch v := recover().(type) {
	case nil:
	case core.Abort:
		panic(v)
	default:
		panic(core.Abort{Err: &PanicError{Function: scanName(r.s.Name), Value: v, Stack: debug.Stack()}})
	}
}
