package nabla

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/page"
)

// PointError reports the point at which the derivatives of [GradientMany] or [JacobianMany] failed. Of several it is
// the first. It unwraps to the error of the operator at this point.
type PointError struct {
	Op    string
	Point int // the row of the matrix of points
	Err   error
}

func (e *PointError) Error() string {
	return page.Namef("nabla.PointError", "nabla: %s: point %d: %v", e.Op, e.Point, e.Err)
}

// Unwrap returns the error of the operator.
func (e *PointError) Unwrap() error { return e.Err }

// pointsStage is the stage of a [Progress] and of a *[CanceledError] while an operator computes at many points.
const pointsStage = "points"

// many is the common part of the operators at many points: prepared objects of type T for one point, one for each
// worker, and the state of a call.
//
// Points are handed out in ascending order, a few at a time. After a failure at point i no point after i is begun, and
// all points before it are computed, so that the error is that of the first point that fails, on any number of workers.
type many[T any, P operator[T]] struct {
	op      string
	workers []P                    // the others are clones of the first
	check   *prep                  // checks arguments, under the name of the operator
	compute func(w P, i int) error // computes point i
	task    engine.Task            // of the call under way
	busy    atomic.Bool            // a call is under way
	stop    atomic.Int64           // no point from this one on is to be computed
	mu      sync.Mutex             // guards the fields below
	next    int                    // the first point that is not handed out
	total   int                    // the number of points
	step    int                    // how many points are handed out at a time
	done    int                    // the number of points that are done
	err     error                  // of the first point that failed, or of the call
	spans   []span                 // scratch of apart
	group   sync.WaitGroup
}

// prepareMany prepares the operator op at many points with workers, all CPUs if workers is not positive. single is the
// operator at one point.
func (m *many[T, P]) prepareMany(op string, workers int, single func() (P, error),
	compute func(w P, i int) error) error {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	first, err := single()
	if err != nil {
		return err
	}
	return m.from(op, first, workers, compute)
}

// from sets the workers of m to first and clones of it. On an error m has the workers that it had.
func (m *many[T, P]) from(op string, first P, workers int, compute func(w P, i int) error) error {
	list := append([]P{first}, clonesApart[T](first, workers-1)...)
	for _, c := range list {
		if c == nil {
			return &PanicError{Function: op, Value: "runtime.Goexit was called"}
		}
		if err := c.common().failed; err != nil {
			return err
		}
	}
	m.op, m.compute, m.workers = op, compute, list
	base := first.common()
	m.check = &prep{op: op, f: base.f, n: base.n, m: base.m}
	return nil
}

// clonesApart returns n clones of first. They are made one after the other, each by a goroutine that stays on its
// processor until all are made, as far as there are processors: each processor allocates memory from pieces of its own,
// so that the numbers that one clone writes at every point share no cache line with those that another one reads. A
// clone is nil if runtime.Goexit has ended its goroutine.
func clonesApart[T any, P operator[T]](first P, n int) []P {
	list := make([]P, max(0, n))
	var made atomic.Int64
	begin := time.Now()
	await := func(k int) {
		for spins := 0; made.Load() < int64(k); spins++ {
			if spins%64 == 63 && time.Since(begin) > patience {
				runtime.Gosched()
			}
		}
	}
	for i := range list {
		go func() {
			defer func() {
				made.Add(1)
				await(len(list))
			}()
			await(i)
			list[i] = clone[T](first)
		}()
	}
	await(len(list))
	return list
}

// patience is how long a goroutine of clonesApart keeps its processor for itself.
const patience = 500 * time.Microsecond

// first returns the common part of the prepared object for one point, one whose calls fail if m is empty.
func (m *many[T, P]) first(kind, maker string) *prep {
	if len(m.workers) == 0 {
		return unmade(kind, maker)
	}
	return m.workers[0].base()
}

// copyTo makes the empty q a copy of m with workers of its own. If that fails, q has one worker, whose calls return the
// error.
func (m *many[T, P]) copyTo(q *many[T, P], compute func(w P, i int) error) {
	if len(m.workers) == 0 {
		return
	}
	if !m.busy.CompareAndSwap(false, true) {
		failed := P(new(T))
		failed.common().op = m.op
		failed.common().failed = fmt.Errorf("nabla: %s: Clone was called while a call was under way, clone before the "+
			"goroutines start: %w", m.op, ErrBusy)
		q.op, q.workers, q.check = m.op, []P{failed}, failed.common()
		return
	}
	defer m.busy.Store(false)
	first := clone[T](m.workers[0])
	if err := q.from(m.op, first, len(m.workers), compute); err != nil {
		first.common().failed = err
		q.op, q.workers, q.check = m.op, []P{first}, first.common()
	}
}

// recorded returns how often the workers have recorded the function.
func (m *many[T, P]) recorded() (n int) {
	for _, w := range m.workers {
		n += w.base().recordings()
	}
	return n
}

// context returns the context of the preparation, nil if there is none.
func (m *many[T, P]) context() context.Context {
	if t := m.workers[0].common().backend.policy.Task; t != nil {
		return t.Context
	}
	return nil
}

// allCPUs returns the number of workers for a call at k points.
func allCPUs(k int) int { return max(1, min(k, runtime.GOMAXPROCS(0))) }

