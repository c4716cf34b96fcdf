package nabla

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/sparse"
)

// Hessian returns the symmetric matrix ∇²f(x) for a function with one output. It prepares the
// operator and discards the preparation; for more than one call use [PrepareHessian].
func Hessian[F ScalarFunc](f F, b Backend, x []float64) (mat.Symmetric, error) {
	_, _, h, err := ValueGradientAndHessian(f, b, x)
	return h, err
}

// ValueGradientAndHessian returns f(x), ∇f(x) and ∇²f(x).
func ValueGradientAndHessian[F ScalarFunc](f F, b Backend,
	x []float64) (y float64, grad []float64, hess mat.Symmetric, err error) {
	p, err := PrepareHessian(f, single(b), x)
	if err != nil {
		return 0, nil, nil, err
	}
	return p.ValueGradientAndHessian(nil, nil, x)
}

// PrepareHessian prepares the Hessian of f on b: it does the work that depends only on f, b and the
// length of x.
func PrepareHessian[F ScalarFunc](f F, b Backend, x []float64) (*HessianPrep, error) {
	return newOperator[HessianPrep]("Hessian", f, wantScalar, b, x)
}

// HessianPrep computes Hessians of one function on one backend. It is for one
// goroutine at a time.
type HessianPrep struct {
	prep
	h engine.Hessian // nil with AutoSparse
}

func (p *HessianPrep) base() *prep {
	if p == nil || p.op == "" {
		return unmade("HessianPrep", "PrepareHessian")
	}
	return &p.prep
}

func (p *HessianPrep) prepare() (err error) {
	if p.backend.sparse != nil {
		matrix, err := newSparseHessian(p.op, p.plan, p.f, p.f, &p.backend, p.x)
		return p.use(matrix, err)
	}
	p.h, err = engine.PrepareHessian(p.backend.outer, p.backend.inner, p.f, p.x)
	p.native = p.h
	return err
}

// Hessian writes ∇²f(x) to dst and returns it. A nil or empty dst is allocated; otherwise it must
// be a *mat.SymDense of order len(x) or, with an [AutoSparse], a *sparse.SymCSC with the pattern of
// Plan or of a triangle of it. For a nil dst an AutoSparse allocates a *sparse.SymCSC. If len(x) is
// 0, a dense result is an empty *mat.SymDense.
func (p *HessianPrep) Hessian(dst mat.Symmetric, x []float64) (mat.Symmetric, error) {
	_, _, h, err := p.any(nil, false, dst, x)
	return h, err
}

// Dense is like Hessian with a static type that every backend can write.
func (p *HessianPrep) Dense(dst *mat.SymDense, x []float64) (*mat.SymDense, error) {
	_, _, h, err := p.into(nil, false, dst, x)
	return h, err
}

// ValueGradientAndHessian returns f(x) and the result of Hessian, and writes ∇f(x) to grad, which
// is allocated if nil.
func (p *HessianPrep) ValueGradientAndHessian(grad []float64, dst mat.Symmetric,
	x []float64) (y float64, gradOut []float64, hess mat.Symmetric, err error) {
	return p.any(grad, true, dst, x)
}

// ValueGradientAndDense is like ValueGradientAndHessian with the static type of Dense.
func (p *HessianPrep) ValueGradientAndDense(grad []float64, dst *mat.SymDense,
	x []float64) (y float64, gradOut []float64, hess *mat.SymDense, err error) {
	return p.into(grad, true, dst, x)
}

// any computes the Hessian in the format of dst, and the gradient if wanted.
func (p *HessianPrep) any(grad []float64, wanted bool, dst mat.Symmetric,
	x []float64) (float64, []float64, mat.Symmetric, error) {
	var dense *mat.SymDense
	switch d := dst.(type) {
	case *sparse.SymCSC:
		return given(p.sparse(grad, wanted, d, x))
	case *mat.SymDense:
		dense = d
	case nil:
		if p != nil && p.matrix != nil {
			return given(p.sparse(grad, wanted, nil, x))
		}
	default:
		return 0, nil, nil, otherSymmetric(p.base().op, dst)
	}
	return given(p.into(grad, wanted, dense, x))
}

