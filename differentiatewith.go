package nabla

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/core"
)

// DifferentiateWith returns f as a function over Reals whose derivatives b computes, whichever
// engine differentiates the calling function: for example a black box over float64 with finite
// differences inside a function in reverse mode. First and second derivatives of the outer function
// are available; for second ones b computes Hessian-vector products of f. f must not capture active
// numbers. f is prepared once for each length of x. An error of b ends the calling function, and the
// operator that differentiates it returns the error. [DifferentiateVectorWith] is the same for
// functions with several outputs.
//
// Several goroutines may call the returned function if they may call f.
func DifferentiateWith[F ScalarFunc](f F, b Backend) func(x []Real) Real {
	// One pointer, so that recordings can be compared.
	rule := &boxValue{&blackBox{op: "DifferentiateWith", f: f, want: wantScalar, b: b}}
	return func(x []Real) Real {
		rule.ready(x)
		return real(core.Call(rule, reps(x))[0])
	}
}

// A blackBox is a function with the prepared operators of another engine. Operators are reused for
// inputs of the same length: free maps the length of x to those not in use.
type blackBox struct {
	op   string
	f    any
	want shapeWant
	b    Backend
	able atomic.Bool // b has prepared a derivative of f
	mu   sync.Mutex
	free map[int][]*boxed
}

// A boxed holds the operators and buffers that one call of a black box uses.
type boxed struct {
	f    *engine.Function
	r    resolved
	g    engine.Gradient
	h    engine.HVP
	grad []float64
	hv   []float64
	y    []float64
	all  *boxedVector // in place of g, h and the buffers, for a box of DifferentiateVectorWith
}

// ready prepares the gradient, or the Jacobian, of f if x is traced. An engine that records ahead makes the trace
// when it prepares, so that a function which b cannot differentiate is an error of the preparation
// and not of a later reverse sweep.
func (b *blackBox) ready(x []Real) {
	traced := func(a Real) bool { return a.id != 0 }
	if b.able.Load() || !slices.ContainsFunc(x, traced) || core.Blind(reps(x)) {
		return
	}
	at := make([]float64, len(x))
	for i, a := range x {
		at[i] = a.v
	}
	u := b.take(at)
	u.prepare(at)
	b.give(u)
	b.able.Store(true)
}

func (b *blackBox) take(x []float64) *boxed {
	b.mu.Lock()
	list := b.free[len(x)]
	if n := len(list); n > 0 {
		u := list[n-1]
		b.free[len(x)] = list[:n-1]
		b.mu.Unlock()
		abort(u.f.NewCall())
		return u
	}
	b.mu.Unlock()
	f, err := functionOf(b.op, b.f, x, b.want)
	abort(err)
	r, err := resolveFor(b.op, b.b, f)
	abort(err)
	_ = f.Own() // for several goroutines, if the struct can be copied
	n, m := f.Dims()
	u := &boxed{f: f.With(n, m, r.policy), r: r}
	if b.want == wantVector {
		u.all = newBoxedVector(u)
	} else {
		u.grad, u.hv, u.y = make([]float64, n), make([]float64, n), make([]float64, 1)
	}
	return u
}

func (b *blackBox) give(u *boxed) {
	n, _ := u.f.Dims()
	b.mu.Lock()
	if b.free == nil {
		b.free = map[int][]*boxed{}
	}
	b.free[n] = append(b.free[n], u)
	b.mu.Unlock()
}

// prepare prepares first derivatives at x unless that has been done.
func (u *boxed) prepare(x []float64) {
	if u.all != nil {
		u.all.prepare(x)
		return
	}
	if u.g == nil {
		var err error
		u.g, err = engine.PrepareGradient(u.r.inner, u.f, x)
		abort(err)
	}
}

// gradient returns the gradient at x in a buffer of u.
func (u *boxed) gradient(x []float64) []float64 {
	u.prepare(x)
	_, err := u.g.ValueAndGradient(u.grad, x)
	abort(err)
	return u.grad
}

// product returns the gradient at x and the Hessian at x times v, in buffers of u.
func (u *boxed) product(x, v []float64) (grad, hv []float64) {
	var err error
	if u.h == nil {
		u.h, err = engine.PrepareHVP(u.r.outer, u.r.inner, u.f, x, 1)
		abort(err)
	}
	_, err = u.h.ValueGradientAndHVP(u.grad, engine.Column(u.hv), x, engine.Column(v))
	abort(err)
	return u.grad, u.hv
}

// A boxValue is the black box as a custom rule.
type boxValue struct{ *blackBox }

func (b *boxValue) Name() string      { return "DifferentiateWith(" + nameOf(b.b) + ")" }
func (b *boxValue) Outputs(n int) int { return 1 }

