package sums

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/nabla-ad/nabla"
)

// An Evaluator sums over all its data, in one pass for each query. [Local] does it in this process.
type Evaluator interface {
	// Sum returns the sum for q. q is not kept. Beside an error the sum has what was summed before, or is nil.
	Sum(ctx context.Context, q *Query) (*Sum, error)
}

// Settings of a [Local]. The zero value has defaults.
type Settings struct {
	// Workers is the number of goroutines; 0 is one for each CPU.
	Workers int
	// Progress, unless nil, is called after each part, from one goroutine at a time. It delays the sum.
	Progress func(Progress)
}

// Progress tells how far a sum is.
type Progress struct {
	Rows, BadRows int64 // of the parts that are done
	Part, Parts   int   // how many parts are done, and how many there are, 0 if that is not known
}

// A Local sums over a source with goroutines, a [Worker] for each. The parts of the source are summed independently,
// and merged in their order, so that a sum has the same bits for any number of workers. It keeps what its workers have
// prepared from one sum to the next. It serves one goroutine at a time; a call from a second one returns nabla.ErrBusy.
type Local[B any] struct {
	source   Source[B]
	settings Settings
	workers  []*Worker[B]
	busy     atomic.Bool
	free     []*Sum // for parts
	failed   error  // why there is nothing to sum, which Sum returns
}

// NewLocal returns a Local for the sum of t over the data of src. s may be nil. If t or src is nil, all calls of Sum
// return a *[QueryError].
func NewLocal[B any](t *Term[B], src Source[B], s *Settings) *Local[B] {
	l := &Local[B]{source: src}
	if s != nil {
		l.settings = *s
	}
	if l.settings.Workers <= 0 {
		l.settings.Workers = runtime.GOMAXPROCS(0)
	}
	switch {
	case t == nil || t.kernel == nil:
		l.failed = &QueryError{"NewLocal: the term is nil or empty, want one that Loss or Residuals returns"}
		return l
	case src == nil:
		l.failed = &QueryError{"NewLocal: the source is nil, want one such as Slice returns"}
		return l
	}
	for range l.settings.Workers {
		w, _ := t.Worker(nil) // no query, no error
		l.workers = append(l.workers, w)
	}
	return l
}

// Sum returns the sum for q, an [Evaluator]. The memory it needs is that of a few sums for each worker, and of one
// block for each if the source reuses memory.
//
// An error of q is one of its dimensions, or a *[QueryError]. A *[RowError] reports a bad row, a *[ReadError] a failure
// of the source, and a *[StoppedError] that ctx, which may be nil, was done: beside them the sum has all rows before
// the first that failed, for any number of workers. Other errors are those of preparing the function.
func (l *Local[B]) Sum(ctx context.Context, q *Query) (*Sum, error) {
	if !l.busy.CompareAndSwap(false, true) {
		return nil, fmt.Errorf("sums: Sum: %w", nabla.ErrBusy)
	}
	defer l.busy.Store(false)
	if l.failed != nil {
		return nil, l.failed
	}
	for _, w := range l.workers {
		if err := w.Ask(q); err != nil {
			return nil, err
		}
	}
	total, err := NewSum(q)
	if err != nil {
		return nil, err
	}
	if ctx == nil {
		ctx = context.Background()
	}
	p := &pass[B]{l: l, ctx: ctx, sum: total}
	if err := p.open(); err != nil {
		return total, &ReadError{Err: err}
	}
	p.merged.L = &p.mu
	p.window = 4 * len(l.workers)
	p.done = make([]*part, p.window)
	p.last.Store(math.MaxInt64)
	var group sync.WaitGroup
	for _, w := range l.workers[1:] {
		group.Go(func() { p.work(w) })
	}
	p.work(l.workers[0])
	group.Wait()
	p.parts.close()
	return total, p.err
}

// A pass is a sum that is under way.
type pass[B any] struct {
	l      *Local[B]
	ctx    context.Context
	window int // no part is begun that is so many after the first that is not merged

	reading sync.Mutex // guards parts and begun
	parts   feed[B]
	begun   int // the number of parts that were handed out

	mu     sync.Mutex   // guards the rest, and the sums that l has for parts
	merged sync.Cond    // next has grown, or the pass has failed
	next   int          // the first part that is not merged
	done   []*part      // the parts from next on that are done, by number modulo window
	sum    *Sum         // of the parts before next
	err    error        // ends the pass
	last   atomic.Int64 // no part after this one is needed
}