// given returns a result of static type H as an interface, which is nil on an error.
func given[H mat.Symmetric](y float64, grad []float64, h H, err error) (float64, []float64, mat.Symmetric, error) {
	if err != nil {
		return 0, nil, nil, err
	}
	return y, grad, h, nil
}

// into computes the Hessian and, if wanted, the gradient.
func (p *HessianPrep) into(grad []float64, wanted bool, dst *mat.SymDense,
	x []float64) (y float64, _ []float64, _ *mat.SymDense, err error) {
	if err := p.base().begin(x); err != nil {
		return 0, nil, nil, err
	}
	defer p.end(&err)
	if wanted {
		if grad, err = p.vector("grad", grad, p.n, x); err != nil {
			return 0, nil, nil, err
		}
	}
	dst, hess, err := p.symmetric(dst, x)
	if err != nil {
		return 0, nil, nil, err
	}
	if overlap(grad, hess.Data) {
		return 0, nil, nil, &AliasError{Op: p.op, Arg: "grad", With: "dst"}
	}
	if p.matrix != nil {
		y, err = p.matrix.dense(grad, hess, x)
	} else {
		y, err = p.h.ValueGradientAndHessian(grad, hess, x)
	}
	if err != nil {
		return 0, nil, nil, err
	}
	return y, grad, dst, nil
}

// otherSymmetric returns the error for a destination of a Hessian of another format.
func otherSymmetric(op string, dst mat.Symmetric) error {
	return &UnsupportedError{What: fmt.Sprintf("%s: dst is a %T", op, dst),
		Remedy: "pass nil, a *mat.SymDense or, with nabla.AutoSparse, a *sparse.SymCSC"}
}

// symmetric is symmetricOf for a matrix of the order of x.
func (p *prep) symmetric(dst *mat.SymDense, x []float64) (*mat.SymDense, engine.Block, error) {
	return p.symmetricOf(p.n, dst, x)
}

// symmetricOf returns dst, allocated if nil and sized if empty, and its data as an n×n block. gonum
// stores the upper triangle of a SymDense in a full square.
func (p *prep) symmetricOf(n int, dst *mat.SymDense, x []float64) (*mat.SymDense, engine.Block, error) {
	if dst == nil {
		dst = new(mat.SymDense)
	}
	if n == 0 {
		if got := dst.SymmetricDim(); got != 0 {
			return nil, engine.Block{}, &ShapeError{Op: p.op, Arg: "order of dst", Got: got, Want: 0}
		}
		return dst, engine.Block{}, nil
	}
	if dst.IsEmpty() {
		if err := p.allocate(n, n); err != nil {
			return nil, engine.Block{}, err
		}
		dst.ReuseAsSym(n)
	}
	raw := dst.RawSymmetric()
	if raw.N != n {
		return nil, engine.Block{}, &ShapeError{Op: p.op, Arg: "order of dst", Got: raw.N, Want: n}
	}
	if raw.Uplo != blas.Upper {
		return nil, engine.Block{},
			&UnsupportedError{What: p.op + ": dst keeps its lower triangle",
				Remedy: "pass a matrix from mat.NewSymDense"}
	}
	if overlap(raw.Data, x) {
		return nil, engine.Block{}, &AliasError{Op: p.op, Arg: "dst", With: "x"}
	}
	return dst, engine.Block{N: n, B: n, Stride: raw.Stride, Data: raw.Data}, nil
}

// Recordings returns how often the function was recorded; see [GradientPrep.Recordings].
func (p *HessianPrep) Recordings() int { return p.base().recordings() }

// Explain returns how p computes its operator. See [Auto].
func (p *HessianPrep) Explain() Explanation { return p.base().explain() }

// Clone returns a prepared object for use in another goroutine, with the same pattern and groups if it is sparse; see
// [GradientPrep.Clone].
func (p *HessianPrep) Clone() *HessianPrep { return clone(p) }

// Rebind makes later calls read the bound struct from q, a pointer to another struct of the same type; see
// [GradientPrep.Rebind]. The next call checks a sparsity pattern; see [AutoSparse].
func (p *HessianPrep) Rebind(q any) error { return p.base().rebind(q) }

// Resize prepares p again for points of the length of x. On an error p keeps its old size.
func (p *HessianPrep) Resize(x []float64) error { return p.base().resizeTo(x) }
