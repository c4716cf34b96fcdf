package nabla

import (
	"sync"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/internal/vector"
	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/rules"
)

// A realRule is a custom rule given as a function over Reals. Its derivatives of every order are
// obtained by differentiating the operations of that function.
type realRule struct {
	name string
	n, m int
	over func(y, x []core.Rep) // writes all of y
	// value, unless nil, is a faster implementation over plain numbers.
	value func(y, x []float64)
	// structure, unless nil, implements core.Structured.
	structure func() (rows [][]int, linear bool)
	// of, unless nil, is the identity of the rule whose cotangent this is and which keeps pullbacks.
	of any
}

// EvaluateOver implements core.Evaluable.
func (r *realRule) EvaluateOver(y, x []core.Rep) { r.over(y, x) }

func (r *realRule) Name() string    { return r.name }
func (r *realRule) Outputs(int) int { return r.m }

// form returns r in the form that programs record if pure is set: its results depend on nothing but its arguments.
func (r *realRule) form(pure bool) core.Custom {
	if pure {
		return pureRule{r}
	}
	return r
}

// A pureRule is a realRule whose results depend on nothing but its arguments. It implements core.Recordable.
type pureRule struct{ *realRule }

func (r pureRule) Over(y, x []core.Rep) { r.over(y, x) }

func (r pureRule) Tangent(n int) core.Custom { return pureRule{r.tangent(n)} }

func (r pureRule) Cotangent(n int) core.Custom { return pureRule{r.cotangent(n)} }

func (r *realRule) Value(y, x []float64) {
	if r.value != nil {
		r.value(y, x)
		return
	}
	out := make([]core.Rep, r.m)
	r.over(out, reps(constants(x)))
	for i, a := range out {
		y[i] = a.V
	}
}

// JVP runs the function over dual numbers, again with strong zeros if the result has a NaN.
func (r *realRule) JVP(ydot, x, _, xdot []float64) {
	for _, strong := range []bool{false, true} {
		r.dual(ydot, x, xdot, strong)
		if !vector.AnyNaN(ydot) {
			return
		}
	}
}

func (r *realRule) dual(ydot, x, xdot []float64, strong bool) {
	m := borrowTracing(r.n, r.m)
	defer m.giveBack()
	t := &m.t
	t.StartDual(r.n, 1, 0, strong)
	engine.Inputs(t, m.xs, x)
	for i, d := range xdot {
		if strong {
			d = core.StrongSeed(d)
		}
		t.Tangents(int32(i) + 1)[0] = d
	}
	r.trace(t, m.ys, m.xs)
	for i, a := range m.ys {
		ydot[i] = 0
		if id := t.Own(a); id != 0 {
			ydot[i] = t.Tangents(id)[0] + 0
		}
	}
}

// VJP records the function on a tape and runs the reverse sweep, again with strong zeros if the
// result has a NaN.
func (r *realRule) VJP(xbar, x, _, ybar []float64) {
	m := borrowTracing(r.n, r.m)
	defer m.giveBack()
	t := &m.t
	t.StartTape(r.n, 0)
	engine.Inputs(t, m.xs, x)
	r.trace(t, m.ys, m.xs)
	for i, a := range m.ys {
		m.ids[i] = t.Own(a)
	}
	t.SweepBack(m.sum, m.ids, ybar, false)
	if vector.AnyNaN(m.sum) {
		t.SweepBack(m.sum, m.ids, ybar, true)
	}
	for j, v := range m.sum {
		xbar[j] += v
	}
}

// A tracing is the memory of one derivative of a realRule.
type tracing struct {
	t      core.Tracer
	xs, ys []core.Rep
	ids    []int32
	sum    []float64
}

// tracings holds those not in use. They serve all rules, so that the memory is that of the largest.
var tracings = sync.Pool{New: func() any { return new(tracing) }}

// borrowTracing returns memory for n inputs and m outputs.
func borrowTracing(n, m int) *tracing {
	t := tracings.Get().(*tracing)
	if cap(t.xs) < n {
		t.xs, t.sum = make([]core.Rep, n), make([]float64, n)
	}
	if cap(t.ys) < m {
		t.ys, t.ids = make([]core.Rep, m), make([]int32, m)
	}
	t.xs, t.sum, t.ys, t.ids = t.xs[:n], t.sum[:n], t.ys[:m], t.ids[:m]
	return t
}

