package nabla

import (
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla/engine"
)

// TaylorCoefficients returns the coefficients c of f(x + t·v) = c[0] + c[1]·t + … + c[order]·t^order + O(t^(order+1)):
// c[0] is f(x), c[1] the derivative along v, and c[k] the k-th derivative along v divided by k!. It is computed by
// Taylor arithmetic, see package [github.com/nabla-ad/nabla/backend/taylor]. A negative order, or one above
// taylor.DefaultMaxOrder, is an [OrderError]; [PrepareTaylorCoefficients] takes a backend with another limit.
func TaylorCoefficients[F ScalarFunc](f F, x, v []float64, order int) ([]float64, error) {
	p, err := PrepareTaylorCoefficients(f, single(nil), x, order)
	if err != nil {
		return nil, err
	}
	return p.Coefficients(nil, x, v)
}

// PrepareTaylorCoefficients prepares Taylor coefficients up to the given order on b, which must be an engine of Taylor
// arithmetic or nil.
func PrepareTaylorCoefficients[F ScalarFunc](f F, b Backend, x []float64, order int) (*TaylorPrep, error) {
	return newTaylor(&TaylorPrep{}, "TaylorCoefficients", f, wantScalar, b, x, order)
}

// TaylorPrep computes Taylor coefficients of a function with one output. It is for one goroutine at a time.
type TaylorPrep struct {
	prep
	expansion
}

func (p *TaylorPrep) base() *prep {
	if p == nil || p.op == "" {
		return unmade("TaylorPrep", "PrepareTaylorCoefficients")
	}
	return &p.prep
}

func (p *TaylorPrep) prepare() error { return p.prepareExpansion(&p.prep) }

// Order returns the highest degree.
func (p *TaylorPrep) Order() int {
	if p == nil {
		return 0
	}
	return p.d
}

// Coefficients writes the coefficients of f(x + t·v), of degrees 0 to Order, to dst, which is allocated if nil, and
// returns it. v has the length of x. dst overlaps neither x nor v.
func (p *TaylorPrep) Coefficients(dst, x, v []float64) (_ []float64, err error) {
	if err := p.base().begin(x); err != nil {
		return nil, err
	}
	defer p.end(&err)
	if err := p.input("v", v, p.n); err != nil {
		return nil, err
	}
	if dst, err = p.vector("dst", dst, p.d+1, x); err != nil {
		return nil, err
	}
	if overlap(dst, v) {
		return nil, &AliasError{Op: p.op, Arg: "dst", With: "v"}
	}
	if err := p.expand(x, engine.Column(v), p.d); err != nil {
		return nil, err
	}
	dst[0] = p.y[0]
	copy(dst[1:], p.yc.Row(0))
	return dst, nil
}

// CoefficientsBatch writes the coefficients along several directions, the columns of the n×k matrix V, to the columns
// of dst, (Order+1)×k, and returns it. A nil or empty dst is allocated; dst must not overlap x or V. It costs less than
// the directions one by one.
func (p *TaylorPrep) CoefficientsBatch(dst *mat.Dense, x []float64, V *mat.Dense) (_ *mat.Dense, err error) {
	if err := p.base().begin(x); err != nil {
		return nil, err
	}
	defer p.end(&err)
	dst, c, v, err := p.columns(dst, p.d+1, "V", V, p.n, x)
	if err != nil || v.B == 0 {
		return dst, err
	}
	if err := p.expandBatch(&p.prep, x, v); err != nil {
		return nil, err
	}
	for l := range v.B {
		c.Row(0)[l] = p.y[0]
	}
	for k := 1; k <= p.d; k++ {
		copy(c.Row(k), p.bc.Row(0)[(k-1)*v.B:k*v.B])
	}
	return dst, nil
}

// Along writes the coefficients of f(x(t)) for the curve x(t) = C[0] + C[1]·t + … to dst, which is allocated if nil,
// and returns it. Column k of the n×(k+1) matrix C holds the coefficients of degree k, with the point in column 0;
// there may be fewer columns than Order+1. As many coefficients are computed as there are columns. dst must not overlap
// C.
func (p *TaylorPrep) Along(dst []float64, C *mat.Dense) (_ []float64, err error) {
	if err := p.base().enter(); err != nil {
		return nil, err
	}
	defer p.end(&err)
	c, err := p.curve(&p.prep, C)
	if err != nil {
		return nil, err
	}
	if dst, err = p.vector("dst", dst, c.B, c.Data); err != nil {
		return nil, err
	}
	if err := p.expand(p.expansion.x, c.Cols(1, c.B-1), c.B-1); err != nil {
		return nil, err
	}
	dst[0] = p.y[0]
	copy(dst[1:], p.yc.Row(0))
	return dst, nil
}

