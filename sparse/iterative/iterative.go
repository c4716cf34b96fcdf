package iterative

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// An Operator is a square matrix as its products with vectors, as gonum.org/v1/gonum/exp/linsolve takes it. *sparse.CSC
// and *sparse.SymCSC are Operators, and so are gonum's band matrices. If an Operator has a method Dims, its shape is
// checked. The methods of this package call it with vectors of increment 1 that share no memory, and with trans false.
type Operator interface {
	// MulVecTo stores A·x in dst, or Aᵀ·x if trans is set.
	MulVecTo(dst *mat.VecDense, trans bool, x mat.Vector)
}

// A Func is an Operator given by a function that stores A·x in dst, such as the method Apply of a derivative of nabla.
// It must not change x or retain either. A method stops at its error and returns it.
type Func func(dst, x []float64) error

// MulVecTo calls f. It panics with the error of f, and for the transpose, which is not known. It copies vectors whose
// increment is not 1.
func (f Func) MulVecTo(dst *mat.VecDense, trans bool, x mat.Vector) {
	if trans {
		panic("iterative: Func.MulVecTo: a function has no product with the transpose")
	}
	if dst.IsEmpty() {
		dst.ReuseAsVec(x.Len())
	}
	in, out := mat.Col(nil, 0, x), make([]float64, dst.Len())
	if err := f(out, in); err != nil {
		panic(err)
	}
	for i, v := range out {
		dst.SetVec(i, v)
	}
}

// A Preconditioner approximates the solution of A·z = r. It must be linear and the same in all iterations.
type Preconditioner interface {
	// Solve stores z in dst. dst and r have the same length and share no memory.
	Solve(dst, r []float64) error
}

// Settings are those that all methods have.
type Settings struct {
	// Tolerance is the norm of the residual, relative to that of b, at which a solution is accepted; 0 means 1e-8.
	Tolerance float64

	// AbsTolerance is the norm of the residual at which a solution is accepted in any case.
	AbsTolerance float64

	// MaxIterations is the maximal number of iterations; 0 means 10·n, but at least 100.
	MaxIterations int

	// Preconditioner, if not nil, is applied in each iteration.
	Preconditioner Preconditioner

	// Progress, if not nil, is called after each iteration with the number of iterations and the norm of the residual
	// as the recurrences have it.
	Progress func(iterations int, residual float64)
}

// A Result describes a solution.
type Result struct {
	Iterations int
	Products   int     // products with A
	Residual   float64 // ‖b-A·x‖₂, computed with the solution x; if products fail, Recurrence, or infinite if unknown
	Recurrence float64 // the same as the recurrences had it, which rounding errors leave behind
}

// A run is the state of one call of Solve.
type run struct {
	*Settings
	method string
	ctx    context.Context
	a      Operator
	x, b   []float64
	n      int
	target float64
	max    int
	result Result
	err    error // of a Func

	vectors []mat.VecDense // work vectors
	best    []float64      // the iterate with the smallest residual that is not x
	least   float64        // its residual
	saved   bool           // best is valid
}

// begin checks the arguments and makes k work vectors.
func (r *run) begin(ctx context.Context, method string, s *Settings, x []float64, a Operator, b []float64,
	k int) error {
	n := len(b)
	r.method, r.Settings, r.ctx, r.a, r.x, r.b, r.n = method, s, ctx, a, x, b, n
	r.result, r.saved, r.least, r.err = Result{}, false, math.Inf(1), nil
	if d, ok := a.(interface{ Dims() (int, int) }); ok {
		rows, cols := d.Dims()
		if err := checkSquare(method, rows, cols); err != nil {
			return err
		}
		if err := checkLen(method, "b", n, rows); err != nil {
			return err
		}
	}
	if err := checkLen(method, "x", len(x), n); err != nil {
		return err
	}
	for _, c := range []struct {
		name string
		v    float64
	}{{"Tolerance", s.Tolerance}, {"AbsTolerance", s.AbsTolerance}, {"MaxIterations", float64(s.MaxIterations)}} {
		if !(c.v >= 0) {
			return &SettingError{method, c.name, fmt.Sprint(c.v), "a number that is not negative"}
		}
	}
	if err := r.finite("b", b); err != nil {
		return err
	}
	if err := r.finite("x", x); err != nil {
		return err
	}
	if r.max = s.MaxIterations; r.max == 0 {
		r.max = max(100, 10*n)
	}
	tol := s.Tolerance
	if tol == 0 {
		tol = 1e-8
	}
	r.target = max(tol*norm(b), s.AbsTolerance)
	if r.target == 0 {
		clear(x) // the solution for b = 0: from another guess a residual of exactly 0 is out of reach
	}
	if len(r.vectors) < k || len(r.best) != n {
		r.best = make([]float64, n)
		r.vectors = make([]mat.VecDense, k)
		for i := range r.vectors {
			if n > 0 {
				r.vectors[i].ReuseAsVec(n)
			}
		}
	}
	return nil
}

