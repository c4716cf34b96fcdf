package taylor

import (
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/series"
)

// This file has the operators of first and second order. A pushforward is a sweep of series of order 1, a second
// derivative one of order 2, and a Hessian with few inputs one over polynomials of order 2. Other operators follow by
// the fallback graph of package engine.

// PreparePushforward implements engine.Pusher.
func (b Backend) PreparePushforward(f *engine.Function, x []float64, lanes int) (engine.Pushforward, error) {
	if err := b.check(f, 1); err != nil {
		return nil, err
	}
	if f.Replayable() {
		return engine.CompilePushforward(f, x, lanes, b.Limit)
	}
	return &pushforward{b: b, f: f, runners: map[int]*runner{lanes: b.newRunner(f, series.Lines(1, lanes))}}, nil
}

// A pushforward has a runner for each number of tangents.
type pushforward struct {
	b       Backend
	f       *engine.Function
	runners map[int]*runner
}

func (p *pushforward) Pushforward(y []float64, ydot engine.Block, x []float64, xdot engine.Block) error {
	r := p.runners[xdot.B]
	if r == nil {
		r = p.b.newRunner(p.f, series.Lines(1, xdot.B))
		p.runners[xdot.B] = r
	}
	return r.Expand(y, ydot, x, xdot, 1)
}

// PrepareSecond implements engine.Seconder.
func (b Backend) PrepareSecond(f *engine.Function, _ float64) (engine.Second, error) {
	if err := b.check(f, 2); err != nil {
		return nil, err
	}
	_, m := f.Dims()
	return &second{runner: b.newRunner(f, series.Line(2)), c: engine.NewBlock(m, 2), one: engine.Column([]float64{1}),
		t: make([]float64, 1)}, nil
}

type second struct {
	*runner
	c, one engine.Block
	t      []float64
}

func (s *second) ValueDerivativeAndSecond(y, dy, d2y []float64, t float64) error {
	s.t[0] = t
	if err := s.Expand(y, s.c, s.t, s.one, 2); err != nil {
		return err
	}
	for i := range y {
		c := s.c.Row(i)
		dy[i], d2y[i] = c[0], 2*c[1]
	}
	return nil
}

// fewInputs is the number of inputs up to which polynomials are faster than tangents of the reverse of a recording,
// from BenchmarkHessian.
const fewInputs = 8

// PrepareHessian implements engine.Hessianer.
func (b Backend) PrepareHessian(f *engine.Function, x []float64) (engine.Hessian, error) {
	if err := b.check(f, 2); err != nil {
		return nil, err
	}
	n := len(x)
	if n > fewInputs || f.Replayable() {
		lanes := b.Lanes(n)
		hvp, err := engine.PrepareHVP(b, b, f, x, lanes)
		if err != nil {
			return nil, err
		}
		return engine.HessianByHVP(hvp, f, lanes), nil
	}
	orders := make([]int, n)
	for i := range orders {
		orders[i] = 2
	}
	p, err := b.newPartials(f, 2, orders)
	if err != nil {
		return nil, err
	}
	return &hessian{partials: p, y: make([]float64, 1), c: engine.NewBlock(1, p.arith.Space().Size())}, nil
}

type hessian struct {
	*partials
	y []float64
	c engine.Block
}

// ValueGradientAndHessian reads the derivatives from the coefficients, which stand in the order of the monomials: x1,
// x2, …, then x1², x1·x2, ….
func (h *hessian) ValueGradientAndHessian(grad []float64, hess engine.Block, x []float64) (float64, error) {
	if err := h.Partials(h.y, h.c, x); err != nil {
		return 0, err
	}
	c, n := h.c.Row(0), len(x)
	copy(grad, c)
	at := n
	for i := range n {
		hess.Row(i)[i] = 2 * c[at]
		at++
		for j := i + 1; j < n; j++ {
			hess.Row(i)[j], hess.Row(j)[i] = c[at], c[at]
			at++
		}
	}
	return h.y[0], nil
}

// RecordLimit implements engine.Limiter.
func (b Backend) RecordLimit() int { return b.Limit }

// GradientFunction implements engine.Transformer. The gradient over Reals is the reverse of the recorded program,
// whichever branch it takes.
func (b Backend) GradientFunction(f *engine.Function) (*engine.Function, error) {
	return engine.GradientFunction(f, b, true)
}

// PushforwardFunction implements engine.Transformer.
func (b Backend) PushforwardFunction(f *engine.Function) (*engine.Function, error) {
	return engine.PushforwardFunction(f, b, true)
}