// Explain returns how p computes its operator. See [Auto].
func (p *TaylorPrep) Explain() Explanation { return p.base().explain() }

// Clone returns a prepared object for use in another goroutine; see [GradientPrep.Clone].
func (p *TaylorPrep) Clone() *TaylorPrep {
	q := &TaylorPrep{}
	if p != nil {
		q.d = p.d
	}
	q.cloneOf(p.base(), q.prepare)
	return q
}

// Rebind makes later calls read the bound struct from q, a pointer to another struct of the same type; see
// [GradientPrep.Rebind].
func (p *TaylorPrep) Rebind(q any) error { return p.base().rebind(q) }

// Resize prepares p again for points of the length of x. On an error p keeps its old size.
func (p *TaylorPrep) Resize(x []float64) error { return p.base().resizeTo(x) }

// An expansion is the engine's part of operators that compute Taylor coefficients, with the buffers for one result.
type expansion struct {
	d       int // the order
	one     engine.Expansion
	batch   engine.Expansion
	curves  int // of batch
	x, y    []float64
	yc, bc  engine.Block
	full    []float64 // the memory of yc
	current int       // the order of yc
}

// newTaylor prepares p, a zero object.
func newTaylor[T any, P interface {
	operator[T]
	setOrder(order int)
}](p P, op string, f any, want shapeWant, b Backend, x []float64, order int) (P, error) {
	p.setOrder(order)
	if order < 0 {
		return nil, &OrderError{Op: op, Order: order}
	}
	if err := p.common().setup(op, f, want, b, x, p.prepare); err != nil {
		return nil, err
	}
	return p, nil
}

func (e *expansion) setOrder(order int) { e.d = order }

// prepareExpansion prepares the engine's part, which becomes p.native, and runs the function once at the point of
// preparation, along the direction of ones, so that a rule without derivatives of that order is an error now.
func (e *expansion) prepareExpansion(p *prep) (err error) {
	if e.one, err = engine.PrepareExpansion(p.backend.inner, p.op, p.f, p.x, e.d, 1); err != nil {
		return err
	}
	if need := engine.MatrixBytes(p.m, e.d); need > p.f.MemoryLimit() {
		return engine.TooLarge("the coefficients", need, p.f.MemoryLimit())
	}
	p.native, e.batch = e.one, nil
	e.x, e.y = make([]float64, p.n), make([]float64, p.m)
	e.full, e.current = make([]float64, p.m*e.d), -1
	ones := engine.NewBlock(p.n, 1)
	for i := range ones.Data {
		ones.Data[i] = 1
	}
	return e.expand(p.x, ones, e.d)
}

// expand writes the values at x to e.y and the coefficients along xc to e.yc, up to the given order.
func (e *expansion) expand(x []float64, xc engine.Block, order int) error {
	if order != e.current {
		e.yc = engine.Block{N: len(e.y), B: order, Stride: order, Data: e.full}
		e.current = order
	}
	if order == 0 {
		xc.B = 0
	}
	return e.one.Expand(e.y, e.yc, x, xc, order)
}

// expandBatch writes the values at x to e.y and the coefficients along the columns of v to e.bc.
func (e *expansion) expandBatch(p *prep, x []float64, v engine.Block) (err error) {
	if e.batch == nil || e.curves != v.B {
		if e.batch, err = engine.PrepareExpansion(p.backend.inner, p.op, p.f, p.x, e.d, v.B); err != nil {
			return err
		}
		e.curves, e.bc = v.B, engine.NewBlock(p.m, e.d*v.B)
	}
	if e.d == 0 {
		v.B = 0
	}
	return e.batch.Expand(e.y, e.bc, x, v, e.d)
}

// curve checks the coefficients of a curve, copies its point to e.x and returns them.
func (e *expansion) curve(p *prep, C *mat.Dense) (engine.Block, error) {
	cols := 1
	if C != nil && !C.IsEmpty() {
		_, cols = C.Dims()
	}
	if cols > e.d+1 {
		return engine.Block{}, &ShapeError{Op: p.op, Arg: "columns of C", Got: cols, Want: e.d + 1}
	}
	c, err := p.block("C", C, p.n, cols)
	if err != nil {
		return c, err
	}
	for i := range p.n {
		e.x[i] = c.Row(i)[0]
	}
	return c, nil
}

