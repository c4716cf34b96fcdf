package team

import (
	"math"
	"runtime"
	"sync/atomic"
	"time"
)

// Stages runs numbered tasks in stages: those of a stage when all of the stage before are done. It serves one
// goroutine at a time, and allocates nothing in a run.
//
// Each worker has the same tasks in all runs, so that their data is near its processor. A helper that does not begin
// in time takes no part in a run: tasks that move between processors may take longer than those of one.
// If helpers do not save time, as on a machine that has other work, most runs have none.
type Stages struct {
	do      func(task int)
	workers int
	stages  []stage
	shares  []share // stage · workers + worker → the tasks of this worker
	helpers []*helper
	run     atomic.Uint32
	pace    pace
}

// A stage is the state of a stage in a run: the number of tasks that are done, with the number of the run in the upper
// half, so that a helper that is late changes nothing in a later run.
type stage struct {
	done  atomic.Uint64
	tasks uint32
	_     [48]byte // of another cache line
}

// A share has the tasks of a stage from first to before end. next is the first one that nobody has taken, with the
// number of the run as in stage.
type share struct {
	next       atomic.Uint64
	first, end uint32
	_          [48]byte
}

// A helper is a goroutine that takes part in runs.
type helper struct {
	begin func()
	busy  atomic.Bool   // it has begun and not ended
	part  atomic.Uint64 // whether it takes part, with the number of the run
	away  bool          // it does not take part in the current run: of the caller's goroutine alone
	_     [48]byte
}

// The states of part.
const (
	undecided = iota
	present
	absent
)

const (
	// patience is how long a worker waits for the tasks of others before it takes them, and for others to begin. Some
	// machines need a tenth of a millisecond to wake a processor.
	patience = 150 * time.Microsecond
	// spins is the number of looks at a value between two at the clock.
	spins = 50
)

// NewStages returns Stages of workers that call do with the number of a task. ends has the ends of the stages. do must
// not panic.
func NewStages(workers int, ends []int, do func(task int)) *Stages {
	s := &Stages{do: do, workers: workers, stages: make([]stage, len(ends)), shares: make([]share, workers*len(ends)),
		pace: pace{helps: workers > 1, left: trial}}
	first := 0
	for i, end := range ends {
		if end < first || end > math.MaxInt32 {
			panic("team: stages that do not ascend")
		}
		tasks := end - first
		s.stages[i].tasks = uint32(tasks)
		for w := range workers {
			h := &s.shares[i*workers+w]
			h.first, h.end = uint32(first+(tasks*w+workers-1)/workers), uint32(first+(tasks*(w+1)+workers-1)/workers)
		}
		first = end
	}
	for w := 1; w < workers; w++ {
		h := new(helper)
		h.begin = func() {
			for run := s.run.Load(); ; {
				if h.part.CompareAndSwap(state(run, undecided), state(run, present)) {
					s.work(w, run)
				}
				now := s.run.Load()
				if now == run {
					break
				}
				run = now
			}
			h.busy.Store(false)
		}
		s.helpers = append(s.helpers, h)
	}
	return s
}

// state returns a value with the number of the run in the upper half.
func state(run, v uint32) uint64 { return uint64(run)<<32 | uint64(v) }

// Run runs all tasks. The goroutine of the caller works too.
func (s *Stages) Run() {
	run := s.run.Load() + 1
	for i := range s.stages {
		s.stages[i].done.Store(state(run, 0))
	}
	for i := range s.shares {
		h := &s.shares[i]
		h.next.Store(state(run, h.first))
	}
	helps := s.pace.helps
	part := uint32(absent)
	if helps {
		part = undecided
	}
	for _, h := range s.helpers {
		h.part.Store(state(run, part))
	}
	s.run.Store(run)
	if helps {
		for _, h := range s.helpers {
			if !h.busy.Load() {
				h.busy.Store(true)
				go h.begin()
			}
		}
	}
	start := time.Now()
	if s.work(0, run); len(s.helpers) > 0 {
		s.pace.took(time.Since(start))
	}
}

// gather decides which helpers take part in a run.
func (s *Stages) gather(run uint32) {
	var start time.Time
	for _, h := range s.helpers {
		for k := 0; h.part.Load() == state(run, undecided); k++ {
			if k == 0 {
				start = time.Now()
			} else if k%spins == 0 && time.Since(start) > patience {
				break
			}
		}
		h.away = h.part.Load() == state(run, absent) || h.part.CompareAndSwap(state(run, undecided), state(run, absent))
	}
}

// work runs the tasks of a worker in a run, and those that others leave, until all are done or another run has begun.
func (s *Stages) work(worker int, run uint32) {
	for i := range s.stages {
		shares := s.shares[i*s.workers:][:s.workers]
		s.tasks(i, &shares[worker], run)
		if worker == 0 {
			if i == 0 {
				s.gather(run)
			}
			for w, h := range s.helpers {
				if h.away {
					s.tasks(i, &shares[w+1], run)
				}
			}
		}
		if s.wait(i, run, patience) {
			continue
		}
		for w := range shares {
			s.tasks(i, &shares[w], run)
		}
		for !s.wait(i, run, patience) {
			runtime.Gosched()
		}
	}
}

// tasks runs the tasks of a share that nobody has taken.
func (s *Stages) tasks(stage int, h *share, run uint32) {
	for {
		v := h.next.Load()
		if uint32(v>>32) != run || uint32(v) == h.end {
			return
		}
		if h.next.CompareAndSwap(v, v+1) {
			s.do(int(uint32(v)))
			s.stages[stage].done.Add(1)
		}
	}
}

// wait waits for the end of a stage, or of the run, for a time, and reports whether it has come.
func (s *Stages) wait(stage int, run uint32, most time.Duration) bool {
	g := &s.stages[stage]
	var start time.Time
	for k := 0; ; k++ {
		if v := g.done.Load(); uint32(v>>32) != run || uint32(v) == g.tasks {
			return true
		}
		if k == spins {
			start = time.Now()
		} else if k > spins && k%spins == 0 && time.Since(start) > most {
			return false
		}
	}
}
