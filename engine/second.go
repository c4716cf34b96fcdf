package engine

import "slices"

// This file prepares operators of second order by the routes of the fallback graph in explain.go. The outer backend
// differentiates a function derived by the inner one; the two are equal for a backend that is not composed.

// sameBackend reports whether outer and inner have the same name, settings included.
func sameBackend(outer, inner Backend) bool {
	return outer.Name() == inner.Name()
}

// DerivedGradient returns x ↦ (∇f(x), f(x)) as a function, from b itself if it is a [Transformer].
func DerivedGradient(b Backend, f *Function) (*Function, error) {
	if t, ok := b.(Transformer); ok {
		return t.GradientFunction(f)
	}
	return GradientFunction(f, b, false)
}

// preparedGradient returns DerivedGradient of f, prepared to be differentiated by outer at x.
func preparedGradient(outer, inner Backend, f *Function, x []float64) (*Function, error) {
	g, err := DerivedGradient(inner, f)
	if err != nil {
		return nil, err
	}
	return g, g.ahead(outer, x)
}

// DerivedPushforward returns (x, v) ↦ (J(x)·v, f(x)) as a function, from b itself if it is a [Transformer].
func DerivedPushforward(b Backend, f *Function) (*Function, error) {
	if t, ok := b.(Transformer); ok {
		return t.PushforwardFunction(f)
	}
	return PushforwardFunction(f, b, false)
}

// preparedPushforward returns DerivedPushforward of f, prepared to be differentiated by outer at xv.
func preparedPushforward(outer, inner Backend, f *Function, xv []float64) (*Function, error) {
	g, err := DerivedPushforward(inner, f)
	if err != nil {
		return nil, err
	}
	return g, g.ahead(outer, xv)
}

// PrepareHVP prepares Hessian-vector products of up to lanes vectors at a time at points of the length of x, by the
// route of the fallback graph. The error is an *[UnsupportedError] if there is none.
func PrepareHVP(outer, inner Backend, f *Function, x []float64, lanes int) (HVP, error) {
	n, _ := f.Dims()
	f.at = slices.Clone(x) // an outer engine that evaluates may start at another point
	switch hvpRoute(outer, inner) {
	case native:
		return outer.(HVPer).PrepareHVP(f, x, lanes)
	case pushGradient:
		g, err := preparedGradient(outer, inner, f, x)
		if err != nil {
			return nil, err
		}
		push, err := PreparePushforward(outer, g, x, lanes)
		if err != nil {
			return nil, err
		}
		return &hvpByPush{push: push, y: make([]float64, n+1), ydot: NewBlock(n+1, lanes)}, nil
	case gradientOfPushforward:
		xv := make([]float64, 2*n)
		copy(xv, x)
		g, err := preparedPushforward(outer, inner, f, xv)
		if err != nil {
			return nil, err
		}
		pull, err := PreparePullback(outer, g, xv, 1)
		if err != nil {
			return nil, err
		}
		return &hvpOfPush{pull: pull, xv: xv, y: make([]float64, 2), xbar: make([]float64, 2*n), ybar: []float64{1, 0},
			f: f}, nil
	case pullGradient:
		g, err := preparedGradient(outer, inner, f, x)
		if err != nil {
			return nil, err
		}
		return HVPByPullback(outer, g, x, lanes)
	}
	return nil, unsupported(outer, "Hessian-vector product")
}

// hvpByPush is an HVP that pushes the vectors forward through the gradient function.
type hvpByPush struct {
	push Pushforward
	y    []float64
	ydot Block
}

func (h *hvpByPush) Recordings() int { return recordings(h.push) }

func (h *hvpByPush) ValueGradientAndHVP(grad []float64, hv Block, x []float64, v Block) (float64, error) {
	n := len(x)
	if v.B > h.ydot.B {
		h.ydot = NewBlock(n+1, v.B)
	}
	ydot := h.ydot.Cols(0, v.B)
	if err := h.push.Pushforward(h.y, ydot, x, v); err != nil {
		return 0, err
	}
	hv.CopyFrom(ydot)
	copy(grad, h.y[:n])
	return h.y[n], nil
}

