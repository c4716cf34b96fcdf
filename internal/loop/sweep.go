package loop

import (
	"math"

	"github.com/nabla-ad/nabla/gen/rt/checkpoint"
	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/internal/vector"
)

// The loop of level k has 2^k copies of the inputs and outputs of the loop of level 0, and so does its step: the first
// copy holds values, all others tangents.

// size makes the buffers of w large enough for steps of the given number of copies.
func (w *worker) size(copies int) {
	n, m := copies*w.b.stepIn(), copies*w.b.stepOut()
	if cap(w.x) < n || cap(w.y) < m {
		w.x, w.bar = make([]float64, n), make([]float64, n+m)
		w.y, w.seed = make([]float64, m), make([]float64, m)
	}
	w.x, w.bar, w.y, w.seed = w.x[:n], w.bar[:n+m], w.y[:m], w.seed[:m]
}

// A sweep is a run of a loop by a worker.
type sweep struct {
	*worker
	l      loop
	strong bool
	args   []float64 // the inputs of the loop
	nan    bool      // a result of a step was NaN in a reverse sweep
	on     *list     // the machines of the step
	back   *list     // those of its reverse
}

// begin sets the state and the parameters of a sweep, those of the first step.
func (s *sweep) begin() {
	b := s.b
	s.size(s.l.copies())
	s.on = s.list(kind{level: s.l.level, strong: s.strong})
	s.back = s.list(kind{level: s.l.level, reverse: true, strong: s.strong})
	for c := range s.l.copies() {
		s.load(s.x[c*b.stepIn():], s.args[c*s.l.in():][:b.State+b.Params], c > 0)
	}
}

// load copies src, which are tangents or cotangents if derivative is set.
func (s *sweep) load(dst, src []float64, derivative bool) {
	dst = dst[:len(src)]
	if !derivative || !s.strong {
		copy(dst, src)
		return
	}
	for j, v := range src {
		dst[j] = core.StrongSeed(v)
	}
}

// inputs sets the inputs of step i.
func (s *sweep) inputs(i int) {
	b := s.b
	if b.Inputs == 0 {
		return
	}
	from := b.State + b.Params
	for c := range s.l.copies() {
		s.load(s.x[c*b.stepIn()+from:], s.args[c*s.l.in()+from+i*b.Inputs:][:b.Inputs], c > 0)
	}
}

// advance runs the steps from i to end-1. It stores their outputs in out, unless that is nil.
func (s *sweep) advance(i, end int, out []float64) {
	b, copies := s.b, s.l.copies()
	for ; i < end; i++ {
		s.inputs(i)
		s.run(s.on, i).Output(0, s.y)
		for c := range copies {
			y := s.y[c*b.stepOut():][:b.stepOut()]
			copy(s.x[c*b.stepIn():], y[:b.State])
			if out != nil {
				store(out[c*s.l.out()+b.State+i*b.Output:], y[b.State:], c > 0)
			}
		}
	}
}

// store copies src to dst. Derivatives have no -0.
func store(dst, src []float64, derivative bool) {
	if !derivative {
		copy(dst, src)
		return
	}
	for j, v := range src {
		dst[j] = v + 0
	}
}

// forward writes the outputs of the loop to y.
func (s *sweep) forward(y []float64) {
	b := s.b
	s.begin()
	s.advance(0, s.l.n, y)
	for c := range s.l.copies() {
		store(y[c*s.l.out():], s.x[c*b.stepIn():][:b.State], c > 0)
	}
}

