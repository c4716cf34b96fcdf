package nabla

import "github.com/nabla-ad/nabla/engine"

// Derivative returns f'(x) for a function of one number with one output.
func Derivative[F ScalarScalar](f F, b Backend, x float64) (float64, error) {
	_, d, err := ValueAndDerivative(f, b, x)
	return d, err
}

// ValueAndDerivative returns f(x) and f'(x).
func ValueAndDerivative[F ScalarScalar](f F, b Backend, x float64) (y, dy float64, err error) {
	p, err := PrepareDerivative(f, once(b), x)
	if err != nil {
		return 0, 0, err
	}
	return p.ValueAndDerivative(x)
}

// PrepareDerivative prepares the derivative of f on b: it does the work that does not depend on x.
func PrepareDerivative[F ScalarScalar](f F, b Backend, x float64) (*DerivativePrep, error) {
	return newOperator[DerivativePrep]("Derivative", f, wantScalar, b, []float64{x})
}

// DerivativePrep computes derivatives of a function of one number. It is for one
// goroutine at a time.
type DerivativePrep struct {
	prep
	curve
	e [1]float64 // the error estimate
}

func (p *DerivativePrep) base() *prep {
	if p == nil || p.op == "" {
		return unmade("DerivativePrep", "PrepareDerivative")
	}
	return &p.prep
}

// A curve computes value and derivative of m functions of one number: by a gradient if there is one output and the
// engine works backward, and otherwise by a pushforward of 1.
type curve struct {
	push     engine.Pushforward
	t, one   []float64
	y, dy    []float64
	gradient engine.Gradient // reverse mode with one output
}

// prepareCurve prepares the engine's part, which becomes p.native, and the buffers for one value and derivative.
func (c *curve) prepareCurve(p *prep) (err error) {
	c.t, c.one = make([]float64, 1), []float64{1}
	c.y, c.dy = make([]float64, p.m), make([]float64, p.m)
	if p.n != 1 {
		return &ShapeError{Op: p.op, Arg: "number of inputs of " + p.f.Name(), Got: p.n, Want: 1}
	}
	c.push, c.gradient = nil, nil
	if engine.DerivativeByGradient(p.backend.inner, p.m) {
		c.gradient, err = engine.PrepareGradient(p.backend.inner, p.f, p.x)
		p.native = c.gradient
		return err
	}
	c.push, err = engine.PreparePushforward(p.backend.inner, p.f, p.x, 1)
	p.native = c.push
	return err
}

// at writes the values at t to y and the derivatives to dy.
func (c *curve) at(y, dy []float64, t float64) (err error) {
	c.t[0] = t
	if c.gradient != nil {
		y[0], err = c.gradient.ValueAndGradient(dy, c.t)
		return err
	}
	return c.push.Pushforward(y, engine.Column(dy), c.t, engine.Column(c.one))
}

func (p *DerivativePrep) prepare() error { return p.prepareCurve(&p.prep) }

// Derivative returns f'(x).
func (p *DerivativePrep) Derivative(x float64) (float64, error) {
	_, d, err := p.ValueAndDerivative(x)
	return d, err
}

// ValueAndDerivative returns f(x) and f'(x).
func (p *DerivativePrep) ValueAndDerivative(x float64) (y, dy float64, err error) {
	if err := p.base().enter(); err != nil {
		return 0, 0, err
	}
	defer p.end(&err)
	if err := p.at(p.curve.y, p.curve.dy, x); err != nil {
		return 0, 0, err
	}
	return p.curve.y[0], p.curve.dy[0], nil
}

// Recordings returns how often the function was recorded; see [GradientPrep.Recordings].
func (p *DerivativePrep) Recordings() int { return p.base().recordings() }

// Explain returns how p computes its operator. See [Auto].
func (p *DerivativePrep) Explain() Explanation { return p.base().explain() }

