package finitediff

import (
	"math"

	"github.com/nabla-ad/nabla/engine"
)

// PrepareHessian prepares the Hessian as second differences of values: 1 + 2n +
// 2n(n-1) evaluations of f, f(x±h) along each component and f(x±h±k) for each
// pair. It is exactly symmetric. The gradient comes from the evaluations along the
// components; like the Hessian it has an error of the size of eps^(1/2).
// At a bound the nodes stand on one side, in formulas of the same order.
//
// Complex takes central differences of complex-step gradients, made symmetric:
// 2n² runs of the recorded program and an error of eps^(2/3); its gradient is as
// accurate as ValueAndGradient.
//
// With one worker the calls allocate nothing themselves; f may.
func (b Backend) PrepareHessian(f *engine.Function, x []float64) (engine.Hessian, error) {
	if err := scalar(f, "finitediff Hessian"); err != nil {
		return nil, err
	}
	if b.Method == Complex {
		return newComplexSecond(b, f, x)
	}
	s, err := b.second(f)
	if err != nil {
		return nil, err
	}
	return newHessian(s, f), nil
}

func newHessian(s *settings, f *engine.Function) *hessian {
	n, _ := f.Dims()
	return &hessian{s: s, pool: newPool(f, s.workers), d: make([]nodes, n),
		fp: make([]float64, n), fq: make([]float64, n), grad: make([]float64, n)}
}

type hessian struct {
	s      *settings
	pool   *pool
	d      []nodes   // in each component
	fp, fq []float64 // the values there
	grad   []float64
	y      [1]float64

	mixed bool // the second of the two phases
	x     []float64
	hess  engine.Block
}

func (p *hessian) ValueGradientAndHessian(grad []float64, hess engine.Block, x []float64) (float64, error) {
	if err := p.s.inside(x); err != nil {
		return 0, err
	}
	if err := p.pool.at(p.y[:], x); err != nil {
		return 0, err
	}
	p.x, p.hess = x, hess
	n := len(x)
	p.mixed = false
	err := p.pool.run(p, n)
	if err == nil {
		p.mixed = true
		err = p.pool.run(p, (n+1)/2)
	}
	p.x, p.hess = nil, engine.Block{}
	copy(grad, p.grad)
	return p.y[0], err
}

func (p *hessian) do(w *worker, j int) error {
	if !p.mixed {
		return p.diagonal(w, j)
	}
	// Row j from the top and from the bottom, so that all pieces are of one size.
	if err := p.row(w, j); err != nil {
		return err
	}
	if k := len(p.x) - 1 - j; k != j {
		return p.row(w, k)
	}
	return nil
}

func (p *hessian) diagonal(w *worker, i int) error {
	lo, hi := p.s.box(i)
	x := p.x[i]
	d := central(x, p.s.step(x), lo, hi, 3)
	var f [3]float64
	at := [3]float64{d.p, d.q, 0}
	use := at[:2]
	if d.kind == oneSided {
		at[2] = d.third(lo, hi)
		use = at[:]
	}
	for k, t := range use {
		w.x[i] = t
		if err := w.f.Value(w.yp, w.x); err != nil {
			return err
		}
		f[k] = w.yp[0]
	}
	w.x[i] = x
	p.d[i], p.fp[i], p.fq[i] = d, f[0], f[1]
	p.grad[i] = d.quotient(f[0], f[1], p.y[0])
	p.hess.Data[i*p.hess.Stride+i] = d.second(f[0], f[1], f[2], p.y[0])
	return nil
}

// row computes the entries right of the diagonal in row i: the difference in
// component i of the differences in component j.
func (p *hessian) row(w *worker, i int) error {
	di := &p.d[i]
	for j := i + 1; j < len(p.x); j++ {
		dj := &p.d[j]
		var f [4]float64
		for k := range f {
			w.x[i], w.x[j] = di.p, dj.p
			if k&2 != 0 {
				w.x[i] = di.q
			}
			if k&1 != 0 {
				w.x[j] = dj.q
			}
			if err := w.f.Value(w.yp, w.x); err != nil {
				return err
			}
			f[k] = w.yp[0]
		}
		w.x[i], w.x[j] = p.x[i], p.x[j]
		h := di.quotient(dj.quotient(f[0], f[1], p.fp[i]), dj.quotient(f[2], f[3], p.fq[i]),
			dj.quotient(p.fp[j], p.fq[j], p.y[0]))
		p.hess.Data[i*p.hess.Stride+j] = h
		p.hess.Data[j*p.hess.Stride+i] = h
	}
	return nil
}

// PrepareHVP prepares H·v as second differences of values: component i is
// (f(x+kv+h) - f(x+kv-h) - f(x-kv+h) + f(x-kv-h)) / 4kh with h in component i, 4n
// evaluations for a tangent and one at x. The gradient is the mean of those at
// x+kv and x-kv for the first tangent, from the same evaluations. The error of
// both is of the size of eps^(1/2). Where the bounds leave no room on either side
// of x along v, the whole Hessian is differenced, in memory kept from then on.
//
// Complex takes central differences of complex-step gradients along v: 2n runs of
// the recorded program for a tangent and n for the gradient, with an error of
// eps^(2/3).
//
// With one worker the calls allocate nothing themselves; f may.
func (b Backend) PrepareHVP(f *engine.Function, x []float64, lanes int) (engine.HVP, error) {
	if err := scalar(f, "finitediff HVP"); err != nil {
		return nil, err
	}
	if b.Method == Complex {
		return newComplexSecond(b, f, x)
	}
	s, err := b.second(f)
	if err != nil {
		return nil, err
	}
	n, _ := f.Dims()
	p := &hvp{s: s, f: f, pool: newPool(f, s.workers), comp: make([]nodes, n), v: make([]float64, n)}
	for i := range p.base {
		p.base[i] = make([]float64, n)
	}
	return p, nil
}

