// Package loop makes a loop of equal steps one operation of every engine, whose reverse sweep keeps the state of some
// steps only, within a number of bytes.
//
// A step is a function over Reals. It is recorded once for each of its branches, and machines run the programs derived
// from the recording (step.go), step by step: the step itself in the forward sweep, and its reverse derivative in the
// reverse sweep, which computes the state before a step again from the last snapshot before it (sweep.go). At the first
// use of a branch in a call the step is recorded again and the recordings are compared, so that data which the step
// captures may change between calls.
//
// The derivatives of a loop are loops. The tangent of a loop is the loop of the tangent of its step, whose state is
// twice as long, and the derivative of its cotangent is the cotangent of that loop (custom.go), so that derivatives of
// any order exist, each within the same number of bytes.
package loop

import (
	"fmt"
	"math"
	"sync"

	"github.com/nabla-ad/nabla/gen/rt/checkpoint"
	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/program"
)

// A Step writes the results of step i to y: the next state, then the outputs. x holds the state, the parameters and the
// inputs of the step. It may modify x. Elements of y are poisoned.
type Step func(y, x []core.Rep, i core.Rep)

// A Body is a step with its sizes. It may be used by several goroutines. Its exported fields must not change.
type Body struct {
	Name           string // in messages
	State, Params  int    // numbers of the state and of the parameters, which are the same in all steps
	Inputs, Output int    // numbers that belong to one step
	Memory         int64  // bytes of the snapshots of one reverse sweep
	Limit          int    // operations of a recorded step
	// New returns the step, with memory of its own, for one goroutine.
	New func() Step

	mu        sync.Mutex
	branches  []*branch
	free      []*worker
	once      sync.Once
	pattern   [][]int   // of the step; see stepPattern
	structure structure // the one that was asked for last
}

// Times returns the loop of n steps. Its inputs are the first state, the parameters, and the inputs of all steps; its
// outputs are the last state and the outputs of all steps.
func (b *Body) Times(n int) core.Custom { return loop{b: b, n: n} }

// stepIn returns the number of inputs of a step.
func (b *Body) stepIn() int { return b.State + b.Params + b.Inputs }

// stepOut returns the number of outputs of a step.
func (b *Body) stepOut() int { return b.State + b.Output }

// mostRuns is the largest number of times that a step is run in a reverse sweep besides its reversal.
const mostRuns = 100

// snapshotBytes returns the memory of one snapshot of a loop with the given number of states, and of its place in the
// list of snapshots.
func (b *Body) snapshotBytes(states int) int64 { return 8 * (int64(b.State)*int64(states) + 1) }

// Snapshots returns the number of snapshots in the reverse sweep of n steps, of states that consist of the given number
// of states of the body. The error is a *core.LimitError if that many do not suffice to run each step mostRuns times.
func (b *Body) Snapshots(n, states int) (int, error) {
	if b.State == 0 || n == 0 {
		return 0, nil
	}
	per := b.snapshotBytes(states)
	s := int(min(b.Memory/per, int64(n)))
	if checkpoint.Reach(s, mostRuns) >= n && s > 0 {
		return s, nil
	}
	need := 1
	for checkpoint.Reach(need, mostRuns) < n {
		need++
	}
	what := fmt.Sprintf("the snapshots that %s needs for %d steps, %d of %d bytes,", b.Name, n, need, per)
	return 0, &core.LimitError{What: what, Bytes: int(min(int64(need)*per, math.MaxInt)), Memory: b.Memory,
		Remedy: "raise Memory of the Scan"}
}

// maxBranches is the number of branches of a step whose recordings are kept.
const maxBranches = 16

// add returns the branch with the recording rec, whose outputs are ys and which p is the program of: a known one, as
// when another goroutine has recorded it meanwhile, or a new one. The oldest branch is dropped if there are too many.
func (b *Body) add(rec *core.Recorded, ys []core.Rep, p *program.Program) *branch {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, br := range b.branches {
		if br.kept.Same(rec, ys) {
			return br
		}
	}
	br := &branch{base: p}
	br.kept.Keep(rec, ys)
	if len(b.branches) == maxBranches {
		b.branches[0].dropped.Store(true)
		b.branches = b.branches[:copy(b.branches, b.branches[1:])]
	}
	b.branches = append(b.branches, br)
	return br
}

// drop forgets br, which no longer is what the step computes.
func (b *Body) drop(br *branch) {
	b.mu.Lock()
	defer b.mu.Unlock()
	br.dropped.Store(true)
	for i, k := range b.branches {
		if k == br {
			b.branches = append(b.branches[:i:i], b.branches[i+1:]...)
			return
		}
	}
}

// take returns a worker for one call, which give returns. It is lost if the call panics.
func (b *Body) take() *worker {
	b.mu.Lock()
	var w *worker
	if n := len(b.free); n > 0 {
		w, b.free = b.free[n-1], b.free[:n-1]
	}
	b.mu.Unlock()
	if w == nil {
		w = &worker{b: b, step: b.New(), lists: map[kind]*list{},
			xs: make([]core.Rep, b.stepIn()), ys: make([]core.Rep, b.stepOut())}
	}
	w.call++
	w.checked = w.checked[:0]
	return w
}

func (b *Body) give(w *worker) {
	b.mu.Lock()
	b.free = append(b.free, w)
	b.mu.Unlock()
}

// A kind of derivative of a step: of how many tangents, whether with the reverse sweep, and with which zeros.
type kind struct {
	level   int // the number of times that the tangent was taken
	reverse bool
	strong  bool // structural zeros are -0; see package program
}

// derive returns the program of kind k of base, a recorded step. Its input groups are the inputs of the step and, for a
// reverse sweep, the cotangents of its outputs; its output group holds the outputs, for a reverse sweep behind the
// cotangents of the inputs.
func derive(base *program.Program, k kind) *program.Program {
	p := program.Simplify(base)
	for range k.level {
		q := program.JVP(p, program.JVPOptions{Strong: k.strong, Signed: true})
		p = program.Simplify(program.Join(program.JoinInputs(q, "xdot"), "y", 0, 1))
	}
	if !k.reverse {
		return p
	}
	q := program.VJP(p, program.VJPOptions{Strong: k.strong, Signed: true})
	return program.Simplify(program.Join(q, "xbar", 1, 0))
}
