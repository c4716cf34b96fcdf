package optim

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// MinimizeSettings are the settings of [NewtonCG] and [Bounded]. The zero value has the defaults.
type MinimizeSettings struct {
	// GTol is the largest element of the gradient at which the solver ends, relative to that at the start if it exceeds
	// 1 there: 1e-8 by default. With bounds, components that point out of the box do not count. A negative number turns
	// the test off; the run ends where rounding errors end it.
	GTol float64
	// MaxEvaluations is the limit of evaluations of the function: 1000 by default.
	MaxEvaluations int
	// Radius is that of the first trust region of NewtonCG: by default the norm of x0, at least 1.
	Radius float64
	// Context, unless nil, ends the run when it is done; it is checked before each evaluation and each product.
	Context context.Context
	// Progress, unless nil, is called with the start and each point that is accepted. An error ends the run.
	Progress func(Iteration) error
}

// A MinimizeResult is a result of [NewtonCG] or [Bounded].
type MinimizeResult struct {
	X            []float64 // the best point
	Value        float64   // f(X)
	Gradient     []float64 // ∇f(X)
	GradientNorm float64   // its largest element, without components that point out of the bounds
	Iterations   int       // accepted steps
	Evaluations  int       // of values alone
	Gradients    int       // evaluations of gradients
	Products     int       // products with a Hessian, of NewtonCG
	Hessians     int       // evaluations of the Hessian, of Bounded
	Status       Status
}

// A descent is a run of NewtonCG or Bounded.
type descent struct {
	run
	gtol   float64
	radius float64
	box    box
	prep   derivatives
	res    MinimizeResult // X and Gradient are those of the current point
	trial  []float64
	next   []float64 // the gradient at the trial point

	undefined *NonFiniteError // of the last value, nil if it was finite
}

// derivatives has the value and the gradient of a function, as a *nabla.GradientPrep has.
type derivatives interface {
	Value(x []float64) (float64, error)
	ValueAndGradient(dst, x []float64) (y float64, grad []float64, err error)
}

// newDescent checks the settings and returns a run without its function.
func newDescent(op string, x0 []float64, s *MinimizeSettings) (*descent, error) {
	var set MinimizeSettings
	if s != nil {
		set = *s
	}
	d := &descent{run: run{op: op, context: set.Context, progress: set.Progress, limit: set.MaxEvaluations}}
	var err error
	if d.gtol, err = tolerance(op, "GTol", set.GTol, 1e-8); err != nil {
		return nil, err
	}
	switch d.radius = set.Radius; {
	case len(x0) == 0:
		return nil, &SettingError{op, "len(x0)", "0", "at least one unknown"}
	case d.limit < 0:
		return nil, &SettingError{op, "MaxEvaluations", fmt.Sprint(d.limit), "a positive number, or 0 for the default"}
	case !(set.Radius >= 0) || math.IsInf(set.Radius, 0):
		return nil, &SettingError{op, "Radius", fmt.Sprint(set.Radius), "a positive number, or 0 for the default"}
	case set.Radius == 0:
		d.radius = max(1, floats.Norm(x0, 2))
	}
	if i := nonFinite(x0); i >= 0 {
		return nil, &NonFiniteError{op, "unknown", i, x0[i], slices.Clone(x0)}
	}
	if d.limit == 0 {
		d.limit = 1000
	}
	n := len(x0)
	d.res = MinimizeResult{X: slices.Clone(x0), Gradient: make([]float64, n), Value: math.NaN(),
		GradientNorm: math.NaN()}
	d.trial, d.next = make([]float64, n), make([]float64, n)
	return d, nil
}

// start computes value and gradient at the start, and makes the tolerance of the gradient absolute.
func (d *descent) start() error {
	if err := d.refresh(); err != nil {
		return err
	}
	if d.gtol > 0 {
		d.gtol *= max(1, d.res.GradientNorm)
	}
	return nil
}

// refresh computes value and gradient at the current point.
func (d *descent) refresh() (err error) {
	if d.res.Value, err = d.gradientAt(d.res.Gradient, d.res.X); err == nil {
		d.measure()
	}
	return err
}

