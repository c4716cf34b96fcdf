package nabla

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/rules"
)

// The tests use twist, x ↦ (x0²·x1, sin(x0)·x1³), written as a rule in several ways and once over
// Reals, as the reference.

func twist(x ...Real) []Real {
	return []Real{x[0].Sq().Mul(x[1]), Sin(x[0]).Mul(x[1].PowConst(3))}
}

func twistValue(y, x []float64) {
	y[0], y[1] = x[0]*x[0]*x[1], math.Sin(x[0])*x[1]*x[1]*x[1]
}

func twistJVP(ydot, x, y, v []float64) {
	s, c := math.Sincos(x[0])
	ydot[0] = 2*x[0]*x[1]*v[0] + x[0]*x[0]*v[1]
	ydot[1] = c*x[1]*x[1]*x[1]*v[0] + 3*s*x[1]*x[1]*v[1]
}

func twistVJP(xbar, x, y, w []float64) {
	s, c := math.Sincos(x[0])
	xbar[0] += 2*x[0]*x[1]*w[0] + c*x[1]*x[1]*x[1]*w[1]
	xbar[1] += x[0]*x[0]*w[0] + 3*s*x[1]*x[1]*w[1]
}

func twistValueJVP(y, ydot, x, v []float64) {
	s, c := math.Sincos(x[0])
	cube := x[1] * x[1] * x[1]
	y[0], y[1] = x[0]*x[0]*x[1], s*cube
	ydot[0] = 2*x[0]*x[1]*v[0] + x[0]*x[0]*v[1]
	ydot[1] = c*cube*v[0] + 3*s*x[1]*x[1]*v[1]
}

func twistValueVJP(y, x []float64) func(xbar, ybar []float64) {
	s, c := math.Sincos(x[0])
	cube := x[1] * x[1] * x[1]
	y[0], y[1] = x[0]*x[0]*x[1], s*cube
	return func(xbar, w []float64) {
		xbar[0] += 2*x[0]*x[1]*w[0] + c*cube*w[1]
		xbar[1] += x[0]*x[0]*w[0] + 3*y[1]/x[1]*w[1]
	}
}

// The Real forms use y, whose own derivative then counts.

func twistJVPReal(ydot, x, y, v []Real) {
	ydot[0] = Const(2).Mul(y[0]).Div(x[0]).Mul(v[0]).Add(x[0].Sq().Mul(v[1]))
	ydot[1] = Cos(x[0]).Mul(x[1].PowConst(3)).Mul(v[0]).Add(y[1].Scale(3).Div(x[1]).Mul(v[1]))
}

func twistVJPReal(xbar, x, y, w []Real) {
	xbar[0] = xbar[0].Add(y[0].Scale(2).Div(x[0]).Mul(w[0])).Add(Cos(x[0]).Mul(x[1].PowConst(3)).Mul(w[1]))
	xbar[1] = xbar[1].Add(x[0].Sq().Mul(w[0])).Add(y[1].Scale(3).Div(x[1]).Mul(w[1]))
}

func two(int) int { return 2 }

