package finitediff

import (
	"bytes"
	"fmt"
	"math"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/program"
)

// The complex step: J·v = Im f(x + ih·v) / h up to h²; W. Squire & G. Trapp, "Using
// complex variables to estimate derivatives of real functions", SIAM Review 40
// (1998). f is run as the program that it recorded, over complex numbers.

// A recording is f as a program that is valid at the point of the current call.
type recording struct {
	f       *engine.Function
	s       *settings
	records int
	frozen  []byte
	now     []byte
	params  []float64
	compare *engine.Comparison
	checker *program.Machine
	seen    *engine.Compared
	lanes   []*machine
}

func newRecording(f *engine.Function, s *settings, x []float64) (*recording, error) {
	if !f.Traceable() {
		return nil, complexUnsupported(f)
	}
	if err := s.inside(x); err != nil {
		return nil, err
	}
	r := &recording{f: f, s: s, compare: engine.NewComparison(f), lanes: make([]*machine, s.workers)}
	return r, r.record(x)
}

func complexUnsupported(f *engine.Function) error {
	return &engine.UnsupportedError{
		What: fmt.Sprintf("finitediff(complex) runs the recorded program of a function, and function %s computes "+
			"with float64", f.Name()),
		Remedy: "write it over nabla.Real, or use finitediff.Backend{}, which needs values only",
	}
}

// Recordings returns the number of times f was recorded.
func (r *recording) Recordings() int { return r.records }

func (r *recording) record(x []float64) error {
	p, err := r.f.Program(x)
	if err != nil {
		return err
	}
	r.records++
	r.checker, r.seen = program.NewMachine(p), r.compare.Made(p)
	for i := range r.lanes {
		r.lanes[i] = newMachine(p, r.f.Name())
	}
	if c := r.f.Context(); c != nil {
		r.frozen = c.Snapshot(r.frozen[:0])
	}
	return nil
}

// at writes y = f(x) and makes the recording valid at x. It records f again if a guard fails, an opaque field of the
// bound struct has changed, or a comparison shows that captured data has.
func (r *recording) at(y, x []float64) error {
	if err := r.s.inside(x); err != nil {
		return err
	}
	same := r.context()
	fits := same
	due := r.compare.Due()
	if fits && !r.check(y, x) {
		if r.f.Policy().FailOnGuard {
			return r.broken(engine.ErrGuard, "nabla.ErrGuard")
		}
		fits = false
	}
	var stale error
	changed, hidden := false, false
	if fits && due {
		ok, err := r.compare.Agrees(r.seen, r.checker, x, r.params)
		if err != nil {
			return err
		}
		changed, hidden = !ok, ok && r.compare.Hidden()
		fits = ok && !hidden
		if changed {
			if stale = r.compare.Broken(r.seen); r.f.Policy().FailOnGuard {
				return stale
			}
		}
	} else if fits {
		r.compare.Skip(r.seen)
	}
	if !fits {
		old := r.seen
		if err := r.again(y, x, changed); err != nil {
			return err
		}
		switch {
		case hidden && r.compare.Changed(old, r.checker.Program()):
			stale = r.compare.Broken(old)
		case !hidden && !changed:
			stale = r.compare.Drop(old, same)
		}
	}
	for _, m := range r.lanes {
		for i := range m.param {
			m.param[i] = complex(r.params[i], 0)
		}
		for i, v := range x {
			m.input[i] = complex(v, 0)
		}
	}
	return stale
}

// again records f at x. If changed is set, it compares the new recording with the values that the previous one did not
// reproduce.
func (r *recording) again(y, x []float64, changed bool) error {
	if err := r.record(x); err != nil {
		return err
	}
	if !r.check(y, x) {
		return r.broken(engine.ErrGuard, "nabla.ErrGuard")
	}
	if !changed {
		return nil
	}
	ok, err := r.compare.Confirms(r.seen, x, r.params)
	if err == nil && !ok {
		err = r.broken(engine.ErrStale, "nabla.ErrStale")
	}
	return err
}

func (r *recording) broken(err error, name string) error {
	return fmt.Errorf("nabla: finitediff(complex): function %s: %w (%s)", r.f.Name(), err, name)
}

