package nabla

import (
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla/engine"
)

// HVP returns the Hessian-vector product ∇²f(x)·v, a new slice of length len(x), for a function
// with one output.
func HVP[F ScalarFunc](f F, b Backend, x, v []float64) ([]float64, error) {
	_, _, h, err := ValueGradientAndHVP(f, b, x, v)
	return h, err
}

// ValueGradientAndHVP returns f(x), ∇f(x) and ∇²f(x)·v from one sweep.
func ValueGradientAndHVP[F ScalarFunc](f F, b Backend, x, v []float64) (y float64, grad, hv []float64, err error) {
	p, err := PrepareHVP(f, single(b), x)
	if err != nil {
		return 0, nil, nil, err
	}
	return p.ValueGradientAndHVP(nil, nil, x, v)
}

// PrepareHVP prepares Hessian-vector products of f on b: it does the work that depends only on f, b
// and the length of x.
func PrepareHVP[F ScalarFunc](f F, b Backend, x []float64) (*HVPPrep, error) {
	return newOperator[HVPPrep]("HVP", f, wantScalar, b, x)
}

// HVPPrep computes Hessian-vector products of one function on one backend. It is
// for one goroutine at a time.
type HVPPrep struct {
	prep
	h     engine.HVP
	bare  engine.BareHVP // nil if value and gradient cost nothing
	batch engine.HVP
	lanes int
}

func (p *HVPPrep) base() *prep {
	if p == nil || p.op == "" {
		return unmade("HVPPrep", "PrepareHVP")
	}
	return &p.prep
}

func (p *HVPPrep) prepare() (err error) {
	p.batch = nil
	p.h, err = engine.PrepareHVP(p.backend.outer, p.backend.inner, p.f, p.x, 1)
	p.native = p.h
	p.bare, _ = p.h.(engine.BareHVP)
	return err
}

// HVP writes ∇²f(x)·v to dst, which is allocated if nil, and returns it. dst must not overlap x or
// v.
func (p *HVPPrep) HVP(dst, x, v []float64) (_ []float64, err error) {
	if err := p.base().begin(x); err != nil {
		return nil, err
	}
	defer p.end(&err)
	if dst, err = p.product(dst, x, v); err != nil {
		return nil, err
	}
	if p.bare != nil {
		err = p.bare.HVP(engine.Column(dst), x, engine.Column(v))
	} else {
		_, err = p.h.ValueGradientAndHVP(nil, engine.Column(dst), x, engine.Column(v))
	}
	if err != nil {
		return nil, err
	}
	return dst, nil
}

// product checks v and returns dst, allocated if nil, checked for overlaps with x and v.
func (p *HVPPrep) product(dst, x, v []float64) ([]float64, error) {
	if err := p.input("v", v, p.n); err != nil {
		return nil, err
	}
	dst, err := p.vector("dst", dst, p.n, x)
	if err == nil && overlap(dst, v) {
		err = &AliasError{Op: p.op, Arg: "dst", With: "v"}
	}
	return dst, err
}

// ValueGradientAndHVP returns f(x) and the result of HVP, and writes ∇f(x) to grad, which is
// allocated if nil. They come from the same sweep.
func (p *HVPPrep) ValueGradientAndHVP(grad, dst, x, v []float64) (y float64, gradOut, hv []float64, err error) {
	if err := p.base().begin(x); err != nil {
		return 0, nil, nil, err
	}
	defer p.end(&err)
	if dst, err = p.product(dst, x, v); err != nil {
		return 0, nil, nil, err
	}
	if grad, err = p.vector("grad", grad, p.n, x); err != nil {
		return 0, nil, nil, err
	}
	if overlap(grad, dst) || overlap(grad, v) {
		return 0, nil, nil, &AliasError{Op: p.op, Arg: "grad", With: "dst or v"}
	}
	if y, err = p.h.ValueGradientAndHVP(grad, engine.Column(dst), x, engine.Column(v)); err != nil {
		return 0, nil, nil, err
	}
	return y, grad, dst, nil
}

// GradientAndHVP is like ValueGradientAndHVP without the value.
func (p *HVPPrep) GradientAndHVP(grad, dst, x, v []float64) (gradOut, hv []float64, err error) {
	_, grad, dst, err = p.ValueGradientAndHVP(grad, dst, x, v)
	return grad, dst, err
}

