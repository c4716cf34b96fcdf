package difftest

import (
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
)

// A product is the common interface of PushforwardPrep and PullbackPrep.
type product struct {
	name       string
	op         func(dst, x, t []float64) ([]float64, error)
	valueAndOp func(y, dst, x, t []float64) (yOut, out []float64, err error)
	batch      func(dst *mat.Dense, x []float64, T *mat.Dense) (*mat.Dense, error)
	at         func(x []float64) (*nabla.LinearOp, error)
	// in and out return the lengths of the direction and of the result for n inputs.
	in, out func(n int) int
	outputs func(n int) int
	// sameProduct and otherProduct are the methods of the operator at a point that compute this product and the
	// transposed one.
	sameProduct, otherProduct func(l *nabla.LinearOp, dst, t []float64) ([]float64, error)
}

func pushforward[F nabla.AnyFunc](e env, f F) subject {
	return subject{
		prepare: func(x []float64) (*prepared, error) {
			p, err := nabla.PreparePushforward(f, e.b, x)
			if err != nil {
				return nil, err
			}
			return preparedPushforward(e, p), nil
		},
		unprepared: []variant{
			{name: "Pushforward", start: func(o *outcome, x, t []float64) func() error {
				return func() (err error) { o.first.vec, err = nabla.Pushforward(f, e.b, x, t); return err }
			}},
			{name: "ValueAndPushforward", start: func(o *outcome, x, t []float64) func() error {
				return func() (err error) {
					o.value.vec, o.first.vec, err = nabla.ValueAndPushforward(f, e.b, x, t)
					return err
				}
			}},
		},
	}
}

func preparedPushforward(e env, p *nabla.PushforwardPrep) *prepared {
	q := product{
		name: "Pushforward", op: p.Pushforward, valueAndOp: p.ValueAndPushforward, batch: p.PushforwardBatch, at: p.At,
		in: sameLength, out: e.outputs, outputs: e.outputs,
		sameProduct: (*nabla.LinearOp).Apply, otherProduct: (*nabla.LinearOp).Transpose,
	}
	r := q.prepared()
	r.clone = func() *prepared { return preparedPushforward(e, p.Clone()) }
	r.resize, r.rebind = p.Resize, p.Rebind
	return r
}

func pullback[F nabla.AnyFunc](e env, f F) subject {
	return subject{
		prepare: func(x []float64) (*prepared, error) {
			p, err := nabla.PreparePullback(f, e.b, x)
			if err != nil {
				return nil, err
			}
			return preparedPullback(e, p), nil
		},
		unprepared: []variant{
			{name: "Pullback", start: func(o *outcome, x, t []float64) func() error {
				return func() (err error) { o.first.vec, err = nabla.Pullback(f, e.b, x, t); return err }
			}},
			{name: "ValueAndPullback", start: func(o *outcome, x, t []float64) func() error {
				return func() (err error) {
					o.value.vec, o.first.vec, err = nabla.ValueAndPullback(f, e.b, x, t)
					return err
				}
			}},
		},
	}
}

func preparedPullback(e env, p *nabla.PullbackPrep) *prepared {
	q := product{
		name: "Pullback", op: p.Pullback, valueAndOp: p.ValueAndPullback, batch: p.PullbackBatch, at: p.At,
		in: e.outputs, out: sameLength, outputs: e.outputs,
		sameProduct: (*nabla.LinearOp).Transpose, otherProduct: (*nabla.LinearOp).Apply,
	}
	r := q.prepared()
	r.clone = func() *prepared { return preparedPullback(e, p.Clone()) }
	r.resize, r.rebind = p.Resize, p.Rebind
	return r
}

// prepared returns the prepared operator for all checks.
func (p product) prepared() *prepared {
	many := func(o *outcome, how destination, x []float64, T *mat.Dense) func() error {
		_, k := T.Dims()
		var dst *mat.Dense
		o.first, dst = matrix(p.out(len(x)), k, how)
		return func() error {
			d, err := p.batch(dst, x, T)
			o.first.m = d
			return err
		}
	}
	return &prepared{variants: p.variants(), tries: p.tries(), at: p.linear, batch: many}
}

