package finitediff

import (
	"github.com/nabla-ad/nabla/engine"
)

// An Estimate is a derivative with an estimate of its error.
type Estimate struct {
	Value       float64
	Error       float64 // the estimate of |Value - f⁽q⁾(x)|; +Inf if Value is NaN because no step is short enough
	Step        float64 // the step that Value was computed with
	Evaluations int     // of f
}

// Derivative returns the derivative of f at x of the given order, 1 or more, with an estimate of its error. The errors
// are those of [Adaptive.PrepareDerivative] and of [Derivative.At].
func (a Adaptive) Derivative(f func(float64) float64, x float64, order int) (Estimate, error) {
	d, err := a.PrepareDerivative(f, order)
	if err != nil {
		return Estimate{}, err
	}
	return d.At(x)
}

// PrepareDerivative prepares derivatives of f of the given order, 1 or more: it computes the coefficients. The error is
// a *[SettingError], or an *[engine.ShapeError] for a wrong number of Steps.
func (a Adaptive) PrepareDerivative(f func(float64) float64, order int) (*Derivative, error) {
	d, lists, err := a.differ(ofNumber(f), order)
	if err != nil {
		return nil, err
	}
	return &Derivative{differ: d, schemes: lists[0]}, nil
}

// ofNumber returns f as a function of package engine.
func ofNumber(f func(float64) float64) *engine.Function {
	return engine.NewFunction(engine.Def{Name: "f", N: 1, M: 1,
		Plain: func(y, x []float64, _ engine.Context) error {
			y[0] = f(x[0])
			return nil
		}})
}

// A Derivative computes derivatives of one function of a number, of one order. It serves one goroutine at a time, and
// its calls do not allocate.
type Derivative struct {
	differ  *differ
	schemes []scheme
	x       [1]float64
}

// At returns the derivative at x. The error is a *[BoundsError] if x is out of bounds, a *[DomainError] if f has no
// values around x, and an *[engine.PanicError] if f panics at x. If f(x) or x is not finite the Value is NaN.
func (d *Derivative) At(x float64) (Estimate, error) {
	before := d.differ.f.Calls()
	d.x[0] = x
	if err := d.differ.at(nil, d.x[:]); err != nil {
		return Estimate{}, err
	}
	defer d.differ.done()
	l := d.differ.lines[0]
	l.along(0)
	if err := l.derive(d.schemes); err != nil {
		return Estimate{}, err
	}
	return Estimate{Value: l.d[0], Error: l.e[0], Step: l.steps[0], Evaluations: d.differ.f.Calls() - before}, nil
}
