package nabla

import (
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla/engine"
)

// Pullback returns J(x)ᵀ·dy, the vector-Jacobian product (VJP) of f: a new slice of
// length len(x). dy has one element per output; a scalar input or output has length 1.
func Pullback[F AnyFunc](f F, b Backend, x, dy []float64) ([]float64, error) {
	_, g, err := ValueAndPullback(f, b, x, dy)
	return g, err
}

// ValueAndPullback returns f(x) and J(x)ᵀ·dy.
func ValueAndPullback[F AnyFunc](f F, b Backend, x, dy []float64) (y, xbar []float64, err error) {
	p, err := PreparePullback(f, once(b), x)
	if err != nil {
		return nil, nil, err
	}
	return p.ValueAndPullback(nil, nil, x, dy)
}

// PreparePullback prepares vector-Jacobian products of f on b: it does the work that depends only on
// f, b and the length of x.
func PreparePullback[F AnyFunc](f F, b Backend, x []float64) (*PullbackPrep, error) {
	return newOperator[PullbackPrep]("Pullback", f, wantAny, b, x)
}

// PullbackPrep computes vector-Jacobian products of one function on one
// backend. It is for one goroutine at a time.
type PullbackPrep struct {
	prep
	one   engine.Pullback
	batch engine.Pullback
	lanes int
	y     []float64
}

func (p *PullbackPrep) base() *prep {
	if p == nil || p.op == "" {
		return unmade("PullbackPrep", "PreparePullback")
	}
	return &p.prep
}

func (p *PullbackPrep) prepare() (err error) {
	p.y, p.batch = make([]float64, p.m), nil
	p.one, err = engine.PreparePullback(p.backend.inner, p.f, p.x, 1)
	p.native = p.one
	return err
}

// Pullback writes J(x)ᵀ·dy to dst, which is allocated if nil, and returns it. dst
// has the length of x and overlaps neither x nor dy.
func (p *PullbackPrep) Pullback(dst, x, dy []float64) ([]float64, error) {
	_, dst, err := p.into(nil, true, dst, x, dy)
	return dst, err
}

// ValueAndPullback is like Pullback and also writes f(x) to y, which is allocated if nil. The value
// costs nothing extra.
func (p *PullbackPrep) ValueAndPullback(y, dst, x, dy []float64) (yOut, xbar []float64, err error) {
	return p.into(y, false, dst, x, dy)
}

// Value writes f(x) alone to y and returns it. See [JacobianPrep.Value].
func (p *PullbackPrep) Value(y, x []float64) ([]float64, error) { return p.base().value(y, x) }

// into writes f(x) to y, or to a buffer of p if own is set, and the product to dst.
func (p *PullbackPrep) into(y []float64, own bool, dst, x, dy []float64) (_, _ []float64, err error) {
	if err := p.base().begin(x); err != nil {
		return nil, nil, err
	}
	defer p.end(&err)
	if err = p.input("dy", dy, p.m); err != nil {
		return nil, nil, err
	}
	if own {
		y = p.y
	}
	if y, err = p.vector("y", y, p.m, x); err != nil {
		return nil, nil, err
	}
	if dst, err = p.vector("dst", dst, p.n, x); err != nil {
		return nil, nil, err
	}
	if overlap(dst, dy) || overlap(y, dy) || overlap(y, dst) {
		return nil, nil, &AliasError{Op: p.op, Arg: "dst or y", With: "dy or each other"}
	}
	if err := p.one.Pullback(y, engine.Column(dst), x, engine.Column(dy)); err != nil {
		return nil, nil, err
	}
	return y, dst, nil
}

// PullbackBatch writes J(x)ᵀ·W to dst, n×k, and returns it. W is m×k, with a column for each
// cotangent, for a function with n inputs and m outputs. A nil or empty dst is allocated; dst must
// not overlap x or W. It costs less than a pullback for each column.
func (p *PullbackPrep) PullbackBatch(dst *mat.Dense, x []float64, W *mat.Dense) (_ *mat.Dense, err error) {
	if err := p.base().begin(x); err != nil {
		return nil, err
	}
	defer p.end(&err)
	dst, xbar, ybar, err := p.columns(dst, p.n, "W", W, p.m, x)
	if err != nil || ybar.B == 0 || p.n == 0 {
		return dst, err
	}
	if lanes := engine.LanesOf(p.backend.inner, ybar.B); p.batch == nil || lanes > p.lanes {
		if p.batch, err = engine.PreparePullback(p.backend.inner, p.f, p.x, lanes); err != nil {
			return nil, err
		}
		p.lanes = lanes
	}
	if err := p.batch.Pullback(p.y, xbar, x, ybar); err != nil {
		return nil, err
	}
	return dst, nil
}

// At returns the derivative at x as a linear operator, for many tangents or cotangents
// at one point. It is independent of p except for the bound struct; see [Bind].
func (p *PullbackPrep) At(x []float64) (op *LinearOp, err error) { return p.base().linearAt(x) }

// Recordings returns how often the function was recorded; see [GradientPrep.Recordings].
func (p *PullbackPrep) Recordings() int { return p.base().recordings() }

// Explain returns how p computes its operator. See [Auto].
func (p *PullbackPrep) Explain() Explanation { return p.base().explain() }

// Clone returns a prepared object for use in another goroutine; see [GradientPrep.Clone].
func (p *PullbackPrep) Clone() *PullbackPrep { return clone(p) }

// Rebind makes later calls read the bound struct from q, a pointer to another struct of the same type; see
// [GradientPrep.Rebind].
func (p *PullbackPrep) Rebind(q any) error { return p.base().rebind(q) }

// Resize prepares p again for points of the length of x. On an error p keeps its old size.
func (p *PullbackPrep) Resize(x []float64) error { return p.base().resizeTo(x) }
