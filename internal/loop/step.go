package loop

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/program"
)

// A branch is a recording of the step with the programs derived from it.
type branch struct {
	kept    core.Kept
	base    *program.Program
	dropped atomic.Bool // another recording has taken its place
	mu      sync.Mutex
	derived map[kind]*program.Program
}

// program returns the program of kind k, not scheduled if over is set, as it is run over numbers.
func (br *branch) program(k kind) *program.Program {
	br.mu.Lock()
	defer br.mu.Unlock()
	p := br.derived[k]
	if p == nil {
		if br.derived == nil {
			br.derived = map[kind]*program.Program{}
		}
		p = derive(br.base, k)
		br.derived[k] = p
	}
	return p
}

// A worker holds what one call uses. It belongs to one goroutine.
type worker struct {
	b       *Body
	step    Step
	t       core.Tracer
	shared  bool // the step computes in goroutines of its own
	xs, ys  []core.Rep
	lists   map[kind]*list
	call    uint64    // the number of the call
	checked []*branch // those compared with the step in this call

	// The inputs of a step, its outputs, the cotangents of its outputs, and those of its inputs with its outputs.
	x, y, seed, bar []float64
	snapshots       [][]float64 // in chunks; see sweep.snapshot
	perChunk        int
	at              []int     // the steps of the snapshots
	temp            []float64 // of derivatives of derivatives; see custom.go
}

// A list holds the machines of a kind, the one that was used last first.
type list struct {
	k    kind
	runs []*run
}

type run struct {
	of   *branch
	m    *program.Machine
	call uint64 // the last call in which of was compared with the step
}

// list returns the machines of kind k.
func (w *worker) list(k kind) *list {
	l := w.lists[k]
	if l == nil {
		l = &list{k: k}
		w.lists[k] = l
	}
	return l
}

// run returns the machine of l that has run step i at w.x and, for a reverse sweep, w.seed.
func (w *worker) run(l *list, i int) *program.Machine { return w.find(l, i).m }

func (w *worker) find(l *list, i int) *run {
	for pos := 0; pos < len(l.runs); pos++ {
		r := l.runs[pos]
		if r.of.dropped.Load() {
			l.runs = slices.Delete(l.runs, pos, pos+1)
			pos--
			continue
		}
		if !w.try(l.k, r, i) {
			continue
		}
		copy(l.runs[1:pos+1], l.runs[:pos])
		l.runs[0] = r
		return r
	}
	return w.other(l, i)
}

// other is find for a branch that l has no machine of.
func (w *worker) other(l *list, i int) *run {
	w.b.mu.Lock()
	known := slices.Clone(w.b.branches)
	w.b.mu.Unlock()
	for _, br := range known {
		if slices.ContainsFunc(l.runs, func(r *run) bool { return r.of == br }) {
			continue
		}
		if r := w.add(l, br); w.try(l.k, r, i) {
			return r
		}
	}
	rec := w.record(i)
	p, err := program.FromRecording(rec, w.ys)
	if err != nil {
		panic(core.Abort{Err: err})
	}
	br := w.b.add(&rec, w.ys, p)
	w.checked = append(w.checked, br)
	r := w.add(l, br)
	if !w.try(l.k, r, i) {
		panic(core.Abort{Err: fmt.Errorf("nabla: %s: the recording of step %d does not hold at the point where it was "+
			"made; does the step read a clock or random numbers?: %w", w.b.Name, i, program.ErrGuard)})
	}
	return r
}

// add adds a machine of br to the front of l.
func (w *worker) add(l *list, br *branch) *run {
	r := &run{of: br, m: program.NewMachine(program.Schedule(br.program(l.k)))}
	l.runs = slices.Insert(l.runs, 0, r)
	return r
}

// try runs r at step i. It returns false if the step takes another branch, or no longer is what was recorded.
func (w *worker) try(k kind, r *run, i int) bool {
	copy(r.m.Input(0), w.x)
	if k.reverse {
		copy(r.m.Input(1), w.seed)
	}
	if p := r.m.Params(); len(p) > 0 {
		p[0] = float64(i)
	}
	if !r.m.Run() {
		return false
	}
	if r.call == w.call {
		return true
	}
	if !slices.Contains(w.checked, r.of) {
		if rec := w.record(i); !r.of.kept.Same(&rec, w.ys) {
			w.b.drop(r.of)
			return false
		}
		w.checked = append(w.checked, r.of)
	}
	r.call = w.call
	return true
}

// record records step i at the values of w.x. The result, whose outputs are w.ys, is valid until the next recording.
func (w *worker) record(i int) core.Recorded {
	t := &w.t
	t.StartRecording(len(w.xs), 1, core.RecordOptions{Limit: w.b.Limit, Loops: true})
	defer t.Close()
	t.Begin(w.shared, nil)
	again, failed := w.trace(i)
	if again {
		w.shared = true
		_, failed = w.trace(i)
	}
	if failed != nil {
		w.refuse(failed)
	}
	for j, r := range w.ys {
		if r.Poisoned() {
			panic(core.Abort{Err: fmt.Errorf("nabla: %s: result %d of step %d: %w", w.b.Name, j, i,
				core.ErrOutputNotWritten)})
		}
		if r.ID != 0 && !t.Owns(r) {
			w.refuse(core.Abort{Err: core.ErrForeignReal})
		}
	}
	return t.Recorded()
}

// trace runs the step in the trace of w; see core.Tracer.End.
func (w *worker) trace(i int) (again bool, failed any) {
	defer func() {
		if v := recover(); v != nil {
			w.refuse(v)
		}
	}()
	for j := range w.xs {
		w.xs[j] = w.t.Input(j, w.x[j])
	}
	for j := range w.ys {
		w.ys[j] = core.Poison()
	}
	w.step(w.ys, w.xs, w.t.Input(len(w.xs), float64(i)))
	return w.t.End(w.xs)
}

// refuse panics with v, the value of a panic of the step. A number of another trace is one of the surrounding function.
func (w *worker) refuse(v any) {
	if a, ok := v.(core.Abort); ok && errors.Is(a.Err, core.ErrForeignReal) {
		v = core.Abort{Err: Captured(w.b.Name, a.Err)}
	}
	panic(v)
}

// Captured returns the error of an operation that computes with numbers of the surrounding function. It wraps err.
func Captured(name string, err error) error {
	return core.Within(name+" computes with a Real of the surrounding function, which has no derivative there; pass "+
		"it as an argument", err)
}