// reverse writes the cotangents of the inputs of the loop to xbar. ybar holds those of its outputs.
func (s *sweep) reverse(xbar, ybar []float64) {
	b, n := s.b, s.l.n
	most, err := b.Snapshots(n, s.l.copies())
	if err != nil {
		panic(core.Abort{Err: err})
	}
	s.begin()
	zero := 0.0
	if s.strong {
		zero = math.Copysign(0, -1)
	}
	for c := range s.l.copies() {
		s.load(s.seed[c*b.stepOut():], ybar[c*s.l.out():][:b.State], true)
		p := xbar[c*s.l.in()+b.State:][:b.Params]
		for j := range p {
			p[j] = zero
		}
	}
	if most > 0 {
		s.room(most)
		s.keep(0)
	}
	for end := n; end > 0; {
		at := end - 1 // of steps without state any can be run
		if most > 0 {
			at = s.restore()
			for {
				to := checkpoint.Next(at, end, most-len(s.at), 1)
				if to == at {
					break
				}
				s.advance(at, to, nil)
				if at = to; len(s.at) < most {
					s.keep(at)
				}
			}
		}
		s.reverseStep(at, xbar, ybar)
		end = at
		if k := len(s.at) - 1; most > 0 && s.at[k] == at {
			s.at = s.at[:k]
		}
	}
	for c := range s.l.copies() {
		bar := xbar[c*s.l.in():]
		store(bar, s.seed[c*b.stepOut():][:b.State], true)
		store(bar[b.State:], bar[b.State:][:b.Params], true)
	}
}

// room prepares the list of snapshots for most of them.
func (s *sweep) room(most int) {
	if cap(s.at) < most {
		s.at = make([]int, 0, most)
	}
	s.at = s.at[:0]
	unit := s.l.copies() * s.b.State
	s.perChunk = 1
	if most*unit <= chunk || unit <= chunk/16 { // so that little of a chunk is unused
		s.perChunk = min(most, chunk/unit)
	}
}

// chunk is the number of numbers in a chunk of snapshots, unless one snapshot is longer or fewer are needed. There are
// chunks so that loops with states of several lengths, those of derivatives of several orders, use the same memory.
const chunk = 1 << 14

// snapshot returns the memory of snapshot k.
func (s *sweep) snapshot(k int) []float64 {
	unit := s.l.copies() * s.b.State
	c := k / s.perChunk
	for len(s.snapshots) <= c {
		s.snapshots = append(s.snapshots, nil)
	}
	if len(s.snapshots[c]) < s.perChunk*unit {
		s.snapshots[c] = make([]float64, s.perChunk*unit)
	}
	return s.snapshots[c][k%s.perChunk*unit:][:unit]
}

// keep takes a snapshot of the state, that before step at.
func (s *sweep) keep(at int) {
	b, to := s.b, s.snapshot(len(s.at))
	for c := range s.l.copies() {
		copy(to[c*b.State:], s.x[c*b.stepIn():][:b.State])
	}
	s.at = append(s.at, at)
}

// restore sets the state to that of the last snapshot and returns its step.
func (s *sweep) restore() int {
	b, last := s.b, len(s.at)-1
	from := s.snapshot(last)
	for c := range s.l.copies() {
		copy(s.x[c*b.stepIn():], from[c*b.State:][:b.State])
	}
	return s.at[last]
}

// reverseStep reverses step i, whose state is in s.x: it replaces the cotangents of the next state, in s.seed, by those
// of the state.
func (s *sweep) reverseStep(i int, xbar, ybar []float64) {
	b, copies := s.b, s.l.copies()
	s.inputs(i)
	for c := range copies {
		s.load(s.seed[c*b.stepOut()+b.State:], ybar[c*s.l.out()+b.State+i*b.Output:][:b.Output], true)
	}
	s.run(s.back, i).Output(0, s.bar)
	s.nan = s.nan || vector.AnyNaN(s.bar[copies*b.stepIn():])
	for c := range copies {
		bar := s.bar[c*b.stepIn():][:b.stepIn()]
		to := xbar[c*s.l.in():][:s.l.in()]
		copy(s.seed[c*b.stepOut():], bar[:b.State])
		for j, v := range bar[b.State:][:b.Params] {
			to[b.State+j] += v
		}
		store(to[b.State+b.Params+i*b.Inputs:], bar[b.State+b.Params:], true)
	}
}
