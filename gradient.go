package nabla

import "github.com/nabla-ad/nabla/engine"

// Gradient returns ∇f(x), a new slice of length len(x), for a function with one output. It prepares
// the operator and discards the preparation; for more than one call use [PrepareGradient].
//
// A generic function must be instantiated: Gradient(F[nabla.Real], …).
func Gradient[F ScalarFunc](f F, b Backend, x []float64) ([]float64, error) {
	_, g, err := ValueAndGradient(f, b, x)
	return g, err
}

// ValueAndGradient returns f(x) and ∇f(x). See [Gradient].
func ValueAndGradient[F ScalarFunc](f F, b Backend, x []float64) (float64, []float64, error) {
	p, err := PrepareGradient(f, once(b), x)
	if err != nil {
		return 0, nil, err
	}
	return p.ValueAndGradient(nil, x)
}

// PrepareGradient prepares the gradient of f on b: it does the work that depends only on f, b and
// the length of x. f may be evaluated at x, which need not be the point of later calls.
func PrepareGradient[F ScalarFunc](f F, b Backend, x []float64) (*GradientPrep, error) {
	return newOperator[GradientPrep]("Gradient", f, wantScalar, b, x)
}

// GradientPrep computes gradients of one function on one backend. It serves one goroutine at a
// time; a call from a second one returns ErrBusy.
type GradientPrep struct {
	prep
	g    engine.Gradient
	bare engine.BareGradient // nil if the value costs nothing
	y    [1]float64          // the result of Value
}

func (p *GradientPrep) base() *prep {
	if p == nil || p.op == "" {
		return unmade("GradientPrep", "PrepareGradient")
	}
	return &p.prep
}

func (p *GradientPrep) prepare() (err error) {
	p.g, err = engine.PrepareGradient(p.backend.inner, p.f, p.x)
	p.native = p.g
	p.bare, _ = p.g.(engine.BareGradient)
	return err
}

// Gradient writes ∇f(x) to dst and returns it. A nil dst is allocated; otherwise it must have the
// length of x and not overlap it. x is not modified.
func (p *GradientPrep) Gradient(dst, x []float64) (_ []float64, err error) {
	if p == nil || p.bare == nil {
		_, dst, err = p.ValueAndGradient(dst, x)
		return dst, err
	}
	if err := p.base().begin(x); err != nil {
		return nil, err
	}
	defer p.end(&err)
	if dst, err = p.vector("dst", dst, p.n, x); err != nil {
		return nil, err
	}
	if err := p.bare.Gradient(dst, x); err != nil {
		return nil, err
	}
	return dst, nil
}

// ValueAndGradient returns f(x) and the result of Gradient. The value costs little or nothing.
func (p *GradientPrep) ValueAndGradient(dst, x []float64) (y float64, grad []float64, err error) {
	if err := p.base().begin(x); err != nil {
		return 0, nil, err
	}
	defer p.end(&err)
	if dst, err = p.vector("dst", dst, p.n, x); err != nil {
		return 0, nil, err
	}
	if y, err = p.g.ValueAndGradient(dst, x); err != nil {
		return 0, nil, err
	}
	return y, dst, nil
}

// Value returns f(x) alone, from a run of the function over plain numbers: cheaper than a gradient where none is
// wanted, as at the trial points of a line search. It does not allocate unless the function does.
func (p *GradientPrep) Value(x []float64) (y float64, err error) {
	if err := p.base().begin(x); err != nil {
		return 0, err
	}
	defer p.end(&err)
	if err := p.f.Value(p.y[:], x); err != nil {
		return 0, err
	}
	return p.y[0], nil
}

// Recordings returns how often p has recorded the function: 1 if every replay was valid, 0 for
// engines that do not record ahead.
func (p *GradientPrep) Recordings() int { return p.base().recordings() }

// Explain returns how p computes its operator. See [Auto].
func (p *GradientPrep) Explain() Explanation { return p.base().explain() }

// Clone returns a prepared object for use in another goroutine. It has its own buffers and scratch.
// It reads the same bound struct as p and shares with it the parts described at [Bind]. If it
// cannot be made, every call of it returns the error.
func (p *GradientPrep) Clone() *GradientPrep { return clone(p) }

// Rebind makes later calls read the bound struct from q, a pointer to another struct of the same type. Clones of p
// keep theirs. If q is nil or of another type, the error is a *[FuncError], and if the function has no bound struct, an
// *[UnsupportedError]; p keeps its struct then.
func (p *GradientPrep) Rebind(q any) error { return p.base().rebind(q) }

// Resize prepares p again for points of the length of x. On an error p keeps its old size.
func (p *GradientPrep) Resize(x []float64) error { return p.base().resizeTo(x) }
