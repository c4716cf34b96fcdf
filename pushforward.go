package nabla

import (
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla/engine"
)

// Pushforward returns J(x)·dx, the Jacobian-vector product (JVP) of f: a new slice with
// one element per output. dx has the length of x; a scalar input or output has length 1.
func Pushforward[F AnyFunc](f F, b Backend, x, dx []float64) ([]float64, error) {
	_, dy, err := ValueAndPushforward(f, b, x, dx)
	return dy, err
}

// ValueAndPushforward returns f(x) and J(x)·dx.
func ValueAndPushforward[F AnyFunc](f F, b Backend, x, dx []float64) (y, dy []float64, err error) {
	p, err := PreparePushforward(f, single(b), x)
	if err != nil {
		return nil, nil, err
	}
	return p.ValueAndPushforward(nil, nil, x, dx)
}

// PreparePushforward prepares Jacobian-vector products of f on b: it does the work that depends only on
// f, b and the length of x.
func PreparePushforward[F AnyFunc](f F, b Backend, x []float64) (*PushforwardPrep, error) {
	return newOperator[PushforwardPrep]("Pushforward", f, wantAny, b, x)
}

// PushforwardPrep computes Jacobian-vector products of one function on one
// backend. It is for one goroutine at a time.
type PushforwardPrep struct {
	prep
	one   engine.Pushforward
	batch engine.Pushforward
	lanes int
	y     []float64
}

func (p *PushforwardPrep) base() *prep {
	if p == nil || p.op == "" {
		return unmade("PushforwardPrep", "PreparePushforward")
	}
	return &p.prep
}

func (p *PushforwardPrep) prepare() (err error) {
	p.y, p.batch = make([]float64, p.m), nil
	p.one, err = engine.PreparePushforward(p.backend.inner, p.f, p.x, 1)
	p.native = p.one
	return err
}

// Pushforward writes J(x)·dx to dst, which is allocated if nil, and returns it. dst
// has one element per output and overlaps neither x nor dx.
func (p *PushforwardPrep) Pushforward(dst, x, dx []float64) ([]float64, error) {
	_, dst, err := p.into(nil, true, dst, x, dx)
	return dst, err
}

// ValueAndPushforward is like Pushforward and also writes f(x) to y, which is allocated if nil. The value
// costs nothing extra.
func (p *PushforwardPrep) ValueAndPushforward(y, dst, x, dx []float64) (yOut, dy []float64, err error) {
	return p.into(y, false, dst, x, dx)
}

// into writes f(x) to y, or to a buffer of p if own is set, and the product to dst.
func (p *PushforwardPrep) into(y []float64, own bool, dst, x, dx []float64) (_, _ []float64, err error) {
	if err := p.base().begin(x); err != nil {
		return nil, nil, err
	}
	defer p.end(&err)
	if err = p.input("dx", dx, p.n); err != nil {
		return nil, nil, err
	}
	if own {
		y = p.y
	}
	if y, err = p.vector("y", y, p.m, x); err != nil {
		return nil, nil, err
	}
	if dst, err = p.vector("dst", dst, p.m, x); err != nil {
		return nil, nil, err
	}
	if overlap(dst, dx) || overlap(y, dx) || overlap(y, dst) {
		return nil, nil, &AliasError{Op: p.op, Arg: "dst or y", With: "dx or each other"}
	}
	if err := p.one.Pushforward(y, engine.Column(dst), x, engine.Column(dx)); err != nil {
		return nil, nil, err
	}
	return y, dst, nil
}

// Value writes f(x) alone to y and returns it. See [JacobianPrep.Value].
func (p *PushforwardPrep) Value(y, x []float64) ([]float64, error) { return p.base().value(y, x) }

// PushforwardBatch writes J(x)·V to dst, m×k, and returns it. V is n×k, with a column for each
// tangent, for a function with n inputs and m outputs. A nil or empty dst is allocated; dst must not
// overlap x or V. It costs less than a pushforward for each column.
func (p *PushforwardPrep) PushforwardBatch(dst *mat.Dense, x []float64, V *mat.Dense) (_ *mat.Dense, err error) {
	if err := p.base().begin(x); err != nil {
		return nil, err
	}
	defer p.end(&err)
	dst, ydot, xdot, err := p.columns(dst, p.m, "V", V, p.n, x)
	if err != nil || xdot.B == 0 || p.m == 0 {
		return dst, err
	}
	if lanes := engine.LanesOf(p.backend.inner, xdot.B); p.batch == nil || lanes > p.lanes {
		if p.batch, err = engine.PreparePushforward(p.backend.inner, p.f, p.x, lanes); err != nil {
			return nil, err
		}
		p.lanes = lanes
	}
	if err := p.batch.Pushforward(p.y, ydot, x, xdot); err != nil {
		return nil, err
	}
	return dst, nil
}

// At returns the derivative at x as a linear operator, for many tangents or cotangents
// at one point. It is independent of p except for the bound struct; see [Bind].
func (p *PushforwardPrep) At(x []float64) (op *LinearOp, err error) { return p.base().linearAt(x) }

// Recordings returns how often the function was recorded; see [GradientPrep.Recordings].
func (p *PushforwardPrep) Recordings() int { return p.base().recordings() }

// Explain returns how p computes its operator. See [Auto].
func (p *PushforwardPrep) Explain() Explanation { return p.base().explain() }

// Clone returns a prepared object for use in another goroutine; see [GradientPrep.Clone].
func (p *PushforwardPrep) Clone() *PushforwardPrep { return clone(p) }

// Rebind makes later calls read the bound struct from q, a pointer to another struct of the same type; see
// [GradientPrep.Rebind].
func (p *PushforwardPrep) Rebind(q any) error { return p.base().rebind(q) }

// Resize prepares p again for points of the length of x. On an error p keeps its old size.
func (p *PushforwardPrep) Resize(x []float64) error { return p.base().resizeTo(x) }
