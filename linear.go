package nabla

import "github.com/nabla-ad/nabla/engine"

// LinearOp is the derivative of a function at one point: the m×n matrix J(x), which can be applied
// and transposed without being formed. Engines may keep intermediate results at the point. It is
// for one goroutine at a time. It shares parts of the bound struct with the object that created it;
// see [Bind].
type LinearOp struct {
	prep
	l  engine.Linear
	y  []float64
	at []float64
}

func (p *LinearOp) base() *prep {
	if p == nil || p.op == "" {
		return unmade("LinearOp", "Linearize")
	}
	return &p.prep
}

// Linearize returns the derivative of f at x as a linear operator.
func Linearize[F AnyFunc](f F, b Backend, x []float64) (*LinearOp, error) {
	p, err := PreparePushforward(f, b, x)
	if err != nil {
		return nil, err
	}
	return p.At(x)
}

// linearAt returns the derivative of the function of p at x. The result has a function of its own, beside that of p.
func (p *prep) linearAt(x []float64) (op *LinearOp, err error) {
	if err := p.begin(x); err != nil {
		return nil, err
	}
	defer p.end(&err)
	op = &LinearOp{y: make([]float64, p.m), at: append([]float64(nil), x...)}
	op.op, op.backend, op.f, op.n, op.m = "LinearOp", p.backend, p.f.Beside(), p.n, p.m
	if op.l, err = engine.PrepareLinear(p.backend.inner, op.f, op.at); err != nil {
		return nil, err
	}
	op.native = op.l
	if err := op.l.At(op.y, op.at); err != nil {
		return nil, err
	}
	return op, nil
}

// Dims returns the numbers of outputs and inputs of the function.
func (p *LinearOp) Dims() (m, n int) {
	b := p.base()
	return b.m, b.n
}

// Value writes f(x), which was computed with the operator, to dst, which is allocated if nil, and
// returns it.
func (p *LinearOp) Value(dst []float64) (_ []float64, err error) {
	if err := p.base().enter(); err != nil {
		return nil, err
	}
	defer p.end(&err)
	if dst, err = p.vector("dst", dst, p.m, nil); err != nil {
		return nil, err
	}
	copy(dst, p.y)
	return dst, nil
}

// Apply writes J(x)·v to dst, which is allocated if nil, and returns it. v has n elements and dst m,
// see [LinearOp.Dims]; they must not overlap.
func (p *LinearOp) Apply(dst, v []float64) (_ []float64, err error) {
	if err := p.base().enter(); err != nil {
		return nil, err
	}
	defer p.end(&err)
	if err = p.input("v", v, p.n); err != nil {
		return nil, err
	}
	if dst, err = p.vector("dst", dst, p.m, v); err != nil {
		return nil, err
	}
	if err := p.l.Apply(dst, v); err != nil {
		return nil, err
	}
	return dst, nil
}

// Transpose writes J(x)ᵀ·w to dst, which is allocated if nil, and returns it. w has m elements and
// dst n, see [LinearOp.Dims]; they must not overlap.
func (p *LinearOp) Transpose(dst, w []float64) (_ []float64, err error) {
	if err := p.base().enter(); err != nil {
		return nil, err
	}
	defer p.end(&err)
	if err = p.input("w", w, p.m); err != nil {
		return nil, err
	}
	if dst, err = p.vector("dst", dst, p.n, w); err != nil {
		return nil, err
	}
	if err := p.l.Transpose(dst, w); err != nil {
		return nil, err
	}
	return dst, nil
}

// Recordings returns how often the function was recorded; see [GradientPrep.Recordings].
func (p *LinearOp) Recordings() int { return p.base().recordings() }

// Explain returns how p computes its operator. See [Auto].
func (p *LinearOp) Explain() Explanation { return p.base().explain() }
