package nabla

import (
	"fmt"

	"github.com/nabla-ad/nabla/engine"
	"gonum.org/v1/gonum/mat"
)

// Jacobian is the m×n matrix J(x), element (i, j) being ∂fᵢ/∂xⱼ. It prepares and
// throws the preparation away; for more than one call use [PrepareJacobian].
func Jacobian[F VectorFunc](f F, b Backend, x []float64) (mat.Matrix, error) {
	_, j, err := ValueAndJacobian(f, b, x)
	return j, err
}

// ValueAndJacobian is f(x) and J(x). See [Jacobian].
func ValueAndJacobian[F VectorFunc](f F, b Backend, x []float64) ([]float64, mat.Matrix, error) {
	p, err := PrepareJacobian(f, once(b), x)
	if err != nil {
		return nil, nil, err
	}
	return p.ValueAndJacobian(nil, nil, x)
}

// PrepareJacobian does the work that depends on f, b and the length of x only. f
// may be evaluated at x, which need not be the point of later calls.
func PrepareJacobian[F VectorFunc](f F, b Backend, x []float64) (*JacobianPrep, error) {
	p := new(JacobianPrep)
	if err := p.setup("Jacobian", f, wantVector, b, x, p.prepare); err != nil {
		return nil, err
	}
	return p, nil
}

// JacobianPrep computes Jacobians of one function on one backend. It is for one
// goroutine at a time.
type JacobianPrep struct {
	prep
	j engine.Jacobian
	y []float64
}

func (p *JacobianPrep) prepare() (err error) {
	p.y = make([]float64, p.m)
	p.j, err = engine.PrepareJacobian(p.backend.inner, p.f, p.x)
	p.native = p.j
	return err
}

// Jacobian writes J(x) to dst and returns it. A nil or empty dst is allocated;
// otherwise it is a *mat.Dense of m rows and n columns. Where m or n is 0 the
// result is an empty *mat.Dense.
func (p *JacobianPrep) Jacobian(dst mat.Matrix, x []float64) (mat.Matrix, error) {
	_, j, err := p.into(nil, true, dst, x)
	return j, err
}

// Dense is Jacobian with the static type that every backend can write.
func (p *JacobianPrep) Dense(dst *mat.Dense, x []float64) (*mat.Dense, error) {
	_, j, err := p.dense(nil, true, dst, x)
	return j, err
}

// ValueAndJacobian is Jacobian and writes f(x) to y, which is allocated if nil.
func (p *JacobianPrep) ValueAndJacobian(y []float64, dst mat.Matrix, x []float64) ([]float64, mat.Matrix, error) {
	return p.into(y, false, dst, x)
}

func (p *JacobianPrep) into(y []float64, own bool, dst mat.Matrix, x []float64) ([]float64, mat.Matrix, error) {
	d, err := denseTarget(p.op, dst)
	if err != nil {
		return nil, nil, err
	}
	y, j, err := p.dense(y, own, d, x)
	if err != nil {
		return nil, nil, err
	}
	return y, j, nil
}

// denseTarget is dst as a *mat.Dense, nil where it is to be allocated.
func denseTarget(op string, dst mat.Matrix) (*mat.Dense, error) {
	switch d := dst.(type) {
	case nil:
		return nil, nil
	case *mat.Dense:
		return d, nil
	}
	return nil, &UnsupportedError{What: fmt.Sprintf("%s: dst is a %T", op, dst), Remedy: "pass a *mat.Dense or nil"}
}

// dense writes f(x) to y, or where own is set to a buffer of p.
func (p *JacobianPrep) dense(y []float64, own bool, dst *mat.Dense, x []float64) (_ []float64, _ *mat.Dense, err error) {
	if err := p.begin(x); err != nil {
		return nil, nil, err
	}
	defer p.end(&err)
	if own {
		y = p.y
	}
	if y, err = p.vector("y", y, p.m, x); err != nil {
		return nil, nil, err
	}
	dst, jac, err := p.prep.dense("dst", dst, p.m, p.n, x)
	if err != nil {
		return nil, nil, err
	}
	if overlap(jac.Data, y) {
		return nil, nil, &AliasError{Op: p.op, Arg: "dst", With: "y"}
	}
	return y, dst, p.j.ValueAndJacobian(y, jac, x)
}

// Clone is for another goroutine; see [GradientPrep.Clone].
func (p *JacobianPrep) Clone() *JacobianPrep {
	q := new(JacobianPrep)
	q.cloneOf(&p.prep, q.prepare)
	return q
}

// Rebind reads the context from q, another struct of the same type, from now on.
func (p *JacobianPrep) Rebind(q any) error { return p.rebind(q) }

// Resize prepares again for points of the length of x.
func (p *JacobianPrep) Resize(x []float64) error { return p.resizeTo(x) }