type hvp struct {
	s    *settings
	f    *engine.Function
	pool *pool
	v    []float64
	d    nodes        // along v
	base [3][]float64 // the points p and q of d, and x
	fb   [3]float64   // the values there, where comp has a one-sided form
	used [3]bool      // which of them d uses
	comp []nodes      // in each component, relative to x
	y    [1]float64
	box  *hessian // for directions without room; made when first needed
	full engine.Block

	hv    engine.Block
	lane  int
	scale float64
	grad  []float64 // nil where not wanted from this tangent
}

func (p *hvp) ValueGradientAndHVP(grad []float64, hv engine.Block, x []float64, v engine.Block) (float64, error) {
	if err := p.s.inside(x); err != nil {
		return 0, err
	}
	if err := p.pool.at(p.y[:], x); err != nil {
		return 0, err
	}
	y := p.y[0]
	copy(p.base[2], x)
	p.fb[2] = y
	p.hv, p.grad = hv, grad
	var err error
	for p.lane = 0; p.lane < v.B && err == nil; p.lane++ {
		err = p.tangent(v)
	}
	if err == nil && p.grad != nil { // no tangent gave it
		p.lane = -1
		err = p.sweep(nodes{})
	}
	p.hv, p.grad = engine.Block{}, nil
	return y, err
}

// tangent computes one column of hv.
func (p *hvp) tangent(v engine.Block) error {
	x := p.base[2]
	for i := range x {
		p.v[i] = v.Data[i*v.Stride+p.lane]
	}
	count, _, largest := support(p.v)
	if count == 0 || !(largest <= math.MaxFloat64) {
		value := 0.0
		if count > 0 {
			value = math.NaN()
		}
		for i := range x {
			p.hv.Data[i*p.hv.Stride+p.lane] = value
		}
		return nil
	}
	p.scale = rescale(p.v, largest)
	k := p.s.along(x, p.v)
	back, ahead := p.s.room(x, p.v)
	if p.s.bounded { // half of the room is for the components
		back, ahead = back/2, ahead/2
		if max(back, ahead) < k/8 {
			return p.byHessian()
		}
	}
	return p.sweep(central(0, k, -back, ahead, 2))
}

// sweep computes the components of one tangent, or the gradient at x alone where
// there is none.
func (p *hvp) sweep(d nodes) error {
	x := p.base[2]
	p.d = d
	p.used = [3]bool{true, true, d.kind == oneSided}
	if p.lane < 0 {
		p.used = [3]bool{false, false, true}
	} else {
		p.s.move(p.base[0], x, d.p, p.v)
		p.s.move(p.base[1], x, d.q, p.v)
	}
	one := false
	for i := range x {
		lo, hi := p.s.box(i)
		least, most := x[i], x[i]
		if p.lane >= 0 {
			least = min(least, p.base[0][i], p.base[1][i])
			most = max(most, p.base[0][i], p.base[1][i])
		}
		p.comp[i] = central(x[i], p.s.step(x[i]), x[i]+(lo-least), x[i]+(hi-most), 2)
		one = one || p.comp[i].kind == oneSided
	}
	for k := range 2 {
		if one && p.used[k] {
			w := p.pool.workers[0]
			copy(w.x, p.base[k])
			if err := w.f.Value(w.yp, w.x); err != nil {
				return err
			}
			p.fb[k] = w.yp[0]
		}
	}
	if err := p.pool.run(p, len(x)); err != nil {
		return err
	}
	p.grad = nil // one tangent gives it
	return nil
}

// do computes component i.
func (p *hvp) do(w *worker, i int) error {
	c := &p.comp[i]
	lo, hi := p.s.box(i)
	var g [3]float64
	for k, used := range p.used {
		if !used {
			continue
		}
		copy(w.x, p.base[k])
		x := w.x[i]
		at := nodes{c.kind, x, shifted(x, c.p-c.x, lo, hi), shifted(x, c.q-c.x, lo, hi)}
		w.x[i] = at.p
		if err := w.f.Value(w.yp, w.x); err != nil {
			return err
		}
		w.x[i] = at.q
		if err := w.f.Value(w.yq, w.x); err != nil {
			return err
		}
		g[k] = at.quotient(w.yp[0], w.yq[0], p.fb[k])
	}
	if p.lane >= 0 {
		p.hv.Data[i*p.hv.Stride+p.lane] = p.d.quotient(g[0], g[1], g[2]) * p.scale
	}
	if p.grad != nil {
		p.grad[i] = g[2]
		if !p.used[2] {
			p.grad[i] = g[0]/2 + g[1]/2
		}
	}
	return nil
}

// byHessian computes one column of hv from the whole Hessian.
func (p *hvp) byHessian() error {
	n := len(p.v)
	if p.box == nil {
		if err := p.f.Affords(n, n); err != nil {
			return err
		}
		p.box = newHessian(p.s, p.f)
		p.full = engine.NewBlock(n, n)
	}
	if _, err := p.box.ValueGradientAndHessian(nil, p.full, p.base[2]); err != nil {
		return err
	}
	for i := range n {
		sum := 0.0
		for j, vj := range p.v {
			if vj != 0 {
				sum += p.full.Data[i*n+j] * vj
			}
		}
		p.hv.Data[i*p.hv.Stride+p.lane] = sum * p.scale
	}
	return nil
}
