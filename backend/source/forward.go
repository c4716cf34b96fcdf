package source

import "github.com/nabla-ad/nabla/engine"

// Lanes returns the number of tangents that one sweep carries.
func (Forward) Lanes(n int) int { return min(n, width) }

// HVPLanes implements engine.HVPLaner: products with a Hessian are computed one by one.
func (Forward) HVPLanes(int) int { return 1 }

// tangents prepares sweeps for the code of f, which must have a scalar or vector tangent.
func (b Forward) tangents(f *engine.Function) (*sweeper, error) {
	r, err := newRunner(b, f, "tangent", func(c *engine.Code) bool { return c.Tangent != nil || c.Tangent4 != nil })
	if err != nil {
		return nil, err
	}
	s := newSweeper(r, r.n, r.m, r.code.Tangent != nil, r.code.Tangent4 != nil)
	s.one, s.four, s.forward = s.push, s.push4, true
	return s, nil
}

// push writes out = J·in.
func (s *sweeper) push(y, out, x, in []float64) (err error) {
	defer func() { s.end(recover(), &err) }()
	s.begin()
	k := s.code.Tangent(y, out, vec(x), in, s.arg())
	if !s.sure(out) {
		if err := s.settleOne(out, x, in); err != nil {
			return err
		}
	}
	return s.done(k, y, x)
}

// push4 writes out4 = J·in4.
func (s *sweeper) push4(y, x []float64) (err error) {
	defer func() { s.end(recover(), &err) }()
	s.begin()
	k := s.code.Tangent4(y, s.out4, vec(x), s.in4, s.arg())
	if err := s.settle4(x); err != nil {
		return err
	}
	return s.done(k, y, x)
}

// PreparePushforward implements engine.Pusher.
func (b Forward) PreparePushforward(f *engine.Function, x []float64, lanes int) (engine.Pushforward, error) {
	s, err := b.tangents(f)
	if err != nil {
		return nil, err
	}
	return &pushforward{s}, nil
}

type pushforward struct{ *sweeper }

func (p *pushforward) Pushforward(y []float64, ydot engine.Block, x []float64, xdot engine.Block) error {
	return p.block(y, ydot, x, xdot)
}

// PrepareJacobian implements engine.Jacobianer with one sweep for every four columns.
func (b Forward) PrepareJacobian(f *engine.Function, x []float64) (engine.Jacobian, error) {
	s, err := b.tangents(f)
	if err != nil {
		return nil, err
	}
	return &jacobian{sweeper: s}, nil
}

// PrepareGradient implements engine.Gradienter. The gradient is the only row of the Jacobian.
func (b Forward) PrepareGradient(f *engine.Function, x []float64) (engine.Gradient, error) {
	s, err := b.tangents(f)
	if err != nil {
		return nil, err
	}
	return &row{jacobian{sweeper: s}, make([]float64, 1)}, nil
}

type row struct {
	jacobian
	y []float64
}

func (g *row) ValueAndGradient(grad, x []float64) (float64, error) {
	err := g.ValueAndJacobian(g.y, engine.Block{N: 1, B: g.n, Stride: g.n, Data: grad}, x)
	return g.y[0], err
}

// GradientFunction implements engine.Transformer.
func (b Forward) GradientFunction(f *engine.Function) (*engine.Function, error) {
	return engine.GradientFunction(f, b, true)
}

// PushforwardFunction implements engine.Transformer.
func (b Forward) PushforwardFunction(f *engine.Function) (*engine.Function, error) {
	return engine.PushforwardFunction(f, b, true)
}