// Clone returns a prepared object for use in another goroutine; see [GradientPrep.Clone].
func (p *DerivativePrep) Clone() *DerivativePrep { return clone(p) }

// Rebind makes later calls read the bound struct from q, a pointer to another struct of the same type; see
// [GradientPrep.Rebind].
func (p *DerivativePrep) Rebind(q any) error { return p.base().rebind(q) }

// CurveDerivative returns the derivative of a function of one number with several
// outputs.
func CurveDerivative[F CurveFunc](f F, b Backend, t float64) ([]float64, error) {
	_, d, err := ValueAndCurveDerivative(f, b, t)
	return d, err
}

// ValueAndCurveDerivative returns f(t) and f'(t).
func ValueAndCurveDerivative[F CurveFunc](f F, b Backend, t float64) (y, dy []float64, err error) {
	p, err := PrepareCurveDerivative(f, single(b), t)
	if err != nil {
		return nil, nil, err
	}
	return p.ValueAndDerivative(nil, nil, t)
}

// PrepareCurveDerivative prepares the derivative of f on b: it does the work that does not depend on t.
func PrepareCurveDerivative[F CurveFunc](f F, b Backend, t float64) (*CurveDerivativePrep, error) {
	return newOperator[CurveDerivativePrep]("CurveDerivative", f, wantAny, b, []float64{t})
}

// CurveDerivativePrep computes derivatives of a function of one number with
// several outputs. It is for one goroutine at a time.
type CurveDerivativePrep struct {
	prep
	curve
}

func (p *CurveDerivativePrep) base() *prep {
	if p == nil || p.op == "" {
		return unmade("CurveDerivativePrep", "PrepareCurveDerivative")
	}
	return &p.prep
}

func (p *CurveDerivativePrep) prepare() error { return p.prepareCurve(&p.prep) }

// Derivative writes f'(t) to dst, which is allocated if nil, and returns it. dst has one element per
// output.
func (p *CurveDerivativePrep) Derivative(dst []float64, t float64) ([]float64, error) {
	var y []float64
	if p != nil {
		y = p.curve.y
	}
	_, d, err := p.valueAndDerivative(y, dst, t)
	return d, err
}

// ValueAndDerivative writes f(t) to y and f'(t) to dst, which are allocated if nil
// and do not overlap.
func (p *CurveDerivativePrep) ValueAndDerivative(y, dst []float64, t float64) (yOut, dy []float64, err error) {
	return p.valueAndDerivative(y, dst, t)
}

// valueAndDerivative is ValueAndDerivative. Derivative passes a buffer of p as y.
func (p *CurveDerivativePrep) valueAndDerivative(y, dst []float64, t float64) (_, _ []float64, err error) {
	if err := p.base().enter(); err != nil {
		return nil, nil, err
	}
	defer p.end(&err)
	if y, err = p.vector("y", y, p.m, nil); err != nil {
		return nil, nil, err
	}
	if dst, err = p.vector("dst", dst, p.m, nil); err != nil {
		return nil, nil, err
	}
	if overlap(y, dst) {
		return nil, nil, &AliasError{Op: p.op, Arg: "dst", With: "y"}
	}
	if err := p.at(y, dst, t); err != nil {
		return nil, nil, err
	}
	return y, dst, nil
}

// Recordings returns how often the function was recorded; see [GradientPrep.Recordings].
func (p *CurveDerivativePrep) Recordings() int { return p.base().recordings() }

// Explain returns how p computes its operator. See [Auto].
func (p *CurveDerivativePrep) Explain() Explanation { return p.base().explain() }

// Clone returns a prepared object for use in another goroutine; see [GradientPrep.Clone].
func (p *CurveDerivativePrep) Clone() *CurveDerivativePrep { return clone(p) }

// Rebind makes later calls read the bound struct from q, a pointer to another struct of the same type; see
// [GradientPrep.Rebind].
func (p *CurveDerivativePrep) Rebind(q any) error { return p.base().rebind(q) }
