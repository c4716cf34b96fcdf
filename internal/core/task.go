package core

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nabla-ad/nabla/internal/page"
)

// A Task connects the preparation of an operator with the options of the user: the long computations in it report
// progress to the Task, and stop with an error of the Task if the user has cancelled the context or if a result would
// exceed the memory limit. A nil Task never stops a computation, and between End and the next Begin progress and
// cancellation are ignored.
type Task struct {
	Op       string
	Context  context.Context // nil if it cannot be cancelled
	Progress func(Progress)  // nil if progress is not reported
	Memory   int64           // maximal number of bytes of a result; 0 for no limit

	underWay atomic.Bool
	mu       sync.Mutex
	stage    string
	last     time.Time // of the last report
}

// Progress is the state of one stage of a preparation.
type Progress struct {
	Op string // the operator that is prepared, such as "Hessian"
	// Stage is "recording", "evaluation", "detection", "colouring", "derivation", "products" or, in a call at many
	// points, "points".
	Stage string
	// Done is the completed part of Total, in units of the stage. Total is an upper bound, 0 if unknown. A stage may
	// occur more than once.
	Done, Total int
}

// CanceledError reports that a preparation, or a call at many points, was cancelled. It wraps the error of the
// context, context.Canceled or context.DeadlineExceeded, and its cause.
type CanceledError struct {
	Op, Stage string
	Err       error
}

func (e *CanceledError) Error() string {
	if e.Stage == "points" {
		return page.Namef("nabla.CanceledError",
			"nabla: %s: the call was cancelled: %v; call again with another context", e.Op, e.Err)
	}
	return page.Namef("nabla.CanceledError",
		"nabla: %s: the preparation was cancelled during %s: %v; prepare again with another context",
		e.Op, e.Stage, e.Err)
}

// Unwrap returns the error of the context.
func (e *CanceledError) Unwrap() error { return e.Err }

// Begin marks the beginning of the preparation.
func (t *Task) Begin() {
	if t != nil {
		t.underWay.Store(true)
		t.stage, t.last = "", time.Time{}
	}
}

// End marks the end of the preparation. Later calls of the operator cannot be cancelled.
func (t *Task) End() {
	if t != nil {
		t.underWay.Store(false)
	}
}

// reportEvery is the least time between two reports of one stage, except for its end.
const reportEvery = 20 * time.Millisecond

// Step reports that done of total units are done; total may be 0. It panics with an Abort that holds a *CanceledError
// if the preparation was cancelled.
func (t *Task) Step(stage string, done, total int) {
	if err := t.Check(stage, done, total); err != nil {
		panic(Abort{err})
	}
}

// Check is Step but returns the *CanceledError.
func (t *Task) Check(stage string, done, total int) error {
	if t == nil || !t.underWay.Load() {
		return nil
	}
	if err := t.cancelled(stage); err != nil || t.Progress == nil {
		return err
	}
	t.report(Progress{t.Op, stage, done, total})
	return t.cancelled(stage) // the callback may have cancelled it
}

// cancelled returns a *CanceledError if the context is cancelled, and nil otherwise.
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

// report calls Progress at the beginning and the end of a stage, and otherwise at most once per reportEvery.
func (t *Task) report(p Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if p.Stage != t.stage || p.Total > 0 && p.Done >= p.Total || now.Sub(t.last) >= reportEvery {
		t.stage, t.last = p.Stage, now
		t.Progress(p)
	}
}

// Fits panics with an Abort that holds a *LimitError if bytes exceeds the memory limit.
func (t *Task) Fits(what string, bytes int64) {
	if t != nil && t.Memory > 0 && bytes > t.Memory {
		panic(Abort{&LimitError{What: what, Memory: t.Memory, Bytes: int(min(bytes, math.MaxInt))}})
	}
}
