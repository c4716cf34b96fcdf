package nabla

import (
	"strings"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/core"
)

// The functions below compute derivatives inside a differentiated function. They return functions
// over Reals, whose results any engine can differentiate again. The inner function may capture
// Reals of the outer one; the inner derivative treats them as constants, and the outer one
// differentiates them.
//
//	inner := func(z []nabla.Real) nabla.Real { return z[0].Sq().Mul(x[1]) }
//	g := nabla.GradientFunc(inner, reversediff.Backend{})(x[:1])
//
// The inner function is prepared again at every call, so that captured values may change. Errors
// end the outer call and are returned by its operator.

// GradientFunc returns the function x ↦ ∇f(x) over Reals, for a function with one output. b computes the gradient, and
// any engine can differentiate the result again. f may capture Reals of the calling function: the gradient treats them
// as constants, and the engine that differentiates the caller does not. Each call prepares f again. An error ends the
// calling function, and the operator that differentiates it returns the error.
func GradientFunc[F ScalarFunc](f F, b Backend) func(x []Real) []Real {
	return func(x []Real) (y []Real) {
		y = make([]Real, len(x))
		defer kept(x, &y)
		fn, r := inner("GradientFunc", f, wantScalar, b, x)
		g, err := engine.DerivedGradient(r.inner, fn)
		abort(err)
		return within(g, x)[:len(x)]
	}
}

// DerivativeFunc returns the function x ↦ f'(x) over Reals, for a function of one number with one output. Captured
// numbers, preparation and errors are as for [GradientFunc].
func DerivativeFunc[F ScalarScalar](f F, b Backend) func(x Real) Real {
	at := func(x []Real) (y []Real) {
		y = make([]Real, 1)
		defer kept(x, &y)
		fn, r := inner("DerivativeFunc", f, wantScalar, b, x)
		g, err := engine.DerivedPushforward(r.inner, fn)
		abort(err)
		return within(g, []Real{x[0], Const(1)})
	}
	return func(x Real) Real { return at([]Real{x})[0] }
}

// PushforwardFunc returns the function (x, v) ↦ J(x)·v over Reals: a slice with one element per output. v must have the
// length of x. Captured numbers, preparation and errors are as for [GradientFunc].
func PushforwardFunc[F AnyFunc](f F, b Backend) func(x, v []Real) []Real {
	return func(x, v []Real) (y []Real) {
		defer kept(x, &y)
		if len(v) != len(x) {
			abort(&ShapeError{Op: "PushforwardFunc", Arg: "len(v)", Got: len(v), Want: len(x)})
		}
		fn, r := inner("PushforwardFunc", f, wantAny, b, x)
		g, err := engine.DerivedPushforward(r.inner, fn)
		abort(err)
		_, m := fn.Dims()
		y = make([]Real, m)
		copy(y, within(g, append(append([]Real(nil), x...), v...)))
		return y
	}
}

// inner returns f and b resolved for a nested derivative at x.
func inner(op string, f any, want shapeWant, b Backend, x []Real) (*engine.Function, resolved) {
	v := make([]float64, len(x))
	for i := range x {
		v[i] = x[i].v
	}
	fn, err := functionOf(op, f, v, want)
	abort(err)
	r, err := resolveFor(strings.TrimSuffix(op, "Func"), single(b), fn)
	abort(err)
	_ = fn.Own() // for several goroutines, if the struct can be copied
	n, m := fn.Dims()
	return fn.With(n, m, r.policy), r
}

// kept is deferred. If the function computes in goroutines of its own, it stores an error at x for the end of the call,
// since a panic in such a goroutine would end the process, and sets the results y to numbers of that call; otherwise
// the panic continues.
func kept(x []Real, y *[]Real) {
	if v := recover(); v != nil && !core.Keeps(reps(x), v, reps(*y)) {
		panic(v)
	}
}

// abort ends the traced function with err unless err is nil.
func abort(err error) {
	if err != nil {
		panic(core.Abort{Err: err})
	}
}

func within(g *engine.Function, x []Real) []Real {
	_, m := g.Dims()
	y := make([]Real, m)
	abort(g.Nest(reps(y), reps(x)))
	return y
}