var twists = map[string]Rule{
	"JVP":             {Name: "twist", Out: two, Value: twistValue, JVP: twistJVP},
	"VJP":             {Name: "twist", Out: two, Value: twistValue, VJP: twistVJP},
	"JVP and VJP":     {Name: "twist", Out: two, Value: twistValue, JVP: twistJVP, VJP: twistVJP},
	"JVPReal":         {Name: "twist", Out: two, Value: twistValue, JVPReal: twistJVPReal},
	"VJPReal":         {Name: "twist", Out: two, Value: twistValue, VJPReal: twistVJPReal},
	"JVP and VJPReal": {Name: "twist", Out: two, Value: twistValue, JVP: twistJVP, VJPReal: twistVJPReal},
	"all of them": {Name: "twist", Out: two, Value: twistValue, JVP: twistJVP, VJP: twistVJP,
		JVPReal: twistJVPReal, VJPReal: twistVJPReal},
	"ValueJVP": {Name: "twist", Out: two, Value: twistValue, ValueJVP: twistValueJVP},
	"ValueVJP": {Name: "twist", Out: two, Value: twistValue, ValueVJP: twistValueVJP},
	"ValueJVP and ValueVJP": {Name: "twist", Out: two, Value: twistValue, ValueJVP: twistValueJVP,
		ValueVJP: twistValueVJP},
	"JVP and ValueVJP": {Name: "twist", Out: two, Value: twistValue, JVP: twistJVP, ValueVJP: twistValueVJP},
	"ValueVJP, pure VJPReal": {Name: "twist", Out: two, Value: twistValue, Pure: true, ValueVJP: twistValueVJP,
		VJPReal: twistVJPReal},
	"ValueJVP and JVPReal": {Name: "twist", Out: two, Value: twistValue, ValueJVP: twistValueJVP,
		JVPReal: twistJVPReal},
	"pure JVPReal": {Name: "twist", Out: two, Value: twistValue, Pure: true, JVPReal: twistJVPReal},
	"pure VJPReal": {Name: "twist", Out: two, Value: twistValue, Pure: true, VJPReal: twistVJPReal},
	"JVP, pure JVPReal": {Name: "twist", Out: two, Value: twistValue, Pure: true, JVP: twistJVP,
		JVPReal: twistJVPReal},
	"VJP and JVPReal ": {Name: "twist", Out: two, Value: twistValue, VJP: twistVJP, JVPReal: twistJVPReal},
}

// around calls f twice, with numbers of the trace and a constant, and computes with the results.
func around(f func(x ...Real) []Real) func(x []Real) Real {
	return func(x []Real) Real {
		y := f(x[0].Mul(x[1]), x[1])
		z := f(y[1], Const(0.5))
		return y[0].Mul(y[1]).Add(Exp(z[0])).Add(z[1])
	}
}

// gradientFunc and pushforwardFunc are derivatives over Reals, by transformed
// recordings.

func overFunc(t *testing.T, f func([]Real) Real, n int) *realRule {
	return &realRule{n: n, m: 1, over: func(y, x []core.Rep) {
		y[0] = f(reals(x)).rep()
	}}
}

func gradientFunc(t *testing.T, f func([]Real) Real) func([]Real) []Real {
	return func(x []Real) []Real {
		return reals(overFunc(t, f, len(x)).pullback(reps(x), []core.Rep{{V: 1}}))
	}
}

func pushforwardFunc(t *testing.T, f func([]Real) Real, v ...float64) func([]Real) Real {
	return func(x []Real) Real {
		return real(overFunc(t, f, len(x)).pushforward(reps(x), reps(constants(v)))[0])
	}
}

// firstOrder is the value and the first derivatives of f in four ways.
func firstOrder(t *testing.T, f any, x []float64) map[string][]float64 {
	t.Helper()
	fn := mustFunction(t, f, x)
	n, m := fn.Dims()
	out := map[string][]float64{"value": value(t, fn, x...)}
	v, w := make([]float64, n), make([]float64, m)
	for i := range v {
		v[i] = 1 + float64(i)
	}
	for i := range w {
		w[i] = 1 - 3*float64(i)
	}
	out["dual value"], out["dual"] = dualTangents(t, fn, x, v)
	out["tape"] = tapeGradient(t, fn, x, w)
	if m == 1 {
		y, g := replay(t, compiled(t, fn, x), x)
		out["replayed value"], out["replayed"] = []float64{y}, g
	}
	var h hookSum
	out["hook"] = h.gradient(t, fn, x, w)
	return out
}

// hookSum is a foreign engine in reverse mode, in a few lines.
type hookSum struct{ adj []hookEntry }

type hookEntry struct {
	a, b   int32
	pa, pb float64
}

