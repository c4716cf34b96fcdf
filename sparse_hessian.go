package nabla

import "github.com/nabla-ad/nabla/sparse"

// Plan returns the pattern and the groups that [AutoSparse] chose, nil for other backends.
func (p *HessianPrep) Plan() *SparsePlan {
	return p.base().chosenPlan()
}

// Sparse is like Hessian with the static type of an [AutoSparse]; another backend is an error. A
// nil or empty dst is allocated and stores both triangles; otherwise it must have the pattern of
// [HessianPrep.Plan] or, if it stores a triangle, that triangle of it.
func (p *HessianPrep) Sparse(dst *sparse.SymCSC, x []float64) (*sparse.SymCSC, error) {
	_, _, h, err := p.sparse(nil, false, dst, x)
	return h, err
}

// ValueGradientAndSparse is like ValueGradientAndHessian with the static type of Sparse.
func (p *HessianPrep) ValueGradientAndSparse(grad []float64, dst *sparse.SymCSC,
	x []float64) (y float64, gradOut []float64, hess *sparse.SymCSC, err error) {
	return p.sparse(grad, true, dst, x)
}

// sparse computes the Hessian into a sparse matrix, allocated if nil or empty, and the gradient if wanted.
func (p *HessianPrep) sparse(grad []float64, wanted bool, dst *sparse.SymCSC,
	x []float64) (y float64, _ []float64, _ *sparse.SymCSC, err error) {
	if err := p.base().begin(x); err != nil {
		return 0, nil, nil, err
	}
	defer p.end(&err)
	if p.matrix == nil {
		return 0, nil, nil, notSparse(p.op, p.backend.inner)
	}
	if wanted {
		if grad, err = p.vector("grad", grad, p.n, x); err != nil {
			return 0, nil, nil, err
		}
	}
	if dst, err = p.matrix.hessianTarget(p.op, dst); err != nil {
		return 0, nil, nil, err
	}
	switch {
	case overlap(dst.Data(), x):
		return 0, nil, nil, &AliasError{Op: p.op, Arg: "dst", With: "x"}
	case overlap(dst.Data(), grad):
		return 0, nil, nil, &AliasError{Op: p.op, Arg: "grad", With: "dst"}
	}
	if y, err = p.matrix.symmetric(grad, dst.Data(), x, dst.Uplo()); err != nil {
		return 0, nil, nil, err
	}
	return y, grad, dst, nil
}
