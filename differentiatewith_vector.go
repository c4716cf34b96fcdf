package nabla

import (
	"sync"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/core"
)

// DifferentiateVectorWith is [DifferentiateWith] for a function with a slice of outputs, whose length may depend on
// that of x: it returns f as a function over Reals whose derivatives b computes, whichever engine differentiates the
// calling function. The products with the Jacobian that the outer engine needs are pushforwards and pullbacks of b,
// each at the price that b has for it. Second derivatives are Hessian-vector products by b of sums of outputs with
// weights, and pushforwards of pushforwards; a weight of 0 is a structural zero only if all are 0.
//
// Errors, captured numbers and goroutines are as for DifferentiateWith. Apart from its first calls for a length of x
// the returned function makes the outer derivative allocate nothing more.
func DifferentiateVectorWith[F VectorFunc](f F, b Backend) func(x []Real) []Real {
	rule := &boxVector{blackBox: &blackBox{op: "DifferentiateVectorWith", f: f, want: wantVector, b: b}}
	return func(x []Real) []Real {
		rule.count(x)
		rule.ready(x)
		return reals(core.Call(rule, reps(x)))
	}
}

// A boxVector is the black box as a custom rule.
type boxVector struct {
	*blackBox
	outputs sync.Map // number of outputs for each length of x
}

// count determines the number of outputs for the length of x, by an evaluation at x if it is not known.
func (b *boxVector) count(x []Real) {
	if _, known := b.outputs.Load(len(x)); known {
		return
	}
	at := make([]float64, len(x))
	for i, a := range x {
		at[i] = a.v
	}
	u := b.take(at)
	b.outputs.Store(len(x), u.all.m)
	b.give(u)
}

func (b *boxVector) Name() string { return "DifferentiateVectorWith(" + nameOf(b.b) + ")" }

func (b *boxVector) Outputs(n int) int {
	m, _ := b.outputs.Load(n)
	return m.(int)
}

// at returns operators for points of the length of x, which must be given back.
func (b *boxVector) at(x []float64) *boxedVector {
	u := b.take(x)
	if m := b.Outputs(len(x)); u.all.m != m {
		abort(&ShapeError{Op: b.op, Arg: "outputs of " + u.f.Name(), Got: u.all.m, Want: m})
	}
	return u.all
}

func (b *boxVector) Value(y, x []float64) {
	u := b.at(x)
	abort(u.f.Value(y, x))
	b.give(u.boxed)
}

func (b *boxVector) JVP(ydot, x, _, xdot []float64) {
	u := b.at(x)
	u.times(ydot, x, xdot)
	b.give(u.boxed)
}

func (b *boxVector) VJP(xbar, x, _, ybar []float64) {
	u := b.at(x)
	addScaled(xbar, 1, u.transposed(x, ybar))
	b.give(u.boxed)
}

func (b *boxVector) Tangent(n int) core.Custom   { return boxVectorTangent{b} }
func (b *boxVector) Cotangent(n int) core.Custom { return boxVectorCotangent{b, n} }

// A boxVectorTangent is the custom rule (x, v) ↦ J(x)·v.
type boxVectorTangent struct{ *boxVector }

func (b boxVectorTangent) Name() string      { return b.boxVector.Name() + "_jvp" }
func (b boxVectorTangent) Outputs(n int) int { return b.boxVector.Outputs(n / 2) }

func (b boxVectorTangent) Tangent(n int) core.Custom {
	return noThird(b, n, false)
}

func (b boxVectorTangent) Cotangent(n int) core.Custom {
	return noThird(b, n, true)
}

func (b boxVectorTangent) Value(y, xv []float64) {
	n := len(xv) / 2
	b.boxVector.JVP(y, xv[:n], nil, xv[n:])
}

func (b boxVectorTangent) JVP(ydot, xv, _, direction []float64) {
	u := b.at(xv[:len(xv)/2])
	u.along(ydot, xv, direction)
	b.give(u.boxed)
}

func (b boxVectorTangent) VJP(bar, xv, _, ybar []float64) {
	if allZero(ybar) {
		return
	}
	n := len(xv) / 2
	u := b.at(xv[:n])
	gradient, ofGradient, _ := u.weighted(xv[:n], ybar, xv[n:], nil)
	addScaled(bar[:n], 1, ofGradient)
	addScaled(bar[n:], 1, gradient)
	b.give(u.boxed)
}

// A boxVectorCotangent is the custom rule (x, w) ↦ J(x)ᵀ·w for x of length n.
type boxVectorCotangent struct {
	*boxVector
	n int
}

func (b boxVectorCotangent) Name() string    { return b.boxVector.Name() + "_vjp" }
func (b boxVectorCotangent) Outputs(int) int { return b.n }

func (b boxVectorCotangent) Tangent(n int) core.Custom {
	return noThird(b, n, false)
}

func (b boxVectorCotangent) Cotangent(n int) core.Custom {
	return noThird(b, n, true)
}

func (b boxVectorCotangent) Value(y, xw []float64) {
	clear(y)
	b.boxVector.VJP(y, xw[:b.n], nil, xw[b.n:])
}

func (b boxVectorCotangent) JVP(ydot, xw, _, direction []float64) {
	u := b.at(xw[:b.n])
	_, ofGradient, _ := u.weighted(xw[:b.n], xw[b.n:], direction[:b.n], direction[b.n:])
	copy(ydot, ofGradient)
	b.give(u.boxed)
}

