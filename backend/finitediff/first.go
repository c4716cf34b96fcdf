package finitediff

import (
	"math"

	"github.com/nabla-ad/nabla/engine"
)

// PreparePushforward prepares J·v as directional differences, f(x+h·v) and
// f(x-h·v) for the central method: two evaluations of f for a tangent (one for
// Forward and Backward) and one at x for all tangents. The step is such that no
// component moves further than its own step; a tangent with one component that
// is not 0 is differenced exactly as that column of the Jacobian. A tangent 0
// costs nothing, one with NaN or ±Inf in it gives NaN. Where the bounds leave no
// room on either side of x along v, the columns of J are taken one by one.
//
// With one worker the calls allocate nothing themselves; f may.
func (b Backend) PreparePushforward(f *engine.Function, x []float64, lanes int) (engine.Pushforward, error) {
	s, err := b.first(f)
	if err != nil {
		return nil, err
	}
	if s.method == Complex {
		return newComplexPush(f, s, x)
	}
	return &pushforward{s: s, pool: newPool(f, s.workers)}, nil
}

// A pushforward is a prepared J·v. It holds the arguments of the current call for the workers.
type pushforward struct {
	s    *settings
	pool *pool

	y, x       []float64
	ydot, xdot engine.Block
}

func (p *pushforward) Pushforward(y []float64, ydot engine.Block, x []float64, xdot engine.Block) error {
	if err := p.s.inside(x); err != nil {
		return err
	}
	if err := p.pool.at(y, x); err != nil {
		return err
	}
	p.y, p.x, p.ydot, p.xdot = y, x, ydot, xdot
	err := p.pool.run(p, xdot.B)
	p.y, p.x, p.ydot, p.xdot = nil, nil, engine.Block{}, engine.Block{}
	return err
}

// do computes column j.
func (p *pushforward) do(w *worker, j int) error {
	m := len(p.y)
	for i := range p.x {
		w.v[i] = p.xdot.Data[i*p.xdot.Stride+j]
	}
	if err := p.s.directional(w, w.acc[:m], p.y, p.x, w.v); err != nil {
		return err
	}
	for i, v := range w.acc[:m] {
		p.ydot.Data[i*p.ydot.Stride+j] = v
	}
	return nil
}

// support returns the number of nonzero components of v, the index of the last of them, and the largest absolute value,
// NaN if v contains one.
func support(v []float64) (count, last int, largest float64) {
	for i, vi := range v {
		if vi != 0 {
			count, last = count+1, i
			largest = max(largest, math.Abs(vi))
		}
	}
	return count, last, largest
}

// directional writes dst = J(x)·v, given y = f(x). v may be scaled.
func (s *settings) directional(w *worker, dst, y, x, v []float64) error {
	count, last, largest := support(v)
	switch {
	case len(dst) == 0:
		return nil
	case count == 0:
		clear(dst)
		return nil
	case count == 1:
		copy(w.x, x)
		d, err := s.evaluate(w, x, last)
		if err != nil {
			return err
		}
		for i := range dst {
			dst[i] = d.quotient(w.yp[i], w.yq[i], y[i]) * v[last]
		}
		return nil
	case !(largest <= math.MaxFloat64):
		for i := range dst {
			dst[i] = math.NaN()
		}
		return nil
	}
	scale := rescale(v, largest)
	h := s.along(x, v)
	back, ahead := s.room(x, v)
	if s.bounded && max(back, ahead) < h/8 {
		return s.byColumns(w, dst, y, x, v, scale)
	}
	d := s.method.nodes(0, h, -back, ahead)
	s.move(w.x, x, d.p, v)
	if err := w.f.Value(w.yp, w.x); err != nil {
		return err
	}
	if d.kind != onePoint {
		s.move(w.x, x, d.q, v)
		if err := w.f.Value(w.yq, w.x); err != nil {
			return err
		}
	}
	for i := range dst {
		dst[i] = d.quotient(w.yp[i], w.yq[i], y[i]) * scale
	}
	return nil
}

