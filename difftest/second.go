package difftest

import (
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
)

func hvp[F nabla.ScalarFunc](e env, f F) subject {
	return subject{
		prepare: func(x []float64) (*prepared, error) {
			p, err := nabla.PrepareHVP(f, e.b, x)
			if err != nil {
				return nil, err
			}
			return preparedHVP(p), nil
		},
		unprepared: []variant{
			{name: "HVP", start: func(o *outcome, x, t []float64) func() error {
				return func() (err error) { o.second.vec, err = nabla.HVP(f, e.b, x, t); return err }
			}},
			{name: "ValueGradientAndHVP", start: func(o *outcome, x, t []float64) func() error {
				o.value = number()
				return func() (err error) {
					o.value.vec[0], o.first.vec, o.second.vec, err = nabla.ValueGradientAndHVP(f, e.b, x, t)
					return err
				}
			}},
		},
	}
}

func preparedHVP(p *nabla.HVPPrep) *prepared {
	op := func(given bool) starter {
		return func(o *outcome, x, t []float64) func() error {
			o.second = vector(len(x), given)
			return func() (err error) { o.second.vec, err = p.HVP(o.second.given, x, t); return err }
		}
	}
	gradientAndOp := func(given bool) starter {
		return func(o *outcome, x, t []float64) func() error {
			o.first, o.second = vector(len(x), given), vector(len(x), given)
			return func() (err error) {
				o.first.vec, o.second.vec, err = p.GradientAndHVP(o.first.given, o.second.given, x, t)
				return err
			}
		}
	}
	valueAndOp := func(given bool) starter {
		return func(o *outcome, x, t []float64) func() error {
			o.value, o.first, o.second = number(), vector(len(x), given), vector(len(x), given)
			return func() (err error) {
				o.value.vec[0], o.first.vec, o.second.vec, err = p.ValueGradientAndHVP(o.first.given, o.second.given, x,
					t)
				return err
			}
		}
	}
	batch := func(scales []float64, how destination) starter {
		return func(o *outcome, x, t []float64) func() error {
			var dst *mat.Dense
			o.second, dst = matrix(len(x), len(scales), how)
			dirs := directions(t, scales)
			return func() error {
				d, err := p.HVPBatch(dst, x, dirs)
				o.second.m = d
				return err
			}
		}
	}
	return &prepared{
		batch: func(o *outcome, how destination, x []float64, T *mat.Dense) func() error {
			_, k := T.Dims()
			var dst *mat.Dense
			o.second, dst = matrix(len(x), k, how)
			return func() error {
				d, err := p.HVPBatch(dst, x, T)
				o.second.m = d
				return err
			}
		},
		variants: []variant{
			{name: "HVP(nil, x, t)", start: op(false)},
			{name: "HVP(dst, x, t)", hot: true, start: op(true)},
			{name: "GradientAndHVP(nil, nil, x, t)", start: gradientAndOp(false)},
			{name: "GradientAndHVP(grad, dst, x, t)", hot: true, start: gradientAndOp(true)},
			{name: "ValueGradientAndHVP(nil, nil, x, t)", start: valueAndOp(false)},
			{name: "ValueGradientAndHVP(grad, dst, x, t)", hot: true, start: valueAndOp(true)},
			{name: "HVPBatch(nil, x, (t, -t))", scales: pair, start: batch(pair, noDestination)},
			{name: "HVPBatch(dst, x, (t, -t))", scales: pair, hot: true, start: batch(pair, filledDestination)},
			{
				name:   "HVPBatch(dst, x, (t, -t, 2t, t/2, -4t))",
				scales: five,
				hot:    true,
				start:  batch(five, filledDestination),
			},
			{name: "HVPBatch(empty, x, (t, -t))", scales: pair, start: batch(pair, emptyDestination)},
		},
		tries: []try{
			pointTry(func(x, t []float64) error { _, err := p.HVP(nil, x, t); return err }),
			directionTry(func(x, t []float64) error { _, err := p.HVP(nil, x, t); return err }),
			vectorTry("dst", sameLength, func(x, t, v []float64) error { _, err := p.HVP(v, x, t); return err }),
			vectorTry("grad", sameLength, func(x, t, v []float64) error {
				_, _, err := p.GradientAndHVP(v, nil, x, t)
				return err
			}),
			matrixTry("rows of the directions", sameLength, 2, false, func(x, _ []float64, d *mat.Dense) error {
				_, err := p.HVPBatch(nil, x, d)
				return err
			}),
			matrixTry("rows of dst", sameLength, 2, false, func(x, t []float64, d *mat.Dense) error {
				_, err := p.HVPBatch(d, x, directions(t, pair))
				return err
			}),
			matrixTry("columns of dst", sameLength, 2, true, func(x, t []float64, d *mat.Dense) error {
				_, err := p.HVPBatch(d, x, directions(t, pair))
				return err
			}),
		},
		clone:  func() *prepared { return preparedHVP(p.Clone()) },
		resize: p.Resize,
		rebind: p.Rebind,
		at: func(x []float64) ([]variant, error) {
			h, err := p.At(x)
			if err != nil {
				return nil, err
			}
			apply := func(given bool) starter {
				return func(o *outcome, x, t []float64) func() error {
					o.second = vector(len(x), given)
					return func() (err error) { o.second.vec, err = h.Apply(o.second.given, t); return err }
				}
			}
			return []variant{
				{name: "At(x).Apply(nil, t)", start: apply(false)},
				{name: "At(x).Apply(dst, t)", start: apply(true)},
			}, nil
		},
	}
}

