package nabla

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparsity"
)

// WeightedHessian is Σ wᵢ·∇²fᵢ(x) for a function with len(w) outputs: the Hessian of a
// Lagrangian, where f has the objective and the constraints. See [PrepareWeightedHessian].
func WeightedHessian[F VectorFunc](f F, b Backend, x, w []float64) (mat.Symmetric, error) {
	p, err := PrepareWeightedHessian(f, b, x)
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
	p := new(WeightedHessianPrep)
	if err := p.setup("WeightedHessian", f, wantVector, b, x, p.prepare); err != nil {
		return nil, err
	}
	return p, nil
}

// WeightedHessianPrep computes weighted Hessians of one function on one backend. It is for
// one goroutine at a time.
type WeightedHessianPrep struct {
	prep
	w    *engine.Function // of x and the weights
	s    *sparseHessian
	plan *SparsePlan // of the original, in a clone
	xw   []float64
	grad []float64
}

func (p *WeightedHessianPrep) prepare() (err error) {
	p.w = engine.Weighted(p.f)
	p.xw = make([]float64, p.n+p.m)
	copy(p.xw, p.x)
	for i := range p.m {
		p.xw[p.n+i] = 1
	}
	p.grad = make([]float64, p.n+p.m)
	b := p.backend
	entries := b.sparse == nil || b.sparse.Coloring == nil
	detect := func() (*SparsePlan, error) { return b.sparse.detect(p.op, p.f, &b, p.x, true) }
	if b.sparse == nil {
		b.sparse = &AutoSparse{NoProbe: true, Coloring: coloring.None{}}
		detect = func() (*SparsePlan, error) { return &SparsePlan{Pattern: sparsity.Full(p.n, p.n)}, nil }
	}
	if p.s, err = newSparseHessian(p.plan, p.w, &b, p.xw, p.n, entries, detect); err != nil {
		return err
	}
	p.native, p.plan = p.s, nil
	return nil
}

// Hessian writes Σ wᵢ·∇²fᵢ(x) to dst and returns it. A nil or empty dst is allocated, as a
// *sparse.SymCSC with an [AutoSparse] and as a *mat.SymDense otherwise; a given one is of
// either kind, as for [HessianPrep.Hessian].
func (p *WeightedHessianPrep) Hessian(dst mat.Symmetric, x, w []float64) (mat.Symmetric, error) {
	_, _, h, err := p.any(nil, nil, false, dst, x, w)
	return h, err
}

// ValueGradientAndHessian is Hessian, and writes f(x) to y and Σ wᵢ·∇fᵢ(x) to grad, which
// are allocated if nil. They cost a little more than nothing.
func (p *WeightedHessianPrep) ValueGradientAndHessian(y, grad []float64, dst mat.Symmetric, x, w []float64) (yOut, gradOut []float64, hess mat.Symmetric, err error) {
	return p.any(y, grad, true, dst, x, w)
}

func (p *WeightedHessianPrep) any(y, grad []float64, wanted bool, dst mat.Symmetric, x, w []float64) (yOut, gradOut []float64, hess mat.Symmetric, err error) {
	if err := p.begin(x); err != nil {
		return nil, nil, nil, err
	}
	defer p.end(&err)
	return p.compute(y, grad, wanted, dst, x, w)
}

func (p *WeightedHessianPrep) compute(y, grad []float64, wanted bool, dst mat.Symmetric, x, w []float64) (_, _ []float64, _ mat.Symmetric, err error) {
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
	data, finish := p.s.data, func() {}
	uplo := blas.All
	switch d := dst.(type) {
	case nil:
		if p.backend.sparse == nil {
			dst, finish, err = p.denseTarget(nil, x)
			break
		}
		d2, e := p.s.target(p.op, nil)
		if err = e; err == nil {
			dst, data = d2, d2.Data()
		}
	case *sparse.SymCSC:
		if p.backend.sparse == nil {
			return nil, nil, nil, notSparse(p.op, p.backend.inner)
		}
		d2, e := p.s.target(p.op, d)
		if err = e; err == nil {
			dst, data, uplo = d2, d2.Data(), d2.Uplo()
		}
	case *mat.SymDense:
		dst, finish, err = p.denseTarget(d, x)
	default:
		err = &UnsupportedError{What: fmt.Sprintf("%s: dst is a %T", p.op, dst), Remedy: "pass nil, a *mat.SymDense or, with nabla.AutoSparse, a *sparse.SymCSC"}
	}
	if err != nil {
		return nil, nil, nil, err
	}
	for _, other := range []struct {
		v    []float64
		name string
	}{{x, "x"}, {w, "w"}, {y, "y"}, {grad, "grad"}} {
		if overlap(data, other.v) {
			return nil, nil, nil, &AliasError{Op: p.op, Arg: "dst", With: other.name}
		}
	}
	copy(p.xw, x)
	copy(p.xw[p.n:], w)
	if _, err = p.s.into(all, data, p.xw, uplo); err != nil {
		return nil, nil, nil, err
	}
	if wanted {
		copy(grad, p.grad)
		copy(y, p.grad[p.n:])
	}
	finish()
	return y, grad, dst, nil
}

// denseTarget is dst, and what writes the values that p.s.data has to it.
func (p *WeightedHessianPrep) denseTarget(dst *mat.SymDense, x []float64) (*mat.SymDense, func(), error) {
	dst, block, err := p.symmetric(dst, x)
	return dst, func() { scatter(block, p.s.plan.Pattern, p.s.data) }, err
}

// Plan says what [AutoSparse] chose; it is nil for other backends.
func (p *WeightedHessianPrep) Plan() *SparsePlan {
	if p.s == nil || p.backend.sparse == nil {
		return nil
	}
	return p.s.plan
}

// Clone is a prepared object of its own for another goroutine, with the same pattern.
func (p *WeightedHessianPrep) Clone() *WeightedHessianPrep {
	q := new(WeightedHessianPrep)
	q.plan = p.Plan()
	q.cloneOf(&p.prep, q.prepare)
	return q
}

// Rebind reads another struct of the bound type from now on.
func (p *WeightedHessianPrep) Rebind(q any) error {
	if err := p.enter(); err != nil {
		return err
	}
	defer p.busy.Store(false)
	p.s.probe.soon()
	err := p.w.Rebind(q)
	if err == nil {
		p.bound = q
	}
	return err
}

// Resize prepares for points of the length of x.
func (p *WeightedHessianPrep) Resize(x []float64) error { return p.resizeTo(x) }