func (b boxVectorCotangent) VJP(bar, xw, _, ybar []float64) {
	u := b.at(xw[:b.n])
	_, ofGradient, ofValue := u.weighted(xw[:b.n], xw[b.n:], ybar, nil)
	addScaled(bar[:b.n], 1, ofGradient)
	addScaled(bar[b.n:], 1, ofValue)
	b.give(u.boxed)
}

// A boxedVector holds the operators of one call of a black box with several outputs, and their buffers. Operators are
// prepared when they are first needed.
type boxedVector struct {
	*boxed
	n, m  int
	push  engine.Pushforward // J·v
	pull  engine.Pullback    // Jᵀ·w
	twice engine.Pushforward // of (x, v) ↦ J(x)·v
	h     engine.HVP         // of (x, w) ↦ w·f(x)

	y, xbar       []float64
	yy, dd        []float64 // of twice, for m+m outputs
	xw, vw        []float64 // point and direction of h
	gradient, out []float64 // of h
}

func newBoxedVector(u *boxed) *boxedVector {
	n, m := u.f.Dims()
	return &boxedVector{boxed: u, n: n, m: m, y: make([]float64, m), xbar: make([]float64, n)}
}

// prepare prepares the products with the Jacobian that are cheap on the engine.
func (u *boxedVector) prepare(x []float64) {
	if _, pulls := u.r.inner.(engine.Puller); pulls {
		u.pullback(x)
	} else {
		u.pushforward(x)
	}
}

func (u *boxedVector) pushforward(x []float64) engine.Pushforward {
	if u.push == nil {
		var err error
		u.push, err = engine.PreparePushforward(u.r.inner, u.f, x, 1)
		abort(err)
	}
	return u.push
}

func (u *boxedVector) pullback(x []float64) engine.Pullback {
	if u.pull == nil {
		var err error
		u.pull, err = engine.PreparePullback(u.r.inner, u.f, x, 1)
		abort(err)
	}
	return u.pull
}

// times writes J(x)·v to out.
func (u *boxedVector) times(out, x, v []float64) {
	abort(u.pushforward(x).Pushforward(u.y, engine.Column(out), x, engine.Column(v)))
}

// transposed returns J(x)ᵀ·w in a buffer of u. It is zero if w is, whatever J is.
func (u *boxedVector) transposed(x, w []float64) []float64 {
	if allZero(w) {
		clear(u.xbar)
		return u.xbar
	}
	abort(u.pullback(x).Pullback(u.y, engine.Column(u.xbar), x, engine.Column(w)))
	return u.xbar
}

// weighted returns the gradient of w·f(x) with respect to x, J(x)ᵀ·w, and its Hessian with respect to x and w times
// (v, vw): the derivatives of J(x)ᵀ·w and of f(x) along (v, vw). vw may be nil for 0. The results are buffers of u.
func (u *boxedVector) weighted(x, w, v, vw []float64) (gradient, ofGradient, ofValue []float64) {
	if u.h == nil {
		k := u.n + u.m
		u.xw, u.vw = make([]float64, k), make([]float64, k)
		u.gradient, u.out = make([]float64, k), make([]float64, k)
		copy(u.xw, x)
		for i := range u.m {
			u.xw[u.n+i] = 1
		}
		var err error
		u.h, err = engine.PrepareHVP(u.r.outer, u.r.inner, engine.Weighted(u.f), u.xw, 1)
		abort(err)
	}
	copy(u.xw, x)
	copy(u.xw[u.n:], w)
	copy(u.vw, v)
	clear(u.vw[u.n:])
	copy(u.vw[u.n:], vw)
	_, err := u.h.ValueGradientAndHVP(u.gradient, engine.Column(u.out), u.xw, engine.Column(u.vw))
	abort(err)
	return u.gradient[:u.n], u.out[:u.n], u.out[u.n:]
}

// along writes to out the derivative of J(x)·v along (dx, dv).
func (u *boxedVector) along(out, xv, direction []float64) {
	x, v, dx, dv := xv[:u.n], xv[u.n:], direction[:u.n], direction[u.n:]
	if p, ok := u.r.outer.(engine.Approximator); ok && p.Accuracy() > 0 {
		// Differences of differences have few digits; HVPs by differences have more.
		u.times(out, x, dv)
		w := u.unit()
		for i := range out {
			w[i] = 1
			_, d, _ := u.weighted(x, w, v, nil)
			out[i] += dot(d, dx)
			w[i] = 0
		}
		return
	}
	if u.twice == nil {
		g, err := engine.DerivedPushforward(u.r.inner, u.f)
		abort(err)
		u.twice, err = engine.PreparePushforward(u.r.outer, g, xv, 1)
		abort(err)
		u.yy, u.dd = make([]float64, 2*u.m), make([]float64, 2*u.m)
	}
	abort(u.twice.Pushforward(u.yy, engine.Column(u.dd), xv, engine.Column(direction)))
	copy(out, u.dd[:u.m])
}

// unit returns m zeros, for unit vectors of weights.
func (u *boxedVector) unit() []float64 {
	if u.dd == nil {
		u.dd = make([]float64, u.m)
	}
	return u.dd
}