// HVPByPullback prepares Hessian-vector products of up to lanes vectors at a time on b. They are pullbacks of the
// vectors through gradient, a function made by [GradientFunction] or [DerivedGradient], whose Jacobian without the last
// row is the Hessian, a symmetric matrix. The error is that of [PreparePullback].
func HVPByPullback(b Backend, gradient *Function, x []float64, lanes int) (HVP, error) {
	pull, err := PreparePullback(b, gradient, x, lanes)
	if err != nil {
		return nil, err
	}
	n := len(x)
	return &hvpByPull{pull: pull, y: make([]float64, n+1), ybar: NewBlock(n+1, lanes)}, nil
}

// hvpByPull is an HVP that pulls the vectors back through the gradient function: reverse over reverse. The result is
// the transposed Hessian times the vector, and the Hessian is symmetric.
type hvpByPull struct {
	pull Pullback
	y    []float64
	ybar Block
}

func (h *hvpByPull) Recordings() int { return recordings(h.pull) }

func (h *hvpByPull) ValueGradientAndHVP(grad []float64, hv Block, x []float64, v Block) (float64, error) {
	n := len(x)
	if v.B > h.ybar.B {
		h.ybar = NewBlock(n+1, v.B)
	}
	ybar := h.ybar.Cols(0, v.B)
	upper := ybar
	upper.N = n
	upper.CopyFrom(v)
	clear(ybar.Row(n))
	if err := h.pull.Pullback(h.y, hv, x, ybar); err != nil {
		return 0, err
	}
	copy(grad, h.y[:n])
	return h.y[n], nil
}

// hvpOfPush is an HVP that takes the gradient of the pushforward function (x, v) ↦ ∇f(x)·v: reverse over forward. The
// gradient with respect to x is the Hessian times v, that with respect to v the gradient of f.
type hvpOfPush struct {
	pull              Pullback
	f                 *Function
	xv, y, xbar, ybar []float64
}

func (h *hvpOfPush) Recordings() int { return recordings(h.pull) }

func (h *hvpOfPush) ValueGradientAndHVP(grad []float64, hv Block, x []float64, v Block) (float64, error) {
	n := len(x)
	copy(h.xv, x)
	for k := range v.B {
		for i := range n {
			h.xv[n+i] = v.Row(i)[k]
		}
		if err := h.pull.Pullback(h.y, Column(h.xbar), h.xv, Column(h.ybar)); err != nil {
			return 0, err
		}
		for i := range n {
			hv.Row(i)[k] = h.xbar[i]
		}
	}
	if v.B == 0 {
		err := h.f.Value(h.y[1:], x)
		return h.y[1], err
	}
	copy(grad, h.xbar[n:])
	return h.y[1], nil
}

// PrepareHessian prepares dense Hessians: those of outer if it is a [Hessianer] and equal to inner, otherwise HVPs of
// unit vectors. If the policy of f has Workers, they divide the sweeps of a [SweptHessian].
func PrepareHessian(outer, inner Backend, f *Function, x []float64) (Hessian, error) {
	prepare := func(f *Function) (Hessian, error) {
		if hessianRoute(outer, inner) == native {
			return outer.(Hessianer).PrepareHessian(f, x)
		}
		n, _ := f.Dims()
		k := LanesOf(outer, n)
		f.DivideSweeps(n, k)
		hvp, err := PrepareHVP(outer, inner, f, x, k)
		if err != nil {
			return nil, err
		}
		return HessianByHVP(hvp, f, k), nil
	}
	h, err := prepare(f)
	if err != nil {
		return nil, err
	}
	return divideHessian(h, f, prepare)
}

// HessianByHVP returns a Hessian that computes products with unit vectors, lanes at a time, and symmetrises the result.
func HessianByHVP(hvp HVP, f *Function, lanes int) Hessian {
	n, _ := f.Dims()
	return &hessianByHVP{hvp: hvp, f: f, v: NewBlock(n, lanes), y: make([]float64, 1)}
}

type hessianByHVP struct {
	hvp HVP
	f   *Function
	v   Block
	y   []float64
}

func (h *hessianByHVP) Recordings() int { return recordings(h.hvp) }