func (b *boxValue) Value(y, x []float64) {
	u := b.take(x)
	abort(u.f.Value(y, x))
	b.give(u)
}

func (b *boxValue) JVP(ydot, x, _, xdot []float64) {
	u := b.take(x)
	ydot[0] = dot(u.gradient(x), xdot)
	b.give(u)
}

func (b *boxValue) VJP(xbar, x, _, ybar []float64) {
	u := b.take(x)
	addScaled(xbar, ybar[0], u.gradient(x))
	b.give(u)
}

func (b *boxValue) Tangent(int) core.Custom   { return &boxTangent{b.blackBox} }
func (b *boxValue) Cotangent(int) core.Custom { return &boxCotangent{b.blackBox} }

// errThird is the error for third derivatives.
var errThird = &UnsupportedError{
	What:   "third derivatives through DifferentiateWith or DifferentiateVectorWith",
	Remedy: "write the inner function over nabla.Real, or give it a Rule over Reals",
}

// noThird returns the tangent or cotangent of b, the derivative of a black box, which has no derivatives.
func noThird(b core.Custom, n int, reverse bool) core.Custom {
	return &core.Applied{Of: b, N: n, Reverse: reverse, Refuse: errThird, NoValue: true}
}

// A boxTangent is the custom rule (x, v) ↦ ∇f(x)·v.
type boxTangent struct{ *blackBox }

func (b *boxTangent) Name() string      { return "DifferentiateWith(" + nameOf(b.b) + ")_jvp" }
func (b *boxTangent) Outputs(n int) int { return 1 }

func (b *boxTangent) Tangent(n int) core.Custom {
	return noThird(b, n, false)
}

func (b *boxTangent) Cotangent(n int) core.Custom {
	return noThird(b, n, true)
}

func (b *boxTangent) Value(y, xv []float64) {
	n := len(xv) / 2
	u := b.take(xv[:n])
	y[0] = dot(u.gradient(xv[:n]), xv[n:])
	b.give(u)
}

func (b *boxTangent) JVP(ydot, xv, _, dot2 []float64) {
	n := len(xv) / 2
	u := b.take(xv[:n])
	grad, hv := u.product(xv[:n], xv[n:])
	ydot[0] = dot(hv, dot2[:n]) + dot(grad, dot2[n:])
	b.give(u)
}

func (b *boxTangent) VJP(bar, xv, _, ybar []float64) {
	n := len(xv) / 2
	u := b.take(xv[:n])
	grad, hv := u.product(xv[:n], xv[n:])
	addScaled(bar[:n], ybar[0], hv)
	addScaled(bar[n:], ybar[0], grad)
	b.give(u)
}

// A boxCotangent is the custom rule (x, w) ↦ w·∇f(x) for a number w.
type boxCotangent struct{ *blackBox }

func (b *boxCotangent) Name() string      { return "DifferentiateWith(" + nameOf(b.b) + ")_vjp" }
func (b *boxCotangent) Outputs(n int) int { return n - 1 }

func (b *boxCotangent) Tangent(n int) core.Custom {
	return noThird(b, n, false)
}

func (b *boxCotangent) Cotangent(n int) core.Custom {
	return noThird(b, n, true)
}

func (b *boxCotangent) Value(y, xw []float64) {
	n := len(xw) - 1
	u := b.take(xw[:n])
	clear(y)
	addScaled(y, xw[n], u.gradient(xw[:n]))
	b.give(u)
}

func (b *boxCotangent) JVP(ydot, xw, _, dot2 []float64) {
	n := len(xw) - 1
	u := b.take(xw[:n])
	grad, hv := u.product(xw[:n], dot2[:n])
	clear(ydot)
	addScaled(ydot, xw[n], hv)
	addScaled(ydot, dot2[n], grad)
	b.give(u)
}

func (b *boxCotangent) VJP(bar, xw, _, ybar []float64) {
	n := len(xw) - 1
	u := b.take(xw[:n])
	grad, hv := u.product(xw[:n], ybar)
	addScaled(bar[:n], xw[n], hv)
	bar[n] += dot(grad, ybar)
	b.give(u)
}

// dot returns the inner product of the derivatives a and the direction v. Products with zero
// components of v are left out, even if the derivative is infinite or NaN.
func dot(a, v []float64) float64 {
	s := 0.0
	for i, d := range v {
		if d != 0 {
			s += a[i] * d
		}
	}
	return s
}

// addScaled adds c·x to dst. If c is 0 it adds nothing, even if x is infinite or NaN.
func addScaled(dst []float64, c float64, x []float64) {
	if c == 0 {
		return
	}
	for i, v := range x {
		dst[i] += c * v
	}
}
