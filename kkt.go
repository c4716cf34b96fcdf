package nabla

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/sparse"
)

// KKT returns the blocks of the Karush–Kuhn–Tucker matrix of a function with len(w) outputs at x,
//
//	⎡ H  Jᵀ ⎤
//	⎣ J  0  ⎦
//
// J is the Jacobian of f and H = Σ wᵢ·∇²fᵢ(x), the Hessian of the Lagrangian if f computes an objective and the
// constraints, of which row 0 of J is then the gradient of the objective. A weight of 0 is not a structural zero, as in
// [WeightedHessian]. See [PrepareKKT].
func KKT[F VectorFunc](f F, b Backend, x, w []float64) (jac mat.Matrix, hess mat.Symmetric, err error) {
	p, err := PrepareKKT(f, single(b), x)
	if err != nil {
		return nil, nil, err
	}
	return p.KKT(nil, nil, x, w)
}

// PrepareKKT prepares [KKT] of f on b for points of the length of x and any weights. The matrix is the Hessian of
// (x, w) ↦ Σ wᵢ·fᵢ(x), so that both blocks come from the same products: J costs no sweep of its own where columns of H
// are computed, and neither do the value, the gradient of the sum, and f(x). With an [AutoSparse] the whole symmetric
// matrix is coloured at once: dense rows of J, such as the gradient of an objective, take one product each. For a
// [SecondOrder] over reversediff.Backend{Compile: true}, which computes sparse Jacobians without products, a
// [JacobianPrep] beside a [WeightedHessianPrep] is faster.
//
//	f := func(x []nabla.Real) []nabla.Real { return []nabla.Real{objective(x), c1(x), c2(x)} }
//	p, err := nabla.PrepareKKT(f, nabla.AutoSparse{Dense: reversediff.Backend{Compile: true}}, x)
//	y, grad, j, h, err := p.ValueGradientAndKKT(nil, nil, nil, nil, x, []float64{1, λ1, λ2})
func PrepareKKT[F VectorFunc](f F, b Backend, x []float64) (*KKTPrep, error) {
	return newOperator[KKTPrep]("KKT", f, wantVector, b, x)
}

// KKTPrep computes blocks of Karush–Kuhn–Tucker matrices of one function on one backend. It is for one goroutine at a
// time.
type KKTPrep struct {
	prep
	sum        *engine.Function // Σ wᵢ·fᵢ(x), of x and the weights
	columns    *weightedDense   // nil with AutoSparse
	both       engine.Block     // the first n columns of the matrix, without AutoSparse
	jac, hess  *sparseMatrix    // the blocks of p.matrix, with AutoSparse
	xw, allBar []float64
}

func (p *KKTPrep) base() *prep {
	if p == nil || p.op == "" {
		return unmade("KKTPrep", "PrepareKKT")
	}
	return &p.prep
}

func (p *KKTPrep) prepare() (err error) {
	size := p.n + p.m
	p.sum = engine.Weighted(p.f)
	p.xw = make([]float64, size)
	copy(p.xw, p.x)
	for i := range p.m {
		p.xw[p.n+i] = 1
	}
	p.allBar = make([]float64, size)
	if p.backend.sparse == nil {
		if err := p.allocate(size, p.n); err != nil {
			return err
		}
		p.both = engine.NewBlock(size, p.n)
		if p.columns, err = newWeightedDense(p.sum, &p.backend, p.xw, p.n, true); err == nil {
			p.native = p.columns
		}
		return err
	}
	whole, err := newSparseKKT(p.op, p.plan, p.sum, p.f, &p.backend, p.xw)
	if err := p.use(whole, err); err != nil {
		return err
	}
	p.jac, p.hess, err = whole.blocks(p.n)
	return err
}

// KKT writes J(x) to jac and Σ wᵢ·∇²fᵢ(x) to hess and returns them. w has one weight for each output. Destinations that
// are nil or empty are allocated, as a *sparse.CSC and a *sparse.SymCSC with an [AutoSparse], and as a *mat.Dense of m
// rows and n columns and a *mat.SymDense otherwise. Others may be of either type: sparse ones have the patterns of the
// matrices that p allocates, or hess a triangle of it.
func (p *KKTPrep) KKT(jac mat.Matrix, hess mat.Symmetric, x, w []float64) (mat.Matrix, mat.Symmetric, error) {
	_, _, jac, hess, err := p.compute(nil, nil, false, jac, hess, x, w)
	return jac, hess, err
}

// ValueGradientAndKKT is like KKT, and writes f(x) to y and Σ wᵢ·∇fᵢ(x) to grad, which are allocated if nil. They cost
// no product.
func (p *KKTPrep) ValueGradientAndKKT(y, grad []float64, jac mat.Matrix, hess mat.Symmetric, x, w []float64) (
	yOut, gradOut []float64, jacOut mat.Matrix, hessOut mat.Symmetric, err error,
) {
	return p.compute(y, grad, true, jac, hess, x, w)
}

