package finitediff

import (
	"math"

	"github.com/nabla-ad/nabla/engine"
)

// Second derivatives are those along lines, D²(v) = vᵀ·H·v, with their own steps and errors. The others follow by
// polarisation: uᵀ·H·v = (D²(u+v) - D²(u-v)) / 4, or (D²(u+v) - D²(u) - D²(v)) / 2.

// PrepareHessian prepares the Hessian from second derivatives along the n axes and along n(n-1)/2 diagonals of the
// planes between them, each with about 13 evaluations. It is exactly symmetric. The gradient is that of
// PrepareGradient, in another 13n evaluations.
//
// With one worker the calls allocate nothing themselves; f may.
func (a Adaptive) PrepareHessian(f *engine.Function, x []float64) (engine.Hessian, error) {
	if err := scalar(f, "finitediff Hessian"); err != nil {
		return nil, err
	}
	d, lists, err := a.differ(f, 1, 2)
	if err != nil {
		return nil, err
	}
	n, _ := f.Dims()
	return &adaptiveHessian{differ: d, first: lists[0], second: lists[1], grad: make([]float64, n),
		length: make([]float64, n)}, nil
}

type adaptiveHessian struct {
	*differ
	first, second []scheme
	length        []float64 // of the move along each axis

	grad  []float64
	mixed bool // the second of two phases
	want  bool // the gradient is wanted
	x     []float64
	hess  engine.Block
}

func (p *adaptiveHessian) ValueGradientAndHessian(grad []float64, hess engine.Block, x []float64) (float64, error) {
	if err := p.at(nil, x); err != nil {
		return 0, err
	}
	p.x, p.hess, p.want = x, hess, grad != nil
	n := len(x)
	p.mixed = false
	err := p.pool.run(p, n)
	if err == nil {
		p.mixed = true
		err = p.pool.run(p, (n+1)/2)
	}
	copy(grad, p.grad)
	p.x, p.hess = nil, engine.Block{}
	p.done()
	return p.y[0], err
}

func (p *adaptiveHessian) do(w *worker, j int) error {
	l := p.lines[w.id]
	if !p.mixed {
		return p.diagonal(l, j)
	}
	// Row j from the top and from the bottom, so that all pieces are of one size.
	if err := p.row(l, j); err != nil {
		return err
	}
	if k := len(p.x) - 1 - j; k != j {
		return p.row(l, k)
	}
	return nil
}

func (p *adaptiveHessian) diagonal(l *line, i int) error {
	l.along(i)
	if p.want {
		if err := l.derive(p.first); err != nil {
			return err
		}
		p.grad[i] = l.d[0]
	}
	if err := l.derive(p.second); err != nil {
		return err
	}
	p.hess.Data[i*p.hess.Stride+i] = l.d[0]
	p.length[i] = l.scale
	if l.steps[0] > 0 {
		p.length[i] = l.steps[0]
	}
	return nil
}

// row computes the entries right of the diagonal in row i, from the derivatives along the diagonals of rectangles whose
// sides are in the ratio of the steps along the axes.
func (p *adaptiveHessian) row(l *line, i int) error {
	v := l.w.v
	for j := i + 1; j < len(p.x); j++ {
		clear(v)
		a, b := 1.0, powerOfTwo(p.length[j]/p.length[i])
		if b > 1 {
			a, b = 1/b, 1
		}
		v[i], v[j] = a, b
		l.toward(v)
		if err := l.derive(p.second); err != nil {
			return err
		}
		hi, hj := p.hess.Data[i*p.hess.Stride+i], p.hess.Data[j*p.hess.Stride+j]
		h := (l.d[0] - float64(float64(a*a)*hi) - float64(float64(b*b)*hj)) / (2 * a * b)
		p.hess.Data[i*p.hess.Stride+j] = h
		p.hess.Data[j*p.hess.Stride+i] = h
	}
	return nil
}

