package nabla

import (
	"github.com/nabla-ad/nabla/coloring"
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
// in the Hessian, fewer products than for the whole Hessian. An engine that computes single entries
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
	hvp     engine.HVP
	groups  [][]int // the inputs of each product
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
	diagonal := sparsity.Banded(p.n, p.n, 0, 0)
	p.entries, p.groups, p.matrix, p.hvp = nil, nil, nil, nil
	if e, ok := b.inner.(engine.SparseHessianer); ok && !b.second && !b.mixed &&
		(b.sparse == nil || b.sparse.Coloring == nil) {
		if p.entries, err = e.PrepareSparseHessian(p.f, p.x, structure(diagonal), true); err != nil {
			return err
		}
		if p.entries != nil {
			p.native = p.entries
			return nil
		}
	}
	if b.sparse != nil {
		whole, err := newSparseHessian(p.op, p.plan, p.f, p.f, b, p.x) // detects a wrong pattern
		if err := p.use(whole, err); err != nil {
			return err
		}
		if whole.products == nil || whole.products.Always() { // all calls compute the whole Hessian, diagonal included
			return nil
		}
		colors, count, err := coloring.Diagonal(whole.plan.Pattern)
		if err != nil {
			return err
		}
		p.groups = make([][]int, count)
		for i, c := range colors {
			if c > 0 {
				p.groups[c-1] = append(p.groups[c-1], i)
			}
		}
	} else {
		for i := range p.n {
			p.groups = append(p.groups, []int{i})
		}
	}
	k := engine.LanesOf(b.outer, max(1, len(p.groups)))
	p.v, p.hv = engine.NewBlock(p.n, k), engine.NewBlock(p.n, k)
	if p.hvp, err = engine.PrepareHVP(b.outer, b.inner, p.f, p.x, k); err != nil {
		return err
	}
	p.native = p.hvp
	if p.matrix != nil { // its recordings were also made at the point of preparation
		p.matrix.products.Adopt()
	}
	return nil
}

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
	case p.hvp == nil:
		y, err = p.ofWhole(grad, dst, x)
	case p.matrix == nil:
		y, err = p.products(grad, dst, x)
	default:
		p.matrix.products.Begin()
		if y, err = p.products(grad, dst, x); err == nil {
			err = p.matrix.products.Check(x)
		}
	}
	if err != nil {
		return 0, nil, nil, err
	}
	return y, grad, dst, nil
}

// ofWhole computes the whole Hessian and copies its diagonal to dst.
func (p *HessianDiagonalPrep) ofWhole(grad, dst, x []float64) (y float64, err error) {
	h := p.matrix
	if y, err = h.values.Values(grad, h.buffer(), x); err != nil {
		return 0, err
	}
	for i := range dst {
		dst[i] = 0
		if k, ok := h.plan.Pattern.Index(i, i); ok {
			dst[i] = h.data[k]
		}
	}
	return y, nil
}

// products computes the diagonal from the products of the groups: the product with the sum of a
// group's unit vectors has the diagonal entries of all its inputs.
func (p *HessianDiagonalPrep) products(grad, dst, x []float64) (y float64, err error) {
	clear(dst)
	for from := 0; from < len(p.groups) || from == 0; from += p.v.B {
		k := min(p.v.B, len(p.groups)-from)
		v, hv := p.v.Cols(0, max(k, 1)), p.hv.Cols(0, max(k, 1))
		v.Zero()
		for j := range k {
			for _, i := range p.groups[from+j] {
				v.Row(i)[j] = 1
			}
		}
		value, err := p.hvp.ValueGradientAndHVP(grad, hv, x, v)
		if err != nil {
			return 0, err
		}
		if from == 0 {
			y, grad = value, nil
		}
		for j := range k {
			for _, i := range p.groups[from+j] {
				dst[i] = hv.Row(i)[j]
			}
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