// giveBack ends the trace of t. t no longer refers to numbers of the function.
func (t *tracing) giveBack() {
	t.t.Close()
	clear(t.xs)
	clear(t.ys)
	tracings.Put(t)
}

func (r *realRule) Tangent(n int) core.Custom { return r.tangent(n) }

func (r *realRule) tangent(n int) *realRule {
	over := func(y, xv []core.Rep) { copy(y, r.pushforward(xv[:n], xv[n:])) }
	value := func(y, xv []float64) { r.JVP(y, xv[:n], nil, xv[n:]) }
	return &realRule{name: "tangent of " + r.name, n: 2 * n, m: r.m, over: over, value: value}
}

func (r *realRule) Cotangent(n int) core.Custom { return r.cotangent(n) }

func (r *realRule) cotangent(n int) *realRule {
	over := func(y, xw []core.Rep) { copy(y, r.pullback(xw[:n], xw[n:])) }
	value := func(y, xw []float64) {
		clear(y)
		r.VJP(y, xw[:n], nil, xw[n:])
	}
	return &realRule{name: "cotangent of " + r.name, n: n + r.m, m: n, over: over, value: value}
}

// trace runs the function over the numbers xs of t, and a second time if it computes in goroutines
// of its own.
func (r *realRule) trace(t *core.Tracer, ys, xs []core.Rep) {
	r.over(ys, xs)
	again, failed := t.End(xs)
	if again {
		r.over(ys, xs)
		_, failed = t.End(xs)
	}
	if failed != nil {
		panic(failed)
	}
}

// pushforward returns J(x)·v. The numbers may belong to open traces.
func (r *realRule) pushforward(x, v []core.Rep) []core.Rep {
	return r.derived(x, v, func(p *program.Program, strong bool) *program.Program {
		return program.Join(program.JVP(p, program.JVPOptions{Strong: strong}), "ydot", 1)
	})
}

// pullback returns J(x)ᵀ·w. The numbers may belong to open traces.
func (r *realRule) pullback(x, w []core.Rep) []core.Rep {
	return r.derived(x, w, func(p *program.Program, strong bool) *program.Program {
		return program.Join(program.VJP(p, program.VJPOptions{Strong: strong}), "xbar", 1)
	})
}

// derived records the function at x, transforms the program, and runs the result over x and the
// direction d. If the result has a NaN, it is computed again with strong zeros.
func (r *realRule) derived(x, d []core.Rep, transform engine.Derive) []core.Rep {
	p, captured := r.record(x)
	ins := [][]core.Rep{x, d}
	if len(captured) > 0 {
		ins = [][]core.Rep{x, captured, d}
	}
	out, err := program.Over(program.Simplify(transform(p, false)), ins, nil)
	if err == nil && (core.Blind(x) || hasNaN(out)) {
		d = append([]core.Rep(nil), d...)
		for i, a := range d {
			if a.ID == 0 {
				d[i].V = core.StrongSeed(a.V)
			}
		}
		ins[len(ins)-1] = d
		out, err = program.Over(program.Simplify(transform(p, true)), ins, nil)
		for i := range out {
			out[i] = core.Apply2(rules.Add, out[i], core.Rep{}) // -0 becomes a plain zero
		}
	}
	if err != nil {
		panic(core.Abort{Err: err})
	}
	return out
}

// record records the function at x, in a trace that captures numbers of outer traces read by
// r.over. It returns the program and the captured numbers.
func (r *realRule) record(x []core.Rep) (*program.Program, []core.Rep) {
	var t core.Tracer
	t.StartRecording(len(x), 0, core.RecordOptions{Nested: true, Limit: engine.DefaultLimit, Blind: core.Blind(x),
		Loops: true})
	defer t.Close()
	xs, ys := make([]core.Rep, len(x)), make([]core.Rep, r.m)
	for i, a := range x {
		xs[i] = t.Input(i, a.V)
	}
	r.trace(&t, ys, xs)
	for i, a := range ys {
		if a.ID != 0 && !t.Owns(a) {
			ys[i] = t.Capture(a)
		}
	}
	rec := t.Recorded()
	p, err := program.FromRecording(rec, ys)
	if err != nil {
		panic(core.Abort{Err: err})
	}
	return p, append([]core.Rep(nil), rec.Captures...)
}

func hasNaN(x []core.Rep) bool {
	for _, a := range x {
		if a.V != a.V {
			return true
		}
	}
	return false
}