// VectorTaylorCoefficients returns the Taylor coefficients of all outputs of f(x + t·v), as an m×(order+1) matrix with
// a row for each output; see [TaylorCoefficients].
func VectorTaylorCoefficients[F VectorFunc](f F, x, v []float64, order int) (*mat.Dense, error) {
	p, err := PrepareVectorTaylorCoefficients(f, single(nil), x, order)
	if err != nil {
		return nil, err
	}
	return p.Coefficients(nil, x, v)
}

// PrepareVectorTaylorCoefficients prepares Taylor coefficients of all outputs up to the given order on b, which must be
// an engine of Taylor arithmetic or nil.
func PrepareVectorTaylorCoefficients[F VectorFunc](f F, b Backend, x []float64, order int) (*VectorTaylorPrep, error) {
	return newTaylor(&VectorTaylorPrep{}, "VectorTaylorCoefficients", f, wantVector, b, x, order)
}

// VectorTaylorPrep computes Taylor coefficients of a function with several outputs. It is for one goroutine at a time.
type VectorTaylorPrep struct {
	prep
	expansion
}

func (p *VectorTaylorPrep) base() *prep {
	if p == nil || p.op == "" {
		return unmade("VectorTaylorPrep", "PrepareVectorTaylorCoefficients")
	}
	return &p.prep
}

func (p *VectorTaylorPrep) prepare() error { return p.prepareExpansion(&p.prep) }

// Order returns the highest degree.
func (p *VectorTaylorPrep) Order() int {
	if p == nil {
		return 0
	}
	return p.d
}

// Coefficients writes the coefficients of f(x + t·v), of degrees 0 to Order, to the rows of dst, m×(Order+1), and
// returns it. A nil or empty dst is allocated. v has the length of x. dst overlaps neither x nor v.
func (p *VectorTaylorPrep) Coefficients(dst *mat.Dense, x, v []float64) (_ *mat.Dense, err error) {
	if err := p.base().begin(x); err != nil {
		return nil, err
	}
	defer p.end(&err)
	if err := p.input("v", v, p.n); err != nil {
		return nil, err
	}
	dst, out, err := p.dense("dst", dst, p.m, p.d+1, x)
	if err != nil {
		return nil, err
	}
	if overlap(out.Data, v) {
		return nil, &AliasError{Op: p.op, Arg: "dst", With: "v"}
	}
	if err := p.expand(x, engine.Column(v), p.d); err != nil {
		return nil, err
	}
	p.write(out)
	return dst, nil
}

// Along writes the coefficients of f(x(t)) for the curve x(t) = C[0] + C[1]·t + … to the rows of dst, which is
// allocated if nil or empty, and returns it. Column k of C, with n rows, holds the coefficients of degree k, with the
// point in column 0; there may be fewer columns than Order+1. dst has m rows and as many columns as C, and must not
// overlap it.
//
// With it, a step of a differential equation x' = f(x) by Taylor series takes one call for each order: coefficient k+1
// of x is coefficient k of f(x(t)), divided by k+1.
func (p *VectorTaylorPrep) Along(dst, C *mat.Dense) (_ *mat.Dense, err error) {
	if err := p.base().enter(); err != nil {
		return nil, err
	}
	defer p.end(&err)
	c, err := p.curve(&p.prep, C)
	if err != nil {
		return nil, err
	}
	dst, out, err := p.dense("dst", dst, p.m, c.B, c.Data)
	if err != nil {
		return nil, err
	}
	if err := p.expand(p.expansion.x, c.Cols(1, c.B-1), c.B-1); err != nil {
		return nil, err
	}
	p.write(out)
	return dst, nil
}

// write copies values and coefficients to the rows of out.
func (e *expansion) write(out engine.Block) {
	for i := range out.N {
		row := out.Row(i)
		row[0] = e.y[i]
		copy(row[1:], e.yc.Row(i))
	}
}

// Explain returns how p computes its operator. See [Auto].
func (p *VectorTaylorPrep) Explain() Explanation { return p.base().explain() }

// Clone returns a prepared object for use in another goroutine; see [GradientPrep.Clone].
func (p *VectorTaylorPrep) Clone() *VectorTaylorPrep {
	q := &VectorTaylorPrep{}
	if p != nil {
		q.d = p.d
	}
	q.cloneOf(p.base(), q.prepare)
	return q
}

// Rebind makes later calls read the bound struct from q, a pointer to another struct of the same type; see
// [GradientPrep.Rebind].
func (p *VectorTaylorPrep) Rebind(q any) error { return p.base().rebind(q) }

// Resize prepares p again for points of the length of x. On an error p keeps its old size.
func (p *VectorTaylorPrep) Resize(x []float64) error { return p.base().resizeTo(x) }
