package finitediff

import (
	"math"

	"github.com/nabla-ad/nabla/engine"
)

// A differ holds what all prepared objects of an Adaptive share: a line for each worker, and the noise at the point of
// the current call.
type differ struct {
	s     *adaptive
	f     *engine.Function
	pool  *pool
	lines []*line
	meter *noiseMeter // nil unless the noise is measured
	noise []float64
	y     []float64
}

// differ prepares derivatives of the given orders.
func (a Adaptive) differ(f *engine.Function, orders ...int) (*differ, [][]scheme, error) {
	s, err := a.resolve(f)
	if err != nil {
		return nil, nil, err
	}
	lists := make([][]scheme, len(orders))
	var all []scheme
	for i, order := range orders {
		if lists[i], err = s.schemes(order); err != nil {
			return nil, nil, err
		}
		all = append(all, lists[i]...)
	}
	n, m := f.Dims()
	d := &differ{s: s, f: f, pool: newPool(f, s.workers), y: make([]float64, m)}
	if a.MeasureNoise {
		d.meter = newNoiseMeter(n, m)
	}
	if a.MeasureNoise || a.Noise > 0 {
		d.noise = make([]float64, m)
		for i := range d.noise {
			d.noise[i] = a.Noise
		}
	}
	for _, w := range d.pool.workers {
		l := newLine(s, w, n, m, all)
		l.noise = d.noise
		d.lines = append(d.lines, l)
	}
	return d, lists, nil
}

// at moves all lines to x and writes y = f(x), which is also kept.
func (d *differ) at(y, x []float64) error {
	if err := d.s.inside(x); err != nil {
		return err
	}
	if err := d.pool.at(d.y, x); err != nil {
		return err
	}
	copy(y, d.y)
	for _, l := range d.lines {
		l.at(x, d.y)
	}
	if d.meter == nil {
		return nil
	}
	w := d.pool.workers[0]
	l := d.lines[0]
	err := d.meter.measure(w.f, d.y, x, l.lo, l.hi)
	for i, level := range d.meter.level {
		d.noise[i] = 2 * level // a standard deviation
	}
	copy(w.x, x)
	return err
}

// done forgets the arguments of a call.
func (d *differ) done() {
	for _, l := range d.lines {
		l.x, l.y0, l.v = nil, nil, nil
	}
}

// direction writes J·v for a column v of a block to l.d, its errors to l.e. v may be scaled.
func (l *line) direction(schemes []scheme, v []float64) error {
	count, last, largest := support(v)
	switch {
	case count == 0:
		for i := range l.d {
			l.d[i], l.e[i] = 0, 0
		}
		return nil
	case !(largest <= math.MaxFloat64):
		for i := range l.d {
			l.d[i], l.e[i] = math.NaN(), math.NaN()
		}
		return nil
	case count == 1: // exactly as the column of the Jacobian
		l.along(last)
		err := l.derive(schemes)
		l.multiply(v[last])
		return err
	}
	scale := rescale(v, largest)
	l.toward(v)
	err := l.derive(schemes)
	l.multiply(scale)
	return err
}

// multiply scales the results.
func (l *line) multiply(by float64) {
	for i := range l.d {
		l.d[i] *= by
		l.e[i] *= math.Abs(by)
	}
}

// PreparePushforward prepares J·v as derivatives along v, with about 13 evaluations for a tangent and one at x for all
// of them. A tangent with one component that is not 0 is that column of the Jacobian. A tangent 0 costs nothing, one
// with NaN or ±Inf in it gives NaN. The result also implements engine.PushforwardEstimator.
//
// With one worker the calls allocate nothing themselves; f may.
func (a Adaptive) PreparePushforward(f *engine.Function, x []float64, lanes int) (engine.Pushforward, error) {
	d, lists, err := a.differ(f, 1)
	if err != nil {
		return nil, err
	}
	return &adaptivePush{differ: d, first: lists[0]}, nil
}

// An adaptivePush holds the arguments of the current call for the workers.
type adaptivePush struct {
	*differ
	first []scheme

	x              []float64
	ydot, xdot, yE engine.Block
}

