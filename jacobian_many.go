package nabla

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla/sparse"
)

// JacobianMany returns the Jacobians of f at the rows of X, in their order, each in the format of [Jacobian]. It
// prepares the operator, computes on all CPUs, and discards the preparation; for more than one call use
// [PrepareJacobianMany]. Goroutines, context, progress and errors are as for [GradientMany].
func JacobianMany[F VectorFunc](f F, b Backend, X *mat.Dense) ([]mat.Matrix, error) {
	_, j, err := ValueAndJacobianMany(f, b, X)
	return j, err
}

// ValueAndJacobianMany returns the values of f at the rows of X as the rows of a matrix, and the Jacobians. See
// [JacobianMany].
func ValueAndJacobianMany[F VectorFunc](f F, b Backend, X *mat.Dense) (*mat.Dense, []mat.Matrix, error) {
	if X == nil || X.IsEmpty() {
		return new(mat.Dense), []mat.Matrix{}, nil
	}
	k, _ := X.Dims()
	p, err := PrepareJacobianMany(f, b, X.RawRowView(0), allCPUs(k))
	if err != nil {
		return nil, nil, err
	}
	return p.ValueAndJacobianMany(p.context(), nil, nil, X)
}

// PrepareJacobianMany prepares Jacobians of f at many points of the length of x on b, for a number of workers as for
// [PrepareGradientMany].
func PrepareJacobianMany[F VectorFunc](f F, b Backend, x []float64, workers int) (*JacobianManyPrep, error) {
	p := new(JacobianManyPrep)
	err := p.prepareMany("JacobianMany", workers, func() (*JacobianPrep, error) {
		return PrepareJacobian(f, b, x)
	}, p.point)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// JacobianManyPrep computes Jacobians of one function on one backend at many points. It starts goroutines of its own,
// and serves one goroutine at a time; a call from a second one returns ErrBusy. Calls with destinations allocate
// nothing per point.
type JacobianManyPrep struct {
	many[JacobianPrep, *JacobianPrep]
	x, y *mat.Dense // of the call under way
	dst  []mat.Matrix
}

func (p *JacobianManyPrep) base() *prep {
	if p == nil {
		return unmade("JacobianManyPrep", "PrepareJacobianMany")
	}
	return p.first("JacobianManyPrep", "PrepareJacobianMany")
}

// point computes point i with worker w.
func (p *JacobianManyPrep) point(w *JacobianPrep, i int) (err error) {
	var j mat.Matrix
	if p.y == nil || p.y.IsEmpty() {
		j, err = w.Jacobian(p.dst[i], p.x.RawRowView(i))
	} else {
		_, j, err = w.ValueAndJacobian(p.y.RawRowView(i), p.dst[i], p.x.RawRowView(i))
	}
	if err == nil {
		p.dst[i] = j
	}
	return err
}

// JacobianMany writes the Jacobian at row i of X to dst[i], for all i, and returns dst. A nil dst is allocated,
// otherwise it must have an element for each row of X: each is nil or as the dst of [JacobianPrep.Jacobian], and they
// share no memory. ctx, progress and errors are as for [GradientManyPrep.GradientMany].
func (p *JacobianManyPrep) JacobianMany(ctx context.Context, dst []mat.Matrix, X *mat.Dense) ([]mat.Matrix, error) {
	_, dst, err := p.into(ctx, nil, false, dst, X)
	return dst, err
}

// ValueAndJacobianMany is like JacobianMany and also writes the value at row i of X to row i of y, which is allocated
// if nil or empty.
func (p *JacobianManyPrep) ValueAndJacobianMany(ctx context.Context, y *mat.Dense, dst []mat.Matrix,
	X *mat.Dense) (*mat.Dense, []mat.Matrix, error) {
	return p.into(ctx, y, true, dst, X)
}

// into computes Jacobians, and the values too if valued is set.
func (p *JacobianManyPrep) into(ctx context.Context, y *mat.Dense, valued bool, dst []mat.Matrix,
	X *mat.Dense) (_ *mat.Dense, _ []mat.Matrix, err error) {
	if err := p.base().failed; err != nil {
		return nil, nil, err
	}
	k, err := p.begin(X)
	if err != nil {
		return nil, nil, err
	}
	defer p.leave()
	if dst == nil {
		if err := p.affords(k); err != nil {
			return nil, nil, err
		}
		dst = make([]mat.Matrix, k)
	}
	if len(dst) != k {
		return nil, nil, &ShapeError{Op: p.op, Arg: "len(dst)", Got: len(dst), Want: k}
	}
	if y, err = p.arguments(y, valued, dst, k, X); err != nil {
		return nil, nil, err
	}
	p.x, p.y, p.dst = X, y, dst
	err = p.run(ctx, k)
	p.x, p.y, p.dst = nil, nil, nil
	if err != nil {
		return nil, nil, err
	}
	return y, dst, nil
}

// affords returns an error if k dense Jacobians would exceed the memory limit.
func (p *JacobianManyPrep) affords(k int) error {
	if p.workers[0].matrix != nil {
		return nil
	}
	return p.check.allocate(k, p.check.m*p.check.n)
}

// arguments returns y, allocated if it is wanted and nil or empty, and checks that the arguments share no memory.
func (p *JacobianManyPrep) arguments(y *mat.Dense, valued bool, dst []mat.Matrix, k int,
	X *mat.Dense) (_ *mat.Dense, err error) {
	p.spans = p.spans[:0]
	if k > 0 {
		p.add("X", -1, X.RawMatrix().Data)
	}
	if valued {
		if y, _, err = p.check.dense("y", y, k, p.check.m, nil); err != nil {
			return nil, err
		}
		p.add("y", -1, y.RawMatrix().Data)
	}
	for i, d := range dst {
		switch d := d.(type) {
		case *mat.Dense:
			if d != nil {
				p.add("dst", i, d.RawMatrix().Data)
			}
		case *sparse.CSC:
			if d != nil {
				p.add("dst", i, d.Data())
			}
		}
	}
	return y, p.apart()
}

// Workers returns the number of workers.
func (p *JacobianManyPrep) Workers() int {
	if p == nil {
		return 0
	}
	return len(p.workers)
}

// Plan returns the pattern and the groups that [AutoSparse] chose, nil for other backends.
func (p *JacobianManyPrep) Plan() *SparsePlan { return p.base().chosenPlan() }

// Recordings returns how often the workers have recorded the function; see [GradientPrep.Recordings].
func (p *JacobianManyPrep) Recordings() int {
	if p == nil {
		return 0
	}
	return p.recorded()
}

// Explain returns how p computes its operator at a point. See [Auto].
func (p *JacobianManyPrep) Explain() Explanation { return p.base().explain() }

// Clone returns a prepared object for use in another goroutine, with workers of its own; see [GradientPrep.Clone].
func (p *JacobianManyPrep) Clone() *JacobianManyPrep {
	q := new(JacobianManyPrep)
	if p != nil {
		p.copyTo(&q.many, q.point)
	}
	return q
}

// Rebind makes later calls read the bound struct from q, a pointer to another struct of the same type; see
// [GradientPrep.Rebind].
func (p *JacobianManyPrep) Rebind(q any) error {
	if err := p.base().failed; err != nil {
		return err
	}
	return p.rebind(q)
}

// Resize prepares p again for points of the length of x. On an error p keeps its old size.
func (p *JacobianManyPrep) Resize(x []float64) error {
	if err := p.base().failed; err != nil {
		return err
	}
	return p.resize(x)
}