func (h *hookSum) gradient(t *testing.T, f *engine.Function, x, w []float64) []float64 {
	t.Helper()
	n, m := f.Dims()
	tr := engine.Overload(h)
	defer tr.Close()
	h.adj = make([]hookEntry, n+1)
	xs, ys := make([]engine.Real, n), make([]engine.Real, m)
	for i, v := range x {
		xs[i] = tr.Number(v, int32(i)+1)
	}
	if err := f.Over(ys, xs); err != nil {
		t.Fatal(err)
	}
	bar := make([]float64, len(h.adj))
	for i, r := range ys {
		bar[r.ID] += w[i]
	}
	for id := len(h.adj) - 1; id > n; id-- {
		e := h.adj[id]
		bar[e.a] += bar[id] * e.pa
		bar[e.b] += bar[id] * e.pb
	}
	return bar[1 : n+1]
}

func (h *hookSum) push(e hookEntry) int32 {
	h.adj = append(h.adj, e)
	return int32(len(h.adj) - 1)
}

func (h *hookSum) Unary(op rules.Op, a int32, av, v float64) int32 {
	return h.push(hookEntry{a: a, pa: rules.Partial1(op, av, v)})
}

func (h *hookSum) Binary(op rules.Op, a, b int32, av, bv, v float64) int32 {
	pa, pb := rules.Partials2(op, av, bv, v)
	if a == 0 {
		pa = 0
	}
	if b == 0 {
		pb = 0
	}
	return h.push(hookEntry{a, b, pa, pb})
}

func agreeAll(t *testing.T, got, want map[string][]float64, tol float64) {
	t.Helper()
	for what, w := range want {
		near(t, what, got[what], w, tol)
	}
}

func TestRuleOnEveryEngine(t *testing.T) {
	x := []float64{0.7, 1.3}
	first := firstOrder(t, around(twist), x)
	second := firstOrder(t, gradientFunc(t, around(twist)), x)
	push := firstOrder(t, pushforwardFunc(t, around(twist), 2, -1), x)
	third := firstOrder(t, gradientFunc(t, pushforwardFunc(t, around(twist), 2, -1)), x)
	for name, r := range twists {
		t.Run(name, func(t *testing.T) {
			f := around(r.Func())
			tol2, tol3 := 1e-10, 1e-7
			if r.JVPReal != nil || r.VJPReal != nil {
				tol2, tol3 = 1e-13, 1e-12
			}
			agreeAll(t, firstOrder(t, f, x), first, 1e-13)
			agreeAll(t, firstOrder(t, gradientFunc(t, f), x), second, tol2)
			agreeAll(t, firstOrder(t, pushforwardFunc(t, f, 2, -1), x), push, tol2)
			agreeAll(t, firstOrder(t, gradientFunc(t, pushforwardFunc(t, f, 2, -1)), x), third, tol3)
		})
	}
}

// The Hessian of sin(x0)·x1³ in closed form.
func TestRuleSecondOrderClosedForm(t *testing.T) {
	x := []float64{0.7, 1.3}
	s, c := math.Sincos(x[0])
	h := [2][2]float64{{-s * x[1] * x[1] * x[1], 3 * c * x[1] * x[1]}, {3 * c * x[1] * x[1], 6 * s * x[1]}}
	for name, r := range twists {
		call := r.Func()
		g := mustFunction(t, gradientFunc(t, func(x []Real) Real { return call(x...)[1] }), x)
		tol := 1e-10
		if r.JVPReal != nil || r.VJPReal != nil {
			tol = 1e-14
		}
		for i, v := range [][]float64{{1, 0}, {0, 1}} {
			_, hv := dualTangents(t, g, x, v)
			near(t, name+": dual", hv, h[i][:], tol)
			near(t, name+": tape", tapeGradient(t, g, x, v), h[i][:], tol)
		}
	}
}

