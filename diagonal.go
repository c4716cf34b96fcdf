package nabla

import (
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/sparsity"
)

// HessianDiagonal returns the diagonal of ∇²f(x). See [PrepareHessianDiagonal].
func HessianDiagonal[F ScalarFunc](f F, b Backend, x []float64) ([]float64, error) {
	p, err := PrepareHessianDiagonal(f, single(b), x)
	if err != nil {
		return nil, err
	}
	return p.HessianDiagonal(nil, x)
}

// PrepareHessianDiagonal prepares the diagonal of the Hessian of f on b for points of the length of
// x. With an [AutoSparse] a call takes one product for each group of inputs without a common entry
// in the Hessian, as for its Entries: fewer products than for the whole Hessian. An engine that computes single entries
// computes those of the diagonal. Otherwise a call takes one product for each input, with memory
// for a few of them.
func PrepareHessianDiagonal[F ScalarFunc](f F, b Backend, x []float64) (*HessianDiagonalPrep, error) {
	return newOperator[HessianDiagonalPrep]("HessianDiagonal", f, wantScalar, b, x)
}

// HessianDiagonalPrep computes diagonals of Hessians of one function on one backend. It is for one
// goroutine at a time.
type HessianDiagonalPrep struct {
	prep
	entries engine.SparseHessian // nil if products are taken
	hvp     engine.HVP           // nil with AutoSparse
	v, hv   engine.Block
}

func (p *HessianDiagonalPrep) base() *prep {
	if p == nil || p.op == "" {
		return unmade("HessianDiagonalPrep", "PrepareHessianDiagonal")
	}
	return &p.prep
}

func (p *HessianDiagonalPrep) prepare() (err error) {
	b := &p.backend
	p.entries, p.matrix, p.hvp = nil, nil, nil
	if b.sparse != nil && b.sparse.Entries != nil {
		return &UnsupportedError{What: p.op + ": AutoSparse.Entries is set",
			Remedy: "leave it nil: the diagonal is all that this operator computes"}
	}
	if b.sparse != nil {
		s := *b.sparse
		s.diagonal = true
		b.sparse = &s
		matrix, err := newSparseHessian(p.op, p.plan, p.f, p.f, b, p.x)
		return p.use(matrix, err)
	}
	if e, ok := b.inner.(engine.SparseHessianer); ok && !b.second && !b.mixed {
		if p.entries, err = e.PrepareSparseHessian(p.f, p.x, structure(diagonalOf(p.n)), true); err != nil {
			return err
		}
		if p.entries != nil {
			p.native = p.entries
			return nil
		}
	}
	k := engine.LanesOf(b.outer, max(1, p.n))
	p.v, p.hv = engine.NewBlock(p.n, k), engine.NewBlock(p.n, k)
	p.hvp, err = engine.PrepareHVP(b.outer, b.inner, p.f, p.x, k)
	p.native = p.hvp
	return err
}

// diagonalOf returns the pattern of a diagonal matrix of order n.
func diagonalOf(n int) *sparsity.Pattern { return sparsity.Banded(n, n, 0, 0) }

// HessianDiagonal writes the diagonal of ∇²f(x) to dst, which is allocated if nil, and returns it.
// dst has the length of x and does not overlap it.
func (p *HessianDiagonalPrep) HessianDiagonal(dst, x []float64) ([]float64, error) {
	_, _, dst, err := p.compute(nil, false, dst, x)
	return dst, err
}

// ValueGradientAndDiagonal returns f(x) and the results of HessianDiagonal, and writes ∇f(x) to
// grad, which is allocated if nil.
func (p *HessianDiagonalPrep) ValueGradientAndDiagonal(grad, dst, x []float64) (
	y float64, gradOut, diagonal []float64, err error,
) {
	return p.compute(grad, true, dst, x)
}

// compute writes the diagonal to dst and, if wanted, the gradient to grad, and returns f(x).
func (p *HessianDiagonalPrep) compute(grad []float64, wanted bool,
	dst, x []float64) (y float64, _, _ []float64, err error) {
	if err := p.base().begin(x); err != nil {
		return 0, nil, nil, err
	}
	defer p.end(&err)
	if wanted {
		if grad, err = p.vector("grad", grad, p.n, x); err != nil {
			return 0, nil, nil, err
		}
	}
	if dst, err = p.vector("dst", dst, p.n, x); err != nil {
		return 0, nil, nil, err
	}
	if overlap(grad, dst) {
		return 0, nil, nil, &AliasError{Op: p.op, Arg: "grad", With: "dst"}
	}
	switch {
	case p.entries != nil:
		y, err = p.entries.ValueGradientAndEntries(grad, dst, x)
	case p.matrix != nil:
		y, err = p.ofSparse(grad, dst, x)
	default:
		y, err = p.products(grad, dst, x)
	}
	if err != nil {
		return 0, nil, nil, err
	}
	return y, grad, dst, nil
}

// ofSparse computes the diagonal as the entries of a sparse Hessian that are wanted.
func (p *HessianDiagonalPrep) ofSparse(grad, dst, x []float64) (y float64, err error) {
	data := p.matrix.buffer()
	if y, err = p.matrix.values.Values(grad, data, x); err != nil {
		return 0, err
	}
	clear(dst)
	for k, i := range p.matrix.plan.Pattern.RowIndex() {
		dst[i] = data[k]
	}
	return y, nil
}

// products computes the diagonal from a product with each unit vector.
func (p *HessianDiagonalPrep) products(grad, dst, x []float64) (y float64, err error) {
	for from := 0; from < p.n || from == 0; from += p.v.B {
		k := min(p.v.B, p.n-from)
		v, hv := p.v.Cols(0, max(k, 1)), p.hv.Cols(0, max(k, 1))
		v.Zero()
		for j := range k {
			v.Row(from + j)[j] = 1
		}
		value, err := p.hvp.ValueGradientAndHVP(grad, hv, x, v)
		if err != nil {
			return 0, err
		}
		if from == 0 {
			y, grad = value, nil
		}
		for j := range k {
			dst[from+j] = hv.Row(from + j)[j]
		}
	}
	return y, nil
}

// Recordings returns how often the function was recorded; see [GradientPrep.Recordings].
func (p *HessianDiagonalPrep) Recordings() int { return p.base().recordings() }

// Explain returns how p computes its operator. See [Auto].
func (p *HessianDiagonalPrep) Explain() Explanation { return p.base().explain() }

// Clone returns a prepared object for use in another goroutine, with the same pattern and groups if it is sparse; see
// [GradientPrep.Clone].
func (p *HessianDiagonalPrep) Clone() *HessianDiagonalPrep { return clone(p) }

// Rebind makes later calls read the bound struct from q, a pointer to another struct of the same type; see
// [GradientPrep.Rebind]. The next call checks a sparsity pattern; see [AutoSparse].
func (p *HessianDiagonalPrep) Rebind(q any) error { return p.base().rebind(q) }

// Resize prepares p again for points of the length of x. On an error p keeps its old size.
func (p *HessianDiagonalPrep) Resize(x []float64) error { return p.base().resizeTo(x) }
