package loop

import (
	"errors"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/internal/vector"
)

// A loop is a loop of n steps, or its tangent of some level: the loop of level k+1 has the inputs (x, xdot) and the
// outputs (y, ydot) if that of level k has x and y. It is comparable, so that recordings can be compared, and
// implements core.Inlined: its derivatives are calls of loops and of pullbacks.
type loop struct {
	b        *Body
	n, level int
}

// A pullback is the cotangent of a loop: (x, ybar) ↦ J(x)ᵀ·ybar.
type pullback struct{ of loop }

// errWalk is the error of a derivative of a loop that is differentiated as a rule: core.Inlined has it as operations.
var errWalk = errors.New("nabla: a derivative of a loop was differentiated as a rule; differentiate the program by " +
	"program.JVP or program.VJP")

// copies returns the number of copies of the inputs and outputs of the loop of level 0.
func (l loop) copies() int { return 1 << l.level }

// in returns the number of inputs of the loop of level 0.
func (l loop) in() int { return l.b.State + l.b.Params + l.n*l.b.Inputs }

// out returns the number of outputs of the loop of level 0.
func (l loop) out() int { return l.b.State + l.n*l.b.Output }

// inputs returns the number of inputs.
func (l loop) inputs() int { return l.copies() * l.in() }

// outputs returns the number of outputs.
func (l loop) outputs() int { return l.copies() * l.out() }

// tangent returns the loop with one more tangent.
func (l loop) tangent() loop {
	l.level++
	return l
}

// Name implements core.Custom.
func (l loop) Name() string { return l.b.Name }

// Outputs implements core.Custom.
func (l loop) Outputs(int) int { return l.outputs() }

// Value implements core.Custom.
func (l loop) Value(y, x []float64) {
	w := l.b.take()
	w.value(l, y, x)
	l.b.give(w)
}

// value runs l, again with strong zeros if it has tangents and one of them, or a value, is NaN. Programs in plain mode
// choose between NaN and a number arbitrarily.
func (w *worker) value(l loop, y, x []float64) {
	for _, strong := range []bool{false, true} {
		s := sweep{worker: w, l: l, strong: strong, args: x}
		s.forward(y)
		if l.level == 0 || !vector.AnyNaN(y) {
			return
		}
	}
}

// pull runs the reverse sweep of l, again with strong zeros if a cotangent, or a value, is NaN.
func (w *worker) pull(l loop, xbar, x, ybar []float64) {
	for _, strong := range []bool{false, true} {
		s := sweep{worker: w, l: l, strong: strong, args: x}
		s.reverse(xbar, ybar)
		if !s.nan && !vector.AnyNaN(xbar) {
			return
		}
	}
}

// parts returns memory for vectors of the given lengths, one behind the other.
func (w *worker) parts(lengths ...int) (parts [3][]float64) {
	total := 0
	for _, n := range lengths {
		total += n
	}
	if cap(w.temp) < total {
		w.temp = make([]float64, total)
	}
	all := w.temp[:total]
	at := 0
	for i, n := range lengths {
		parts[i] = all[at : at+n : at+n]
		at += n
	}
	return parts
}

// JVP implements core.Custom.
func (l loop) JVP(ydot, x, _, xdot []float64) {
	w := l.b.take()
	p := w.parts(2*l.inputs(), 2*l.outputs())
	copy(p[0], x)
	copy(p[0][len(x):], xdot)
	w.value(l.tangent(), p[1], p[0])
	copy(ydot, p[1][l.outputs():])
	l.b.give(w)
}

// VJP implements core.Custom.
func (l loop) VJP(xbar, x, _, ybar []float64) {
	w := l.b.take()
	p := w.parts(l.inputs())
	w.pull(l, p[0], x, ybar)
	for j, v := range p[0] {
		xbar[j] += v
	}
	l.b.give(w)
}

// PushOver implements core.Inlined.
func (l loop) PushOver(x, _, xdot []core.Rep) []core.Rep {
	return core.Call(l.tangent(), join(x, xdot))[l.outputs():]
}

