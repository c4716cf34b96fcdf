package nabla

import (
	"fmt"
	"iter"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/series"
)

// PartialDerivatives returns all partial derivatives of f at x up to the given order: value, gradient, Hessian, third
// derivatives and so on. There are C(n+order, order) for n inputs. They are computed by Taylor arithmetic in n
// variables; see [TaylorCoefficients].
func PartialDerivatives[F ScalarFunc](f F, x []float64, order int) (*Partials, error) {
	p, err := PreparePartialDerivatives(f, single(nil), x, order, nil)
	if err != nil {
		return nil, err
	}
	return p.Partials(nil, x)
}

// PreparePartialDerivatives prepares all partial derivatives up to the given order on b, which must be an engine of
// Taylor arithmetic or nil. If orders is not nil, those by x[i] go up to orders[i] only; 0 makes x[i] a constant.
func PreparePartialDerivatives[F ScalarFunc](f F, b Backend, x []float64, order int,
	orders []int) (*PartialsPrep, error) {
	const op = "PartialDerivatives"
	if order < 0 {
		return nil, &OrderError{Op: op, Order: order}
	}
	for _, o := range orders {
		if o < 0 {
			return nil, &OrderError{Op: op, Order: o}
		}
	}
	if orders != nil && len(orders) != len(x) {
		return nil, &ShapeError{Op: op, Arg: "len(orders)", Got: len(orders), Want: len(x)}
	}
	p := &PartialsPrep{total: order, orders: orders}
	if err := p.setup(op, f, wantScalar, b, x, p.prepare); err != nil {
		return nil, err
	}
	return p, nil
}

// PartialsPrep computes all partial derivatives up to some order. It is for one goroutine at a time.
type PartialsPrep struct {
	prep
	total  int
	orders []int // nil for no bounds by input
	space  *series.Space
	part   engine.Partials
	y      []float64
}

func (p *PartialsPrep) base() *prep {
	if p == nil || p.op == "" {
		return unmade("PartialsPrep", "PreparePartialDerivatives")
	}
	return &p.prep
}

func (p *PartialsPrep) prepare() (err error) {
	if p.n == 0 {
		return &ShapeError{Op: p.op, Arg: "len(x)", Got: 0, Want: 1}
	}
	orders := make([]int, p.n)
	for i := range orders {
		orders[i] = p.total
		if p.orders != nil {
			orders[i] = min(p.total, p.orders[i])
		}
	}
	p.part, err = engine.PreparePartials(p.backend.inner, p.op, p.f, p.x, p.total, orders)
	if err != nil {
		return err
	}
	p.native, p.y = p.part, make([]float64, 1)
	p.space = series.Monomials(p.total, orders)
	return nil
}

// Partials writes all partial derivatives at x to dst, which is allocated if nil, and returns it. dst must come from p,
// or from an object of the same orders.
func (p *PartialsPrep) Partials(dst *Partials, x []float64) (_ *Partials, err error) {
	if err := p.base().begin(x); err != nil {
		return nil, err
	}
	defer p.end(&err)
	if dst == nil {
		dst = &Partials{space: p.space, c: make([]float64, p.space.Size())}
	}
	if dst.space != p.space {
		if dst.space == nil || dst.space.Size() != p.space.Size() || dst.space.Variables() != p.n {
			return nil, &ShapeError{Op: p.op, Arg: "number of coefficients of dst", Got: len(dst.c),
				Want: p.space.Size()}
		}
		dst.space = p.space
	}
	if overlap(dst.c, x) {
		return nil, &AliasError{Op: p.op, Arg: "dst", With: "x"}
	}
	if err := p.part.Partials(p.y, engine.Block{N: 1, B: len(dst.c), Stride: len(dst.c), Data: dst.c}, x); err != nil {
		return nil, err
	}
	dst.value = p.y[0]
	return dst, nil
}

// Explain returns how p computes its operator. See [Auto].
func (p *PartialsPrep) Explain() Explanation { return p.base().explain() }

// Clone returns a prepared object for use in another goroutine; see [GradientPrep.Clone].
func (p *PartialsPrep) Clone() *PartialsPrep {
	q := &PartialsPrep{}
	if p != nil {
		q.total, q.orders = p.total, p.orders
	}
	q.cloneOf(p.base(), q.prepare)
	return q
}

// Rebind makes later calls read the bound struct from q, a pointer to another struct of the same type; see
// [GradientPrep.Rebind].
func (p *PartialsPrep) Rebind(q any) error { return p.base().rebind(q) }

// Partials holds the partial derivatives of a function with one output at a point, up to some order.
//
// A derivative has a multi-index α, with an exponent for each input: α = (2, 0, 1) is ∂³/∂x0²∂x2. The Taylor polynomial
// is the sum of Coefficient(α)·h^α.
type Partials struct {
	space *series.Space
	value float64
	c     []float64
}

// Value returns the value of the function.
func (p *Partials) Value() float64 {
	if p.empty() {
		return 0
	}
	return p.value
}

