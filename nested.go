package nabla

import (
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/core"
)

// A derivative inside a differentiated function: the functions below return
// functions over Reals, so what they compute can be differentiated again, by any
// engine. The inner function may use Reals of the outer one that it captures; they
// are not differentiated by the inner derivative and are by the outer one.
//
//	inner := func(z []nabla.Real) nabla.Real { return z[0].Sq().Mul(x[1]) }
//	g := nabla.GradientFunc(inner, reversediff.Backend{})(x[:1])
//
// The inner function is taken anew at every call, so that what it captures may
// change. Errors end the outer call and are returned by its operator.

// GradientFunc is x ↦ ∇f(x).
func GradientFunc[F ScalarFunc](f F, b Backend) func(x []Real) []Real {
	return func(x []Real) (y []Real) {
		y = make([]Real, len(x))
		defer kept(x)
		fn, r := inner("GradientFunc", f, wantScalar, b, x)
		g, err := engine.DerivedGradient(r.inner, fn)
		abort(err)
		return within(g, x)[:len(x)]
	}
}

// DerivativeFunc is x ↦ f'(x) for a function of one number.
func DerivativeFunc[F ScalarScalar](f F, b Backend) func(x Real) Real {
	return func(x Real) (y Real) {
		defer kept([]Real{x})
		fn, r := inner("DerivativeFunc", f, wantScalar, b, []Real{x})
		g, err := engine.DerivedPushforward(r.inner, fn)
		abort(err)
		return within(g, []Real{x, Const(1)})[0]
	}
}

// PushforwardFunc is (x, v) ↦ J(x)·v.
func PushforwardFunc[F AnyFunc](f F, b Backend) func(x, v []Real) []Real {
	return func(x, v []Real) (y []Real) {
		defer kept(x)
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

// inner takes f and b for a nested derivative at x.
func inner(op string, f any, want shapeWant, b Backend, x []Real) (*engine.Function, resolved) {
	r, err := resolve(op, b)
	abort(err)
	v := make([]float64, len(x))
	for i := range x {
		v[i] = x[i].v
	}
	fn, err := functionOf(op, f, v, want)
	abort(err)
	_ = fn.Own() // for several goroutines, where that can be
	n, m := fn.Dims()
	return fn.With(n, m, r.policy), r
}

// kept is deferred: it keeps an error at x for the end of the call where the function
// computes in a goroutine of its own, in which a panic would end the process.
func kept(x []Real) {
	if v := recover(); v != nil && !core.Keeps(reps(x), v) {
		panic(v)
	}
}

// abort ends the traced function with err.
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
