package finitediff

import (
	"math"

	"github.com/nabla-ad/nabla/engine"
)

// A complexSecond takes central differences of complex-step gradients.
type complexSecond struct {
	*recording
	first *complexJacobian
	s     *settings // of the real step

	at, v      []float64
	gp, gq, gx []float64
	acc        []float64
	y          [1]float64
}

func newComplexSecond(b Backend, f *engine.Function, x []float64) (*complexSecond, error) {
	s, err := b.first(f)
	if err != nil {
		return nil, err
	}
	real, err := b.second(f)
	if err != nil {
		return nil, err
	}
	j, err := newComplexJacobian(f, s, x)
	if err != nil {
		return nil, err
	}
	n, _ := f.Dims()
	v := func() []float64 { return make([]float64, n) }
	return &complexSecond{recording: j.recording, first: j, s: real, at: v(), v: v(), gp: v(), gq: v(), gx: v(),
		acc: v()}, nil
}

// gradient writes the gradient at x.
func (p *complexSecond) gradient(dst, x []float64) (float64, error) {
	err := p.first.ValueAndJacobian(p.y[:], engine.Block{N: 1, B: len(dst), Stride: len(dst), Data: dst}, x)
	return p.y[0], err
}

// column writes H·e_j to dst, given the gradient at x in p.gx. dst may be p.gq.
func (p *complexSecond) column(dst, x []float64, j int) error {
	lo, hi := p.s.box(j)
	d := central(x[j], p.s.step(x[j]), lo, hi, 2)
	copy(p.at, x)
	p.at[j] = d.p
	if _, err := p.gradient(p.gp, p.at); err != nil {
		return err
	}
	p.at[j] = d.q
	if _, err := p.gradient(p.gq, p.at); err != nil {
		return err
	}
	for i := range dst {
		dst[i] = d.quotient(p.gp[i], p.gq[i], p.gx[i])
	}
	return nil
}

func (p *complexSecond) ValueGradientAndHessian(grad []float64, hess engine.Block, x []float64) (float64, error) {
	y, err := p.gradient(p.gx, x)
	if err != nil {
		return 0, err
	}
	copy(grad, p.gx)
	for j := range x {
		if err := p.column(p.acc, x, j); err != nil {
			return y, err
		}
		for i, h := range p.acc {
			hess.Data[i*hess.Stride+j] = h
		}
	}
	for i := range x {
		for j := range i {
			h := hess.Data[i*hess.Stride+j]/2 + hess.Data[j*hess.Stride+i]/2
			hess.Data[i*hess.Stride+j], hess.Data[j*hess.Stride+i] = h, h
		}
	}
	return y, nil
}

func (p *complexSecond) ValueGradientAndHVP(grad []float64, hv engine.Block, x []float64,
	v engine.Block) (float64, error) {
	y, err := p.gradient(p.gx, x)
	if err != nil {
		return 0, err
	}
	copy(grad, p.gx)
	for l := range v.B {
		for i := range x {
			p.v[i] = v.Data[i*v.Stride+l]
		}
		if err := p.product(x); err != nil {
			return y, err
		}
		for i, h := range p.acc {
			hv.Data[i*hv.Stride+l] = h
		}
	}
	return y, nil
}

// product writes H·v to p.acc.
func (p *complexSecond) product(x []float64) error {
	count, last, largest := support(p.v)
	clear(p.acc)
	switch {
	case count == 0:
		return nil
	case !(largest <= math.MaxFloat64):
		for i := range p.acc {
			p.acc[i] = math.NaN()
		}
		return nil
	case count == 1:
		v := p.v[last]
		err := p.column(p.acc, x, last)
		for i := range p.acc {
			p.acc[i] *= v
		}
		return err
	}
	scale := rescale(p.v, largest)
	k := p.s.along(x, p.v)
	back, ahead := p.s.room(x, p.v)
	if p.s.bounded && max(back, ahead) < k/8 {
		for j, v := range p.v {
			if v == 0 {
				continue
			}
			if err := p.column(p.gq, x, j); err != nil {
				return err
			}
			for i, h := range p.gq {
				p.acc[i] += h * v * scale
			}
		}
		return nil
	}
	d := central(0, k, -back, ahead, 2)
	p.s.move(p.at, x, d.p, p.v)
	if _, err := p.gradient(p.gp, p.at); err != nil {
		return err
	}
	p.s.move(p.at, x, d.q, p.v)
	if _, err := p.gradient(p.gq, p.at); err != nil {
		return err
	}
	for i := range p.acc {
		p.acc[i] = d.quotient(p.gp[i], p.gq[i], p.gx[i]) * scale
	}
	return nil
}
