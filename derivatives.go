package nabla

import (
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla/engine"
)

// Derivatives returns f(x), f'(x), f″(x) and so on up to the given order, for a function of one number with one output.
// They are computed by Taylor arithmetic; see [TaylorCoefficients].
func Derivatives[F ScalarScalar](f F, x float64, order int) ([]float64, error) {
	p, err := PrepareDerivatives(f, single(nil), x, order)
	if err != nil {
		return nil, err
	}
	return p.Derivatives(nil, x)
}

// PrepareDerivatives prepares all derivatives up to the given order on b, which must be an engine of Taylor arithmetic
// or nil.
func PrepareDerivatives[F ScalarScalar](f F, b Backend, x float64, order int) (*DerivativesPrep, error) {
	return newTaylor(&DerivativesPrep{}, "Derivatives", f, wantScalar, b, []float64{x}, order)
}

// DerivativesPrep computes all derivatives, up to some order, of a function of one number. It is for one goroutine at a
// time.
type DerivativesPrep struct {
	prep
	tower
}

func (p *DerivativesPrep) base() *prep {
	if p == nil || p.op == "" {
		return unmade("DerivativesPrep", "PrepareDerivatives")
	}
	return &p.prep
}

func (p *DerivativesPrep) prepare() error { return p.prepareTower(&p.prep) }

// A tower is an expansion along a number.
type tower struct {
	expansion
	t   []float64
	dir engine.Block
}

func (t *tower) prepareTower(p *prep) error {
	if p.n != 1 {
		return &ShapeError{Op: p.op, Arg: "number of inputs of " + p.f.Name(), Got: p.n, Want: 1}
	}
	t.t, t.dir = make([]float64, 1), engine.Column([]float64{1})
	return t.prepareExpansion(p)
}

// at writes the derivatives of output i at x to the rows of dst.
func (t *tower) at(dst engine.Block, x float64) error {
	t.t[0] = x
	if err := t.expand(t.t, t.dir, t.d); err != nil {
		return err
	}
	for i := range dst.N {
		row, factorial := dst.Row(i), 1.0
		row[0] = t.y[i]
		for k, c := range t.yc.Row(i) {
			factorial *= float64(k + 1)
			row[k+1] = c * factorial
			if c == 0 { // 0·171! is NaN
				row[k+1] = 0
			}
		}
	}
	return nil
}

// Order returns the highest order.
func (p *DerivativesPrep) Order() int {
	if p == nil {
		return 0
	}
	return p.d
}

// Derivatives writes f(x), f'(x), … to dst, which is allocated if nil, and returns it. dst has Order+1 elements.
func (p *DerivativesPrep) Derivatives(dst []float64, x float64) (_ []float64, err error) {
	if err := p.base().enter(); err != nil {
		return nil, err
	}
	defer p.end(&err)
	if dst, err = p.vector("dst", dst, p.d+1, nil); err != nil {
		return nil, err
	}
	if err := p.at(engine.Block{N: 1, B: p.d + 1, Stride: p.d + 1, Data: dst}, x); err != nil {
		return nil, err
	}
	return dst, nil
}

// Explain returns how p computes its operator. See [Auto].
func (p *DerivativesPrep) Explain() Explanation { return p.base().explain() }

// Clone returns a prepared object for use in another goroutine; see [GradientPrep.Clone].
func (p *DerivativesPrep) Clone() *DerivativesPrep {
	q := &DerivativesPrep{}
	if p != nil {
		q.d = p.d
	}
	q.cloneOf(p.base(), q.prepare)
	return q
}

// Rebind makes later calls read the bound struct from q, a pointer to another struct of the same type; see
// [GradientPrep.Rebind].
func (p *DerivativesPrep) Rebind(q any) error { return p.base().rebind(q) }

// CurveDerivatives returns f(t), f'(t), … up to the given order for a function of one number with several outputs, as
// an m×(order+1) matrix with a row for each output.
func CurveDerivatives[F CurveFunc](f F, t float64, order int) (*mat.Dense, error) {
	p, err := PrepareCurveDerivatives(f, single(nil), t, order)
	if err != nil {
		return nil, err
	}
	return p.Derivatives(nil, t)
}

// PrepareCurveDerivatives prepares all derivatives up to the given order on b, which must be an engine of Taylor
// arithmetic or nil.
func PrepareCurveDerivatives[F CurveFunc](f F, b Backend, t float64, order int) (*CurveDerivativesPrep, error) {
	return newTaylor(&CurveDerivativesPrep{}, "CurveDerivatives", f, wantAny, b, []float64{t}, order)
}

// CurveDerivativesPrep computes all derivatives, up to some order, of a function of one number with several outputs. It
// is for one goroutine at a time.
type CurveDerivativesPrep struct {
	prep
	tower
}

func (p *CurveDerivativesPrep) base() *prep {
	if p == nil || p.op == "" {
		return unmade("CurveDerivativesPrep", "PrepareCurveDerivatives")
	}
	return &p.prep
}

func (p *CurveDerivativesPrep) prepare() error { return p.prepareTower(&p.prep) }

// Order returns the highest order.
func (p *CurveDerivativesPrep) Order() int {
	if p == nil {
		return 0
	}
	return p.d
}

// Derivatives writes f(t), f'(t), … to the columns of dst, m×(Order+1), and returns it. A nil or empty dst is
// allocated.
func (p *CurveDerivativesPrep) Derivatives(dst *mat.Dense, t float64) (_ *mat.Dense, err error) {
	if err := p.base().enter(); err != nil {
		return nil, err
	}
	defer p.end(&err)
	dst, out, err := p.dense("dst", dst, p.m, p.d+1, nil)
	if err != nil {
		return nil, err
	}
	if err := p.at(out, t); err != nil {
		return nil, err
	}
	return dst, nil
}

// Explain returns how p computes its operator. See [Auto].
func (p *CurveDerivativesPrep) Explain() Explanation { return p.base().explain() }

// Clone returns a prepared object for use in another goroutine; see [GradientPrep.Clone].
func (p *CurveDerivativesPrep) Clone() *CurveDerivativesPrep {
	q := &CurveDerivativesPrep{}
	if p != nil {
		q.d = p.d
	}
	q.cloneOf(p.base(), q.prepare)
	return q
}

// Rebind makes later calls read the bound struct from q, a pointer to another struct of the same type; see
// [GradientPrep.Rebind].
func (p *CurveDerivativesPrep) Rebind(q any) error { return p.base().rebind(q) }