// gradientAt writes the gradient at x to g and returns the value, which are finite.
func (d *descent) gradientAt(g, x []float64) (float64, error) {
	if err := d.check(); err != nil {
		return 0, err
	}
	d.res.Gradients++
	y, _, err := d.prep.ValueAndGradient(g, x)
	if err != nil {
		return y, err
	}
	if y-y != 0 {
		return y, &NonFiniteError{d.op, "value", 0, y, slices.Clone(x)}
	}
	if i := nonFinite(g); i >= 0 {
		return y, &NonFiniteError{d.op, "component of the gradient", i, g[i], slices.Clone(x)}
	}
	return y, nil
}

// valueAt returns the value at x, which may be NaN.
func (d *descent) valueAt(x []float64) (float64, error) {
	if err := d.check(); err != nil {
		return 0, err
	}
	d.evaluations++
	y, err := d.prep.Value(x)
	if d.undefined = nil; err == nil && y-y != 0 {
		d.undefined = &NonFiniteError{d.op, "value", 0, y, slices.Clone(x)}
	}
	return y, err
}

// precision returns the end of a run whose last step was rejected with a reduction of the size of rounding errors: a
// success if the full step, which reduces the model by predicted, promises little more.
func (d *descent) precision(predicted float64) (Status, error) {
	if predicted <= rootEps*math.Abs(d.res.Value) {
		return CostPrecision, nil
	}
	return d.stuck()
}

// stuck returns the end of a run that finds no shorter step to try.
func (d *descent) stuck() (Status, error) {
	if d.undefined != nil {
		return Stopped, d.undefined
	}
	return Stopped, &DescentError{d.op, d.res.GradientNorm}
}

// measure computes the norm of the projected gradient.
func (d *descent) measure() {
	d.res.GradientNorm = 0
	for i := range d.res.X {
		d.res.GradientNorm = max(d.res.GradientNorm, math.Abs(d.box.gradient(i, d.res.X, d.res.Gradient)))
	}
}

// step reports the point with the damping that the solver uses, and returns the status if it is the last.
func (d *descent) step(damping float64) (Status, error) {
	err := d.report(Iteration{Number: d.res.Iterations, X: d.res.X, Cost: d.res.Value, Gradient: d.res.GradientNorm,
		Damping: damping})
	switch {
	case err != nil:
		return Stopped, err
	case d.res.GradientNorm <= d.gtol || d.res.GradientNorm == 0:
		return GradientConverged, nil
	case d.evaluations >= d.limit:
		return EvaluationLimit, nil
	}
	return Stopped, nil
}

// accept makes the trial point with the gradient in d.next the current one.
func (d *descent) accept(value float64) {
	d.res.X, d.trial = d.trial, d.res.X
	d.res.Gradient, d.next = d.next, d.res.Gradient
	d.res.Value = value
	d.res.Iterations++
	d.measure()
}

// acceptable computes the gradient at the trial point with the given value, and reports whether the point is better: if
// the reduction is no larger than rounding errors of the value, as predicted is, the gradient decides.
func (d *descent) acceptable(value, predicted float64, accepted bool) (yes, precision bool, err error) {
	if precision = predicted <= 10*eps*math.Abs(d.res.Value); !precision && !accepted || value-value != 0 {
		return false, precision, nil
	}
	if _, err := d.gradientAt(d.next, d.trial); err != nil {
		return false, precision, err
	}
	if !precision {
		return true, false, nil
	}
	norm := 0.0
	for i := range d.next {
		norm = max(norm, math.Abs(d.box.gradient(i, d.trial, d.next)))
	}
	return norm < d.res.GradientNorm, true, nil
}

// result returns the result.
func (d *descent) result(s Status, err error) (*MinimizeResult, error) {
	d.res.Status, d.res.Evaluations = s, d.evaluations
	if err != nil {
		d.res.Status = Stopped
	} else if s == EvaluationLimit {
		err = &ConvergenceError{d.op, d.evaluations, d.res.Value}
	}
	return &d.res, err
}
