package source

import (
	"fmt"
	"slices"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/core"
)

// newSecond prepares second derivatives. The code of f must have the tangent of the adjoint.
func (b Reverse) newSecond(f *engine.Function) (*second, error) {
	r, err := newRunner(b, f, "tangent of an adjoint, for second derivatives",
		func(c *engine.Code) bool { return c.AdjointTangent != nil })
	if err != nil {
		return nil, err
	}
	return &second{
		runner: r, y: make([]float64, r.m), ybar: make([]float64, r.m),
		xbar: make([]float64, r.n), xbardot: make([]float64, r.n), xdot: make([]float64, r.n),
	}, nil
}

// A second computes ybarᵀ·∇²f·xdot. Callers that use unit vectors as xdot or ybar set them back to 0 after each call.
type second struct {
	*runner
	y, ybar, xbar, xbardot, xdot []float64
	both, ybarMarks              []float64 // to settle results
}

// push writes y, xbar, and the derivative of xbar along xdot.
func (s *second) push(xbar, xbardot, x, xdot []float64) (err error) {
	defer func() { s.end(recover(), &err) }()
	s.begin()
	k := s.code.AdjointTangent(s.y, xbar, xbardot, vec(x), xdot, s.ybar, s.arg())
	if !s.sure(xbar) || !s.sure(xbardot) {
		if err := s.settleBoth(xbar, xbardot, x, xdot); err != nil {
			return err
		}
	}
	return s.done(k, s.y, x)
}

// product writes hv = ∇²f(x)·v for f with one output. It uses code without value and gradient if there is some, except
// when the call is due for the comparison of values.
func (s *second) product(hv, x, v []float64) (err error) {
	if s.code.HVP == nil || s.watch.Next(s.f) {
		return s.push(s.xbar, hv, x, v)
	}
	defer func() { s.end(recover(), &err) }()
	s.watch.Due(s.f)
	s.begin()
	s.code.HVP(hv, vec(x), v, s.arg())
	if !s.sure(hv) {
		return s.settleBoth(nil, hv, x, v)
	}
	return nil
}

// settleBoth settles xbardot and, unless it is nil, xbar.
func (s *second) settleBoth(xbar, xbardot, x, xdot []float64) error {
	if s.both == nil {
		s.both, s.ybarMarks = make([]float64, 2*s.n), make([]float64, s.m)
	}
	s.settler.x, s.settler.seeds = x, xdot
	both := s.both[:len(xbardot)+len(xbar)]
	copy(both[copy(both, xbardot):], xbar)
	if err := s.settle(both, s); err != nil {
		return err
	}
	copy(xbar, both[copy(xbardot, both):])
	return nil
}

// split returns the parts of out as settleBoth arranges them; xbar is nil if there is no gradient.
func (s *second) split(out []float64) (xbar, xbardot []float64) {
	if len(out) > s.n {
		xbar = out[s.n:]
	}
	return xbar, out[:s.n:s.n]
}

func (s *second) again(out []float64, mark bool) {
	t := &s.settler
	xdot, ybar := t.seeds, s.ybar
	if mark {
		xdot, ybar = core.Marked(t.marks[:s.n], xdot), core.Marked(s.ybarMarks, ybar)
	}
	xbar, xbardot := s.split(out)
	if xbar == nil {
		xbar = s.xbar
	}
	s.code.AdjointTangent(t.value, xbar, xbardot, vec(t.x), xdot, ybar, s.arg())
}

func (s *second) ask(out []float64) {
	xbar, xbardot := s.split(out)
	s.bend(xbar, xbardot, s.settler.x, s.settler.seeds, max(slices.Index(s.ybar, 1), 0))
}

func (s *second) element(i int) string {
	if i < s.n {
		return fmt.Sprintf("the second derivative by input %d", i)
	}
	return fmt.Sprintf("the derivative by input %d", i-s.n)
}

// PrepareHVP implements engine.HVPer.
func (b Reverse) PrepareHVP(f *engine.Function, x []float64, lanes int) (engine.HVP, error) {
	s, err := b.newSecond(f)
	if err != nil {
		return nil, err
	}
	s.ybar[0] = 1
	return &hvp{s}, nil
}

