package nabla

import (
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla/engine"
)

// Derivatives with estimates of their errors, on engines that have them.

// unestimated returns the error of an operator whose engine estimates no errors.
func (p *prep) unestimated() error {
	return &UnsupportedError{What: p.op + ": " + nameOf(p.using) + " does not estimate errors",
		Remedy: "use finitediff.Adaptive{}, which does"}
}

// GradientWithError writes ∇f(x) to dst and estimates of the absolute errors of its elements to e, and returns both.
// Slices that are nil are allocated; otherwise they must have the length of x and not overlap it or each other. An
// estimate that the engine cannot make is NaN or +Inf. On engines that do not implement [engine.GradientEstimator] the
// error is an *[UnsupportedError]; finitediff.Adaptive does.
func (p *GradientPrep) GradientWithError(dst, e, x []float64) (grad, estimate []float64, err error) {
	if err := p.base().begin(x); err != nil {
		return nil, nil, err
	}
	defer p.end(&err)
	g, ok := p.g.(engine.GradientEstimator)
	if !ok {
		return nil, nil, p.unestimated()
	}
	if dst, err = p.vector("dst", dst, p.n, x); err != nil {
		return nil, nil, err
	}
	if e, err = p.vector("e", e, p.n, x); err != nil {
		return nil, nil, err
	}
	if overlap(dst, e) {
		return nil, nil, &AliasError{Op: p.op, Arg: "e", With: "dst"}
	}
	if _, err := g.GradientWithError(dst, e, x); err != nil {
		return nil, nil, err
	}
	return dst, e, nil
}

// JacobianWithError writes J(x) to dst and estimates of the absolute errors of its elements to e, and returns both.
// Matrices that are nil or empty are allocated; otherwise they must have m rows and n columns. See
// [GradientPrep.GradientWithError]; an [AutoSparse] has no estimates.
func (p *JacobianPrep) JacobianWithError(dst, e *mat.Dense, x []float64) (jac, estimate *mat.Dense, err error) {
	if err := p.base().begin(x); err != nil {
		return nil, nil, err
	}
	defer p.end(&err)
	j, ok := p.j.(engine.JacobianEstimator)
	if !ok {
		return nil, nil, p.unestimated()
	}
	dst, jb, err := p.prep.dense("dst", dst, p.m, p.n, x)
	if err != nil {
		return nil, nil, err
	}
	e, eb, err := p.prep.dense("e", e, p.m, p.n, x)
	if err != nil {
		return nil, nil, err
	}
	if overlap(jb.Data, eb.Data) {
		return nil, nil, &AliasError{Op: p.op, Arg: "e", With: "dst"}
	}
	if err := j.JacobianWithError(p.y, jb, eb, x); err != nil {
		return nil, nil, err
	}
	return dst, e, nil
}

// DerivativeWithError returns f'(x) and an estimate of its absolute error; see [GradientPrep.GradientWithError].
func (p *DerivativePrep) DerivativeWithError(x float64) (dy, e float64, err error) {
	if err := p.base().enter(); err != nil {
		return 0, 0, err
	}
	defer p.end(&err)
	push, ok := p.push.(engine.PushforwardEstimator)
	if !ok {
		return 0, 0, p.unestimated()
	}
	p.t[0] = x
	err = push.PushforwardWithError(p.curve.y, engine.Column(p.curve.dy), engine.Column(p.e[:]), p.t,
		engine.Column(p.one))
	if err != nil {
		return 0, 0, err
	}
	return p.curve.dy[0], p.e[0], nil
}
