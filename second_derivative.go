package nabla

import "github.com/nabla-ad/nabla/engine"

// SecondDerivative returns f″(x) for a function of one number with one output.
func SecondDerivative[F ScalarScalar](f F, b Backend, x float64) (float64, error) {
	_, _, d, err := ValueDerivativeAndSecondDerivative(f, b, x)
	return d, err
}

// ValueDerivativeAndSecondDerivative returns f(x), f'(x) and f″(x) from one sweep.
func ValueDerivativeAndSecondDerivative[F ScalarScalar](f F, b Backend, x float64) (y, dy, d2y float64, err error) {
	p, err := PrepareSecondDerivative(f, single(b), x)
	if err != nil {
		return 0, 0, 0, err
	}
	return p.ValueDerivativeAndSecondDerivative(x)
}

// PrepareSecondDerivative prepares the second derivative of f on b: it does the work that does not depend on x.
func PrepareSecondDerivative[F ScalarScalar](f F, b Backend, x float64) (*SecondDerivativePrep, error) {
	return newOperator[SecondDerivativePrep]("SecondDerivative", f, wantScalar, b, []float64{x})
}

// SecondDerivativePrep computes second derivatives of a function of one number. It
// is for one goroutine at a time.
type SecondDerivativePrep struct {
	prep
	secondCurve
}

func (p *SecondDerivativePrep) base() *prep {
	if p == nil || p.op == "" {
		return unmade("SecondDerivativePrep", "PrepareSecondDerivative")
	}
	return &p.prep
}

// A secondCurve computes value, derivative and second derivative of m functions of one number.
type secondCurve struct {
	s          engine.Second
	y, dy, d2y []float64
}

// prepareSecond prepares the engine's part, which becomes p.native, and the buffers for one result.
func (c *secondCurve) prepareSecond(p *prep) (err error) {
	if p.n != 1 {
		return &ShapeError{Op: p.op, Arg: "number of inputs of " + p.f.Name(), Got: p.n, Want: 1}
	}
	c.y, c.dy, c.d2y = make([]float64, p.m), make([]float64, p.m), make([]float64, p.m)
	c.s, err = engine.PrepareSecond(p.backend.outer, p.backend.inner, p.f, p.x[0])
	p.native = c.s
	return err
}

func (p *SecondDerivativePrep) prepare() error { return p.prepareSecond(&p.prep) }

// SecondDerivative returns f″(x).
func (p *SecondDerivativePrep) SecondDerivative(x float64) (float64, error) {
	_, _, d, err := p.ValueDerivativeAndSecondDerivative(x)
	return d, err
}

// ValueDerivativeAndSecondDerivative returns f(x), f'(x) and f″(x).
func (p *SecondDerivativePrep) ValueDerivativeAndSecondDerivative(x float64) (y, dy, d2y float64, err error) {
	if err := p.base().enter(); err != nil {
		return 0, 0, 0, err
	}
	defer p.end(&err)
	if err := p.s.ValueDerivativeAndSecond(p.y, p.dy, p.d2y, x); err != nil {
		return 0, 0, 0, err
	}
	return p.y[0], p.dy[0], p.d2y[0], nil
}

// Recordings returns how often the function was recorded; see [GradientPrep.Recordings].
func (p *SecondDerivativePrep) Recordings() int { return p.base().recordings() }

// Explain returns how p computes its operator. See [Auto].
func (p *SecondDerivativePrep) Explain() Explanation { return p.base().explain() }

// Clone returns a prepared object for use in another goroutine; see [GradientPrep.Clone].
func (p *SecondDerivativePrep) Clone() *SecondDerivativePrep { return clone(p) }

// Rebind makes later calls read the bound struct from q, a pointer to another struct of the same type; see
// [GradientPrep.Rebind].
func (p *SecondDerivativePrep) Rebind(q any) error { return p.base().rebind(q) }

// CurveSecondDerivative returns the second derivative of a function of one number with
// several outputs.
func CurveSecondDerivative[F CurveFunc](f F, b Backend, t float64) ([]float64, error) {
	_, _, d, err := ValueDerivativeAndCurveSecondDerivative(f, b, t)
	return d, err
}