// HVPBatch writes ∇²f(x)·V to dst and returns it. V and dst are n×k, for n inputs and k vectors. A
// nil or empty dst is allocated; dst must not overlap x or V. An engine with vector mode computes
// several columns in one sweep.
func (p *HVPPrep) HVPBatch(dst *mat.Dense, x []float64, V *mat.Dense) (_ *mat.Dense, err error) {
	if err := p.base().begin(x); err != nil {
		return nil, err
	}
	defer p.end(&err)
	dst, hv, v, err := p.columns(dst, p.n, "V", V, p.n, x)
	if err != nil || v.B == 0 || p.n == 0 {
		return dst, err
	}
	if lanes := engine.LanesOf(p.backend.outer, v.B); p.batch == nil || lanes > p.lanes {
		if p.batch, err = engine.PrepareHVP(p.backend.outer, p.backend.inner, p.f, p.x, lanes); err != nil {
			return nil, err
		}
		p.lanes = lanes
	}
	if bare, ok := p.batch.(engine.BareHVP); ok {
		err = bare.HVP(hv, x, v)
	} else {
		_, err = p.batch.ValueGradientAndHVP(nil, hv, x, v)
	}
	if err != nil {
		return nil, err
	}
	return dst, nil
}

// At returns the Hessian at x as a linear operator, for many vectors at one point. It is
// independent of p except for the bound struct; see [Bind].
func (p *HVPPrep) At(x []float64) (op *HessianOp, err error) {
	if err := p.base().begin(x); err != nil {
		return nil, err
	}
	defer p.end(&err)
	op = &HessianOp{x: append([]float64(nil), x...)}
	op.h.op, op.h.want, op.h.backend, op.h.build = p.op, p.want, p.backend, op.h.prepare
	op.h.f = p.f.Beside()
	if err := op.h.prepareAt(op.x); err != nil {
		return nil, err
	}
	return op, nil
}

// HessianOp is the Hessian of a function at one point. It serves one goroutine at a time; a call
// from a second one returns ErrBusy. It shares parts of the bound struct with the object that
// created it; see [Bind].
type HessianOp struct {
	h    HVPPrep
	x    []float64
	room []float64 // buffers of MulVecTo
}

// Dims returns the number of inputs of the function, twice.
func (o *HessianOp) Dims() (r, c int) {
	if o == nil {
		return 0, 0
	}
	return o.h.n, o.h.n
}

// MulVecTo stores ∇²f(x)·v in dst; the flag for the transpose has no effect. See [LinearOp.MulVecTo] for the
// conventions: it panics where [HessianOp.Apply] returns an error.
func (o *HessianOp) MulVecTo(dst *mat.VecDense, _ bool, v mat.Vector) {
	if o == nil || o.h.op == "" {
		panic(unmade("HessianOp", "PrepareHVP and HVPPrep.At").failed)
	}
	mulVecTo(dst, v, o.h.n, o.h.n, &o.room, o.Apply)
}

// Apply writes ∇²f(x)·v to dst, which is allocated if nil, and returns it. v and dst have the length
// of x and do not overlap.
func (o *HessianOp) Apply(dst, v []float64) ([]float64, error) {
	if o == nil || o.h.op == "" {
		return nil, unmade("HessianOp", "PrepareHVP and HVPPrep.At").failed
	}
	return o.h.HVP(dst, o.x, v)
}

// ApplyBatch writes ∇²f(x)·V to dst and returns it. V and dst are n×k, for n inputs and k vectors; see
// [HVPPrep.HVPBatch].
func (o *HessianOp) ApplyBatch(dst, V *mat.Dense) (*mat.Dense, error) {
	if o == nil || o.h.op == "" {
		return nil, unmade("HessianOp", "PrepareHVP and HVPPrep.At").failed
	}
	return o.h.HVPBatch(dst, o.x, V)
}

// Recordings returns how often the function was recorded; see [GradientPrep.Recordings].
func (p *HVPPrep) Recordings() int { return p.base().recordings() }

// Explain returns how p computes its operator. See [Auto].
func (p *HVPPrep) Explain() Explanation { return p.base().explain() }

// Clone returns a prepared object for use in another goroutine; see [GradientPrep.Clone].
func (p *HVPPrep) Clone() *HVPPrep { return clone(p) }

// Rebind makes later calls read the bound struct from q, a pointer to another struct of the same type; see
// [GradientPrep.Rebind].
func (p *HVPPrep) Rebind(q any) error { return p.base().rebind(q) }

// Resize prepares p again for points of the length of x. On an error p keeps its old size.
func (p *HVPPrep) Resize(x []float64) error { return p.base().resizeTo(x) }