func hessian[F nabla.ScalarFunc](e env, f F) subject {
	return subject{
		prepare: func(x []float64) (*prepared, error) {
			p, err := nabla.PrepareHessian(f, e.b, x)
			if err != nil {
				return nil, err
			}
			return preparedHessian(p), nil
		},
		unprepared: []variant{
			{name: "Hessian", start: func(o *outcome, x, _ []float64) func() error {
				return func() (err error) { o.second.m, err = symmetricOf(nabla.Hessian(f, e.b, x)); return err }
			}},
			{name: "ValueGradientAndHessian", start: func(o *outcome, x, _ []float64) func() error {
				o.value = number()
				return func() (err error) {
					var h mat.Symmetric
					o.value.vec[0], o.first.vec, h, err = nabla.ValueGradientAndHessian(f, e.b, x)
					o.second.m = h
					return err
				}
			}},
		},
	}
}

// symmetricOf returns h as a matrix.
func symmetricOf(h mat.Symmetric, err error) (mat.Matrix, error) { return h, err }

// preparedHessian returns a prepared Hessian, with sparse destinations if p has a plan.
func preparedHessian(p *nabla.HessianPrep) *prepared {
	q := denseHessian(p)
	q.plan, q.invalidCalls = p.Plan, func() []invalidCall { return invalidHessianCalls(p) }
	if p.Plan() != nil {
		q.variants = append(q.variants, sparseHessians(p)...)
	}
	return q
}

// denseHessian returns a prepared Hessian with the calls that every backend supports.
func denseHessian(p *nabla.HessianPrep) *prepared {
	dense := func(how destination) starter {
		return func(o *outcome, x, _ []float64) func() error {
			var dst *mat.SymDense
			o.second, dst = symmetric(len(x), how)
			return func() error {
				d, err := p.Dense(dst, x)
				o.second.m = d
				return err
			}
		}
	}
	return &prepared{
		variants: []variant{
			{name: "Hessian(nil, x)", start: func(o *outcome, x, _ []float64) func() error {
				return func() (err error) { o.second.m, err = symmetricOf(p.Hessian(nil, x)); return err }
			}},
			{name: "Dense(nil, x)", start: dense(noDestination)},
			{name: "Dense(dst, x)", hot: true, start: dense(filledDestination)},
			{name: "Dense(empty, x)", start: dense(emptyDestination)},
			{name: "ValueGradientAndHessian(nil, nil, x)", start: func(o *outcome, x, _ []float64) func() error {
				o.value = number()
				return func() (err error) {
					var h mat.Symmetric
					o.value.vec[0], o.first.vec, h, err = p.ValueGradientAndHessian(nil, nil, x)
					o.second.m = h
					return err
				}
			}},
			{name: "ValueGradientAndHessian(grad, dst, x)", hot: true,
				start: func(o *outcome, x, _ []float64) func() error {
					var dst *mat.SymDense
					o.value, o.first = number(), vector(len(x), true)
					o.second, dst = symmetric(len(x), filledDestination)
					return func() (err error) {
						var h mat.Symmetric
						o.value.vec[0], o.first.vec, h, err = p.ValueGradientAndHessian(o.first.given, dst, x)
						o.second.m = h
						return err
					}
				}},
		},
		tries: []try{
			pointTry(func(x, _ []float64) error { _, err := p.Hessian(nil, x); return err }),
			vectorTry("grad", sameLength, func(x, _, v []float64) error {
				_, _, _, err := p.ValueGradientAndHessian(v, nil, x)
				return err
			}),
			matrixTry("order of dst", sameLength, 1, false, func(x, _ []float64, d *mat.Dense) error {
				r, _ := d.Dims()
				_, err := p.Dense(mat.NewSymDense(r, nil), x)
				return err
			}),
		},
		clone:  func() *prepared { return preparedHessian(p.Clone()) },
		resize: p.Resize,
		rebind: p.Rebind,
	}
}