// ValueDerivativeAndCurveSecondDerivative returns f(t), f'(t) and f″(t).
func ValueDerivativeAndCurveSecondDerivative[F CurveFunc](f F, b Backend, t float64) (y, dy, d2y []float64, err error) {
	p, err := PrepareCurveSecondDerivative(f, single(b), t)
	if err != nil {
		return nil, nil, nil, err
	}
	return p.ValueDerivativeAndSecondDerivative(nil, nil, nil, t)
}

// PrepareCurveSecondDerivative prepares the second derivative of f on b: it does the work that does not depend on t.
func PrepareCurveSecondDerivative[F CurveFunc](f F, b Backend, t float64) (*CurveSecondDerivativePrep, error) {
	return newOperator[CurveSecondDerivativePrep]("CurveSecondDerivative", f, wantAny, b, []float64{t})
}

// CurveSecondDerivativePrep computes second derivatives of a function of one
// number with several outputs. It is for one goroutine at a time.
type CurveSecondDerivativePrep struct {
	prep
	secondCurve
}

func (p *CurveSecondDerivativePrep) base() *prep {
	if p == nil || p.op == "" {
		return unmade("CurveSecondDerivativePrep", "PrepareCurveSecondDerivative")
	}
	return &p.prep
}

func (p *CurveSecondDerivativePrep) prepare() error { return p.prepareSecond(&p.prep) }

// SecondDerivative writes f″(t) to dst, which is allocated if nil, and returns it. dst has one
// element per output.
func (p *CurveSecondDerivativePrep) SecondDerivative(dst []float64, t float64) ([]float64, error) {
	var y, dy []float64
	if p != nil {
		y, dy = p.y, p.dy
	}
	_, _, d, err := p.into(y, dy, dst, t)
	return d, err
}

// ValueDerivativeAndSecondDerivative writes f(t) to y, f'(t) to dy and f″(t) to
// dst, each allocated if nil, with one element per output. They must not overlap.
func (p *CurveSecondDerivativePrep) ValueDerivativeAndSecondDerivative(y, dy, dst []float64,
	t float64) (yOut, dyOut, d2y []float64, err error) {
	return p.into(y, dy, dst, t)
}

// into computes all three results. Buffers that are nil are allocated.
func (p *CurveSecondDerivativePrep) into(y, dy, dst []float64, t float64) (_, _, _ []float64, err error) {
	if err := p.base().enter(); err != nil {
		return nil, nil, nil, err
	}
	defer p.end(&err)
	if y, err = p.vector("y", y, p.m, nil); err != nil {
		return nil, nil, nil, err
	}
	if dy, err = p.vector("dy", dy, p.m, y); err != nil {
		return nil, nil, nil, err
	}
	if dst, err = p.vector("dst", dst, p.m, y); err != nil {
		return nil, nil, nil, err
	}
	if overlap(dy, dst) {
		return nil, nil, nil, &AliasError{Op: p.op, Arg: "dst", With: "dy"}
	}
	if err := p.s.ValueDerivativeAndSecond(y, dy, dst, t); err != nil {
		return nil, nil, nil, err
	}
	return y, dy, dst, nil
}

// Recordings returns how often the function was recorded; see [GradientPrep.Recordings].
func (p *CurveSecondDerivativePrep) Recordings() int { return p.base().recordings() }

// Explain returns how p computes its operator. See [Auto].
func (p *CurveSecondDerivativePrep) Explain() Explanation { return p.base().explain() }

// Clone returns a prepared object for use in another goroutine; see [GradientPrep.Clone].
func (p *CurveSecondDerivativePrep) Clone() *CurveSecondDerivativePrep { return clone(p) }

// Rebind makes later calls read the bound struct from q, a pointer to another struct of the same type; see
// [GradientPrep.Rebind].
func (p *CurveSecondDerivativePrep) Rebind(q any) error { return p.base().rebind(q) }
