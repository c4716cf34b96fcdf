package finitediff

import "github.com/nabla-ad/nabla/engine"

// PrepareSecond implements engine.Seconder: second differences of the outputs in
// the one input, 3 evaluations at each point and an error of eps^(1/2). The first
// derivative comes from the same values. A difference of first derivatives would
// divide the rounding of f by the product of two small steps.
//
// Complex takes a central difference of complex-step derivatives: 3 runs of the
// recorded program, with an error of eps^(2/3).
func (b Backend) PrepareSecond(f *engine.Function, t float64) (engine.Second, error) {
	n, m := f.Dims()
	if n != 1 {
		return nil, &engine.ShapeError{Op: "finitediff second derivative", Arg: "number of inputs of " + f.Name(),
			Got: n, Want: 1}
	}
	s, err := b.second(f)
	if err != nil {
		return nil, err
	}
	c := &curve{s: s, f: f, fp: make([]float64, m), fq: make([]float64, m), ft: make([]float64, m)}
	if b.Method != Complex {
		return c, nil
	}
	first, err := b.first(f)
	if err != nil {
		return nil, err
	}
	c.push, err = newComplexPush(f, first, []float64{t})
	return c, err
}

// A curve computes the second derivative of a function of one number.
type curve struct {
	s          *settings
	f          *engine.Function
	push       *complexPush // nil for the real methods
	x          [1]float64
	fp, fq, ft []float64 // values at the nodes; for Complex, derivatives
}

func (c *curve) ValueDerivativeAndSecond(y, dy, d2y []float64, t float64) error {
	c.x[0] = t
	if err := c.s.inside(c.x[:]); err != nil {
		return err
	}
	lo, hi := c.s.box(0)
	if c.push != nil {
		return c.byComplex(y, dy, d2y, central(t, c.s.step(t), lo, hi, 2))
	}
	d := central(t, c.s.step(t), lo, hi, 3)
	if err := c.value(y, t); err != nil {
		return err
	}
	if err := c.value(c.fp, d.p); err != nil {
		return err
	}
	if err := c.value(c.fq, d.q); err != nil {
		return err
	}
	if d.kind == oneSided {
		if err := c.value(c.ft, d.third(lo, hi)); err != nil {
			return err
		}
	}
	for i, v := range y {
		dy[i] = d.quotient(c.fp[i], c.fq[i], v)
		d2y[i] = d.second(c.fp[i], c.fq[i], c.ft[i], v)
	}
	return nil
}

func (c *curve) value(y []float64, t float64) error {
	c.x[0] = t
	return c.f.Value(y, c.x[:])
}

var one = []float64{1}

// byComplex takes the difference of derivatives; y is scratch until the last.
func (c *curve) byComplex(y, dy, d2y []float64, d nodes) error {
	for _, at := range [...]struct {
		t  float64
		dy []float64
	}{{d.p, c.fp}, {d.q, c.fq}, {d.x, dy}} {
		c.x[0] = at.t
		if err := c.push.Pushforward(y, engine.Column(at.dy), c.x[:], engine.Column(one)); err != nil {
			return err
		}
	}
	for i := range d2y {
		d2y[i] = d.quotient(c.fp[i], c.fq[i], dy[i])
	}
	return nil
}

// Recordings implements engine.Recorder.
func (c *curve) Recordings() int {
	if c.push == nil {
		return 0
	}
	return c.push.Recordings()
}
