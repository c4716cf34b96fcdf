// Package team divides the numbered tasks of a call among goroutines, if that saves time.
package team

import (
	"sync"
	"sync/atomic"
	"time"
)

// A Team runs tasks. It serves one goroutine at a time, and allocates nothing in a run.
type Team struct {
	do       func(worker, task int) error
	panicked func(v any) error
	members  []member
	begin    []func() // the goroutines of members after the first
	group    sync.WaitGroup
	next     atomic.Int64 // the first task that nobody has taken
	tasks    int
	step     int           // tasks that are taken at a time
	cost     time.Duration // of a task, from earlier runs; 0 if there are none
}

// A member is the state of a worker in a run.
type member struct {
	task int // the last one that it has taken
	err  error
	_    [64]byte // of another cache line
}

// New returns a team of workers that call do with their number and that of a task. Calls of one worker follow one
// another. An error ends the run: tasks after that of the error are not begun any more. If do panics, or ends its
// goroutine, the error is that of panicked for the value, or for a text, unless there is one worker: then the panic is
// that of Run.
func New(workers int, panicked func(v any) error, do func(worker, task int) error) *Team {
	t := &Team{do: do, panicked: panicked, members: make([]member, max(1, workers))}
	for i := range t.members {
		if i > 0 {
			t.begin = append(t.begin, func() {
				defer t.group.Done()
				t.work(i)
			})
		}
	}
	return t
}

// Workers returns the number of workers.
func (t *Team) Workers() int { return len(t.members) }

// takes is about the number of times that a worker takes tasks.
const takes = 8

// worth is the time of the tasks of a run from which other goroutines than that of the caller take part: on some
// machines one begins a tenth of a millisecond late.
const worth = 200 * time.Microsecond

// Run runs the tasks with numbers less than tasks. They are begun in ascending order, task 0 by worker 0 in the
// goroutine of the caller. The error is that of the first task that failed.
func (t *Team) Run(tasks int) error {
	if len(t.members) == 1 || tasks < 2 {
		for i := range tasks {
			if err := t.do(0, i); err != nil {
				return err
			}
		}
		return nil
	}
	t.tasks = tasks
	// Neighbours often write next to each other; workers that do would wait for each other's memory.
	t.step = max(1, tasks/(takes*len(t.members)))
	t.next.Store(0)
	for i := range t.members {
		t.members[i].err = nil
	}
	start := time.Now()
	first := t.take()
	done := 0
	if t.cost == 0 {
		t.one(0, first)
		t.cost = max(1, time.Since(start))
		done = 1
	}
	helpers := min(len(t.begin), tasks-1)
	if time.Duration(tasks)*t.cost < worth {
		helpers = 0
	}
	t.group.Add(helpers)
	for _, f := range t.begin[:helpers] {
		go f()
	}
	done = t.part(0, first, done) + t.work(0)
	t.cost = (3*t.cost + max(1, time.Since(start)/time.Duration(done))) / 4
	t.group.Wait()
	var err error
	lowest := tasks
	for i := range helpers + 1 {
		if m := &t.members[i]; m.err != nil && m.task < lowest {
			lowest, err = m.task, m.err
		}
	}
	return err
}

// take returns the first of the next tasks.
func (t *Team) take() int { return int(t.next.Add(int64(t.step))) - t.step }

// work takes and runs tasks until none is left, and returns their number.
func (t *Team) work(worker int) (done int) {
	for first := t.take(); first < t.tasks; first = t.take() {
		done += t.part(worker, first, 0)
	}
	return done
}

// part runs the tasks that were taken with the first one, without the done ones before, until one fails. It returns the
// number of those that have run.
func (t *Team) part(worker, first, done int) int {
	n := min(t.step, t.tasks-first)
	for ; done < n && t.members[worker].err == nil; done++ {
		t.one(worker, first+done)
	}
	return done
}

// one runs a task.
func (t *Team) one(worker, task int) {
	m := &t.members[worker]
	m.task = task
	returned := false
	defer func() {
		if v := recover(); v != nil {
			m.err = t.panicked(v)
		} else if !returned {
			m.err = t.panicked("runtime.Goexit was called")
		}
		if m.err != nil {
			t.next.Store(int64(t.tasks))
		}
	}()
	m.err = t.do(worker, task)
	returned = true
}
