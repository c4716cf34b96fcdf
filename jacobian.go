package nabla

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/sparse"
)

// Jacobian returns the m×n matrix J(x), whose element (i, j) is ∂fᵢ/∂xⱼ. It prepares the operator
// and discards the preparation; for more than one call use [PrepareJacobian].
func Jacobian[F VectorFunc](f F, b Backend, x []float64) (mat.Matrix, error) {
	_, j, err := ValueAndJacobian(f, b, x)
	return j, err
}

// ValueAndJacobian returns f(x) and J(x). See [Jacobian].
func ValueAndJacobian[F VectorFunc](f F, b Backend, x []float64) ([]float64, mat.Matrix, error) {
	p, err := PrepareJacobian(f, once(b), x)
	if err != nil {
		return nil, nil, err
	}
	return p.ValueAndJacobian(nil, nil, x)
}

// PrepareJacobian prepares the Jacobian of f on b: it does the work that depends only on f, b and
// the length of x. f may be evaluated at x, which need not be the point of later calls.
func PrepareJacobian[F VectorFunc](f F, b Backend, x []float64) (*JacobianPrep, error) {
	return newOperator[JacobianPrep]("Jacobian", f, wantVector, b, x)
}

// JacobianPrep computes Jacobians of one function on one backend. It is for one
// goroutine at a time.
type JacobianPrep struct {
	prep
	j engine.Jacobian // nil with AutoSparse
	y []float64
}

func (p *JacobianPrep) base() *prep {
	if p == nil || p.op == "" {
		return unmade("JacobianPrep", "PrepareJacobian")
	}
	return &p.prep
}

func (p *JacobianPrep) prepare() (err error) {
	p.y = make([]float64, p.m)
	if p.backend.sparse != nil {
		matrix, err := newSparseJacobian(p.plan, p.f, &p.backend, p.x)
		return p.use(matrix, err)
	}
	b := p.backend.inner
	if p.backend.mixed && p.n <= p.m {
		b = p.backend.outer
	}
	p.j, err = engine.PrepareJacobian(b, p.f, p.x)
	p.native = p.j
	return err
}

// Jacobian writes J(x) to dst and returns it. A nil or empty dst is allocated; otherwise it must be
// a *mat.Dense of m rows and n columns or, with an [AutoSparse], a *sparse.CSC with the pattern of
// Plan. For a nil dst an AutoSparse allocates a *sparse.CSC. If m or n is 0, a dense result is an
// empty *mat.Dense.
func (p *JacobianPrep) Jacobian(dst mat.Matrix, x []float64) (mat.Matrix, error) {
	_, j, err := p.into(nil, true, dst, x)
	return j, err
}

// Dense is like Jacobian with a static type that every backend can write.
func (p *JacobianPrep) Dense(dst *mat.Dense, x []float64) (*mat.Dense, error) {
	_, j, err := p.dense(nil, true, dst, x)
	return j, err
}

// ValueAndJacobian is like Jacobian and also writes f(x) to y, which is allocated if nil.
func (p *JacobianPrep) ValueAndJacobian(y []float64, dst mat.Matrix, x []float64) ([]float64, mat.Matrix, error) {
	return p.into(y, false, dst, x)
}

// ValueAndDense is like Dense and also writes f(x) to y, which is allocated if nil.
func (p *JacobianPrep) ValueAndDense(y []float64, dst *mat.Dense, x []float64) ([]float64, *mat.Dense, error) {
	return p.dense(y, false, dst, x)
}

// Value writes f(x) alone to y and returns it, from a run of the function over plain numbers. A nil y is allocated;
// otherwise it must have one element for each output and not overlap x. See [GradientPrep.Value].
func (p *JacobianPrep) Value(y, x []float64) ([]float64, error) { return p.base().value(y, x) }

// Dims returns the numbers of outputs and inputs of the function, the dimensions of the Jacobian.
func (p *JacobianPrep) Dims() (m, n int) {
	b := p.base()
	return b.m, b.n
}

// into computes the Jacobian in the format of dst, and the value into y or, if own is set, into a buffer of p.
func (p *JacobianPrep) into(y []float64, own bool, dst mat.Matrix, x []float64) ([]float64, mat.Matrix, error) {
	switch d := dst.(type) {
	case nil:
		if p == nil || p.matrix == nil {
			break
		}
		y, j, err := p.sparse(y, own, nil, x)
		if err != nil {
			return nil, nil, err
		}
		return y, j, nil
	case *sparse.CSC:
		y, j, err := p.sparse(y, own, d, x)
		if err != nil {
			return nil, nil, err
		}
		return y, j, nil
	}
	d, err := denseTarget(p.base().op, dst)
	if err != nil {
		return nil, nil, err
	}
	y, j, err := p.dense(y, own, d, x)
	if err != nil {
		return nil, nil, err
	}
	return y, j, nil
}

// denseTarget returns dst as a dense matrix, nil if dst is nil. Another format is an error.
func denseTarget(op string, dst mat.Matrix) (*mat.Dense, error) {
	switch d := dst.(type) {
	case nil:
		return nil, nil
	case *mat.Dense:
		return d, nil
	}
	return nil, &UnsupportedError{What: fmt.Sprintf("%s: dst is a %T", op, dst),
		Remedy: "pass nil, a *mat.Dense or, with nabla.AutoSparse, a *sparse.CSC"}
}

// value returns the destination of the value of the function: a buffer of p if own is set, and
// otherwise y, checked and allocated if nil.
func (p *JacobianPrep) value(y []float64, own bool, x []float64) ([]float64, error) {
	if own {
		y = p.y
	}
	return p.vector("y", y, p.m, x)
}

// dense computes the Jacobian into a dense matrix, allocated if nil or empty.
func (p *JacobianPrep) dense(y []float64, own bool, dst *mat.Dense,
	x []float64) (_ []float64, _ *mat.Dense, err error) {
	if err := p.base().begin(x); err != nil {
		return nil, nil, err
	}
	defer p.end(&err)
	if y, err = p.value(y, own, x); err != nil {
		return nil, nil, err
	}
	var jac engine.Block
	if dst, err = p.denseTo(&jac, "dst", dst, p.m, p.n, x); err != nil {
		return nil, nil, err
	}
	if overlap(jac.Data, y) {
		return nil, nil, &AliasError{Op: p.op, Arg: "dst", With: "y"}
	}
	if p.matrix != nil {
		_, err = p.matrix.dense(y, jac, x)
	} else {
		err = p.j.ValueAndJacobian(y, jac, x)
	}
	if err != nil {
		return nil, nil, err
	}
	return y, dst, nil
}

// Recordings returns how often the function was recorded; see [GradientPrep.Recordings].
func (p *JacobianPrep) Recordings() int { return p.base().recordings() }

// Explain returns how p computes its operator. See [Auto].
func (p *JacobianPrep) Explain() Explanation { return p.base().explain() }

// Clone returns a prepared object for use in another goroutine, with the same pattern and groups if it is sparse; see
// [GradientPrep.Clone].
func (p *JacobianPrep) Clone() *JacobianPrep { return clone(p) }

// Rebind makes later calls read the bound struct from q, a pointer to another struct of the same type; see
// [GradientPrep.Rebind]. The next call checks a sparsity pattern; see [AutoSparse].
func (p *JacobianPrep) Rebind(q any) error { return p.base().rebind(q) }

// Resize prepares p again for points of the length of x. On an error p keeps its old size.
func (p *JacobianPrep) Resize(x []float64) error { return p.base().resizeTo(x) }