// Numerical second derivatives find a step that suits the rule: small and large
// arguments, the edge of a domain, a saturated function, fast oscillation.
func TestRuleNumericalAccuracy(t *testing.T) {
	for _, c := range []struct {
		name       string
		f, df, ddf func(x float64) float64
		x          []float64
		tol        float64
	}{
		{"log", math.Log, func(x float64) float64 { return 1 / x }, func(x float64) float64 { return -1 / (x * x) },
			[]float64{1e-8, 0.1, 1, 300, 1e9}, 1e-10},
		{"sqrt", math.Sqrt, func(x float64) float64 { return 0.5 / math.Sqrt(x) },
			func(x float64) float64 { return -0.25 * math.Pow(x, -1.5) },
			[]float64{1e-8, 1, 1e6}, 1e-10},
		{"exp", math.Exp, math.Exp, math.Exp, []float64{-700, -1, 0, 1, 10, 100}, 1e-10},
		{"tanh", math.Tanh,
			func(x float64) float64 { return 1 / (math.Cosh(x) * math.Cosh(x)) },
			func(x float64) float64 { return -2 * math.Tanh(x) / (math.Cosh(x) * math.Cosh(x)) },
			[]float64{0.1, 1, 20}, 1e-10},
		{"sin(1000x)", func(x float64) float64 { return math.Sin(1000 * x) },
			func(x float64) float64 { return 1000 * math.Cos(1000*x) },
			func(x float64) float64 { return -1e6 * math.Sin(1000*x) }, []float64{0.1, 1}, 1e-9},
		{"shifted bump", func(x float64) float64 { return math.Atan(x - 1000) },
			func(x float64) float64 { return 1 / (1 + (x-1000)*(x-1000)) },
			func(x float64) float64 { return -2 * (x - 1000) / math.Pow(1+(x-1000)*(x-1000), 2) },
			[]float64{1000.5, 999}, 1e-9},
		{"cube at 0", func(x float64) float64 { return x * x * x },
			func(x float64) float64 { return 3 * x * x }, func(x float64) float64 { return 6 * x },
			[]float64{0, 1e-3, 5}, 1e-10},
	} {
		for _, x := range c.x {
			want := c.ddf(x)
			call := Rule{Name: c.name, Value: func(y, x []float64) { y[0] = c.f(x[0]) },
				JVP: func(ydot, x, y, xdot []float64) { ydot[0] = c.df(x[0]) * xdot[0] }}.Func()
			g := mustFunction(t, gradientFunc(t, func(x []Real) Real { return call(x...)[0] }), []float64{x})
			_, got := dualTangents(t, g, []float64{x}, []float64{1})
			if !(math.Abs(got[0]-want) <= c.tol*math.Abs(want)) {
				t.Errorf("%s at %v: second derivative %v, want %v (relative error %.1e)", c.name, x, got[0], want,
					math.Abs(got[0]/want-1))
			}
		}
	}
}

func TestRuleOutsideOfADerivative(t *testing.T) {
	r := Rule{Name: "sum", Value: func(y, x []float64) {
		y[0] = 0
		for _, v := range x {
			y[0] += v
		}
	}}
	if y := r.Func()(Const(1), Const(2)); len(y) != 1 || y[0].v != 3 {
		t.Errorf("value %v, want [3]", y)
	}
	if y := r.Func()(); len(y) != 1 || y[0].v != 0 {
		t.Errorf("value of nothing %v, want [0]", y)
	}
}