// context reads the parameters and reports whether the recording is valid for the current contents of the bound struct.
func (r *recording) context() bool {
	c := r.f.Context()
	if c == nil {
		return true
	}
	r.now = c.Snapshot(r.now[:0])
	if n := c.Params(); cap(r.params) < n {
		r.params = make([]float64, n)
	} else {
		r.params = r.params[:n]
	}
	c.Read(r.params)
	return bytes.Equal(r.now, r.frozen)
}

// check runs the program over float64 and reports whether all guards hold.
func (r *recording) check(y, x []float64) bool {
	copy(r.checker.Input(0), x)
	copy(r.checker.Params(), r.params)
	if !r.checker.Run() {
		return false
	}
	r.checker.Output(0, y)
	return true
}

// imaginary returns the length of the step in a component with value x.
func (s *settings) imaginary(x float64) float64 {
	if x-x != 0 {
		return s.abs
	}
	return s.step(x)
}

// A complexPush computes J·v by the complex step: one run of the program per tangent, and one run over float64 and one
// evaluation of f for all tangents together.
type complexPush struct {
	*recording
	pool *pool

	m          int
	x          []float64
	ydot, xdot engine.Block
}

func newComplexPush(f *engine.Function, s *settings, x []float64) (*complexPush, error) {
	r, err := newRecording(f, s, x)
	if err != nil {
		return nil, err
	}
	_, m := f.Dims()
	return &complexPush{recording: r, pool: newLanes(f, s.workers), m: m}, nil
}

func (p *complexPush) Pushforward(y []float64, ydot engine.Block, x []float64, xdot engine.Block) error {
	if err := p.at(y, x); err != nil {
		return err
	}
	p.x, p.ydot, p.xdot = x, ydot, xdot
	err := p.pool.run(p, xdot.B)
	p.x, p.ydot, p.xdot = nil, engine.Block{}, engine.Block{}
	return err
}

// do computes column j.
func (p *complexPush) do(w *worker, j int) error {
	lane := p.lanes[w.id]
	for i := range p.x {
		w.v[i] = p.xdot.Data[i*p.xdot.Stride+j]
	}
	_, _, largest := support(w.v)
	scale := 1.0
	if largest <= math.MaxFloat64 && largest > 0 {
		scale = rescale(w.v, largest)
	}
	h := largestStep
	for i, vi := range w.v {
		h = min(h, p.s.imaginary(p.x[i])/math.Abs(vi))
	}
	if !(largest <= math.MaxFloat64) {
		h = p.s.abs // NaN and ±Inf stay unchanged
	}
	for i, vi := range w.v {
		lane.input[i] = complex(p.x[i], scaled(h, vi))
	}
	if err := lane.run(); err != nil {
		return err
	}
	for i := range p.m {
		p.ydot.Data[i*p.ydot.Stride+j] = imag(lane.output(i)) / h * scale
	}
	return nil
}

// A complexJacobian computes the Jacobian by the complex step, with one run of the program per column.
type complexJacobian struct {
	*recording
	pool *pool

	m   int
	x   []float64
	jac engine.Block
}

func newComplexJacobian(f *engine.Function, s *settings, x []float64) (*complexJacobian, error) {
	r, err := newRecording(f, s, x)
	if err != nil {
		return nil, err
	}
	_, m := f.Dims()
	return &complexJacobian{recording: r, pool: newLanes(f, s.workers), m: m}, nil
}

func (p *complexJacobian) ValueAndJacobian(y []float64, jac engine.Block, x []float64) error {
	if err := p.at(y, x); err != nil {
		return err
	}
	p.x, p.jac = x, jac
	err := p.pool.run(p, len(x))
	p.x, p.jac = nil, engine.Block{}
	return err
}

// do computes column j.
func (p *complexJacobian) do(w *worker, j int) error {
	lane := p.lanes[w.id]
	h := p.s.imaginary(p.x[j])
	lane.input[j] = complex(p.x[j], h)
	err := lane.run()
	if err == nil {
		for i := range p.m {
			p.jac.Data[i*p.jac.Stride+j] = imag(lane.output(i)) / h
		}
	}
	lane.input[j] = complex(p.x[j], 0) // only now: an output may be the input itself
	return err
}
