package core

import (
	"sync"
	"sync/atomic"
)

// A recording has the operations of each iteration of a loop again. Generated code says where the iterations begin, so
// that nobody has to search for the loops: at the start of each it calls Next of a Loop, which finds the recording by
// the goroutine, because there may be no number at hand that belongs to it. The recording keeps the runs of iterations
// with as many operations as the one before, if they are long enough to be of use.

// A Run is a part of a recording that a loop may have made: Count iterations of Period records each, the first one
// from the record with the id Start on. One more iteration may follow. That the iterations are alike is not known.
type Run struct{ Start, Period, Count int32 }

// Runs are kept from these numbers of iterations and of records on.
const (
	LeastIterations = 16
	leastRun        = 32
)

// A Loop is an execution of a loop. The zero value is one that has not begun.
type Loop struct {
	t    *Tracer // the recording; nil before the first iteration, and if there is none
	gen  uint32  // that of t
	none bool    // there is no recording
	at   int32   // the first record of the current iteration
	run  Run     // of iterations that have ended
	kept int32   // 1 + the index of run in those that are kept, or 0
}

// Next says that an iteration begins.
func (l *Loop) Next() {
	if openRecordings.latest.Load() != nil && !l.none {
		l.next()
	}
}

func (l *Loop) next() {
	t := l.t
	if t == nil {
		if t = recordingHere(); t == nil {
			l.none = true
			return
		}
		l.t, l.gen, l.at = t, t.gen.Load(), t.next
		return
	}
	n := t.next - l.at
	if n == 0 || t.gen.Load() != l.gen {
		return
	}
	if n != l.run.Period {
		l.run, l.kept = Run{l.at, n, 0}, 0
	}
	l.at = t.next
	l.run.Count++
	switch {
	case l.kept > 0:
		t.runs[l.kept-1].Count++
	case l.run.Count >= LeastIterations-1 && (l.run.Count+1)*n >= leastRun: // the next one may be the last
		t.runs = append(t.runs, l.run)
		l.kept = int32(len(t.runs))
	}
}

// openRecordings are the recordings to which loops report their iterations, the one that was opened last first.
var openRecordings struct {
	sync.Mutex // to change the list
	latest     atomic.Pointer[Tracer]
}

// recordingHere returns the one of this goroutine that was opened last, or nil if there is none. One that several
// goroutines use has no loops.
func recordingHere() *Tracer {
	me := goroutine()
	for t := openRecordings.latest.Load(); t != nil; t = t.earlier.Load() {
		if t.owner.Load() == me {
			return t
		}
	}
	return nil
}

// list adds t to the open recordings.
func (t *Tracer) list() {
	all := &openRecordings
	all.Lock()
	defer all.Unlock()
	t.isListed = true
	t.earlier.Store(all.latest.Load())
	all.latest.Store(t)
}

// unlist removes t from the open recordings, if it is one.
func (t *Tracer) unlist() {
	if !t.isListed {
		return
	}
	all := &openRecordings
	all.Lock()
	defer all.Unlock()
	t.isListed = false
	at := &all.latest
	for at.Load() != t {
		at = &at.Load().earlier
	}
	at.Store(t.earlier.Load())
}