// end releases the arguments.
func (r *run) end() { r.Settings, r.ctx, r.a, r.x, r.b, r.err = nil, nil, nil, nil, nil, nil }

// finite returns the error of the last product, or a *NonFiniteError for the first element of v that is not finite.
func (r *run) finite(what string, v []float64) error {
	if r.err != nil {
		return r.err
	}
	for i, e := range v {
		if math.IsNaN(e) || math.IsInf(e, 0) {
			return &NonFiniteError{r.method, what, i, e}
		}
	}
	return nil
}

// vec returns the elements of work vector k.
func (r *run) vec(k int) []float64 {
	if r.n == 0 {
		return nil
	}
	return r.vectors[k].RawVector().Data
}

// multiply stores the product of A and work vector from in work vector to. If it fails, the result has a NaN, and
// finite returns the error.
func (r *run) multiply(to, from int) {
	r.result.Products++
	if r.n == 0 {
		return // gonum has no vectors without elements
	}
	f, ok := r.a.(Func)
	if !ok {
		r.a.MulVecTo(&r.vectors[to], false, &r.vectors[from])
		return
	}
	if r.err = f(r.vec(to), r.vec(from)); r.err != nil {
		r.vec(to)[0] = math.NaN() // so that methods look for the reason
	}
}

// precondition stores the preconditioned vector from in vector to.
func (r *run) precondition(to, from int) error {
	if r.Preconditioner == nil {
		copy(r.vec(to), r.vec(from))
		return nil
	}
	return r.Preconditioner.Solve(r.vec(to), r.vec(from))
}

// residual stores b-A·x in work vector to and returns its norm. It uses work vector temp.
func (r *run) residual(to, temp int) (float64, error) {
	copy(r.vec(temp), r.x)
	r.multiply(to, temp)
	v := r.vec(to)
	if err := r.finite("the product A·x", v); err != nil {
		r.result.Residual = r.result.Recurrence
		if r.result.Iterations == 0 {
			r.result.Residual = math.Inf(1) // unknown
		}
		return 0, err
	}
	floats.SubTo(v, r.b, v)
	r.result.Residual = norm(v)
	return r.result.Residual, nil
}

// keep saves x before it changes, if it is the best iterate so far: its residual is current, the next one's is next.
func (r *run) keep(current, next float64) {
	if current < r.least && !(next < current) {
		copy(r.best, r.x)
		r.least, r.saved = current, true
	}
}

// restore returns to the best iterate if its residual is less than that of x.
func (r *run) restore(current float64) {
	if r.saved && !(current <= r.least) {
		copy(r.x, r.best)
		r.result.Recurrence = r.least
	}
}

// iterated counts an iteration with a norm of the residual. It returns an error if the method must stop.
func (r *run) iterated(residual float64) error {
	r.result.Iterations++
	r.result.Recurrence = residual
	if r.Progress != nil {
		r.Progress(r.result.Iterations, residual)
	}
	switch err := r.ctx.Err(); {
	case err != nil:
		return &CanceledError{Method: r.method, Err: context.Cause(r.ctx)}
	case residual <= r.target:
		return nil
	case r.result.Iterations >= r.max:
		return &NotConvergedError{Method: r.method, Target: r.target}
	}
	return nil
}

// fail returns the result and the error, after replacing x by the best iterate, where current is the residual of x. It
// computes the residual of the result with work vectors to and temp.
func (r *run) fail(err error, current float64, to, temp int) (Result, error) {
	r.restore(current)
	if r.err != nil {
		r.result.Residual = min(current, r.least) // as the recurrences have it
		return r.result, err
	}
	if _, e := r.residual(to, temp); e != nil {
		return r.result, e
	}
	switch e := err.(type) {
	case *NotConvergedError:
		if r.result.Residual <= r.target {
			return r.result, nil
		}
		e.Result = r.result
	case *BreakdownError:
		if r.result.Residual <= r.target {
			return r.result, nil
		}
		e.Result = r.result
	case *IndefiniteError:
		e.Result = r.result
	case *CanceledError:
		e.Result = r.result
	}
	return r.result, err
}

// stagnated returns the error for a true residual that no longer follows that of the recurrences.
func (r *run) stagnated() error {
	return &NotConvergedError{Method: r.method, Stagnated: true, Target: r.target}
}

// norm returns the Euclidean norm, without overflow of squares.
func norm(v []float64) float64 { return floats.Norm(v, 2) }
