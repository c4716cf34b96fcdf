package nabla

import (
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/sparse"
)

// WeightedHessian returns Σ wᵢ·∇²fᵢ(x) for a function with len(w) outputs, such as the Hessian of a
// Lagrangian if f computes the objective and the constraints. A weight of 0 is not a structural
// zero: times an infinite derivative it is NaN. See [PrepareWeightedHessian].
func WeightedHessian[F VectorFunc](f F, b Backend, x, w []float64) (mat.Symmetric, error) {
	p, err := PrepareWeightedHessian(f, single(b), x)
	if err != nil {
		return nil, err
	}
	return p.Hessian(nil, x, w)
}

// PrepareWeightedHessian prepares the weighted Hessian of f on b for points of the length
// of x and any weights. With an [AutoSparse] the pattern is the union of those of the
// outputs, and the columns are grouped once for all weights.
//
//	lag := func(x []nabla.Real) []nabla.Real { return []nabla.Real{objective(x), c1(x), c2(x)} }
//	p, err := nabla.PrepareWeightedHessian(lag, nabla.AutoSparse{Dense: reversediff.Backend{Compile: true}}, x)
//	h, err := p.Hessian(nil, x, []float64{1, λ1, λ2})
func PrepareWeightedHessian[F VectorFunc](f F, b Backend, x []float64) (*WeightedHessianPrep, error) {
	return newOperator[WeightedHessianPrep]("WeightedHessian", f, wantVector, b, x)
}

// WeightedHessianPrep computes weighted Hessians of one function on one backend. It is for
// one goroutine at a time.
type WeightedHessianPrep struct {
	prep
	w    *engine.Function // of x and the weights
	all  *weightedDense   // nil with AutoSparse
	xw   []float64
	grad []float64
}

func (p *WeightedHessianPrep) base() *prep {
	if p == nil || p.op == "" {
		return unmade("WeightedHessianPrep", "PrepareWeightedHessian")
	}
	return &p.prep
}

func (p *WeightedHessianPrep) prepare() (err error) {
	p.w = engine.Weighted(p.f)
	p.xw = make([]float64, p.n+p.m)
	copy(p.xw, p.x)
	for i := range p.m {
		p.xw[p.n+i] = 1
	}
	p.grad = make([]float64, p.n+p.m)
	if p.backend.sparse == nil {
		if p.all, err = newWeightedDense(p.w, &p.backend, p.xw, p.n, false); err == nil {
			p.native = p.all
		}
		return err
	}
	matrix, err := newSparseHessian(p.op, p.plan, p.w, p.f, &p.backend, p.xw)
	return p.use(matrix, err)
}

// Hessian writes Σ wᵢ·∇²fᵢ(x) to dst and returns it. w has one weight per output. A nil or empty dst is allocated, as a
// *sparse.SymCSC with an [AutoSparse] and as a *mat.SymDense otherwise; other destinations may be
// of either type, as for [HessianPrep.Hessian].
func (p *WeightedHessianPrep) Hessian(dst mat.Symmetric, x, w []float64) (mat.Symmetric, error) {
	_, _, h, err := p.any(nil, nil, false, dst, x, w)
	return h, err
}

// ValueGradientAndHessian is like Hessian, and writes f(x) to y and Σ wᵢ·∇fᵢ(x) to grad, which are
// allocated if nil. Their cost is small.
func (p *WeightedHessianPrep) ValueGradientAndHessian(y, grad []float64, dst mat.Symmetric,
	x, w []float64) (yOut, gradOut []float64, hess mat.Symmetric, err error) {
	return p.any(y, grad, true, dst, x, w)
}

// any computes the Hessian in the format of dst and, if wanted, value and gradient.
func (p *WeightedHessianPrep) any(y, grad []float64, wanted bool, dst mat.Symmetric,
	x, w []float64) (yOut, gradOut []float64, hess mat.Symmetric, err error) {
	if err := p.base().begin(x); err != nil {
		return nil, nil, nil, err
	}
	defer p.end(&err)
	return p.compute(y, grad, wanted, dst, x, w)
}

