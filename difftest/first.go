package difftest

import (
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
)

// gradient returns the operator Gradient applied to f. The functions named after the other operators do the same, and
// those named prepared… return all calls of a prepared one.
func gradient[F nabla.ScalarFunc](e env, f F) subject {
	return subject{
		prepare: func(x []float64) (*prepared, error) {
			p, err := nabla.PrepareGradient(f, e.b, x)
			if err != nil {
				return nil, err
			}
			return preparedGradient(p), nil
		},
		unprepared: []variant{
			{name: "Gradient", start: func(o *outcome, x, _ []float64) func() error {
				return func() (err error) { o.first.vec, err = nabla.Gradient(f, e.b, x); return err }
			}},
			{name: "ValueAndGradient", start: func(o *outcome, x, _ []float64) func() error {
				o.value = number()
				return func() (err error) {
					o.value.vec[0], o.first.vec, err = nabla.ValueAndGradient(f, e.b, x)
					return err
				}
			}},
		},
	}
}

func preparedGradient(p *nabla.GradientPrep) *prepared {
	op := func(given bool) starter {
		return func(o *outcome, x, _ []float64) func() error {
			o.first = vector(len(x), given)
			return func() (err error) { o.first.vec, err = p.Gradient(o.first.given, x); return err }
		}
	}
	valueAndOp := func(given bool) starter {
		return func(o *outcome, x, _ []float64) func() error {
			o.value, o.first = number(), vector(len(x), given)
			return func() (err error) {
				o.value.vec[0], o.first.vec, err = p.ValueAndGradient(o.first.given, x)
				return err
			}
		}
	}
	return &prepared{
		variants: []variant{
			{name: "Gradient(nil, x)", start: op(false)},
			{name: "Gradient(dst, x)", hot: true, start: op(true)},
			{name: "ValueAndGradient(nil, x)", start: valueAndOp(false)},
			{name: "ValueAndGradient(dst, x)", hot: true, start: valueAndOp(true)},
		},
		tries: []try{
			pointTry(func(x, _ []float64) error { _, err := p.Gradient(nil, x); return err }),
			vectorTry("dst", sameLength, func(x, _, v []float64) error { _, err := p.Gradient(v, x); return err }),
		},
		clone:  func() *prepared { return preparedGradient(p.Clone()) },
		resize: p.Resize,
		rebind: p.Rebind,
	}
}

func jacobian[F nabla.VectorFunc](e env, f F) subject {
	return subject{
		prepare: func(x []float64) (*prepared, error) {
			p, err := nabla.PrepareJacobian(f, e.b, x)
			if err != nil {
				return nil, err
			}
			return preparedJacobian(e, p), nil
		},
		unprepared: []variant{
			{name: "Jacobian", start: func(o *outcome, x, _ []float64) func() error {
				return func() (err error) { o.first.m, err = nabla.Jacobian(f, e.b, x); return err }
			}},
			{name: "ValueAndJacobian", start: func(o *outcome, x, _ []float64) func() error {
				return func() (err error) {
					o.value.vec, o.first.m, err = nabla.ValueAndJacobian(f, e.b, x)
					return err
				}
			}},
		},
	}
}

// preparedJacobian returns a prepared Jacobian, with sparse destinations if p has a plan.
func preparedJacobian(e env, p *nabla.JacobianPrep) *prepared {
	q := denseJacobian(e, p)
	q.plan, q.invalidCalls = p.Plan, func() []invalidCall { return invalidJacobianCalls(p) }
	if p.Plan() != nil {
		q.variants = append(q.variants, sparseJacobians(e, p)...)
	}
	return q
}

// denseJacobian returns a prepared Jacobian with the calls that every backend supports.
func denseJacobian(e env, p *nabla.JacobianPrep) *prepared {
	dense := func(how destination) starter {
		return func(o *outcome, x, _ []float64) func() error {
			var dst *mat.Dense
			o.first, dst = matrix(e.outputs(len(x)), len(x), how)
			return func() error {
				d, err := p.Dense(dst, x)
				o.first.m = d
				return err
			}
		}
	}
	return &prepared{
		variants: []variant{
			{name: "Jacobian(nil, x)", start: func(o *outcome, x, _ []float64) func() error {
				return func() (err error) { o.first.m, err = p.Jacobian(nil, x); return err }
			}},
			{name: "Dense(nil, x)", start: dense(noDestination)},
			{name: "Dense(dst, x)", hot: true, start: dense(filledDestination)},
			{name: "Dense(empty, x)", start: dense(emptyDestination)},
			{name: "ValueAndJacobian(nil, nil, x)", start: func(o *outcome, x, _ []float64) func() error {
				return func() (err error) {
					o.value.vec, o.first.m, err = p.ValueAndJacobian(nil, nil, x)
					return err
				}
			}},
			{name: "ValueAndJacobian(y, dst, x)", hot: true, start: func(o *outcome, x, _ []float64) func() error {
				m := e.outputs(len(x))
				var dst *mat.Dense
				o.first, dst = matrix(m, len(x), filledDestination)
				o.value = vector(m, true)
				return func() (err error) {
					o.value.vec, o.first.m, err = p.ValueAndJacobian(o.value.given, dst, x)
					return err
				}
			}},
		},
		tries: []try{
			pointTry(func(x, _ []float64) error { _, err := p.Jacobian(nil, x); return err }),
			vectorTry("y", e.outputs, func(x, _, v []float64) error {
				_, _, err := p.ValueAndJacobian(v, nil, x)
				return err
			}),
			matrixTry("rows of dst", e.outputs, 0, false, func(x, _ []float64, d *mat.Dense) error {
				_, err := p.Dense(d, x)
				return err
			}),
			matrixTry("columns of dst", e.outputs, 0, true, func(x, _ []float64, d *mat.Dense) error {
				_, err := p.Dense(d, x)
				return err
			}),
		},
		clone:  func() *prepared { return preparedJacobian(e, p.Clone()) },
		resize: p.Resize,
		rebind: p.Rebind,
	}
}

