package core

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// A Task is the preparation of an operator: what takes long on the way says how far it
// is, and hears whether to go on. All methods of a nil Task, and of one that is not under
// way, do nothing.
type Task struct {
	Op       string
	Context  context.Context // nil: it cannot be cancelled
	Progress func(Progress)  // nil: nobody wants to know
	Memory   int64           // bytes that what is made may take; 0 for no limit

	underWay atomic.Bool
	mu       sync.Mutex
	stage    string
	last     time.Time // of the last report
}

// Progress is how far a stage of a preparation is.
type Progress struct {
	Op    string // the operator that is prepared, such as "Hessian"
	Stage string // "recording", "evaluation", "detection", "colouring", "derivation", "products"
	// Done is how much of Total is done, in units of the stage. Total is an upper bound,
	// or 0 where it is not known. A stage may come more than once.
	Done, Total int
}

// CanceledError says that a preparation was cancelled. It wraps the error of the context,
// context.Canceled or context.DeadlineExceeded, and its cause.
type CanceledError struct {
	Op, Stage string
	Err       error
}

func (e *CanceledError) Error() string {
	return fmt.Sprintf("nabla: %s: the preparation was cancelled during %s: %v; prepare again with another context",
		e.Op, e.Stage, e.Err)
}

// Unwrap is the error of the context.
func (e *CanceledError) Unwrap() error { return e.Err }

// Begin and End say that the preparation is under way.
func (t *Task) Begin() {
	if t != nil {
		t.underWay.Store(true)
		t.stage, t.last = "", time.Time{}
	}
}

// End says that the preparation is over: what is done for calls cannot be cancelled.
func (t *Task) End() {
	if t != nil {
		t.underWay.Store(false)
	}
}

// reportEvery is the least time between two reports of one stage, but for its end.
const reportEvery = 20 * time.Millisecond

// Step says that done of total are done. It panics with an Abort where the preparation
// was cancelled. total may be 0.
func (t *Task) Step(stage string, done, total int) {
	if err := t.Check(stage, done, total); err != nil {
		panic(Abort{err})
	}
}

// Check is Step that returns the error, a *CanceledError.
func (t *Task) Check(stage string, done, total int) error {
	if t == nil || !t.underWay.Load() {
		return nil
	}
	if err := t.cancelled(stage); err != nil || t.Progress == nil {
		return err
	}
	t.report(Progress{t.Op, stage, done, total})
	return t.cancelled(stage) // the callback may have done it
}

func (t *Task) cancelled(stage string) error {
	if t.Context == nil || t.Context.Err() == nil {
		return nil
	}
	err := t.Context.Err()
	if cause := context.Cause(t.Context); cause != err {
		err = errors.Join(err, cause)
	}
	return &CanceledError{t.Op, stage, err}
}

// report calls Progress at the beginning and the end of a stage, and now and then between.
func (t *Task) report(p Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if p.Stage != t.stage || p.Total > 0 && p.Done >= p.Total || now.Sub(t.last) >= reportEvery {
		t.stage, t.last = p.Stage, now
		t.Progress(p)
	}
}

// Fits panics with an Abort that carries a *LimitError where so many bytes are more than
// the limit.
func (t *Task) Fits(what string, bytes int64) {
	if t != nil && t.Memory > 0 && bytes > t.Memory {
		panic(Abort{&LimitError{What: what, Memory: t.Memory, Bytes: int(min(bytes, math.MaxInt))}})
	}
}
