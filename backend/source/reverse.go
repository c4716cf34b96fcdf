package source

import "github.com/nabla-ad/nabla/engine"

// Lanes is 1: a sweep carries one cotangent.
func (Reverse) Lanes(int) int { return 1 }

// newPuller takes code that can pull back.
func (b Reverse) newPuller(f *engine.Function) (*puller, error) {
	r, err := newRunner(b, f, "adjoint", func(c *engine.Code) bool { return c.Adjoint != nil })
	if err != nil {
		return nil, err
	}
	return &puller{runner: r}, nil
}

type puller struct{ *runner }

// pull writes xbar = Jᵀ·ybar.
func (p *puller) pull(y, xbar, x, ybar []float64) (err error) {
	defer func() { p.end(recover(), &err) }()
	return p.done(p.code.Adjoint(y, xbar, vec(x), ybar, p.arg()), y, x)
}

// PreparePullback implements engine.Puller.
func (b Reverse) PreparePullback(f *engine.Function, x []float64, lanes int) (engine.Pullback, error) {
	p, err := b.newPuller(f)
	if err != nil {
		return nil, err
	}
	return &pullback{p, make([]float64, p.n), make([]float64, p.m)}, nil
}

type pullback struct {
	*puller
	in, out []float64
}

func (p *pullback) Pullback(y []float64, xbar engine.Block, x []float64, ybar engine.Block) error {
	if ybar.B == 0 {
		return p.f.Value(y, x)
	}
	if ybar.B == 1 && xbar.Stride <= 1 && ybar.Stride <= 1 {
		return p.pull(y, vec(xbar.Data[:p.n]), x, vec(ybar.Data[:p.m]))
	}
	for k := range ybar.B {
		column(p.out, ybar, k)
		if err := p.pull(y, p.in, x, p.out); err != nil {
			return err
		}
		setColumn(xbar, k, p.in)
	}
	return nil
}

// PrepareGradient implements engine.Gradienter.
func (b Reverse) PrepareGradient(f *engine.Function, x []float64) (engine.Gradient, error) {
	p, err := b.newPuller(f)
	if err != nil {
		return nil, err
	}
	return &gradient{p, make([]float64, 1), []float64{1}}, nil
}

type gradient struct {
	*puller
	y, one []float64
}

func (g *gradient) ValueAndGradient(grad, x []float64) (float64, error) {
	err := g.pull(g.y, vec(grad), x, g.one)
	return g.y[0], err
}

// Gradient implements engine.BareGradient. A call whose value is compared is one
// with the value.
func (g *gradient) Gradient(grad, x []float64) (err error) {
	if g.code.Gradient == nil || g.watch.Next(g.f) {
		_, err = g.ValueAndGradient(grad, x)
		return err
	}
	defer func() { g.end(recover(), &err) }()
	g.watch.Due(g.f)
	g.code.Gradient(vec(grad), vec(x), g.arg())
	return nil
}

// PrepareJacobian implements engine.Jacobianer: a sweep for every row, or for every
// four columns where these are fewer than the rows.
func (b Reverse) PrepareJacobian(f *engine.Function, x []float64) (engine.Jacobian, error) {
	p, err := b.newPuller(f)
	if err != nil {
		return nil, err
	}
	if p.n < p.m && (p.code.Tangent != nil || p.code.Tangent4 != nil) {
		return Forward{}.PrepareJacobian(f, x)
	}
	return &rows{p, make([]float64, p.m)}, nil
}

type rows struct {
	*puller
	ybar []float64
}

func (j *rows) ValueAndJacobian(y []float64, jac engine.Block, x []float64) error {
	if j.m == 0 {
		return j.f.Value(y, x)
	}
	for i := range j.ybar {
		j.ybar[i] = 1
		err := j.pull(y, jac.Row(i), x, j.ybar)
		j.ybar[i] = 0
		if err != nil {
			return err
		}
	}
	return nil
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
