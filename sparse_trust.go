package nabla

import (
	"bytes"
	le "encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/sparsity"
)

// scope is where a pattern is known to hold. A function performs other operations where
// it takes another branch, or where a field of its bound struct changes.
type scope struct {
	whole    bool   // every entry is in the pattern
	branches bool   // it is that of the branch which f takes at the point of preparation
	all      bool   // it is that of all branches
	params   bool   // f branches on parameters of the bound struct
	frozen   []byte // the bound struct, as far as operations depend on it
}

// scopeOf is the scope of the pattern that d found, at x where d looks at points.
func scopeOf(d sparsity.Detector, f *engine.Function, x []float64, p *sparsity.Pattern) scope {
	m, n := p.Dims()
	s := scope{whole: p.NNZ() == m*n, branches: true}
	switch d.(type) {
	case sparsity.Local, *sparsity.Local, DenseDetector, *DenseDetector:
		s.branches = false // an entry may be missing that is zero at that point
	case sparsity.Global, *sparsity.Global:
		s.all = true
	default:
		s.all = !s.whole && !f.Reads(x, false)
	}
	s.params = s.all && f.Params() > 0 && f.Reads(x, true)
	s.frozen = s.snapshot(nil, f)
	return s
}

// snapshot appends the bound struct as far as the operations of f depend on it.
func (s *scope) snapshot(dst []byte, f *engine.Function) []byte {
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

// trust decides which calls of a sparse derivative are compared with a product in a
// random direction: those at which f may perform other operations than those that the
// pattern was taken from, and calls 1, 2, 4, 8, …, since there is more that a recording
// does not show, such as a variable that f captures.
//
// An engine that replays recordings says whether it replayed one that was made at
// preparation. For others the pattern has to hold on all branches, and the bound struct
// has to be as it was.
type trust struct {
	off     bool
	f       *engine.Function
	replays *engine.Replays
	scope   scope
	calls   uint64
	every   bool   // all calls: nothing tells which branch f takes
	wrong   bool   // a call was compared and wrong, so that all are compared from then on
	same    bool   // the bound struct is, in this call, as it was
	frozen  []byte // buffer
	known   bool   // recordings are replayed
	doubts  int    // calls on other branches that were compared and right
	// pattern is the one that a detector finds.
	pattern func(d sparsity.Detector, x []float64) (*sparsity.Pattern, error)
}

// mostSnapshot is how many bytes of a bound struct are compared in each call, for each
// number that goes into f and comes out of it. Of a larger one a product costs less.
const mostSnapshot = 64

// newTrust is for derivatives of f, of which detectors are shown the function of with its
// first n inputs.
func newTrust(s *AutoSparse, f, of *engine.Function, hessian bool) trust {
	n, _ := of.Dims()
	return trust{off: s.NoProbe, f: f, pattern: func(d sparsity.Detector, x []float64) (*sparsity.Pattern, error) {
		if hessian {
			return d.Hessian(of, x[:n])
		}
		return d.Jacobian(of, x[:n])
	}}
}

// follow begins a preparation, which settle ends, by a plan of that scope.
func (t *trust) follow(s scope) {
	*t = trust{off: t.off, f: t.f, pattern: t.pattern, scope: s, replays: t.f.Follow()}
	t.every = !t.off && !s.whole && !s.branches
}

// settled prepares what takes products, again where it turns out that every call is
// compared.
func (t *trust) settled(s scope, prepare func() error) error {
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

// settle ends the preparation, in which the derivative was computed at the point of
// preparation. It reports whether every call is to be compared and the preparation was
// not for that.
func (t *trust) settle() bool {
	t.known, _ = t.replays.Taken()
	t.replays.Settle()
	if t.off || t.scope.whole || t.every {
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
	t.calls++
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

// due reports whether this call, in which the products were taken, is compared.
func (t *trust) due() bool {
	if t.off || t.scope.whole {
		return false
	}
	return t.every || t.wrong || t.calls&(t.calls-1) == 0 || t.elsewhere()
}

// trustOthers has recordings that were not made at preparation count as those that were:
// a mistake, which a test makes.
var trustOthers bool

// elsewhere reports whether the pattern is not known to hold for the operations that f
// performed in this call.
func (t *trust) elsewhere() bool {
	replays, other := t.replays.Taken()
	return other && !trustOthers || !replays && !(t.scope.all && t.same)
}

// soon makes the next call one that is compared, and those after it as after a
// preparation.
func (t *trust) soon() { t.calls, t.wrong = 0, false }

// compared notes how the comparison of a call at x went, and returns its error.
func (t *trust) compared(p *sparsity.Pattern, x []float64, err error) error {
	var missing *PatternError
	switch {
	case errors.As(err, &missing):
		t.wrong = true
	case err == nil && !t.wrong && !t.every && t.f.Traceable() && t.elsewhere():
		t.doubts++
		if t.doubts >= mostDoubts && t.doubts&(t.doubts-1) == 0 {
			t.accept(p, x)
		}
	}
	return err
}

// mostDoubts is the number of calls on other branches after which a pattern is found
// there, at about the price of as many products.
const mostDoubts = 16

// accept finds the pattern at x. Where p has all of it, p holds for the operations that f
// performs there, and such calls are compared no more.
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
	t.doubts = 0
}
