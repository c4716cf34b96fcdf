package engine

import (
	"slices"
	"sync/atomic"

	"github.com/nabla-ad/nabla/internal/core"
)

// A Replays reports which recordings of a function a prepared object replayed. What was
// found at the point of preparation, such as a sparsity pattern, holds where the
// recordings made there are replayed, and is in question where another one is. Engines
// that do not replay recordings leave no trace in it.
//
// A Replays belongs to one goroutine; each clone of the function has one of its own, which
// the owner reads when the clones are idle.
type Replays struct {
	base    []uint64 // the first recording of each compiled object, made at preparation
	settled bool     // the preparation is over
	any     bool     // a recording was replayed since Begin
	others  []uint64 // those that are not in base
	forks   []*Replays
}

// recordingIDs numbers recordings.
var recordingIDs atomic.Uint64

// Follow returns a new Replays of f, and of the functions that engines derive from f and
// the clones that they make from now on.
func (f *Function) Follow() *Replays {
	f.replays = new(Replays)
	return f.replays
}

// fork returns a Replays for a clone.
func (p *Replays) fork() *Replays {
	if p == nil {
		return nil
	}
	q := &Replays{settled: p.settled}
	p.forks = append(p.forks, q)
	return q
}

// recorded notes a new recording, of an object without others if first is set.
func (p *Replays) recorded(id uint64, first bool) {
	if p == nil {
		return
	}
	if first && !p.settled {
		p.base = append(p.base, id)
	}
	p.replayed(id)
}

// replayed notes the replay of a recording.
func (p *Replays) replayed(id uint64) {
	if p == nil {
		return
	}
	p.any = true
	if !slices.Contains(p.base, id) && !slices.Contains(p.others, id) {
		p.others = append(p.others, id)
	}
}

// Settle ends the preparation: recordings made from now on are other ones.
func (p *Replays) Settle() {
	p.settled = true
	for _, q := range p.forks {
		q.Settle()
	}
}

// Begin forgets what was replayed before.
func (p *Replays) Begin() {
	p.any, p.others = false, p.others[:0]
	for _, q := range p.forks {
		q.Begin()
	}
}

// Taken reports whether recordings were replayed since Begin, and whether one of them is
// not of the preparation.
func (p *Replays) Taken() (replays, other bool) {
	replays, other = p.any, len(p.others) > 0
	for _, q := range p.forks {
		r, o := q.Taken()
		replays, other = replays || r, other || o
	}
	return replays, other
}

// Forget makes all recordings other ones.
func (p *Replays) Forget() {
	p.base = p.base[:0]
	for _, q := range p.forks {
		q.Forget()
	}
}

// Accept counts the recordings that were replayed since Begin among those of the
// preparation.
func (p *Replays) Accept() {
	p.base = append(p.base, p.others...)
	p.others = p.others[:0]
	for _, q := range p.forks {
		q.Accept()
	}
}

// Reads reports whether f reads the value of a number that depends on its inputs or,
// with parameters, on a parameter of its bound struct, as a comparison does. Otherwise
// f performs the same operations at all points of the length of x. A function that cannot
// be run over Reals, or not to its end, counts as one that reads.
func (f *Function) Reads(x []float64, parameters bool) bool {
	if f.def.Traced == nil {
		return true
	}
	n, m := f.Dims()
	np := 0
	if parameters {
		np = f.Params()
	}
	var t Tracer
	t.StartRecording(n, np, core.RecordOptions{Blind: true, Limit: DefaultLimit})
	defer t.Close()
	xs, ys := make([]Real, n), make([]Real, m)
	Inputs(&t, xs, x)
	return f.OverIn(&t, ys, xs) != nil
}
