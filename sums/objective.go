package sums

import (
	"context"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
)

// An Objective is the function of x that an [Evaluator] sums, for solvers: value, gradient and Hessian at points. What
// is asked for at one point comes from one pass over the data where possible. Its methods may be called by several
// goroutines, which wait for each other.
//
// The first error ends it: from then on values are NaN, and Err returns the error. Among them is a *[CountError] for a
// pass that has other rows than the first one.
type Objective struct {
	ctx         context.Context
	e           Evaluator
	gaussNewton bool

	mu        sync.Mutex
	err       error
	x         []float64 // the last point
	sum       *Sum      // at x
	square    bool      // the directions of sum are all unit vectors
	first     *Sum      // of the first pass
	passes    int
	valueOnly int        // values at points in a row at which no gradient was asked for
	identity  *mat.Dense // directions for Hessians
}

// NewObjective returns the objective that e sums. ctx, which may be nil, ends it. With gaussNewton, for a term made by
// [Residuals], the Gauss–Newton matrix takes the place of the Hessian.
func NewObjective(ctx context.Context, e Evaluator, gaussNewton bool) *Objective {
	if ctx == nil {
		ctx = context.Background()
	}
	return &Objective{ctx: ctx, e: e, gaussNewton: gaussNewton}
}

// speculation is the number of values in a row without a gradient at their points after which values are summed alone.
const speculation = 4

// Func returns the value at x, and NaN after an error. It sums the gradient too, unless no gradient was asked for at
// the last points.
func (o *Objective) Func(x []float64) float64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.has(x) {
		o.valueOnly++
		if !o.pass(x, At(x, o.valueOnly <= speculation)) {
			return math.NaN()
		}
	}
	return o.sum.Value(0)
}

// Grad writes the gradient at x to dst, which must have the length of x, and NaN after an error.
func (o *Objective) Grad(dst, x []float64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.valueOnly = 0
	if (!o.has(x) || !o.sum.shape.gradient) && !o.pass(x, At(x, true)) {
		fill(dst)
		return
	}
	o.sum.Gradient(dst, 0)
}

// Hess writes the Hessian at x, or the Gauss–Newton matrix, to dst, whose order must be the length of x, and NaN after
// an error. A Hessian is computed by products with all unit vectors, in one pass.
func (o *Objective) Hess(dst *mat.SymDense, x []float64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := len(x)
	if !o.hasHessian(x) && !o.passHessian(x) {
		nan := make([]float64, n*n)
		fill(nan)
		dst.CopySym(mat.NewSymDense(n, nan))
		return
	}
	if o.gaussNewton {
		o.sum.GaussNewton(dst)
		return
	}
	column := make([]float64, n)
	for j := range n {
		o.sum.Product(column, j)
		for i := range j + 1 {
			dst.SetSym(i, j, column[i])
		}
	}
}

func (o *Objective) hasHessian(x []float64) bool {
	if !o.has(x) {
		return false
	}
	if o.gaussNewton {
		return o.sum.shape.gaussNewton
	}
	return o.square
}

func (o *Objective) passHessian(x []float64) bool {
	q := At(x, true)
	if o.gaussNewton {
		q.GaussNewton = true
		return o.pass(x, q)
	}
	n := len(x)
	if o.identity == nil || o.identity.RawMatrix().Rows != n {
		o.identity = mat.NewDense(n, n, nil)
		for i := range n {
			o.identity.Set(i, i, 1)
		}
	}
	q.V = o.identity
	o.square = o.pass(x, q)
	return o.square
}

// HVP writes the product of the Hessian at x with v, or of the Gauss–Newton matrix for residuals, to dst. All have the
// length of x. A pass computes value, gradient and product.
//
// An error is the first one of o.
func (o *Objective) HVP(dst, x, v []float64) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	q := At(x, true)
	if len(v) != len(x) {
		return &nabla.ShapeError{Op: "Objective.HVP", Arg: "len(v)", Got: len(v), Want: len(x)}
	}
	q.V = mat.NewDense(len(x), 1, slices.Clone(v))
	if !o.pass(x, q) {
		fill(dst)
		return o.err
	}
	o.sum.Product(dst, 0)
	return nil
}

// has reports whether the last pass was at x.
func (o *Objective) has(x []float64) bool {
	return o.err == nil && o.sum != nil && slices.Equal(o.x, x)
}

// pass sums for q, a query at x, and reports whether there was no error.
func (o *Objective) pass(x []float64, q *Query) bool {
	if o.err != nil {
		return false
	}
	o.passes++
	o.square = false
	s, err := o.e.Sum(o.ctx, q)
	if err == nil {
		if o.first == nil {
			o.first = s
		}
		if f := o.first; s.Rows != f.Rows || s.BadRows != f.BadRows {
			err = &CountError{s.Rows, s.BadRows, f.Rows, f.BadRows}
		}
	}
	if err != nil {
		o.err, o.sum = err, s
		return false
	}
	o.x, o.sum = append(o.x[:0], x...), s
	return true
}

// fill writes NaN to v.
func fill(v []float64) {
	for i := range v {
		v[i] = math.NaN()
	}
}

// Err returns the first error.
func (o *Objective) Err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// Last returns the sum of the last pass, nil before the first one. After an error it is the sum beside the error, of
// the rows before it, or nil.
func (o *Objective) Last() *Sum {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.sum
}

// Passes returns the number of passes over the data.
func (o *Objective) Passes() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.passes
}