// PrepareHVP prepares H·v: component i from the second derivatives along v + s·eᵢ and v - s·eᵢ, about 26n evaluations
// for a tangent. The gradient is that of PrepareGradient, in 13n evaluations.
//
// With one worker the calls allocate nothing themselves; f may.
func (a Adaptive) PrepareHVP(f *engine.Function, x []float64, lanes int) (engine.HVP, error) {
	if err := scalar(f, "finitediff HVP"); err != nil {
		return nil, err
	}
	d, lists, err := a.differ(f, 1, 2)
	if err != nil {
		return nil, err
	}
	n, _ := f.Dims()
	return &adaptiveHVP{differ: d, first: lists[0], second: lists[1], v: make([]float64, n)}, nil
}

type adaptiveHVP struct {
	*differ
	first, second []scheme

	v     []float64 // the tangent, scaled; nil in the phase of the gradient
	scale float64
	lane  int
	hv    engine.Block
	grad  []float64 // nil except in that phase
}

func (p *adaptiveHVP) ValueGradientAndHVP(grad []float64, hv engine.Block, x []float64,
	v engine.Block) (float64, error) {
	if err := p.at(nil, x); err != nil {
		return 0, err
	}
	p.hv = hv
	var err error
	if grad != nil {
		p.grad = grad
		err = p.pool.run(p, len(x))
		p.grad = nil
	}
	for p.lane = 0; p.lane < v.B && err == nil; p.lane++ {
		err = p.tangent(v)
	}
	p.hv = engine.Block{}
	p.done()
	return p.y[0], err
}

// tangent computes one column of hv.
func (p *adaptiveHVP) tangent(v engine.Block) error {
	for i := range p.v {
		p.v[i] = v.Data[i*v.Stride+p.lane]
	}
	count, _, largest := support(p.v)
	if count == 0 || !(largest <= math.MaxFloat64) {
		value := 0.0
		if count > 0 {
			value = math.NaN()
		}
		for i := range p.v {
			p.hv.Data[i*p.hv.Stride+p.lane] = value
		}
		return nil
	}
	p.scale = rescale(p.v, largest)
	return p.pool.run(p, len(p.v))
}

// do computes component i.
func (p *adaptiveHVP) do(w *worker, i int) error {
	l := p.lines[w.id]
	if p.grad != nil {
		l.along(i)
		err := l.derive(p.first)
		p.grad[i] = l.d[0]
		return err
	}
	l.along(i)
	side := l.scale
	l.toward(p.v)
	s := powerOfTwo(side / l.scale)
	var d [2]float64
	for k, s := range [2]float64{s, -s} {
		copy(w.v, p.v)
		if w.v[i] += s; w.v[i] == 0 && !l.moves(w.v) {
			continue
		}
		l.toward(w.v)
		if err := l.derive(p.second); err != nil {
			return err
		}
		d[k] = l.d[0]
	}
	p.hv.Data[i*p.hv.Stride+p.lane] = (d[0] - d[1]) / (4 * s) * p.scale
	return nil
}

// moves reports whether v is not 0.
func (l *line) moves(v []float64) bool {
	for _, vi := range v {
		if vi != 0 {
			return true
		}
	}
	return false
}

// PrepareSecond implements engine.Seconder: first and second derivatives of all outputs in the one input, with about 13
// evaluations for each.
func (a Adaptive) PrepareSecond(f *engine.Function, t float64) (engine.Second, error) {
	n, _ := f.Dims()
	if n != 1 {
		return nil, &engine.ShapeError{Op: "finitediff second derivative", Arg: "number of inputs of " + f.Name(),
			Got: n, Want: 1}
	}
	d, lists, err := a.differ(f, 1, 2)
	if err != nil {
		return nil, err
	}
	return &adaptiveCurve{differ: d, first: lists[0], second: lists[1]}, nil
}

type adaptiveCurve struct {
	*differ
	first, second []scheme
	x             [1]float64
}

func (c *adaptiveCurve) ValueDerivativeAndSecond(y, dy, d2y []float64, t float64) error {
	c.x[0] = t
	if err := c.at(y, c.x[:]); err != nil {
		return err
	}
	defer c.done()
	l := c.lines[0]
	l.along(0)
	if err := l.derive(c.first); err != nil {
		return err
	}
	copy(dy, l.d)
	if err := l.derive(c.second); err != nil {
		return err
	}
	copy(d2y, l.d)
	return nil
}
