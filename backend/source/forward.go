package source

import "github.com/nabla-ad/nabla/engine"

// width is how many tangents one sweep carries.
const width = 4

// Lanes is the number of tangents of one sweep.
func (Forward) Lanes(n int) int { return min(n, width) }

// newSweeper takes code that can push at least one tangent.
func (b Forward) newSweeper(f *engine.Function) (*sweeper, error) {
	r, err := newRunner(b, f, "tangent", func(c *engine.Code) bool { return c.Tangent != nil || c.Tangent4 != nil })
	if err != nil {
		return nil, err
	}
	s := &sweeper{runner: r}
	if r.code.Tangent != nil {
		s.in, s.out = make([]float64, r.n), make([]float64, r.m)
	}
	if r.code.Tangent4 != nil {
		s.in4, s.out4 = make([][width]float64, r.n), make([][width]float64, r.m)
	}
	return s, nil
}

// sweeper pushes one or four tangents. Of in4 and in, whose elements are 0 between
// the sweeps of a Jacobian, and of out4 and out there is what the code can do.
type sweeper struct {
	*runner
	in, out   []float64
	in4, out4 [][width]float64
}

// batch is how many of k tangents the next sweep takes.
func (s *sweeper) batch(k int) int {
	if s.in4 == nil {
		return 1
	}
	return min(k, width)
}

// one pushes in to out.
func (s *sweeper) one(y, out, x, in []float64) (err error) {
	defer func() { s.end(recover(), &err) }()
	return s.done(s.code.Tangent(y, out, vec(x), in, s.arg()), y, x)
}

// four pushes in4 to out4.
func (s *sweeper) four(y, x []float64) (err error) {
	defer func() { s.end(recover(), &err) }()
	return s.done(s.code.Tangent4(y, s.out4, vec(x), s.in4, s.arg()), y, x)
}

// PreparePushforward implements engine.Pusher.
func (b Forward) PreparePushforward(f *engine.Function, x []float64, lanes int) (engine.Pushforward, error) {
	s, err := b.newSweeper(f)
	if err != nil {
		return nil, err
	}
	return &pushforward{s}, nil
}

type pushforward struct{ *sweeper }

func (p *pushforward) Pushforward(y []float64, ydot engine.Block, x []float64, xdot engine.Block) error {
	if xdot.B == 0 {
		return p.f.Value(y, x)
	}
	if xdot.B == 1 && xdot.Stride <= 1 && ydot.Stride <= 1 && p.in != nil {
		return p.one(y, vec(ydot.Data[:p.m]), x, vec(xdot.Data[:p.n]))
	}
	for first, k := 0, 0; first < xdot.B; first += k {
		if k = p.batch(xdot.B - first); k == 1 && p.in != nil {
			column(p.in, xdot, first)
			if err := p.one(y, p.out, x, p.in); err != nil {
				return err
			}
			setColumn(ydot, first, p.out)
			continue
		}
		for i := range p.in4 { // a last partial batch is filled up with zero tangents
			row := &p.in4[i]
			clear(row[copy(row[:], xdot.Row(i)[first:first+k]):])
		}
		if err := p.four(y, x); err != nil {
			return err
		}
		for i := range p.out4 {
			copy(ydot.Row(i)[first:first+k], p.out4[i][:])
		}
	}
	return nil
}

// PrepareJacobian implements engine.Jacobianer: a sweep for every four columns.
func (b Forward) PrepareJacobian(f *engine.Function, x []float64) (engine.Jacobian, error) {
	s, err := b.newSweeper(f)
	if err != nil {
		return nil, err
	}
	return &jacobian{s}, nil
}

type jacobian struct{ *sweeper }

func (j *jacobian) ValueAndJacobian(y []float64, jac engine.Block, x []float64) error {
	if j.n == 0 {
		return j.f.Value(y, x)
	}
	for first, k := 0, 0; first < j.n; first += k {
		k = j.batch(j.n - first)
		if err := j.columns(y, jac, x, first, k); err != nil {
			return err
		}
	}
	return nil
}

// columns writes k columns of the Jacobian from first on.
func (j *jacobian) columns(y []float64, jac engine.Block, x []float64, first, k int) error {
	if k == 1 && j.in != nil {
		j.in[first] = 1
		err := j.one(y, j.out, x, j.in)
		j.in[first] = 0
		if err == nil {
			setColumn(jac, first, j.out)
		}
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
	for i := range j.out4 {
		copy(jac.Row(i)[first:first+k], j.out4[i][:])
	}
	return nil
}

// PrepareGradient implements engine.Gradienter: the only row of the Jacobian.
func (b Forward) PrepareGradient(f *engine.Function, x []float64) (engine.Gradient, error) {
	s, err := b.newSweeper(f)
	if err != nil {
		return nil, err
	}
	return &row{jacobian{s}, make([]float64, 1)}, nil
}

type row struct {
	jacobian
	y []float64
}

func (g *row) ValueAndGradient(grad, x []float64) (float64, error) {
	err := g.ValueAndJacobian(g.y, engine.Block{N: 1, B: g.n, Stride: g.n, Data: grad}, x)
	return g.y[0], err
}

// GradientFunction implements engine.Transformer.
func (b Forward) GradientFunction(f *engine.Function) (*engine.Function, error) {
	return engine.GradientFunction(f, b, true)
}

// PushforwardFunction implements engine.Transformer.
func (b Forward) PushforwardFunction(f *engine.Function) (*engine.Function, error) {
	return engine.PushforwardFunction(f, b, true)
}