// Matrix writes the whole matrix, of order n+m, to dst and returns it. A nil or empty dst is allocated; otherwise it is
// a *sparse.SymCSC with the pattern of Plan or of a triangle of it, which needs an [AutoSparse], or a *mat.SymDense.
func (p *KKTPrep) Matrix(dst mat.Symmetric, x, w []float64) (_ mat.Symmetric, err error) {
	if err := p.base().begin(x); err != nil {
		return nil, err
	}
	defer p.end(&err)
	if err := p.input("w", w, p.m); err != nil {
		return nil, err
	}
	if target, ok := dst.(*sparse.SymCSC); ok || dst == nil && p.matrix != nil {
		if p.matrix == nil {
			return nil, notSparse(p.op, p.backend.inner)
		}
		if target, err = p.matrix.hessianTarget(p.op, target); err != nil {
			return nil, err
		}
		if err := p.apart(1, named{"dst", target.Data()}, named{"x", x}, named{"w", w}); err != nil {
			return nil, err
		}
		if err := p.whole(nil, x, w); err != nil {
			return nil, err
		}
		p.matrix.stored(target)
		return target, nil
	}
	dense, err := p.denseHessian(dst)
	if err != nil {
		return nil, err
	}
	dense, block, err := p.symmetricOf(p.n+p.m, dense, x)
	if err != nil {
		return nil, err
	}
	if err := p.apart(1, named{"dst", block.Data}, named{"w", w}); err != nil {
		return nil, err
	}
	if err := p.whole(nil, x, w); err != nil {
		return nil, err
	}
	p.square(block)
	return dense, nil
}

// compute computes the blocks in the formats of jac and hess and, if wanted, value and gradient.
func (p *KKTPrep) compute(y, grad []float64, wanted bool, jac mat.Matrix, hess mat.Symmetric, x, w []float64) (
	_, _ []float64, _ mat.Matrix, _ mat.Symmetric, err error,
) {
	if err := p.base().begin(x); err != nil {
		return nil, nil, nil, nil, err
	}
	defer p.end(&err)
	fail := func(err error) ([]float64, []float64, mat.Matrix, mat.Symmetric, error) {
		return nil, nil, nil, nil, err
	}
	if err := p.input("w", w, p.m); err != nil {
		return fail(err)
	}
	var all []float64
	if wanted {
		if y, err = p.vector("y", y, p.m, x); err != nil {
			return fail(err)
		}
		if grad, err = p.vector("grad", grad, p.n, x); err != nil {
			return fail(err)
		}
		all = p.allBar
	}
	j, err := p.jacobianTo(jac, x)
	if err != nil {
		return fail(err)
	}
	h, err := p.hessianTo(hess, x)
	if err != nil {
		return fail(err)
	}
	if err := p.apart(4, named{"hess", h.data()}, named{"jac", j.data()}, named{"grad", grad}, named{"y", y},
		named{"x", x}, named{"w", w}); err != nil {
		return fail(err)
	}
	if err := p.whole(all, x, w); err != nil {
		return fail(err)
	}
	p.writeJacobian(j)
	p.writeHessian(h)
	if wanted {
		copy(grad, all)
		copy(y, all[p.n:])
	}
	return y, grad, j.matrix(), h.matrix(), nil
}

// whole computes the matrix at x and w, into p.both or the buffer of p.matrix, and the gradient of the sum with respect
// to x and the weights, unless all is nil.
func (p *KKTPrep) whole(all, x, w []float64) (err error) {
	copy(p.xw, x)
	copy(p.xw[p.n:], w)
	if p.matrix == nil {
		return p.columns.compute(all, p.both, p.xw)
	}
	_, err = p.matrix.values.Values(all, p.matrix.buffer(), p.xw)
	return err
}

// A jacobianTarget is the destination of J: a dense matrix with its data as a block, or a sparse one.
type jacobianTarget struct {
	dense  *mat.Dense
	block  engine.Block
	sparse *sparse.CSC
}

func (t *jacobianTarget) data() []float64 {
	if t.sparse != nil {
		return t.sparse.Data()
	}
	return t.block.Data
}

func (t *jacobianTarget) matrix() mat.Matrix {
	if t.sparse != nil {
		return t.sparse
	}
	return t.dense
}

// A hessianTarget is the destination of H.
type hessianTarget struct {
	dense  *mat.SymDense
	block  engine.Block
	sparse *sparse.SymCSC
}

func (t *hessianTarget) data() []float64 {
	if t.sparse != nil {
		return t.sparse.Data()
	}
	return t.block.Data
}

