package nabla

import (
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/sparsity"
)

// A weightedDense computes the Hessian of a function with respect to its first n inputs: all
// entries at once if the engine can compute them, or a few columns at a time.
type weightedDense struct {
	n       int
	f       *engine.Function
	entries engine.SparseHessian
	buf     []float64 // of all entries
	hvp     engine.HVP
	v, hv   engine.Block
	y       []float64
}

// mostEntries is the largest number of entries of a dense Hessian that the engine is asked to
// compute one by one: beyond it a program for each takes more time and memory than columns.
const mostEntries = 1 << 18

// newWeightedDense prepares the Hessian of f at x with respect to its first n inputs.
func newWeightedDense(f *engine.Function, b *resolved, x []float64, n int) (*weightedDense, error) {
	d := &weightedDense{n: n, f: f, y: make([]float64, 1)}
	var err error
	if e, ok := b.inner.(engine.SparseHessianer); ok && !b.second && n*n <= mostEntries {
		if d.entries, err = e.PrepareSparseHessian(f, x, structure(sparsity.Full(n, n)), false); err != nil {
			return nil, err
		}
		if d.entries != nil {
			d.buf = make([]float64, n*n)
			return d, nil
		}
	}
	k := engine.LanesOf(b.outer, max(n, 1))
	d.v, d.hv = engine.NewBlock(len(x), k), engine.NewBlock(len(x), k)
	d.hvp, err = engine.PrepareHVP(b.outer, b.inner, f, x, k)
	return d, err
}

// Recordings implements engine.Recorder.
func (d *weightedDense) Recordings() int { return recordings(d.entries, d.hvp) }

// compute writes the Hessian to hess and, unless grad is nil, the gradient with respect to
// all inputs.
func (d *weightedDense) compute(grad []float64, hess engine.Block, x []float64) error {
	if d.entries != nil {
		if _, err := d.entries.ValueGradientAndEntries(grad, d.buf, x); err != nil {
			return err
		}
		for i := range d.n { // the Hessian is symmetric: column i is row i
			copy(hess.Row(i), d.buf[i*d.n:(i+1)*d.n])
		}
		return nil
	}
	for first := 0; first < d.n || first == 0; first += d.v.B {
		k := min(d.v.B, max(d.n-first, 1))
		v, hv := d.v.Cols(0, k), d.hv.Cols(0, k)
		v.Zero()
		for j := range min(k, d.n) {
			v.Row(first + j)[j] = 1
		}
		if _, err := d.hvp.ValueGradientAndHVP(grad, hv, x, v); err != nil {
			return err
		}
		for i := range d.n {
			copy(hess.Row(i)[first:first+k], hv.Row(i))
		}
		grad = nil
	}
	engine.Symmetrise(hess)
	return nil
}