// variants returns all calls with and without destinations, and batches of two and of five directions.
func (p product) variants() []variant {
	op := func(given bool) starter {
		return func(o *outcome, x, t []float64) func() error {
			o.first = vector(p.out(len(x)), given)
			return func() (err error) { o.first.vec, err = p.op(o.first.given, x, t); return err }
		}
	}
	valueAndOp := func(given bool) starter {
		return func(o *outcome, x, t []float64) func() error {
			o.value, o.first = vector(p.outputs(len(x)), given), vector(p.out(len(x)), given)
			return func() (err error) {
				o.value.vec, o.first.vec, err = p.valueAndOp(o.value.given, o.first.given, x, t)
				return err
			}
		}
	}
	batch := func(scales []float64, how destination) starter {
		return func(o *outcome, x, t []float64) func() error {
			var dst *mat.Dense
			dirs := directions(t, scales)
			o.first, dst = matrix(p.out(len(x)), len(scales), how)
			return func() error {
				d, err := p.batch(dst, x, dirs)
				o.first.m = d
				return err
			}
		}
	}
	return []variant{
		{name: p.name + "(nil, x, t)", start: op(false)},
		{name: p.name + "(dst, x, t)", hot: true, start: op(true)},
		{name: "ValueAnd" + p.name + "(nil, nil, x, t)", start: valueAndOp(false)},
		{name: "ValueAnd" + p.name + "(y, dst, x, t)", hot: true, start: valueAndOp(true)},
		{name: p.name + "Batch(nil, x, (t, -t))", scales: pair, start: batch(pair, noDestination)},
		{name: p.name + "Batch(dst, x, (t, -t))", scales: pair, hot: true, start: batch(pair, filledDestination)},
		{
			name:   p.name + "Batch(dst, x, (t, -t, 2t, t/2, -4t))",
			scales: five,
			hot:    true,
			start:  batch(five, filledDestination),
		},
		{name: p.name + "Batch(empty, x, (t, -t))", scales: pair, start: batch(pair, emptyDestination)},
	}
}

// tries returns calls with one argument of a wrong length.
func (p product) tries() []try {
	return []try{
		pointTry(func(x, t []float64) error { _, err := p.op(nil, x, t); return err }),
		directionTry(func(x, t []float64) error { _, err := p.op(nil, x, t); return err }),
		vectorTry("dst", p.out, func(x, t, v []float64) error { _, err := p.op(v, x, t); return err }),
		vectorTry("y", p.outputs, func(x, t, v []float64) error {
			_, _, err := p.valueAndOp(v, nil, x, t)
			return err
		}),
		matrixTry("rows of the directions", p.in, 2, false, func(x, _ []float64, d *mat.Dense) error {
			_, err := p.batch(nil, x, d)
			return err
		}),
		matrixTry("rows of dst", p.out, 2, false, func(x, t []float64, d *mat.Dense) error {
			_, err := p.batch(d, x, directions(t, pair))
			return err
		}),
		matrixTry("columns of dst", p.out, 2, true, func(x, t []float64, d *mat.Dense) error {
			_, err := p.batch(d, x, directions(t, pair))
			return err
		}),
	}
}

// linear returns the ways to compute the product with the operator at x.
func (p product) linear(x []float64) ([]variant, error) {
	l, err := p.at(x)
	if err != nil {
		return nil, err
	}
	op := func(given bool) starter {
		return func(o *outcome, x, t []float64) func() error {
			o.value, o.first = vector(p.outputs(len(x)), given), vector(p.out(len(x)), given)
			return func() (err error) {
				if o.value.vec, err = l.Value(o.value.given); err != nil {
					return err
				}
				o.first.vec, err = p.sameProduct(l, o.first.given, t)
				return err
			}
		}
	}
	// The transposed product of unit vectors returns the rows of the matrix.
	transposed := func(o *outcome, x, t []float64) func() error {
		m := p.out(len(x))
		return func() error {
			o.first.vec = make([]float64, m)
			unit := make([]float64, m)
			for i := range unit {
				unit[i] = 1
				row, err := p.otherProduct(l, nil, unit)
				if err != nil {
					return err
				}
				unit[i] = 0
				for j, v := range row {
					o.first.vec[i] += v * t[j]
				}
			}
			return nil
		}
	}
	return []variant{
		{name: "At(x), same product(nil, t)", start: op(false)},
		{name: "At(x), same product(dst, t)", start: op(true)},
		{name: "At(x), other product of unit vectors", start: transposed},
	}, nil
}
