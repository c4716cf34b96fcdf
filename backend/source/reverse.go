package source

import "github.com/nabla-ad/nabla/engine"

// Lanes returns the number of cotangents that one sweep carries.
func (Reverse) Lanes(n int) int { return min(n, width) }

// HVPLanes implements engine.HVPLaner: products with a Hessian are computed one by one.
func (Reverse) HVPLanes(int) int { return 1 }

// cotangents prepares sweeps for the code of f, which must have an adjoint.
func (b Reverse) cotangents(f *engine.Function) (*sweeper, error) {
	r, err := newRunner(b, f, "adjoint", func(c *engine.Code) bool { return c.Adjoint != nil })
	if err != nil {
		return nil, err
	}
	s := newSweeper(r, r.m, r.n, true, r.code.Adjoint4 != nil)
	s.one, s.four = s.pull, s.pull4
	return s, nil
}

// pull writes out = Jᵀ·in.
func (s *sweeper) pull(y, out, x, in []float64) (err error) {
	defer func() { s.end(recover(), &err) }()
	s.begin()
	k := s.code.Adjoint(y, out, vec(x), in, s.arg())
	if !s.sure(out) {
		if err := s.settleOne(out, x, in); err != nil {
			return err
		}
	}
	return s.done(k, y, x)
}

// pull4 writes out4 = Jᵀ·in4.
func (s *sweeper) pull4(y, x []float64) (err error) {
	defer func() { s.end(recover(), &err) }()
	s.begin()
	k := s.code.Adjoint4(y, s.out4, vec(x), s.in4, s.arg())
	if err := s.settle4(x); err != nil {
		return err
	}
	return s.done(k, y, x)
}

// PreparePullback implements engine.Puller.
func (b Reverse) PreparePullback(f *engine.Function, x []float64, lanes int) (engine.Pullback, error) {
	s, err := b.cotangents(f)
	if err != nil {
		return nil, err
	}
	return &pullback{s}, nil
}

type pullback struct{ *sweeper }

func (p *pullback) Pullback(y []float64, xbar engine.Block, x []float64, ybar engine.Block) error {
	return p.block(y, xbar, x, ybar)
}

// PrepareGradient implements engine.Gradienter.
func (b Reverse) PrepareGradient(f *engine.Function, x []float64) (engine.Gradient, error) {
	s, err := b.cotangents(f)
	if err != nil {
		return nil, err
	}
	s.in[0] = 1
	return &gradient{s, make([]float64, 1)}, nil
}

type gradient struct {
	*sweeper
	y []float64
}

func (g *gradient) ValueAndGradient(grad, x []float64) (float64, error) {
	err := g.pull(g.y, vec(grad), x, g.in)
	return g.y[0], err
}

// Gradient implements engine.BareGradient. If this call is due for the comparison of values, it computes the value too.
func (g *gradient) Gradient(grad, x []float64) (err error) {
	if g.code.Gradient == nil || g.watch.Next(g.f) {
		_, err = g.ValueAndGradient(grad, x)
		return err
	}
	defer func() { g.end(recover(), &err) }()
	g.watch.Due(g.f)
	g.begin()
	g.code.Gradient(vec(grad), vec(x), g.arg())
	if !g.sure(grad) {
		return g.settleOne(grad, x, g.in)
	}
	return nil
}

// PrepareJacobian implements engine.Jacobianer with one sweep for every four rows, or for every four columns if there
// are fewer columns than rows.
func (b Reverse) PrepareJacobian(f *engine.Function, x []float64) (engine.Jacobian, error) {
	s, err := b.cotangents(f)
	if err != nil {
		return nil, err
	}
	if s.n < s.m && (s.code.Tangent != nil || s.code.Tangent4 != nil) {
		return Forward{}.PrepareJacobian(f, x)
	}
	return &jacobian{sweeper: s, rows: true}, nil
}

// Tangents implements engine.Tangenter.
func (Reverse) Tangents() engine.Backend { return Forward{} }

// GradientFunction implements engine.Transformer.
func (b Reverse) GradientFunction(f *engine.Function) (*engine.Function, error) {
	return engine.GradientFunction(f, b, true)
}

// PushforwardFunction implements engine.Transformer.
func (b Reverse) PushforwardFunction(f *engine.Function) (*engine.Function, error) {
	return engine.PushforwardFunction(f, b, true)
}