type hvp struct{ *second }

func (h *hvp) ValueGradientAndHVP(grad []float64, hv engine.Block, x []float64, v engine.Block) (float64, error) {
	if grad == nil {
		grad = h.xbar
	}
	grad = vec(grad)
	switch {
	case v.B == 0:
		err := h.push(grad, h.xbardot, x, h.xdot) // xdot is 0
		return h.y[0], err
	case v.B == 1 && v.Stride <= 1 && hv.Stride <= 1:
		err := h.push(grad, vec(hv.Data[:h.n]), x, vec(v.Data[:h.n]))
		return h.y[0], err
	}
	defer clear(h.xdot)
	column(h.xdot, v, 0)
	if err := h.push(grad, h.xbardot, x, h.xdot); err != nil {
		return 0, err
	}
	setColumn(hv, 0, h.xbardot)
	err := h.products(hv, x, v, 1)
	return h.y[0], err
}

// HVP implements engine.BareHVP.
func (h *hvp) HVP(hv engine.Block, x []float64, v engine.Block) error {
	if v.B == 1 && v.Stride <= 1 && hv.Stride <= 1 {
		return h.product(vec(hv.Data[:h.n]), x, vec(v.Data[:h.n]))
	}
	defer clear(h.xdot)
	return h.products(hv, x, v, 0)
}

// products writes the columns of hv from index first on.
func (h *hvp) products(hv engine.Block, x []float64, v engine.Block, first int) error {
	for k := first; k < v.B; k++ {
		column(h.xdot, v, k)
		if err := h.product(h.xbardot, x, h.xdot); err != nil {
			return err
		}
		setColumn(hv, k, h.xbardot)
	}
	return nil
}

// PrepareHessian implements engine.Hessianer with one sweep per row.
func (b Reverse) PrepareHessian(f *engine.Function, x []float64) (engine.Hessian, error) {
	s, err := b.newSecond(f)
	if err != nil {
		return nil, err
	}
	s.ybar[0] = 1
	return &hessian{s}, nil
}

type hessian struct{ *second }

func (h *hessian) ValueGradientAndHessian(grad []float64, hess engine.Block, x []float64) (float64, error) {
	if h.n == 0 {
		err := h.f.Value(h.y, x)
		return h.y[0], err
	}
	for i := range h.Sweeps() {
		if _, err := h.Sweep(i, grad, hess, x); err != nil {
			return 0, err
		}
	}
	engine.Symmetrise(hess)
	return h.y[0], nil
}

// Sweeps implements engine.SweptHessian.
func (h *hessian) Sweeps() int { return h.n }

// Sweep implements engine.SweptHessian. Only the first one computes gradient and value.
func (h *hessian) Sweep(i int, grad []float64, hess engine.Block, x []float64) (float64, error) {
	h.xdot[i] = 1
	var err error
	if i == 0 {
		if grad == nil {
			grad = h.xbar
		}
		err = h.push(vec(grad), hess.Row(i), x, h.xdot)
	} else {
		err = h.product(hess.Row(i), x, h.xdot)
	}
	h.xdot[i] = 0
	return h.y[0], err
}

// PrepareSecond implements engine.Seconder with one sweep per output.
func (b Reverse) PrepareSecond(f *engine.Function, t float64) (engine.Second, error) {
	s, err := b.newSecond(f)
	if err != nil {
		return nil, err
	}
	s.xdot[0] = 1
	return &curve{s, []float64{t}}, nil
}

type curve struct {
	*second
	x []float64
}

func (c *curve) ValueDerivativeAndSecond(y, dy, d2y []float64, t float64) error {
	c.x[0] = t
	for i := range c.ybar {
		c.ybar[i] = 1
		err := c.push(c.xbar, c.xbardot, c.x, c.xdot)
		c.ybar[i] = 0
		if err != nil {
			return err
		}
		dy[i], d2y[i] = c.xbar[0], c.xbardot[0]
	}
	copy(y, c.y)
	return nil
}