// PullOver implements core.Inlined.
func (l loop) PullOver(x, _, ybar []core.Rep) []core.Rep {
	return core.Call(pullback{l}, join(x, ybar))
}

// Tangent implements core.Custom.
func (l loop) Tangent(n int) core.Custom {
	return &core.Applied{Of: l, N: n, NoValue: true, Refuse: errWalk}
}

// Cotangent implements core.Custom.
func (l loop) Cotangent(int) core.Custom { return pullback{l} }

// Name implements core.Custom.
func (p pullback) Name() string { return "cotangent of " + p.of.b.Name }

// Outputs implements core.Custom.
func (p pullback) Outputs(int) int { return p.of.inputs() }

// Value implements core.Custom.
func (p pullback) Value(y, xw []float64) {
	w := p.of.b.take()
	n := p.of.inputs()
	w.pull(p.of, y, xw[:n], xw[n:])
	p.of.b.give(w)
}

// The derivative of J(x)ᵀ·ybar along (xdot, ybardot) is the cotangent of x of the loop of the tangent, (x, xdot) ↦
// (y, ydot), for the seeds ybardot of y and ybar of ydot: the derivative of J(x+ε·xdot)ᵀ·(ybar+ε·ybardot) by ε.

// JVP implements core.Custom.
func (p pullback) JVP(ydot, xw, _, xwdot []float64) {
	l := p.of
	n, m := l.inputs(), l.outputs()
	w := l.b.take()
	q := w.parts(2*n, 2*m, 2*n)
	join2(q[0], xw[:n], xwdot[:n])
	join2(q[1], xwdot[n:], xw[n:])
	w.pull(l.tangent(), q[2], q[0], q[1])
	copy(ydot, q[2][:n])
	l.b.give(w)
}

// VJP implements core.Custom. The sum of the outputs with weights v is ybar·J(x)·v, whose derivative by ybar is J(x)·v,
// and whose derivative by x is that of JVP with xdot = v and ybardot = 0.
func (p pullback) VJP(bar, xw, _, v []float64) {
	l := p.of
	n, m := l.inputs(), l.outputs()
	w := l.b.take()
	q := w.parts(2*n, 2*m, 2*n)
	join2(q[0], xw[:n], v)
	clear(q[1][:m])
	copy(q[1][m:], xw[n:])
	w.pull(l.tangent(), q[2], q[0], q[1])
	for j, d := range q[2][:n] {
		bar[j] += d
	}
	w.value(l.tangent(), q[1], q[0])
	for j, d := range q[1][m:] {
		bar[n+j] += d
	}
	l.b.give(w)
}

// PushOver implements core.Inlined; see JVP.
func (p pullback) PushOver(xw, _, xwdot []core.Rep) []core.Rep {
	n := p.of.inputs()
	return core.Call(pullback{p.of.tangent()}, join(xw[:n], xwdot[:n], xwdot[n:], xw[n:]))[:n]
}

// PullOver implements core.Inlined; see VJP.
func (p pullback) PullOver(xw, _, v []core.Rep) []core.Rep {
	n, m := p.of.inputs(), p.of.outputs()
	xbar := core.Call(pullback{p.of.tangent()}, join(xw[:n], v, make([]core.Rep, m), xw[n:]))[:n]
	return append(xbar[:n:n], core.Call(p.of.tangent(), join(xw[:n], v))[m:]...)
}

// Tangent implements core.Custom.
func (p pullback) Tangent(n int) core.Custom {
	return &core.Applied{Of: p, N: n, NoValue: true, Refuse: errWalk}
}

// Cotangent implements core.Custom.
func (p pullback) Cotangent(n int) core.Custom {
	return &core.Applied{Of: p, N: n, Reverse: true, NoValue: true, Refuse: errWalk}
}

func join(parts ...[]core.Rep) []core.Rep {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	all := make([]core.Rep, 0, n)
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

func join2(dst, a, b []float64) { copy(dst[copy(dst, a):], b) }
