package compressed

import (
	"bytes"
	le "encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/recheck"
	"github.com/nabla-ad/nabla/sparsity"
)

// An Extent is the set of points at which a detector's pattern holds, for one bound struct.
type Extent uint8

const (
	// AtPoint is the point of detection alone: an entry that is zero there may be missing.
	AtPoint Extent = iota
	// OnBranch is all points at which the function performs the operations that it performs at the point of detection.
	OnBranch
	// OnAllBranches is all points.
	OnAllBranches
)

// A Scope describes where a pattern is known to hold. A function performs other operations if it takes another branch,
// or if a field of its bound struct changes.
type Scope struct {
	whole    bool   // the pattern holds every entry
	branches bool   // it holds for the branch that f takes at the point of preparation
	all      bool   // it holds for all branches
	params   bool   // f branches on parameters of the bound struct
	frozen   []byte // snapshot of the bound struct, as far as operations depend on it
}

// NewScope returns the scope of the pattern p of f that a detector found at x and that holds on extent.
func NewScope(extent Extent, f *engine.Function, x []float64, p *sparsity.Pattern) Scope {
	m, n := p.Dims()
	s := Scope{whole: p.NNZ() == m*n, branches: true}
	switch extent {
	case AtPoint:
		s.branches = false
	case OnAllBranches:
		s.all = true
	default:
		s.all = !s.whole && !f.Reads(x, false)
	}
	s.params = s.all && f.Params() > 0 && f.Reads(x, true)
	s.frozen = s.snapshot(nil, f)
	return s
}

// snapshot appends the part of the bound struct on which the operations of f depend.
func (s *Scope) snapshot(dst []byte, f *engine.Function) []byte {
	c := f.Context()
	if c == nil {
		return dst
	}
	dst = c.Snapshot(dst)
	if s.params {
		params := make([]float64, c.Params())
		c.Read(params)
		for _, v := range params {
			dst = le.LittleEndian.AppendUint64(dst, math.Float64bits(v))
		}
	}
	return dst
}

// A trust decides which calls of a sparse derivative are compared with a product in a random
// direction: those in which f may perform other operations than those that the pattern was detected
// with, and calls 1, 2, 4, 8, …, since a recording does not show all changes, such as that of a
// captured variable.
//
// An engine that replays recordings reports whether it replayed one that was made at preparation.
// For other engines the pattern must hold on all branches, and the bound struct must be unchanged.
type trust struct {
	off     bool
	f       *engine.Function
	replays *engine.Replays
	scope   Scope
	replay  bool // all recordings count as those of the preparation
	calls   recheck.Schedule
	every   bool             // all calls are compared: the branch that f takes is unknown
	same    bool             // the bound struct is unchanged in this call
	frozen  []byte           // buffer
	known   bool             // the engine replays recordings
	doubts  recheck.Schedule // calls on other branches that were compared without a difference
	// pattern returns the pattern that a detector finds.
	pattern func(d sparsity.Detector, x []float64) (*sparsity.Pattern, error)
}

// mostSnapshot is the largest number of bytes of a bound struct that are compared in each call, for
// each input and output of f. For a larger struct a product costs less.
const mostSnapshot = 64

// follow begins a preparation by a plan with the given scope; settle ends it.
func (t *trust) follow(s Scope) {
	*t = trust{off: t.off, replay: t.replay, f: t.f, pattern: t.pattern, scope: s}
	if t.off { // another one may follow f
		return
	}
	t.replays = t.f.Follow()
	t.every = !s.whole && !s.branches
}

// settled runs prepare, which prepares the products. If every call must be compared, it runs
// prepare again with t.every set.
func (t *trust) settled(s Scope, prepare func() error) error {
	t.follow(s)
	err := prepare()
	if err != nil || !t.settle() {
		return err
	}
	t.follow(s)
	t.every = true
	if err = prepare(); err == nil {
		t.settle()
	}
	return err
}

// settle ends the preparation, in which the derivative was computed at the point of preparation. It
// reports whether every call must be compared although the preparation did not provide for it.
func (t *trust) settle() bool {
	if t.off {
		return false
	}
	t.known, _ = t.replays.Taken()
	t.replays.Settle()
	if t.scope.whole || t.every {
		return false
	}
	frozen := t.scope.snapshot(nil, t.f)
	same := bytes.Equal(frozen, t.scope.frozen)
	if t.known {
		if !same { // a clone: the pattern is that of another struct
			t.replays.Forget()
		}
		return false
	}
	n, m := t.f.Dims()
	comparable := bytes.Equal(frozen, t.scope.snapshot(nil, t.f))
	t.every = !t.scope.all || !comparable || len(frozen) > mostSnapshot*(n+m)
	return t.every
}

// begin opens a call.
func (t *trust) begin() {
	if t.off || t.scope.whole {
		return
	}
	t.calls.Count()
	t.replays.Begin()
	switch {
	case t.every || t.known:
		t.same = false
	case t.f.Context() == nil:
		t.same = true
	default:
		t.frozen = t.scope.snapshot(t.frozen[:0], t.f)
		t.same = bytes.Equal(t.frozen, t.scope.frozen)
	}
}

// due reports whether this call, whose products have been computed, is compared.
func (t *trust) due() bool {
	if t.off || t.scope.whole {
		return false
	}
	return t.every || t.calls.Due() || t.elsewhere()
}

// elsewhere reports whether the operations that f performed in this call are outside the scope in
// which the pattern is known to hold.
func (t *trust) elsewhere() bool {
	replays, other := t.replays.Taken()
	return other && !t.replay || !replays && !(t.scope.all && t.same)
}

// soon makes the next call a compared one, and restarts the schedule as after a preparation.
func (t *trust) soon() { t.calls = recheck.Schedule{} }

// compared records the outcome err of the comparison of a call at x, and returns err.
func (t *trust) compared(p *sparsity.Pattern, x []float64, err error) error {
	var missing *engine.PatternError
	switch {
	case errors.As(err, &missing):
		t.calls.Failed = true
	case err == nil && !t.calls.Failed && !t.every && t.f.Traceable() && t.elsewhere():
		t.doubts.Count()
		if t.doubts.Calls >= mostDoubts && t.doubts.PowerOfTwo() {
			t.accept(p, x)
		}
	}
	return err
}

// mostDoubts is the number of calls on other branches after which the pattern is detected there.
// Detection costs about as much as that many products.
const mostDoubts = 16

// accept detects the pattern at x. If p contains all of it, p holds for the operations that f
// performs there, and such calls are no longer compared.
func (t *trust) accept(p *sparsity.Pattern, x []float64) {
	all := true
	q, err := t.pattern(sparsity.Global{}, x)
	if err != nil {
		all = false
		if q, err = t.pattern(sparsity.Recorded{}, x); err != nil {
			return
		}
	}
	if union, err := p.Union(q); err != nil || !union.Equal(p) {
		return
	}
	replays, _ := t.replays.Taken()
	switch {
	case replays:
		t.replays.Accept()
	case all && !t.f.Reads(x, true):
		t.scope.frozen = slices.Clone(t.frozen)
	default:
		return
	}
	t.doubts = recheck.Schedule{}
}
