package compressed

import (
	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/sparsity"
)

// Jacobian prepares the Jacobian of spec.F, with products of columns by forward and of rows by reverse, which is nil if
// no engine computes the latter. An engine that computes no products with a Jacobian may be forward; its products of
// columns are then taken from others.
func Jacobian(spec Spec, forward, reverse engine.Backend) (*Matrix, error) {
	return newMatrix("Jacobian", spec, func(m *Matrix) error { return m.jacobian(forward, reverse) },
		func(d sparsity.Detector, x []float64) (*sparsity.Pattern, error) { return d.Jacobian(spec.Of, x) })
}

// jacobian prepares the products of a Jacobian.
func (m *Matrix) jacobian(forward, reverse engine.Backend) error {
	s, c, every := &m.spec, m.spec.Coloring, m.trust.every
	in, out := s.F.Dims()
	dec, err := c.Decompressor(coloring.Full)
	if err != nil {
		return err
	}
	m.outputs = out
	m.probe = newProbe(in, in, out, accuracy(forward), c)
	how := shape{in: in, out: out, reverse: 1}
	switch _, pushes := forward.(engine.Pusher); { // without a colour on one side, a product of the other compares
	case c.Forward() == 0 && reverse != nil && (c.Reverse() > 0 || !pushes):
		m.probe = newProbe(out, out, in, accuracy(reverse), c)
		m.probe.turned = true
		if every {
			how.extraReverse, how.probe = 1, m.probe
		}
	case every:
		how.extraForward, how.probe = 1, m.probe
	}
	how.forward = engine.LanesOf(forward, max(1, c.Forward()+how.extraForward))
	how.quads[0] = quads(forward)
	if reverse != nil {
		how.quads[1] = quads(reverse)
		how.reverse = engine.LanesOf(reverse, max(1, c.Reverse()+how.extraReverse))
	}
	if m.p, err = newProducts(dec, how, s); err != nil {
		return err
	}
	var first *jacobianSweeper
	for i, w := range m.p.workers {
		j, f := &jacobianSweeper{y: make([]float64, out)}, m.workerFunc(i)
		if m.p.cols.width > 0 {
			if j.push, err = engine.PreparePushforward(forward, f, s.X, m.p.lanes(false)); err != nil {
				return err
			}
		}
		if m.p.rows.width > 0 {
			if j.pull, err = engine.PreparePullback(reverse, f, s.X, m.p.lanes(true)); err != nil {
				return err
			}
		}
		if w.sweeper = j; i == 0 {
			first = j
		}
	}
	// The product of the probe is one of those prepared or, if there is no colour, a product of its own.
	one := *first
	m.product = &one
	switch {
	case m.probe.turned && one.pull == nil:
		one.pull, err = engine.PreparePullback(reverse, s.F, s.X, 1)
	case !m.probe.turned && one.push == nil:
		one.push, err = engine.PreparePushforward(forward, s.F, s.X, 1)
	}
	return err
}

// A jacobianSweeper computes products with a Jacobian and its transpose. A product that is not needed is nil.
type jacobianSweeper struct {
	push engine.Pushforward
	pull engine.Pullback
	y    []float64 // spare
}

func (j *jacobianSweeper) sweep(row bool, y []float64, result engine.Block, x []float64,
	seed engine.Block) (float64, error) {
	if y == nil {
		y = j.y
	}
	if row {
		return 0, j.pull.Pullback(y, result, x, seed)
	}
	return 0, j.push.Pushforward(y, result, x, seed)
}

func (j *jacobianSweeper) Recordings() int { return recordings(j.push) + recordings(j.pull) }

// recordings returns how often a prepared object of an engine has recorded its function, 0 for one that does not
// record.
func recordings(prepared any) int {
	if r, ok := prepared.(engine.Recorder); ok {
		return r.Recordings()
	}
	return 0
}
