package program

import (
	"iter"
	"math"
	"sync/atomic"

	"github.com/nabla-ad/nabla/internal/native"
	"github.com/nabla-ad/nabla/internal/team"
	"github.com/nabla-ad/nabla/rules"
)

// Workers divide statements of many lanes. The lanes of a statement are in parts, the same fractions of all statements.
// A part that reads only the same part of others, as where each lane is a row of data, follows these in a task; one
// that reads other parts, as the neighbours in a grid, or a sum, is in a task of the next stage. Statements of few
// lanes are one more task of each stage.

const tasksEach = 2 // parts for each worker, of which another one takes some if this one is interrupted

var (
	leastDivided int32 = 1024 // lanes of a statement that is divided
	cacheLine    int32 = 8    // slots; parts begin with another one
)

// Estimates of times, in nanoseconds.
const (
	laneTime       = 0.25   // of an operation on a lane
	divisionTime   = 0.8    // of a division or a root
	functionTime   = 2      // of an exponential
	termTime       = 1.2    // of a term of a sum, whose addition waits for the one before
	fewSums        = 8      // of as many lanes or more, additions need not wait: those to other sums come between
	stageTime      = 2000   // of the end of a stage
	leastSavedTime = 250000 // that has to be saved: the time until a helper begins is half of that
)

// A division says how workers divide a program.
type division struct {
	workers int
	stmts   []Stmt // the constants and inputs, and then those of the tasks
	starts  []int  // the first statement of each task
	ends    []int  // stage → the end of its tasks
	next    int    // the task whose first statement comes next, while a machine is made
}

// begins reports whether statement i, the next one, is the first one of a task.
func (d *division) begins(i int) bool {
	if d.next == len(d.starts) || d.starts[d.next] != i {
		return false
	}
	d.next++
	return true
}

// CompileFor is [Compile] for a number of workers, goroutines that divide statements of many lanes if that is estimated
// to save a fifth of the time.
func CompileFor(p *Program, workers int) *Machine {
	if workers < 2 || len(p.Customs) > 0 || !native.Supported() || p.time() < 2*leastSavedTime {
		return Compile(p)
	}
	s := Schedule(p)
	if d := divide(s, workers, int32(min(s.time()/stageTime, math.MaxInt32))); d != nil && d.saves(s) {
		if x := newMachine(s, vectors, d); x != nil {
			return x
		}
	}
	return compile(p, s)
}

// time estimates how long a run of p takes.
func (p *Program) time() (t float64) {
	for i := range p.Stmts {
		t += p.Stmts[i].time()
	}
	return t
}

// time estimates how long s takes.
func (s *Stmt) time() float64 {
	n := float64(s.N)
	switch {
	case s.Op.Arity() == 0:
		return 0
	case s.Op == Sum && s.N < fewSums:
		return n * float64(s.K) * termTime
	case s.Op == Sum:
		return n * float64(s.K) * laneTime
	}
	switch rules.Op(s.Op) {
	case rules.Div, rules.Inv, rules.Sqrt:
		return n * divisionTime
	}
	if nativeOps[s.Op] == native.None && s.Op.Elementary() {
		return n * functionTime
	}
	return n * laneTime
}

// divided reports whether the lanes of s are divided.
func (s *Stmt) divided() bool {
	return s.N >= leastDivided && (s.Op.Elementary() || s.Op == Sum || s.Op.Guard())
}

// boundary returns the first lane of part k of so many.
func (s *Stmt) boundary(k, parts int) int32 {
	if k == parts {
		return s.N
	}
	return int32(int64(s.N)*int64(k)/int64(parts)) / cacheLine * cacheLine
}

// Parts of slots that are in none.
const (
	nobody = -1 // inputs and constants
	alone  = -2 // results of statements that are not divided
)