func (t *hessianTarget) matrix() mat.Symmetric {
	if t.sparse != nil {
		return t.sparse
	}
	return t.dense
}

// jacobianTo returns the destination dst of J, allocated if nil or empty.
func (p *KKTPrep) jacobianTo(dst mat.Matrix, x []float64) (t jacobianTarget, err error) {
	if s, ok := dst.(*sparse.CSC); ok || dst == nil && p.matrix != nil {
		if p.matrix == nil {
			return t, notSparse(p.op, p.backend.inner)
		}
		t.sparse, err = p.jac.jacobianTarget(p.op, s)
		return t, err
	}
	dense, err := denseTarget(p.op, dst)
	if err != nil {
		return t, err
	}
	t.dense, t.block, err = p.prep.dense("jac", dense, p.m, p.n, x)
	return t, err
}

// hessianTo returns the destination dst of H, allocated if nil or empty.
func (p *KKTPrep) hessianTo(dst mat.Symmetric, x []float64) (t hessianTarget, err error) {
	if s, ok := dst.(*sparse.SymCSC); ok || dst == nil && p.matrix != nil {
		if p.matrix == nil {
			return t, notSparse(p.op, p.backend.inner)
		}
		t.sparse, err = p.hess.hessianTarget(p.op, s)
		return t, err
	}
	dense, err := p.denseHessian(dst)
	if err != nil {
		return t, err
	}
	t.dense, t.block, err = p.symmetric(dense, x)
	return t, err
}

// denseHessian returns dst as a dense matrix, nil if dst is nil. Another format is an error.
func (p *prep) denseHessian(dst mat.Symmetric) (*mat.SymDense, error) {
	switch d := dst.(type) {
	case nil:
		return nil, nil
	case *mat.SymDense:
		return d, nil
	}
	return nil, otherSymmetric(p.op, dst)
}

// writeJacobian writes the block J of the computed matrix to t.
func (p *KKTPrep) writeJacobian(t jacobianTarget) {
	switch {
	case t.sparse != nil:
		gather(t.sparse.Data(), p.matrix.data, p.jac.at)
	case p.matrix != nil:
		gather(p.jac.buffer(), p.matrix.data, p.jac.at)
		p.jac.spread(t.block)
	default:
		for i := range p.m {
			copy(t.block.Row(i), p.both.Row(p.n+i))
		}
	}
}

// writeHessian writes the block H of the computed matrix to t.
func (p *KKTPrep) writeHessian(t hessianTarget) {
	if p.matrix == nil {
		for i := range p.n {
			copy(t.block.Row(i), p.both.Row(i))
		}
		return
	}
	if t.sparse != nil && t.sparse.Uplo() == blas.All {
		gather(t.sparse.Data(), p.matrix.data, p.hess.at)
		return
	}
	gather(p.hess.buffer(), p.matrix.data, p.hess.at)
	if t.sparse != nil {
		p.hess.stored(t.sparse)
		return
	}
	p.hess.spread(t.block)
}

// square writes the whole computed matrix to dst.
func (p *KKTPrep) square(dst engine.Block) {
	dst.Zero()
	if p.matrix != nil {
		p.matrix.spread(dst)
		return
	}
	for i := range p.n + p.m {
		copy(dst.Row(i), p.both.Row(i))
		if i >= p.n {
			for j, v := range p.both.Row(i) {
				dst.Row(j)[i] = v
			}
		}
	}
}

// Plan returns the pattern of the whole matrix and the groups that [AutoSparse] chose, nil for other backends.
func (p *KKTPrep) Plan() *SparsePlan { return p.base().chosenPlan() }

// Extend adds entries to the pattern; see [JacobianPrep.Extend].
func (p *KKTPrep) Extend(x []float64) (added int, err error) {
	return p.base().extend(x, kktMatrix)
}

// Recordings returns how often the function was recorded; see [GradientPrep.Recordings].
func (p *KKTPrep) Recordings() int { return p.base().recordings() }

// Explain returns how p computes its operator. See [Auto].
func (p *KKTPrep) Explain() Explanation { return p.base().explain() }

// Clone returns a prepared object for use in another goroutine, with the same pattern and groups if it is sparse; see
// [GradientPrep.Clone].
func (p *KKTPrep) Clone() *KKTPrep { return clone(p) }

// Rebind makes later calls read the bound struct from q, a pointer to another struct of the same type; see
// [GradientPrep.Rebind]. The next call checks a sparsity pattern; see [AutoSparse].
func (p *KKTPrep) Rebind(q any) error { return p.base().rebind(q) }

// Resize prepares p again for points of the length of x. On an error p keeps its old size.
func (p *KKTPrep) Resize(x []float64) error { return p.base().resizeTo(x) }
