package engine

import (
	"slices"
	"sync/atomic"

	"github.com/nabla-ad/nabla/internal/core"
)

// A Replays records which recordings of a function a prepared object replayed. Facts found at the point of preparation,
// such as a sparsity pattern, hold if the recordings made there are replayed, and are in question if another one is.
// Engines that do not replay recordings leave a Replays empty.
//
// A Replays belongs to one goroutine. Each clone of the function has its own, which the owner reads while the clones
// are idle.
type Replays struct {
	base    []uint64   // ids of the recordings of the preparation: the first of each compiled object, and accepted ones
	settled bool       // the preparation has ended
	any     bool       // a recording was replayed since Begin
	others  []uint64   // ids of the recordings replayed since Begin that are not in base
	forks   []*Replays // those of the clones
}

// recordingIDs holds the id of the latest recording.
var recordingIDs atomic.Uint64

// Follow returns a new Replays for f, for the functions that engines derive from f and for the clones that they make,
// from now on.
func (f *Function) Follow() *Replays {
	f.replays = new(Replays)
	return f.replays
}

// fork returns a Replays for a clone, nil if p is nil.
func (p *Replays) fork() *Replays {
	if p == nil {
		return nil
	}
	q := &Replays{settled: p.settled}
	p.forks = append(p.forks, q)
	return q
}

// recorded notes a new recording and its replay. first reports that it is the first of its compiled object.
func (p *Replays) recorded(id uint64, first bool) {
	if p == nil {
		return
	}
	if first && !p.settled {
		p.base = append(p.base, id)
	}
	p.replayed(id)
}

// replayed notes the replay of a recording. It does nothing if p is nil.
func (p *Replays) replayed(id uint64) {
	if p == nil {
		return
	}
	p.any = true
	if !slices.Contains(p.base, id) && !slices.Contains(p.others, id) {
		p.others = append(p.others, id)
	}
}

// Settle ends the preparation: recordings made from now on do not belong to it.
func (p *Replays) Settle() {
	p.settled = true
	for _, q := range p.forks {
		q.Settle()
	}
}

// Begin clears the replays noted so far.
func (p *Replays) Begin() {
	p.any, p.others = false, p.others[:0]
	for _, q := range p.forks {
		q.Begin()
	}
}

// Taken reports whether recordings were replayed since Begin, and whether one of them does not belong to the
// preparation.
func (p *Replays) Taken() (replays, other bool) {
	replays, other = p.any, len(p.others) > 0
	for _, q := range p.forks {
		r, o := q.Taken()
		replays, other = replays || r, other || o
	}
	return replays, other
}

// Forget removes all recordings from those of the preparation.
func (p *Replays) Forget() {
	p.base = p.base[:0]
	for _, q := range p.forks {
		q.Forget()
	}
}

// Accept adds the recordings replayed since Begin to those of the preparation.
func (p *Replays) Accept() {
	p.base = append(p.base, p.others...)
	p.others = p.others[:0]
	for _, q := range p.forks {
		q.Accept()
	}
}

// Reads reports whether the control flow of f may depend on values: whether f reads the value of a number that depends
// on its inputs or, if parameters is set, on a parameter of its bound struct, as a comparison does. If not, f performs
// the same operations at all points of the length of x. The result is conservative: it is true if f cannot be run over
// Reals or fails.
func (f *Function) Reads(x []float64, parameters bool) bool {
	return f.def.Traced == nil || f.Branches(x, parameters) != nil
}

// Branches returns nil if f, a function over Reals, performs the same operations at all points of the length of x.
// Otherwise the error is a *sparsity.BranchError with the line that reads a value, or an error of f. The values of x
// are not used, except by goroutines that f starts.
func (f *Function) Branches(x []float64, parameters bool) error {
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
	return f.OverIn(&t, ys, xs)
}