// enter opens a call. Every successful enter must be followed by leave.
func (m *many[T, P]) enter() error {
	if !m.busy.CompareAndSwap(false, true) {
		return fmt.Errorf("nabla: %s: %w", m.op, ErrBusy)
	}
	if err := m.workers[0].common().failed; err != nil {
		m.busy.Store(false)
		return err
	}
	return nil
}

// begin is enter for a call at the rows of X, whose number it returns.
func (m *many[T, P]) begin(X *mat.Dense) (k int, err error) {
	if err := m.enter(); err != nil {
		return 0, err
	}
	n := 0
	if X != nil {
		k, n = X.Dims()
	}
	if k > 0 && n != m.check.n {
		m.busy.Store(false)
		return 0, &ShapeError{Op: m.op, Arg: "columns of X", Got: n, Want: m.check.n}
	}
	return k, nil
}

func (m *many[T, P]) leave() { m.busy.Store(false) }

// rebind makes all workers read the bound struct from q.
func (m *many[T, P]) rebind(q any) error {
	if err := m.enter(); err != nil {
		return err
	}
	defer m.leave()
	for _, w := range m.workers {
		if err := w.base().rebind(q); err != nil {
			return err
		}
	}
	return nil
}

// resize prepares all workers for points of the length of x. On an error they keep their old size.
func (m *many[T, P]) resize(x []float64) error {
	if err := m.enter(); err != nil {
		return err
	}
	defer m.leave()
	first := m.workers[0]
	old := slices.Clone(first.common().x)
	if err := first.base().resizeTo(x); err != nil {
		return err
	}
	err := m.from(m.op, first, len(m.workers), m.compute)
	if err != nil {
		err = errors.Join(err, first.base().resizeTo(old))
	}
	return err
}

// run computes at k points. ctx may be nil.
func (m *many[T, P]) run(ctx context.Context, k int) error {
	m.task.Op, m.task.Context, m.task.Progress = m.op, ctx, nil
	if t := m.workers[0].common().backend.policy.Task; t != nil {
		m.task.Progress = t.Progress
	}
	m.task.Begin()
	defer m.task.End()
	m.next, m.total, m.done, m.err = 0, k, 0, nil
	m.step = max(1, min(16, k/(8*len(m.workers))))
	m.stop.Store(int64(k))
	m.report(0)
	for _, w := range m.workers[1:max(1, min(len(m.workers), k))] {
		m.group.Add(1)
		go m.work(ctx, w)
	}
	m.group.Add(1)
	m.work(ctx, m.workers[0])
	m.group.Wait()
	return m.err
}

// work computes points with worker w until none is left.
func (m *many[T, P]) work(ctx context.Context, w P) {
	returned := false
	defer func() {
		defer m.group.Done()
		var err error
		panicked(m.op, recover(), &err)
		if err == nil && !returned {
			err = &PanicError{Function: m.op, Value: "runtime.Goexit was called"}
		}
		if err != nil {
			m.fail(0, err)
		}
	}()
	for {
		i, last := m.take()
		if i == last {
			returned = true
			return
		}
		count := last - i
		for ; i < last && int64(i) < m.stop.Load(); i++ {
			if ctx != nil && ctx.Err() != nil {
				break // report returns the error
			}
			if err := m.compute(w, i); err != nil {
				m.fail(i, &PointError{Op: m.op, Point: i, Err: err})
			}
		}
		m.report(count)
	}
}

// take returns the next points that are to be computed, from first up to but not including last.
func (m *many[T, P]) take() (first, last int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	first = m.next
	last = max(first, min(first+m.step, int(m.stop.Load())))
	m.next = last
	return first, last
}

// fail ends the call at point i with err, unless it has ended at an earlier one.
func (m *many[T, P]) fail(i int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err == nil || int64(i) < m.stop.Load() {
		m.err = err
		m.stop.Store(int64(i))
	}
}

// report adds to the number of points that are done, and ends the call if it is cancelled.
func (m *many[T, P]) report(done int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done += done
	if m.err != nil {
		return
	}
	if err := m.task.Check(pointsStage, m.done, m.total); err != nil {
		m.err = err
		m.stop.Store(0)
	}
}

// A span is memory that a call reads or writes.
type span struct {
	from, to uintptr
	arg      string
	index    int // of a destination among several; -1 for an argument that is no list
}

// add adds the memory of data to the spans of the call.
func (m *many[T, P]) add(arg string, index int, data []float64) {
	if len(data) > 0 {
		at := uintptr(unsafe.Pointer(&data[0]))
		m.spans = append(m.spans, span{at, at + 8*uintptr(len(data)), arg, index})
	}
}

// apart returns an *AliasError if two of the spans overlap.
func (m *many[T, P]) apart() error {
	slices.SortFunc(m.spans, func(a, b span) int {
		switch {
		case a.from < b.from:
			return -1
		case a.from > b.from:
			return 1
		}
		return 0
	})
	for i := range m.spans[:max(0, len(m.spans)-1)] {
		if a, b := m.spans[i], m.spans[i+1]; b.from < a.to {
			if a.arg != "dst" {
				a, b = b, a
			}
			return &AliasError{Op: m.op, Arg: a.name(), With: b.name()}
		}
	}
	return nil
}

func (s span) name() string {
	if s.index < 0 {
		return s.arg
	}
	return fmt.Sprintf("%s[%d]", s.arg, s.index)
}
