package nabla

import (
	"context"

	"gonum.org/v1/gonum/mat"
)

// GradientMany returns the gradients of f at the rows of X as the rows of a matrix. It prepares the operator, computes
// on all CPUs, and discards the preparation; for more than one call use [PrepareGradientMany]. Several goroutines call
// f at a time. The context and the progress of a [Preparation] apply to the whole. If X is nil or empty, so is the
// result. An error at a point is a *[PointError].
func GradientMany[F ScalarFunc](f F, b Backend, X *mat.Dense) (*mat.Dense, error) {
	_, g, err := ValueAndGradientMany(f, b, X)
	return g, err
}

// ValueAndGradientMany returns the values and the gradients of f at the rows of X. See [GradientMany].
func ValueAndGradientMany[F ScalarFunc](f F, b Backend, X *mat.Dense) ([]float64, *mat.Dense, error) {
	if X == nil || X.IsEmpty() {
		return []float64{}, new(mat.Dense), nil
	}
	k, _ := X.Dims()
	p, err := PrepareGradientMany(f, b, X.RawRowView(0), allCPUs(k))
	if err != nil {
		return nil, nil, err
	}
	return p.ValueAndGradientMany(p.context(), nil, nil, X)
}

// PrepareGradientMany prepares gradients of f at many points of the length of x on b. The calls compute on the given
// number of workers, goroutines with a clone of the prepared object each; 0 is one for each CPU. f, and what it
// captures, must then allow calls from several goroutines; see [Bind] for data of which each worker has a copy.
func PrepareGradientMany[F ScalarFunc](f F, b Backend, x []float64, workers int) (*GradientManyPrep, error) {
	p := new(GradientManyPrep)
	err := p.prepareMany("GradientMany", workers, func() (*GradientPrep, error) {
		return PrepareGradient(f, b, x)
	}, p.point)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// GradientManyPrep computes gradients of one function on one backend at many points. It starts goroutines of its own,
// and serves one goroutine at a time; a call from a second one returns ErrBusy. Calls allocate nothing per point.
type GradientManyPrep struct {
	many[GradientPrep, *GradientPrep]
	x, dst *mat.Dense // of the call under way
	y      []float64
}

func (p *GradientManyPrep) base() *prep {
	if p == nil {
		return unmade("GradientManyPrep", "PrepareGradientMany")
	}
	return p.first("GradientManyPrep", "PrepareGradientMany")
}

// point computes point i with worker w.
func (p *GradientManyPrep) point(w *GradientPrep, i int) (err error) {
	if p.y == nil {
		_, err = w.Gradient(p.dst.RawRowView(i), p.x.RawRowView(i))
		return err
	}
	p.y[i], _, err = w.ValueAndGradient(p.dst.RawRowView(i), p.x.RawRowView(i))
	return err
}

// GradientMany writes the gradient at row i of X to row i of dst, for all i, and returns dst. A nil or empty dst is
// allocated; otherwise it must have the dimensions of X and share no memory with it. X is not modified.
//
// ctx cancels the call, which then ends after the points that are being computed, with a *[CanceledError]; a nil ctx
// never cancels. The Progress of a [Preparation] is told the number of points that are done, in the stage "points". An
// error at a point is a *[PointError], that of the first point if there are several. Beside an error some rows of dst
// are written.
func (p *GradientManyPrep) GradientMany(ctx context.Context, dst, X *mat.Dense) (*mat.Dense, error) {
	_, dst, err := p.into(ctx, nil, false, dst, X)
	return dst, err
}

// ValueAndGradientMany is like GradientMany and also writes the values to y, one for each row of X; y is allocated if
// nil.
func (p *GradientManyPrep) ValueAndGradientMany(ctx context.Context, y []float64, dst, X *mat.Dense) ([]float64,
	*mat.Dense, error) {
	return p.into(ctx, y, true, dst, X)
}

// into computes gradients, and the values too if valued is set.
func (p *GradientManyPrep) into(ctx context.Context, y []float64, valued bool, dst, X *mat.Dense) (_ []float64,
	_ *mat.Dense, err error) {
	if err := p.base().failed; err != nil {
		return nil, nil, err
	}
	k, err := p.begin(X)
	if err != nil {
		return nil, nil, err
	}
	defer p.leave()
	var points []float64
	if k > 0 {
		points = X.RawMatrix().Data
	}
	dst, block, err := p.check.dense("dst", dst, k, p.check.n, points)
	if err != nil {
		return nil, nil, err
	}
	if valued {
		if y, err = p.check.vector("y", y, k, points); err != nil {
			return nil, nil, err
		}
		if overlap(block.Data, y) {
			return nil, nil, &AliasError{Op: p.op, Arg: "dst", With: "y"}
		}
	}
	p.x, p.dst, p.y = X, dst, y
	err = p.run(ctx, k)
	p.x, p.dst, p.y = nil, nil, nil
	if err != nil {
		return nil, nil, err
	}
	return y, dst, nil
}

// Workers returns the number of workers.
func (p *GradientManyPrep) Workers() int {
	if p == nil {
		return 0
	}
	return len(p.workers)
}

// Recordings returns how often the workers have recorded the function; see [GradientPrep.Recordings].
func (p *GradientManyPrep) Recordings() int {
	if p == nil {
		return 0
	}
	return p.recorded()
}

// Explain returns how p computes its operator at a point. See [Auto].
func (p *GradientManyPrep) Explain() Explanation { return p.base().explain() }

// Clone returns a prepared object for use in another goroutine, with workers of its own; see [GradientPrep.Clone].
func (p *GradientManyPrep) Clone() *GradientManyPrep {
	q := new(GradientManyPrep)
	if p != nil {
		p.copyTo(&q.many, q.point)
	}
	return q
}

// Rebind makes later calls read the bound struct from q, a pointer to another struct of the same type; see
// [GradientPrep.Rebind].
func (p *GradientManyPrep) Rebind(q any) error {
	if err := p.base().failed; err != nil {
		return err
	}
	return p.rebind(q)
}

// Resize prepares p again for points of the length of x. On an error p keeps its old size.
func (p *GradientManyPrep) Resize(x []float64) error {
	if err := p.base().failed; err != nil {
		return err
	}
	return p.resize(x)
}