func TestRuleRefuses(t *testing.T) {
	boom := errors.New("boom")
	one := func(y, x []float64) { y[0] = x[0] }
	jvp := func(ydot, x, y, xdot []float64) { ydot[0] = xdot[0] }
	var foreign Real
	for name, c := range map[string]struct {
		r    Rule
		msg  string
		is   error
		kind any
	}{
		"no derivative": {Rule{Name: "r", Value: one}, "Rule: function r: it has no derivative; give it JVP, VJP", nil,
			new(*FuncError)},
		"no value": {Rule{Name: "r", JVP: jvp}, "it has no Value", nil, new(*FuncError)},
		"outputs": {Rule{Name: "r", Out: func(n int) int { return n - 3 }, Value: one, JVP: jvp},
			"Out(1) is -2, want 0 or more", nil, new(*FuncError)},
		"Out panics": {Rule{Name: "r", Out: func(n int) int { panic(boom) }, Value: one, JVP: jvp},
			"rule r.Out panicked: boom", boom, new(*PanicError)},
		"Value panics": {Rule{Name: "r", Value: func(y, x []float64) { panic(boom) }, JVP: jvp},
			"rule r.Value panicked: boom", boom, new(*PanicError)},
		"too many": {Rule{Name: "r", Value: func(y, x []float64) { y[0], y[1] = 1, 2 }, JVP: jvp},
			"rule r.Value panicked: runtime error: index out of range", nil, new(*PanicError)},
		"not written": {Rule{Name: "r", Out: two, Value: one, JVP: jvp}, "rule r.Value: output 1", ErrOutputNotWritten,
			nil},
		"JVP panics": {Rule{Name: "r", Value: one, JVP: func(ydot, x, y, xdot []float64) { panic(boom) }},
			"rule r.JVP panicked: boom", boom, new(*PanicError)},
		"VJP panics": {Rule{Name: "r", Value: one, VJP: func(xbar, x, y, ybar []float64) { panic(boom) }},
			"rule r.VJP panicked: boom", boom, new(*PanicError)},
		"JVP writes nothing": {Rule{Name: "r", Value: one, JVP: func(ydot, x, y, xdot []float64) {}},
			"rule r.JVP: output 0", ErrOutputNotWritten, nil},
		"JVPReal writes nothing": {Rule{Name: "r", Value: one, JVPReal: func(ydot, x, y, xdot []Real) {}},
			"rule r.JVPReal: output 0", ErrOutputNotWritten, nil},
		"JVPReal panics": {Rule{Name: "r", Value: one, JVPReal: func(ydot, x, y, xdot []Real) { panic(boom) }},
			"rule r.JVPReal panicked: boom", boom, new(*PanicError)},
		"VJPReal keeps a number": {Rule{Name: "r", Value: one,
			VJPReal: func(xbar, x, y, ybar []Real) { xbar[0] = foreign }},
			"rule r.VJPReal: output 0", ErrForeignReal, nil},
	} {
		t.Run(name, func(t *testing.T) {
			call := c.r.Func()
			f := mustFunction(t, func(x []Real) Real {
				foreign = x[0]
				return call(x...)[0]
			}, []float64{1})
			var tr core.Tracer
			tr.StartDual(1, 1, 0, false)
			tr.Tangents(1)[0] = 1
			xs, ys := make([]engine.Real, 1), make([]engine.Real, 1)
			engine.Inputs(&tr, xs, []float64{1})
			err := f.Over(ys, xs)
			if err == nil || !strings.Contains(err.Error(), c.msg) {
				t.Fatalf("error %v, want %q in it", err, c.msg)
			}
			if strings.Count(err.Error(), "nabla: ") != 1 || strings.Contains(err.Error(), "function rule") {
				t.Errorf("the message %q repeats itself", err)
			}
			if c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("error %v is not %v", err, c.is)
			}
			if c.kind != nil && !errors.As(err, c.kind) {
				t.Errorf("error %v is no %T", err, c.kind)
			}
		})
	}
}

// A direction that does not move an argument meets no infinite derivative there.
func TestRuleInfiniteDerivative(t *testing.T) {
	root := Rule{Name: "root", Value: func(y, x []float64) { y[0] = math.Sqrt(x[0]) + x[1] },
		VJP: func(xbar, x, y, ybar []float64) {
			xbar[0] += ybar[0] / (2 * math.Sqrt(x[0]))
			xbar[1] += ybar[0]
		}}.Func()
	f := mustFunction(t, func(x []Real) Real { return root(x...)[0] }, []float64{0, 1})
	_, dy := dualTangents(t, f, []float64{0, 1}, []float64{0, 1})
	near(t, "dual", dy, []float64{1}, 0)
}
