package compressed

import (
	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/sparsity"
)

// Hessian prepares the Hessian of spec.F with respect to its first inputs, as many as the pattern has columns, with
// products by outer over inner.
func Hessian(spec Spec, outer, inner engine.Backend) (*Matrix, error) {
	_, n := spec.Coloring.Pattern().Dims()
	return newMatrix("Hessian", spec, func(m *Matrix) error { return m.hessian(outer, inner, n) },
		func(d sparsity.Detector, x []float64) (*sparsity.Pattern, error) { return d.Hessian(spec.Of, x[:n]) })
}

// hessian prepares the products of a Hessian of n columns.
func (m *Matrix) hessian(outer, inner engine.Backend, n int) error {
	s, c, every := &m.spec, m.spec.Coloring, m.trust.every
	dec, err := c.Decompressor(coloring.Full)
	if err != nil {
		return err
	}
	in := len(s.X)
	acc := accuracy(outer, inner)
	switch { // differences of differences
	case acc > 0:
		acc = max(acc, 1e-4)
	case approximate(outer, inner):
		acc = 1e-7
	}
	m.probe = newProbe(in, n, in, acc, c)
	m.probe.got, m.probe.scale = m.probe.got[:n], m.probe.scale[:n]
	how := shape{in: in, out: in, reverse: 1}
	switch {
	case every:
		how.extraForward, how.probe = 1, m.probe
	case c.Forward() == 0: // the gradient comes from a product in any case
		how.extraForward = 1
	}
	how.forward = engine.HVPLanesOf(outer, c.Forward()+how.extraForward)
	if m.p, err = newProducts(dec, how, s); err != nil {
		return err
	}
	for i, w := range m.p.workers {
		hvp, err := engine.PrepareHVP(outer, inner, m.workerFunc(i), s.X, m.p.lanes(false))
		if err != nil {
			return err
		}
		h := &hessianSweeper{hvp: hvp}
		h.bare, _ = hvp.(engine.BareHVP)
		w.sweeper = h
	}
	m.product = m.p.workers[0].sweeper
	return nil
}

// A hessianSweeper computes products with a Hessian, which is its own transpose.
type hessianSweeper struct {
	hvp  engine.HVP
	bare engine.BareHVP // nil if value and gradient cost nothing
}

func (h *hessianSweeper) sweep(_ bool, grad []float64, result engine.Block, x []float64,
	seed engine.Block) (float64, error) {
	if grad == nil && h.bare != nil {
		return 0, h.bare.HVP(result, x, seed)
	}
	return h.hvp.ValueGradientAndHVP(grad, result, x, seed)
}

func (h *hessianSweeper) Recordings() int { return recordings(h.hvp) }