func (h *hessianByHVP) ValueGradientAndHessian(grad []float64, hess Block, x []float64) (value float64, err error) {
	if len(x) == 0 {
		err := h.f.Value(h.y, x)
		return h.y[0], err
	}
	for i := range h.Sweeps() {
		if value, err = h.Sweep(i, grad, hess, x); err != nil {
			return 0, err
		}
		grad = nil
	}
	Symmetrise(hess)
	return value, nil
}

// Sweeps returns the number of batches of columns.
func (h *hessianByHVP) Sweeps() int { return batches(h.v) }

// Sweep computes a batch of columns.
func (h *hessianByHVP) Sweep(i int, grad []float64, hess Block, x []float64) (float64, error) {
	first := i * h.v.B
	v := h.v.Cols(0, min(h.v.B, len(x)-first))
	unitColumns(v, first)
	return h.hvp.ValueGradientAndHVP(grad, hess.Cols(first, v.B), x, v)
}

// Symmetrise replaces entries (i, j) and (j, i) of a square block, which may differ in rounding, by their mean.
func Symmetrise(hess Block) {
	for from := 0; from < hess.N; from += square {
		to := min(hess.N, from+square)
		symmetrise(hess, from, to)
	}
}

// square is the number of rows of the squares into which a block is divided, so that the columns of one stay near the
// processor while rows are read.
const square = 32

// symmetrise is [Symmetrise] for rows up to the diagonal, and the columns on the other side.
func symmetrise(hess Block, from, to int) {
	for left := 0; left < to; left += square {
		for i := from; i < to; i++ {
			row := hess.Row(i)
			for j := left; j < min(i, left+square); j++ {
				if a, b := &row[j], &hess.Data[j*hess.Stride+i]; *a != *b {
					mean := *a/2 + *b/2
					*a, *b = mean, mean
				}
			}
		}
	}
}

// Second computes first and second derivatives of a function of one number.
type Second interface {
	// ValueDerivativeAndSecond writes y = f(t), dy = f'(t) and d2y = f″(t), each of length m.
	ValueDerivativeAndSecond(y, dy, d2y []float64, t float64) error
}

// PrepareSecond prepares second derivatives of a function of one number: those of the backend, its Hessian if there is
// one output, or the pushforward of the pushforward function, which yields f and f' too.
func PrepareSecond(outer, inner Backend, f *Function, t float64) (Second, error) {
	_, m := f.Dims()
	switch secondRoute(outer, inner, m) {
	case native:
		return outer.(Seconder).PrepareSecond(f, t)
	case hessianAtOne:
		hess, err := outer.(Hessianer).PrepareHessian(f, []float64{t})
		if err != nil {
			return nil, err
		}
		return &secondByHessian{hess: hess, x: make([]float64, 1)}, nil
	}
	f.at = []float64{t}
	g, err := preparedPushforward(outer, inner, f, []float64{t, 1})
	if err != nil {
		return nil, err
	}
	push, err := PreparePushforward(outer, g, []float64{t, 1}, 1)
	if err != nil {
		return nil, err
	}
	return &secondByPush{push: push, y: make([]float64, 2*m), ydot: make([]float64, 2*m), x: []float64{t, 1},
		dir: []float64{1, 0}}, nil
}

// secondByPush is a Second that pushes (1, 0) through the pushforward function at (t, 1).
type secondByPush struct {
	push            Pushforward
	y, ydot, x, dir []float64
}

func (s *secondByPush) Recordings() int { return recordings(s.push) }

func (s *secondByPush) ValueDerivativeAndSecond(y, dy, d2y []float64, t float64) error {
	s.x[0] = t
	if err := s.push.Pushforward(s.y, Column(s.ydot), s.x, Column(s.dir)); err != nil {
		return err
	}
	m := len(s.y) / 2
	copy(y, s.y[m:])
	copy(dy, s.y[:m])
	copy(d2y, s.ydot[:m])
	return nil
}

// secondByHessian is a Second of a function with one output that computes a 1×1 Hessian.
type secondByHessian struct {
	hess Hessian
	x    []float64
}

func (s *secondByHessian) Recordings() int { return recordings(s.hess) }

func (s *secondByHessian) ValueDerivativeAndSecond(y, dy, d2y []float64, t float64) (err error) {
	s.x[0] = t
	y[0], err = s.hess.ValueGradientAndHessian(dy, Column(d2y), s.x)
	return err
}