// compute is any within an open call.
func (p *WeightedHessianPrep) compute(y, grad []float64, wanted bool, dst mat.Symmetric,
	x, w []float64) (_, _ []float64, _ mat.Symmetric, err error) {
	if err := p.input("w", w, p.m); err != nil {
		return nil, nil, nil, err
	}
	var all []float64
	if wanted {
		if y, err = p.vector("y", y, p.m, x); err != nil {
			return nil, nil, nil, err
		}
		if grad, err = p.vector("grad", grad, p.n, x); err != nil {
			return nil, nil, nil, err
		}
		if overlap(y, grad) {
			return nil, nil, nil, &AliasError{Op: p.op, Arg: "grad", With: "y"}
		}
		all = p.grad
	}
	dense, isDense := dst.(*mat.SymDense)
	if isDense || dst == nil && p.matrix == nil {
		return p.dense(y, all, grad, dense, x, w)
	}
	target, ok := dst.(*sparse.SymCSC)
	switch {
	case dst != nil && !ok:
		return nil, nil, nil, otherSymmetric(p.op, dst)
	case p.matrix == nil:
		return nil, nil, nil, notSparse(p.op, p.backend.inner)
	}
	if target, err = p.matrix.hessianTarget(p.op, target); err != nil {
		return nil, nil, nil, err
	}
	if err = p.apart(1, named{"dst", target.Data()}, named{"x", x}, named{"w", w}, named{"y", y},
		named{"grad", grad}); err != nil {
		return nil, nil, nil, err
	}
	p.point(x, w)
	if _, err = p.matrix.symmetric(all, target.Data(), p.xw, target.Uplo()); err != nil {
		return nil, nil, nil, err
	}
	p.split(y, grad, all)
	return y, grad, target, nil
}

// dense computes the Hessian into a dense matrix.
func (p *WeightedHessianPrep) dense(y, all, grad []float64, dst *mat.SymDense,
	x, w []float64) (_, _ []float64, _ mat.Symmetric, err error) {
	dst, block, err := p.symmetric(dst, x)
	if err != nil {
		return nil, nil, nil, err
	}
	if err = p.apart(1, named{"dst", block.Data}, named{"x", x}, named{"w", w}, named{"y", y},
		named{"grad", grad}); err != nil {
		return nil, nil, nil, err
	}
	p.point(x, w)
	if p.matrix == nil {
		err = p.all.compute(all, block, p.xw)
	} else {
		_, err = p.matrix.dense(all, block, p.xw)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	p.split(y, grad, all)
	return y, grad, dst, nil
}

// point copies x and the weights to p.xw.
func (p *WeightedHessianPrep) point(x, w []float64) {
	copy(p.xw, x)
	copy(p.xw[p.n:], w)
}

// split copies value and gradient from all, the gradient with respect to x and the weights, unless
// that is nil.
func (p *WeightedHessianPrep) split(y, grad, all []float64) {
	if all != nil {
		copy(grad, all)
		copy(y, all[p.n:])
	}
}

// Plan returns the pattern and the groups that [AutoSparse] chose, nil for other backends.
func (p *WeightedHessianPrep) Plan() *SparsePlan {
	return p.base().chosenPlan()
}

// Recordings returns how often the function was recorded; see [GradientPrep.Recordings].
func (p *WeightedHessianPrep) Recordings() int { return p.base().recordings() }

// Explain returns how p computes its operator. See [Auto].
func (p *WeightedHessianPrep) Explain() Explanation { return p.base().explain() }

// Clone returns a prepared object for use in another goroutine, with the same pattern and groups if it is sparse; see
// [GradientPrep.Clone].
func (p *WeightedHessianPrep) Clone() *WeightedHessianPrep { return clone(p) }

// Rebind makes later calls read the bound struct from q, a pointer to another struct of the same type; see
// [GradientPrep.Rebind]. The next call checks a sparsity pattern; see [AutoSparse].
func (p *WeightedHessianPrep) Rebind(q any) error { return p.base().rebind(q) }

// Resize prepares p again for points of the length of x. On an error p keeps its old size.
func (p *WeightedHessianPrep) Resize(x []float64) error { return p.base().resizeTo(x) }
