// Package tracker is define-by-run reverse mode: each call writes a tape of local
// derivatives while the function runs, and sweeps back over it. The next call
// overwrites the tape.
//
//	g, err := nabla.Gradient(f, tracker.Backend{}, x)
//
// Nothing is recorded ahead, so control flow may differ between calls at no extra
// cost. A gradient costs a constant times the function, whatever the number of
// inputs (A. Griewank & A. Walther, Evaluating Derivatives, 2nd ed., 2008, chapter
// 4). For many calls of a function whose control flow seldom changes, reversediff
// with Compile is several times faster.
package tracker

import (
	"fmt"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/vector"
)

// Backend is the engine. The zero value has the default settings.
type Backend struct {
	// Limit is the largest number of operations on a tape, which takes 24 bytes for
	// each; zero means DefaultLimit. A call that exceeds it returns an
	// *engine.LimitError.
	Limit int
}

// DefaultLimit is the largest number of operations on a tape if Limit is 0. Such a
// tape takes 1.2 GB.
const DefaultLimit = 50_000_000

// Name returns "tracker" with the settings that are not the default.
func (b Backend) Name() string {
	if b.Limit != 0 {
		return fmt.Sprintf("tracker(limit=%d)", b.Limit)
	}
	return "tracker"
}

func (b Backend) limit() int {
	if b.Limit > 0 {
		return b.Limit
	}
	return DefaultLimit
}

// run is a function and where its numbers go.
type run struct {
	f      *engine.Function
	xs, ys []engine.Real
	ids    []int32
	limit  int
	in     []float64
	out    []float64
}

func (b Backend) newRun(f *engine.Function) (*run, error) {
	if err := f.Untraceable(); err != nil {
		return nil, err
	}
	n, m := f.Dims()
	return &run{
		f: f, limit: b.limit(),
		xs: make([]engine.Real, n), ys: make([]engine.Real, m), ids: make([]int32, m),
		in: make([]float64, n), out: make([]float64, m),
	}, nil
}

// record writes the tape of f at x.
func (r *run) record(y, x []float64) (*engine.Tracer, error) {
	t := new(engine.Tracer)
	t.StartTape(len(x), r.limit)
	engine.Inputs(t, r.xs, x)
	if err := r.f.OverIn(t, r.ys, r.xs); err != nil {
		t.Close()
		return nil, err
	}
	for i, v := range r.ys {
		y[i], r.ids[i] = v.V, v.ID
	}
	return t, nil
}

// back sweeps back from one cotangent.
func (r *run) back(t *engine.Tracer, xbar, ybar []float64) {
	t.SweepBack(xbar, r.ids, ybar, false)
	if vector.AnyNaN(xbar) {
		t.SweepBack(xbar, r.ids, ybar, true)
	}
}

// forth pushes one tangent forward.
func (r *run) forth(t *engine.Tracer, ydot, xdot []float64) {
	t.SweepForward(ydot, r.ids, xdot, false)
	if vector.AnyNaN(ydot) {
		t.SweepForward(ydot, r.ids, xdot, true)
	}
}

// PreparePullback implements engine.Puller.
func (b Backend) PreparePullback(f *engine.Function, x []float64, lanes int) (engine.Pullback, error) {
	r, err := b.newRun(f)
	if err != nil {
		return nil, err
	}
	return &pullback{r}, nil
}

type pullback struct{ *run }

func (p *pullback) Pullback(y []float64, xbar engine.Block, x []float64, ybar engine.Block) error {
	t, err := p.record(y, x)
	if err != nil {
		return err
	}
	defer t.Close()
	for k := range ybar.B {
		for i := range ybar.N {
			p.out[i] = ybar.Row(i)[k]
		}
		p.back(t, p.in, p.out)
		for i, v := range p.in {
			xbar.Row(i)[k] = v
		}
	}
	return nil
}

// PrepareGradient implements engine.Gradienter.
func (b Backend) PrepareGradient(f *engine.Function, x []float64) (engine.Gradient, error) {
	r, err := b.newRun(f)
	if err != nil {
		return nil, err
	}
	return &gradient{r}, nil
}

type gradient struct{ *run }

func (g *gradient) ValueAndGradient(grad, x []float64) (float64, error) {
	t, err := g.record(g.out, x)
	if err != nil {
		return 0, err
	}
	defer t.Close()
	value := g.out[0]
	g.out[0] = 1
	g.back(t, grad, g.out)
	return value, nil
}

// PrepareLinear implements engine.Lineariser: the tape is kept and swept in
// either direction, without running the function again unless it may read something
// else by now.
func (b Backend) PrepareLinear(f *engine.Function, x []float64) (engine.Linear, error) {
	r, err := b.newRun(f)
	if err != nil {
		return nil, err
	}
	n, m := f.Dims()
	return &linear{run: r, around: engine.NewSurroundings(f), x: make([]float64, n), y: make([]float64, m)}, nil
}

type linear struct {
	*run
	t      *engine.Tracer
	around *engine.Surroundings
	x, y   []float64
}

func (l *linear) At(y, x []float64) error {
	t, err := l.record(y, x)
	if err != nil {
		return err
	}
	l.t = t
	t.Close() // the numbers are no longer valid; the tape is
	copy(l.x, x)
	l.around.Keep()
	return nil
}

// current makes the tape that of the function as it is.
func (l *linear) current() error {
	if l.around.Same() {
		return nil
	}
	return l.At(l.y, l.x)
}

func (l *linear) Apply(ydot, xdot []float64) error {
	if err := l.current(); err != nil {
		return err
	}
	l.forth(l.t, ydot, xdot)
	return nil
}

func (l *linear) Transpose(xbar, ybar []float64) error {
	if err := l.current(); err != nil {
		return err
	}
	l.back(l.t, xbar, ybar)
	return nil
}

// RecordLimit implements engine.Limiter.
func (b Backend) RecordLimit() int { return b.Limit }

// GradientFunction implements engine.Transformer. It records at every call.
func (b Backend) GradientFunction(f *engine.Function) (*engine.Function, error) {
	return engine.GradientFunction(f, b, false)
}

// PushforwardFunction implements engine.Transformer.
func (b Backend) PushforwardFunction(f *engine.Function) (*engine.Function, error) {
	return engine.PushforwardFunction(f, b, false)
}
