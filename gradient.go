package nabla

import "github.com/nabla-ad/nabla/engine"

// Gradient is ∇f(x) for a function with one output: a new slice of length len(x).
// It prepares and throws the preparation away; for more than one call use
// [PrepareGradient].
//
// A generic function has to be instantiated: Gradient(F[nabla.Real], …).
func Gradient[F ScalarFunc](f F, b Backend, x []float64) ([]float64, error) {
	_, g, err := ValueAndGradient(f, b, x)
	return g, err
}

// ValueAndGradient is f(x) and ∇f(x). See [Gradient].
func ValueAndGradient[F ScalarFunc](f F, b Backend, x []float64) (float64, []float64, error) {
	p, err := PrepareGradient(f, once(b), x)
	if err != nil {
		return 0, nil, err
	}
	return p.ValueAndGradient(nil, x)
}

// PrepareGradient does the work that depends on f, b and the length of x only. f
// may be evaluated at x, which need not be the point of later calls.
func PrepareGradient[F ScalarFunc](f F, b Backend, x []float64) (*GradientPrep, error) {
	p := new(GradientPrep)
	if err := p.setup("Gradient", f, wantScalar, b, x, p.prepare); err != nil {
		return nil, err
	}
	return p, nil
}

// GradientPrep computes gradients of one function on one backend. It is for one
// goroutine at a time; a second one that enters gets ErrBusy.
type GradientPrep struct {
	prep
	g    engine.Gradient
	bare engine.BareGradient // nil where the value costs nothing
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

// Gradient writes ∇f(x) to dst and returns it. A nil dst is allocated; otherwise
// it has the length of x and does not overlap it. x is not modified.
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
	return dst, p.bare.Gradient(dst, x)
}

// ValueAndGradient is Gradient and f(x), which costs nothing extra, or little.
func (p *GradientPrep) ValueAndGradient(dst, x []float64) (y float64, grad []float64, err error) {
	if err := p.base().begin(x); err != nil {
		return 0, nil, err
	}
	defer p.end(&err)
	if dst, err = p.vector("dst", dst, p.n, x); err != nil {
		return 0, nil, err
	}
	y, err = p.g.ValueAndGradient(dst, x)
	return y, dst, err
}

// Recordings is how often p has recorded the function: 1 where a replay has always
// fitted, 0 for engines that do not record ahead.
func (p *GradientPrep) Recordings() int { return p.base().recordings() }

// Clone is for another goroutine: it has its own buffers, its own scratch and, of the
// bound struct, which it reads from the same place, what is said at [Bind].
func (p *GradientPrep) Clone() *GradientPrep {
	q := new(GradientPrep)
	q.cloneOf(p.base(), q.prepare)
	return q
}

// Rebind reads the context from q, another struct of the same type, from now on.
func (p *GradientPrep) Rebind(q any) error { return p.base().rebind(q, nil) }

// Resize prepares again for points of the length of x.
func (p *GradientPrep) Resize(x []float64) error { return p.base().resizeTo(x) }