// empty reports whether p is nil or the zero value.
func (p *Partials) empty() bool { return p == nil || p.space == nil }

// Order returns the highest order.
func (p *Partials) Order() int {
	if p.empty() {
		return 0
	}
	return p.space.Order()
}

// Inputs returns the number of inputs.
func (p *Partials) Inputs() int {
	if p.empty() {
		return 0
	}
	return p.space.Variables()
}

// Len returns the number of derivatives, with the value.
func (p *Partials) Len() int {
	if p.empty() {
		return 0
	}
	return 1 + len(p.c)
}

// At returns the partial derivative with the exponents alpha, one for each input. A wrong number of exponents is a
// *[ShapeError], and a derivative that was not computed an *[OrderError].
func (p *Partials) At(alpha ...int) (float64, error) {
	c, err := p.Coefficient(alpha...)
	if err != nil || c == 0 {
		return c, err
	}
	return c * factorials(alpha), nil
}

// factorials returns the product of the factorials of alpha.
func factorials(alpha []int) float64 {
	f := 1.0
	for _, e := range alpha {
		for ; e > 1; e-- {
			f *= float64(e)
		}
	}
	return f
}

// Coefficient returns the coefficient of the Taylor polynomial with the exponents alpha: the partial derivative divided
// by the factorials of alpha. Errors are those of At.
func (p *Partials) Coefficient(alpha ...int) (float64, error) {
	if n := p.Inputs(); len(alpha) != n || n == 0 {
		return 0, &ShapeError{Op: "Partials", Arg: "number of exponents", Got: len(alpha), Want: n}
	}
	i, ok := p.space.Find(alpha)
	switch {
	case !ok:
		return 0, p.missing(alpha)
	case i < 0:
		return p.value, nil
	}
	return p.c[i], nil
}

// missing returns the error for a derivative that was not computed.
func (p *Partials) missing(alpha []int) error {
	order := 0
	for _, e := range alpha {
		if e < 0 {
			return &OrderError{Op: "Partials", Order: e}
		}
		order += e
	}
	return &OrderError{Op: fmt.Sprintf("Partials%v", slices.Clone(alpha)), Order: order, Max: p.Order(),
		Remedy: "prepare a higher order, in all or by these inputs"}
}

// By returns the partial derivative by the inputs i, j, …, each of which may occur several times: By(0, 0, 2) is
// At(2, 0, 1) for three inputs. By() is the value. An input out of range is a *[ShapeError].
func (p *Partials) By(inputs ...int) (float64, error) {
	var buf [32]int
	alpha := append(buf[:0], make([]int, p.Inputs())...)
	for _, i := range inputs {
		if i < 0 || i >= len(alpha) {
			return 0, &ShapeError{Op: "Partials", Arg: "input", Got: i, Want: len(alpha) - 1}
		}
		alpha[i]++
	}
	return p.At(alpha...)
}

// Gradient writes the first derivatives to dst, which is allocated if nil, and returns it. The order must be 1 or more.
func (p *Partials) Gradient(dst []float64) ([]float64, error) {
	n := p.Inputs()
	if dst == nil {
		dst = make([]float64, n)
	}
	if len(dst) != n {
		return nil, &ShapeError{Op: "Partials", Arg: "len(dst)", Got: len(dst), Want: n}
	}
	var err error
	for i := range dst {
		if dst[i], err = p.By(i); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// Hessian writes the second derivatives to dst, which is allocated if nil or empty, and returns it. The order must be 2
// or more.
func (p *Partials) Hessian(dst *mat.SymDense) (*mat.SymDense, error) {
	n := p.Inputs()
	if n == 0 {
		return nil, &ShapeError{Op: "Partials", Arg: "number of inputs", Got: 0, Want: 1}
	}
	if dst == nil {
		dst = new(mat.SymDense)
	}
	if dst.IsEmpty() {
		dst.ReuseAsSym(n)
	}
	if got := dst.SymmetricDim(); got != n {
		return nil, &ShapeError{Op: "Partials", Arg: "order of dst", Got: got, Want: n}
	}
	for i := range n {
		for j := i; j < n; j++ {
			d, err := p.By(i, j)
			if err != nil {
				return nil, err
			}
			dst.SetSym(i, j, d)
		}
	}
	return dst, nil
}

// Third returns the third derivative by inputs i, j and k.
func (p *Partials) Third(i, j, k int) (float64, error) { return p.By(i, j, k) }

// All returns an iterator over the multi-indices and partial derivatives, by order and then in descending lexicographic
// order: (0, 0), (1, 0), (0, 1), (2, 0), (1, 1), …. The slice is valid until the next step.
func (p *Partials) All() iter.Seq2[[]int, float64] {
	return func(yield func([]int, float64) bool) {
		if p.empty() || !yield(make([]int, p.Inputs()), p.value) {
			return
		}
		var alpha []int
		for i, c := range p.c {
			alpha = p.space.Monomial(alpha[:0], i)
			if c != 0 {
				c *= factorials(alpha)
			}
			if !yield(alpha, c) {
				return
			}
		}
	}
}