func (p *adaptivePush) Pushforward(y []float64, ydot engine.Block, x []float64, xdot engine.Block) error {
	return p.PushforwardWithError(y, ydot, engine.Block{}, x, xdot)
}

// PushforwardWithError implements engine.PushforwardEstimator.
func (p *adaptivePush) PushforwardWithError(y []float64, ydot, e engine.Block, x []float64, xdot engine.Block) error {
	if err := p.at(y, x); err != nil {
		return err
	}
	p.x, p.ydot, p.xdot, p.yE = x, ydot, xdot, e
	err := p.pool.run(p, xdot.B)
	p.x, p.ydot, p.xdot, p.yE = nil, engine.Block{}, engine.Block{}, engine.Block{}
	p.done()
	return err
}

// do computes column j.
func (p *adaptivePush) do(w *worker, j int) error {
	l := p.lines[w.id]
	for i := range p.x {
		w.v[i] = p.xdot.Data[i*p.xdot.Stride+j]
	}
	if err := l.direction(p.first, w.v); err != nil {
		return err
	}
	l.store(p.ydot, p.yE, j)
	return nil
}

// store writes the results to column j of two blocks; errors only to one with a column.
func (l *line) store(d, e engine.Block, j int) {
	for i, v := range l.d {
		d.Data[i*d.Stride+j] = v
		if e.B > 0 {
			e.Data[i*e.Stride+j] = l.e[i]
		}
	}
}

// PrepareJacobian prepares the Jacobian column by column, with about 13 evaluations of f for each, and one at x. The
// result also implements engine.JacobianEstimator.
//
// With one worker the calls allocate nothing themselves; f may.
func (a Adaptive) PrepareJacobian(f *engine.Function, x []float64) (engine.Jacobian, error) {
	return a.jacobian(f)
}

func (a Adaptive) jacobian(f *engine.Function) (*adaptiveJacobian, error) {
	d, lists, err := a.differ(f, 1)
	if err != nil {
		return nil, err
	}
	return &adaptiveJacobian{differ: d, first: lists[0]}, nil
}

type adaptiveJacobian struct {
	*differ
	first []scheme

	jac, e engine.Block
}

func (p *adaptiveJacobian) ValueAndJacobian(y []float64, jac engine.Block, x []float64) error {
	return p.JacobianWithError(y, jac, engine.Block{}, x)
}

// JacobianWithError implements engine.JacobianEstimator.
func (p *adaptiveJacobian) JacobianWithError(y []float64, jac, e engine.Block, x []float64) error {
	if err := p.at(y, x); err != nil {
		return err
	}
	if len(y) == 0 {
		p.done()
		return nil
	}
	p.jac, p.e = jac, e
	err := p.pool.run(p, len(x))
	p.jac, p.e = engine.Block{}, engine.Block{}
	p.done()
	return err
}

// do computes column j.
func (p *adaptiveJacobian) do(w *worker, j int) error {
	l := p.lines[w.id]
	l.along(j)
	if err := l.derive(p.first); err != nil {
		return err
	}
	l.store(p.jac, p.e, j)
	return nil
}

// PrepareGradient prepares the gradient: the one row of the Jacobian, at its cost. The result also implements
// engine.GradientEstimator.
func (a Adaptive) PrepareGradient(f *engine.Function, x []float64) (engine.Gradient, error) {
	if err := scalar(f, "finitediff gradient"); err != nil {
		return nil, err
	}
	j, err := a.jacobian(f)
	if err != nil {
		return nil, err
	}
	return &adaptiveGradient{jac: j}, nil
}

type adaptiveGradient struct {
	jac *adaptiveJacobian
	y   [1]float64
}

func (g *adaptiveGradient) ValueAndGradient(grad, x []float64) (float64, error) {
	return g.GradientWithError(grad, nil, x)
}

// GradientWithError implements engine.GradientEstimator.
func (g *adaptiveGradient) GradientWithError(grad, e, x []float64) (float64, error) {
	err := g.jac.JacobianWithError(g.y[:], rowBlock(grad), rowBlock(e), x)
	return g.y[0], err
}

// rowBlock returns v as a block with one row, or an empty block for nil.
func rowBlock(v []float64) engine.Block {
	return engine.Block{N: 1, B: len(v), Stride: len(v), Data: v}
}
