package nabla

import (
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/sparsity"
)

// A weightedDense computes columns of the Hessian of a weighted sum, those of its first n inputs: all entries at once
// if the engine can compute them, or a few columns at a time.
type weightedDense struct {
	n, rows int // rows of the columns: n, or all inputs
	entries engine.SparseHessian
	buf     []float64 // of all entries
	hvp     engine.HVP
	v, hv   engine.Block
}

// mostEntries is the largest number of entries of a dense Hessian that the engine is asked to
// compute one by one: beyond it a program for each takes more time and memory than columns.
const mostEntries = 1 << 18

// newWeightedDense prepares the first n columns of the Hessian of f, a weighted sum, at x. Their rows are those of the
// first n inputs or, if whole is set, those of all.
func newWeightedDense(f *engine.Function, b *resolved, x []float64, n int, whole bool) (*weightedDense, error) {
	d := &weightedDense{n: n, rows: n}
	if whole {
		d.rows = len(x)
	}
	var err error
	if e, ok := b.inner.(engine.SparseHessianer); ok && !b.second && d.rows*n <= mostEntries {
		p := sparsity.Full(n, n)
		if whole {
			if p, err = kktPattern(p, sparsity.Full(len(x)-n, n)); err != nil {
				return nil, err
			}
		}
		if d.entries, err = e.PrepareSparseHessian(f, x, structure(p), false); err != nil {
			return nil, err
		}
		if d.entries != nil {
			d.buf = make([]float64, p.NNZ())
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

// compute writes the columns to hess and, unless grad is nil, the gradient with respect to all
// inputs.
func (d *weightedDense) compute(grad []float64, hess engine.Block, x []float64) error {
	if d.entries != nil {
		if _, err := d.entries.ValueGradientAndEntries(grad, d.buf, x); err != nil {
			return err
		}
		for i := range d.n { // the first n columns have all rows, and column i is row i
			column := d.buf[i*d.rows : (i+1)*d.rows]
			copy(hess.Row(i), column[:d.n])
			for r, v := range column[d.n:] {
				hess.Row(d.n + r)[i] = v
			}
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
		for i := range d.rows {
			copy(hess.Row(i)[first:first+k], hv.Row(i))
		}
		grad = nil
	}
	top := hess
	top.N = d.n
	engine.Symmetrise(top)
	return nil
}