// divide returns a division of p, which is scheduled, among workers, with most stages after the first one; nil if there
// is none, or nothing to divide.
func divide(p *Program, workers int, most int32) *division {
	parts := min(tasksEach*workers, 100)
	d := &division{workers: workers}
	part := make([]int8, p.Slots)   // slot → the part that computes it
	stage := make([]int32, p.Slots) // slot → the stage in which that happens
	stages := make([]int32, len(p.Stmts))
	last := int32(-1)
	found := false
	for i := range p.Stmts {
		s := &p.Stmts[i]
		if s.Op.Arity() == 0 {
			for l := range s.Width() {
				part[s.D+l] = nobody
			}
			d.stmts = append(d.stmts, *s)
			continue
		}
		found = found || s.divided()
		now := p.stageOf(s, part, stage, parts)
		stages[i], last = now, max(last, now)
		for k, lanes := range s.parts(parts) {
			for l := lanes.from; l < lanes.to && l < s.Width(); l++ {
				stage[s.D+l], part[s.D+l] = now, int8(k)
			}
		}
	}
	if !found {
		return nil
	}
	if last > most {
		return nil
	}
	byStage := make([][2][]*Stmt, last+1) // those that are not divided, and those that are
	for i := range p.Stmts {
		if s := &p.Stmts[i]; s.Op.Arity() > 0 {
			list := &byStage[stages[i]][0]
			if s.divided() {
				list = &byStage[stages[i]][1]
			}
			*list = append(*list, s)
		}
	}
	for _, lists := range byStage {
		if len(lists[0]) > 0 {
			d.starts = append(d.starts, len(d.stmts))
			for _, s := range lists[0] {
				d.stmts = append(d.stmts, *s)
			}
		}
		for k := range parts {
			before := len(d.stmts)
			for _, s := range lists[1] {
				d.add(s, k, parts)
			}
			if len(d.stmts) > before {
				d.starts = append(d.starts, before)
			}
		}
		d.ends = append(d.ends, len(d.starts))
	}
	return d
}

// stageOf returns the first stage in which all that s reads is computed, or was by the same task.
func (p *Program) stageOf(s *Stmt, part []int8, stage []int32, parts int) (now int32) {
	ops := [3]Operand{s.A, s.B, s.C}
	each := int32(1) // slots that a lane reads of an operand
	if s.Op == Sum {
		each = s.K
	}
	for _, o := range ops[:s.Op.Arity()] {
		for k, lanes := range s.parts(parts) {
			for l := lanes.from * each; l < lanes.to*each; l++ {
				slot := p.at(o, l)
				switch part[slot] {
				case nobody:
				case int8(k):
					now = max(now, stage[slot])
				default:
					now = max(now, stage[slot]+1)
				}
			}
		}
	}
	return now
}

// parts returns the parts of s with their lanes: all, if s is not divided.
func (s *Stmt) parts(parts int) iter.Seq2[int, slotRange] {
	return func(yield func(int, slotRange) bool) {
		if !s.divided() {
			yield(alone, slotRange{0, s.N})
			return
		}
		for k := range parts {
			if !yield(k, slotRange{s.boundary(k, parts), s.boundary(k+1, parts)}) {
				return
			}
		}
	}
}

// add appends part k of s, which is divided.
func (d *division) add(s *Stmt, k, parts int) {
	from, to := s.boundary(k, parts), s.boundary(k+1, parts)
	if from == to {
		return
	}
	t := s.part(from, to-from)
	if s.Op.Guard() {
		t.D, t.C.Base = s.D, s.C.Base+from
	}
	d.stmts = append(d.stmts, t)
}

// saves reports whether d is estimated to save a fifth of the time of p, and more than a helper may begin late.
func (d *division) saves(p *Program) bool {
	one, chain := 0.0, 0.0 // lanes are computed while a sum waits for the term before
	for i := range p.Stmts {
		s := &p.Stmts[i]
		if t := s.time(); s.Op == Sum && s.N < fewSums {
			chain += t
		} else {
			one += t
		}
	}
	one = max(one, chain)
	several := float64(len(d.ends)) * stageTime
	first := 0
	for _, end := range d.ends {
		sum, longest := 0.0, 0.0
		for k := first; k < end; k++ {
			t := 0.0
			for i := d.starts[k]; i < len(d.stmts) && (k+1 == len(d.starts) || i < d.starts[k+1]); i++ {
				t += d.stmts[i].time()
			}
			sum, longest = sum+t, max(longest, t)
		}
		several += max(longest, sum/float64(d.workers))
		first = end
	}
	return one-several > max(one/5, leastSavedTime)
}

// A crew is the goroutines that run a divided program.
type crew struct {
	x       *Machine
	starts  []int // task → its first instruction
	stages  *team.Stages
	in, out *float64 // the loans
	failed  atomic.Bool
}

// newCrew returns the crew of x, whose instructions are still to come.
func newCrew(x *Machine, d *division) *crew {
	d.next = 0
	c := &crew{x: x}
	c.stages = team.NewStages(d.workers, d.ends, c.task)
	return c
}

// run runs all tasks, and reports whether all guards hold.
func (c *crew) run(in, out *float64) bool {
	c.in, c.out = in, out
	c.failed.Store(false)
	c.stages.Run()
	c.in, c.out = nil, nil
	return !c.failed.Load()
}

// task runs a task.
func (c *crew) task(k int) {
	end := len(c.x.code)
	if k+1 < len(c.starts) {
		end = c.starts[k+1]
	}
	if !c.failed.Load() && !c.x.execute(c.x.code[c.starts[k]:end], c.in, c.out) {
		c.failed.Store(true)
	}
}