func derivative[F nabla.ScalarScalar](e env, f F) subject {
	return subject{
		prepare: func(x []float64) (*prepared, error) {
			p, err := nabla.PrepareDerivative(f, e.b, x[0])
			if err != nil {
				return nil, err
			}
			return preparedDerivative(p), nil
		},
		unprepared: []variant{
			{name: "Derivative", start: func(o *outcome, x, _ []float64) func() error {
				o.first = number()
				return func() (err error) { o.first.vec[0], err = nabla.Derivative(f, e.b, x[0]); return err }
			}},
			{name: "ValueAndDerivative", start: func(o *outcome, x, _ []float64) func() error {
				o.value, o.first = number(), number()
				return func() (err error) {
					o.value.vec[0], o.first.vec[0], err = nabla.ValueAndDerivative(f, e.b, x[0])
					return err
				}
			}},
		},
	}
}

func preparedDerivative(p *nabla.DerivativePrep) *prepared {
	return &prepared{
		variants: []variant{
			{name: "Derivative(x)", hot: true, start: func(o *outcome, x, _ []float64) func() error {
				o.first = number()
				return func() (err error) { o.first.vec[0], err = p.Derivative(x[0]); return err }
			}},
			{name: "ValueAndDerivative(x)", hot: true, start: func(o *outcome, x, _ []float64) func() error {
				o.value, o.first = number(), number()
				return func() (err error) {
					o.value.vec[0], o.first.vec[0], err = p.ValueAndDerivative(x[0])
					return err
				}
			}},
		},
		clone:  func() *prepared { return preparedDerivative(p.Clone()) },
		rebind: p.Rebind,
	}
}

func curveDerivative[F nabla.CurveFunc](e env, f F) subject {
	return subject{
		prepare: func(x []float64) (*prepared, error) {
			p, err := nabla.PrepareCurveDerivative(f, e.b, x[0])
			if err != nil {
				return nil, err
			}
			return preparedCurveDerivative(e, p), nil
		},
		unprepared: []variant{
			{name: "CurveDerivative", start: func(o *outcome, x, _ []float64) func() error {
				return func() (err error) { o.first.vec, err = nabla.CurveDerivative(f, e.b, x[0]); return err }
			}},
			{name: "ValueAndCurveDerivative", start: func(o *outcome, x, _ []float64) func() error {
				return func() (err error) {
					o.value.vec, o.first.vec, err = nabla.ValueAndCurveDerivative(f, e.b, x[0])
					return err
				}
			}},
		},
	}
}

func preparedCurveDerivative(e env, p *nabla.CurveDerivativePrep) *prepared {
	op := func(given bool) starter {
		return func(o *outcome, x, _ []float64) func() error {
			o.first = vector(e.outputs(1), given)
			return func() (err error) { o.first.vec, err = p.Derivative(o.first.given, x[0]); return err }
		}
	}
	valueAndOp := func(given bool) starter {
		return func(o *outcome, x, _ []float64) func() error {
			o.value, o.first = vector(e.outputs(1), given), vector(e.outputs(1), given)
			return func() (err error) {
				o.value.vec, o.first.vec, err = p.ValueAndDerivative(o.value.given, o.first.given, x[0])
				return err
			}
		}
	}
	return &prepared{
		variants: []variant{
			{name: "Derivative(nil, t)", start: op(false)},
			{name: "Derivative(dst, t)", hot: true, start: op(true)},
			{name: "ValueAndDerivative(nil, nil, t)", start: valueAndOp(false)},
			{name: "ValueAndDerivative(y, dst, t)", hot: true, start: valueAndOp(true)},
		},
		tries: []try{
			vectorTry("dst", e.outputs, func(x, _, v []float64) error { _, err := p.Derivative(v, x[0]); return err }),
			vectorTry("y", e.outputs, func(x, _, v []float64) error {
				_, _, err := p.ValueAndDerivative(v, nil, x[0])
				return err
			}),
		},
		clone:  func() *prepared { return preparedCurveDerivative(e, p.Clone()) },
		rebind: p.Rebind,
	}
}