func secondDerivative[F nabla.ScalarScalar](e env, f F) subject {
	return subject{
		prepare: func(x []float64) (*prepared, error) {
			p, err := nabla.PrepareSecondDerivative(f, e.b, x[0])
			if err != nil {
				return nil, err
			}
			return preparedSecondDerivative(p), nil
		},
		unprepared: []variant{
			{name: "SecondDerivative", start: func(o *outcome, x, _ []float64) func() error {
				o.second = number()
				return func() (err error) { o.second.vec[0], err = nabla.SecondDerivative(f, e.b, x[0]); return err }
			}},
			{name: "ValueDerivativeAndSecondDerivative", start: func(o *outcome, x, _ []float64) func() error {
				o.value, o.first, o.second = number(), number(), number()
				return func() (err error) {
					o.value.vec[0], o.first.vec[0], o.second.vec[0], err = nabla.ValueDerivativeAndSecondDerivative(f,
						e.b, x[0])
					return err
				}
			}},
		},
	}
}

func preparedSecondDerivative(p *nabla.SecondDerivativePrep) *prepared {
	return &prepared{
		variants: []variant{
			{name: "SecondDerivative(x)", hot: true, start: func(o *outcome, x, _ []float64) func() error {
				o.second = number()
				return func() (err error) { o.second.vec[0], err = p.SecondDerivative(x[0]); return err }
			}},
			{name: "ValueDerivativeAndSecondDerivative(x)", hot: true,
				start: func(o *outcome, x, _ []float64) func() error {
					o.value, o.first, o.second = number(), number(), number()
					return func() (err error) {
						v, d, d2 := o.value.vec, o.first.vec, o.second.vec
						v[0], d[0], d2[0], err = p.ValueDerivativeAndSecondDerivative(x[0])
						return err
					}
				}},
		},
		clone:  func() *prepared { return preparedSecondDerivative(p.Clone()) },
		rebind: p.Rebind,
	}
}

func curveSecondDerivative[F nabla.CurveFunc](e env, f F) subject {
	return subject{
		prepare: func(x []float64) (*prepared, error) {
			p, err := nabla.PrepareCurveSecondDerivative(f, e.b, x[0])
			if err != nil {
				return nil, err
			}
			return preparedCurveSecondDerivative(e, p), nil
		},
		unprepared: []variant{
			{name: "CurveSecondDerivative", start: func(o *outcome, x, _ []float64) func() error {
				return func() (err error) {
					o.second.vec, err = nabla.CurveSecondDerivative(f, e.b, x[0])
					return err
				}
			}},
			{name: "ValueDerivativeAndCurveSecondDerivative", start: func(o *outcome, x, _ []float64) func() error {
				return func() (err error) {
					o.value.vec, o.first.vec, o.second.vec, err = nabla.ValueDerivativeAndCurveSecondDerivative(f, e.b,
						x[0])
					return err
				}
			}},
		},
	}
}

func preparedCurveSecondDerivative(e env, p *nabla.CurveSecondDerivativePrep) *prepared {
	op := func(given bool) starter {
		return func(o *outcome, x, _ []float64) func() error {
			o.second = vector(e.outputs(1), given)
			return func() (err error) { o.second.vec, err = p.SecondDerivative(o.second.given, x[0]); return err }
		}
	}
	all := func(given bool) starter {
		return func(o *outcome, x, _ []float64) func() error {
			m := e.outputs(1)
			o.value, o.first, o.second = vector(m, given), vector(m, given), vector(m, given)
			return func() (err error) {
				o.value.vec, o.first.vec, o.second.vec, err = p.ValueDerivativeAndSecondDerivative(o.value.given,
					o.first.given, o.second.given, x[0])
				return err
			}
		}
	}
	return &prepared{
		variants: []variant{
			{name: "SecondDerivative(nil, t)", start: op(false)},
			{name: "SecondDerivative(dst, t)", hot: true, start: op(true)},
			{name: "ValueDerivativeAndSecondDerivative(nil, nil, nil, t)", start: all(false)},
			{name: "ValueDerivativeAndSecondDerivative(y, dy, dst, t)", hot: true, start: all(true)},
		},
		tries: []try{
			vectorTry("dst", e.outputs,
				func(x, _, v []float64) error { _, err := p.SecondDerivative(v, x[0]); return err }),
			vectorTry("dy", e.outputs, func(x, _, v []float64) error {
				_, _, _, err := p.ValueDerivativeAndSecondDerivative(nil, v, nil, x[0])
				return err
			}),
		},
		clone:  func() *prepared { return preparedCurveSecondDerivative(e, p.Clone()) },
		rebind: p.Rebind,
	}
}