// A part is the sum of one part of the source, up to the error.
type part struct {
	sum *Sum
	err error
}

// open starts reading the source. A panic of the source is an error.
func (p *pass[B]) open() (err error) {
	defer recovered(&err)
	p.parts, err = open(p.l.source)
	return err
}

// recovered makes a panic of the source, or of a function in Options, the error of the caller.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = &nabla.PanicError{Function: sourceOrOptions, Value: r, Stack: debug.Stack()}
	}
}

// work sums parts with w until there are none.
func (p *pass[B]) work(w *Worker[B]) {
	for {
		i, blocks, err := p.take()
		if blocks == nil && err == nil {
			return
		}
		p.sumPart(w, i, blocks, err)
	}
}

// sumPart sums part i, unless err is not nil. A part that runtime.Goexit ends is finished too: others wait for it.
func (p *pass[B]) sumPart(w *Worker[B], i int, blocks iter.Seq2[*B, error], err error) {
	done := &part{sum: p.newSum(), err: errGoexit}
	defer func() { p.finish(i, done) }()
	if err == nil {
		err = p.add(w, done.sum, i, blocks)
	}
	done.err = err
}

// errGoexit is the error of a part whose goroutine has ended.
var errGoexit = &nabla.PanicError{Function: sourceOrOptions, Value: "runtime.Goexit was called"}

// sourceOrOptions names what has panicked beside the function.
const sourceOrOptions = "of the source or the options"

// take returns the next part and its blocks, which are nil after the last one and beside an error.
func (p *pass[B]) take() (i int, blocks iter.Seq2[*B, error], err error) {
	p.reading.Lock()
	defer p.reading.Unlock()
	i = p.begun
	p.mu.Lock()
	for i >= p.next+p.window && p.err == nil {
		p.merged.Wait()
	}
	p.mu.Unlock()
	if int64(i) > p.last.Load() {
		return 0, nil, nil
	}
	defer func() {
		if blocks != nil || err != nil {
			p.begun++
		}
	}()
	defer recovered(&err)
	return i, p.parts.next(), nil
}

// add adds the blocks of part i to s.
func (p *pass[B]) add(w *Worker[B], s *Sum, i int, blocks iter.Seq2[*B, error]) (err error) {
	defer recovered(&err)
	for b, problem := range blocks {
		switch row := (*RowError)(nil); {
		case p.ctx.Err() != nil:
			return &StoppedError{Err: context.Cause(p.ctx)}
		case int64(i) > p.last.Load():
			return errUnneeded
		case problem == nil:
			err = w.Add(s, b)
		case b == nil && errors.As(problem, &row):
			err = w.bad(s, 1, row.Err)
		default:
			err = &ReadError{Err: problem}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// errUnneeded ends a part after one that failed.
var errUnneeded = errors.New("sums: a part before failed")

// newSum returns a sum for a part.
func (p *pass[B]) newSum() *Sum {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := new(Sum)
	if k := len(p.l.free); k > 0 {
		s, p.l.free = p.l.free[k-1], p.l.free[:k-1]
	}
	s.reset(p.sum.shape, p.sum.query)
	return s
}

// finish takes the sum of part i, and merges the parts whose turn it is.
func (p *pass[B]) finish(i int, done *part) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if done.err != nil && int64(i) < p.last.Load() {
		p.last.Store(int64(i))
	}
	p.done[i%p.window] = done
	for p.err == nil {
		at := p.next % p.window
		ready := p.done[at]
		if ready == nil {
			return
		}
		p.done[at] = nil
		p.merge(ready)
		p.next++
		p.merged.Broadcast()
	}
}

// merge adds the sum of the next part.
func (p *pass[B]) merge(ready *part) {
	before := p.sum.Rows + p.sum.BadRows
	if err := p.sum.Merge(ready.sum); err != nil {
		p.err = err // cannot happen: both are for one query
		return
	}
	p.l.free = append(p.l.free, ready.sum)
	after := p.sum.Rows + p.sum.BadRows
	switch err := ready.err.(type) {
	case *RowError:
		err.Row += before
	case *ReadError:
		err.Row = after
	case *StoppedError:
		err.Rows = after
	}
	p.err = ready.err
	if f := p.l.settings.Progress; f != nil && p.err == nil {
		f(Progress{p.sum.Rows, p.sum.BadRows, p.next + 1, p.parts.total()})
	}
}