// rescale brings v to a size at which steps along it neither overflow nor vanish
// and returns the power of two it was divided by.
func rescale(v []float64, largest float64) float64 {
	if 1e-100 <= largest && largest <= 1e100 {
		return 1
	}
	_, e := math.Frexp(largest)
	e = min(max(e, -1000), 1000)
	inv := math.Ldexp(1, -e)
	for i := range v {
		v[i] *= inv
	}
	return math.Ldexp(1, e)
}

// byColumns writes dst = J(x)·v·scale as a sum of columns.
func (s *settings) byColumns(w *worker, dst, y, x, v []float64, scale float64) error {
	clear(dst)
	copy(w.x, x)
	for j, vj := range v {
		if vj == 0 {
			continue
		}
		d, err := s.evaluate(w, x, j)
		if err != nil {
			return err
		}
		for i := range dst {
			dst[i] += d.quotient(w.yp[i], w.yq[i], y[i]) * vj
		}
	}
	for i := range dst {
		dst[i] *= scale
	}
	return nil
}

// evaluate writes the values at the nodes in component j to w.yp and w.yq. w.x is
// x before and after.
func (s *settings) evaluate(w *worker, x []float64, j int) (nodes, error) {
	d := s.component(j, x[j])
	w.x[j] = d.p
	err := w.f.Value(w.yp, w.x)
	if err == nil && d.kind != onePoint {
		w.x[j] = d.q
		err = w.f.Value(w.yq, w.x)
	}
	w.x[j] = x[j]
	return d, err
}

// PrepareJacobian prepares the Jacobian column by column: 2n+1 evaluations of f
// for Central and n+1 for Forward and Backward. Column j is differenced in x[j]
// alone. The error of an entry is, relative to f and its derivatives, of the size
// of eps^(2/3) for Central, eps^(1/2) for Forward and Backward, and eps for
// Complex.
//
// With one worker the calls allocate nothing themselves; f may.
func (b Backend) PrepareJacobian(f *engine.Function, x []float64) (engine.Jacobian, error) {
	s, err := b.first(f)
	if err != nil {
		return nil, err
	}
	if s.method == Complex {
		return newComplexJacobian(f, s, x)
	}
	return &jacobian{s: s, pool: newPool(f, s.workers)}, nil
}

type jacobian struct {
	s    *settings
	pool *pool

	y, x []float64
	jac  engine.Block
}

func (p *jacobian) ValueAndJacobian(y []float64, jac engine.Block, x []float64) error {
	if err := p.s.inside(x); err != nil {
		return err
	}
	if err := p.pool.at(y, x); err != nil {
		return err
	}
	if len(y) == 0 {
		return nil
	}
	p.y, p.x, p.jac = y, x, jac
	err := p.pool.run(p, len(x))
	p.y, p.x, p.jac = nil, nil, engine.Block{}
	return err
}

// do computes column j.
func (p *jacobian) do(w *worker, j int) error {
	d, err := p.s.evaluate(w, p.x, j)
	if err != nil {
		return err
	}
	for i, y := range p.y {
		p.jac.Data[i*p.jac.Stride+j] = d.quotient(w.yp[i], w.yq[i], y)
	}
	return nil
}

// PrepareGradient prepares the gradient: the one row of the Jacobian, at its
// cost and with its error.
func (b Backend) PrepareGradient(f *engine.Function, x []float64) (engine.Gradient, error) {
	if err := scalar(f, "finitediff gradient"); err != nil {
		return nil, err
	}
	j, err := b.PrepareJacobian(f, x)
	if err != nil {
		return nil, err
	}
	g := &gradient{jac: j}
	if r, ok := j.(engine.Recorder); ok {
		return &recordedGradient{g, r}, nil
	}
	return g, nil
}

type gradient struct {
	jac engine.Jacobian
	y   [1]float64
}

type recordedGradient struct {
	*gradient
	engine.Recorder
}

func (g *gradient) ValueAndGradient(grad, x []float64) (float64, error) {
	err := g.jac.ValueAndJacobian(g.y[:], engine.Block{N: 1, B: len(grad), Stride: len(grad), Data: grad}, x)
	return g.y[0], err
}

// scalar checks that f has one output.
func scalar(f *engine.Function, op string) error {
	if _, m := f.Dims(); m != 1 {
		return &engine.ShapeError{Op: op, Arg: "outputs of " + f.Name(), Got: m, Want: 1}
	}
	return nil
}
