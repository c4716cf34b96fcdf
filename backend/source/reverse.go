package source

import "github.com/nabla-ad/nabla/engine"

// Lanes is the number of cotangents of one sweep.
func (Reverse) Lanes(n int) int { return min(n, width) }

// newPuller takes code that can pull back.
func (b Reverse) newPuller(f *engine.Function) (*puller, error) {
	r, err := newRunner(b, f, "adjoint", func(c *engine.Code) bool { return c.Adjoint != nil })
	if err != nil {
		return nil, err
	}
	p := &puller{runner: r}
	if r.code.Adjoint4 != nil {
		p.in4, p.out4 = make([][width]float64, r.m), make([][width]float64, r.n)
	}
	return p, nil
}

// puller pulls back one or four cotangents, in4 to out4 where the code can do that. The
// elements of in4 are 0 between the sweeps of a Jacobian.
type puller struct {
	*runner
	in4, out4 [][width]float64
}

// batch is how many of k cotangents the next sweep takes. A sweep for four costs more
// than one for one.
func (p *puller) batch(k int) int {
	if p.in4 == nil || k == 1 {
		return 1
	}
	return min(k, width)
}

// pull writes xbar = Jᵀ·ybar.
func (p *puller) pull(y, xbar, x, ybar []float64) (err error) {
	defer func() { p.end(recover(), &err) }()
	return p.done(p.code.Adjoint(y, xbar, vec(x), ybar, p.arg()), y, x)
}

// four writes out4 = Jᵀ·in4.
func (p *puller) four(y, x []float64) (err error) {
	defer func() { p.end(recover(), &err) }()
	return p.done(p.code.Adjoint4(y, p.out4, vec(x), p.in4, p.arg()), y, x)
}

// PreparePullback implements engine.Puller.
func (b Reverse) PreparePullback(f *engine.Function, x []float64, lanes int) (engine.Pullback, error) {
	p, err := b.newPuller(f)
	if err != nil {
		return nil, err
	}
	return &pullback{p, make([]float64, p.n), make([]float64, p.m)}, nil
}

type pullback struct {
	*puller
	in, out []float64
}

func (p *pullback) Pullback(y []float64, xbar engine.Block, x []float64, ybar engine.Block) error {
	if ybar.B == 0 {
		return p.f.Value(y, x)
	}
	if ybar.B == 1 && xbar.Stride <= 1 && ybar.Stride <= 1 {
		return p.pull(y, vec(xbar.Data[:p.n]), x, vec(ybar.Data[:p.m]))
	}
	for first, k := 0, 0; first < ybar.B; first += k {
		if k = p.batch(ybar.B - first); k == 1 {
			column(p.out, ybar, first)
			if err := p.pull(y, p.in, x, p.out); err != nil {
				return err
			}
			setColumn(xbar, first, p.in)
			continue
		}
		for i := range p.in4 { // a last partial batch is filled up with zero cotangents
			row := &p.in4[i]
			clear(row[copy(row[:], ybar.Row(i)[first:first+k]):])
		}
		if err := p.four(y, x); err != nil {
			return err
		}
		for i := range p.out4 {
			copy(xbar.Row(i)[first:first+k], p.out4[i][:])
		}
	}
	return nil
}

// PrepareGradient implements engine.Gradienter.
func (b Reverse) PrepareGradient(f *engine.Function, x []float64) (engine.Gradient, error) {
	p, err := b.newPuller(f)
	if err != nil {
		return nil, err
	}
	return &gradient{p, make([]float64, 1), []float64{1}}, nil
}

type gradient struct {
	*puller
	y, one []float64
}

func (g *gradient) ValueAndGradient(grad, x []float64) (float64, error) {
	err := g.pull(g.y, vec(grad), x, g.one)
	return g.y[0], err
}

// Gradient implements engine.BareGradient. A call whose value is compared is one
// with the value.
func (g *gradient) Gradient(grad, x []float64) (err error) {
	if g.code.Gradient == nil || g.watch.Next(g.f) {
		_, err = g.ValueAndGradient(grad, x)
		return err
	}
	defer func() { g.end(recover(), &err) }()
	g.watch.Due(g.f)
	g.code.Gradient(vec(grad), vec(x), g.arg())
	return nil
}

// PrepareJacobian implements engine.Jacobianer: a sweep for every four rows, or for every
// four columns where these are fewer than the rows.
func (b Reverse) PrepareJacobian(f *engine.Function, x []float64) (engine.Jacobian, error) {
	p, err := b.newPuller(f)
	if err != nil {
		return nil, err
	}
	if p.n < p.m && (p.code.Tangent != nil || p.code.Tangent4 != nil) {
		return Forward{}.PrepareJacobian(f, x)
	}
	return &rows{p, make([]float64, p.m)}, nil
}

type rows struct {
	*puller
	ybar []float64
}

func (j *rows) ValueAndJacobian(y []float64, jac engine.Block, x []float64) error {
	if j.m == 0 {
		return j.f.Value(y, x)
	}
	for first, k := 0, 0; first < j.m; first += k {
		k = j.batch(j.m - first)
		if err := j.some(y, jac, x, first, k); err != nil {
			return err
		}
	}
	return nil
}

// some writes k rows of the Jacobian from first on.
func (j *rows) some(y []float64, jac engine.Block, x []float64, first, k int) error {
	if k == 1 {
		j.ybar[first] = 1
		err := j.pull(y, jac.Row(first), x, j.ybar)
		j.ybar[first] = 0
		return err
	}
	for i := range k {
		j.in4[first+i][i] = 1
	}
	err := j.four(y, x)
	for i := range k {
		j.in4[first+i][i] = 0
	}
	if err != nil {
		return err
	}
	for i := range k {
		row := jac.Row(first + i)
		for c := range j.out4 {
			row[c] = j.out4[c][i]
		}
	}
	return nil
}

// Tangents implements engine.Tangenter.
func (Reverse) Tangents() engine.Backend { return Forward{} }

// GradientFunction implements engine.Transformer.
func (b Reverse) GradientFunction(f *engine.Function) (*engine.Function, error) {
	return engine.GradientFunction(f, b, true)
}

// PushforwardFunction implements engine.Transformer.
func (b Reverse) PushforwardFunction(f *engine.Function) (*engine.Function, error) {
	return engine.PushforwardFunction(f, b, true)
}
