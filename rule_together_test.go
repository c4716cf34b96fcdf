package nabla_test

import (
	"errors"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/internal/engines"
	"github.com/nabla-ad/nabla/program"
)

// A counted is the rule y = exp(r·x0·x1) + x1², whose exponential is the work that value and derivatives share. It
// counts how often that is done.
type counted struct {
	rate atomic.Uint64 // r, in bits; data that the rule reads
	work atomic.Int64
	// joined counts the calls of ValueJVP.
	joined atomic.Int64
}

func newCounted(rate float64) *counted {
	c := new(counted)
	c.rate.Store(math.Float64bits(rate))
	return c
}

func (c *counted) exp(x []float64) (r, e float64) {
	c.work.Add(1)
	r = math.Float64frombits(c.rate.Load())
	return r, math.Exp(r * x[0] * x[1])
}

// rule returns the rule with a pullback that is kept and, if joint is set, with ValueJVP.
func (c *counted) rule(joint bool) nabla.Rule {
	r := nabla.Rule{
		Name:  "counted",
		Value: func(y, x []float64) { _, e := c.exp(x); y[0] = e + x[1]*x[1] },
		ValueVJP: func(y, x []float64) func(xbar, ybar []float64) {
			r, e := c.exp(x)
			y[0] = e + x[1]*x[1]
			return func(xbar, ybar []float64) {
				xbar[0] += r * x[1] * e * ybar[0]
				xbar[1] += (r*x[0]*e + 2*x[1]) * ybar[0]
			}
		},
	}
	if joint {
		r.ValueJVP = func(y, ydot, x, xdot []float64) {
			r, e := c.exp(x)
			c.joined.Add(1)
			y[0] = e + x[1]*x[1]
			ydot[0] = r*x[1]*e*xdot[0] + (r*x[0]*e+2*x[1])*xdot[1]
		}
	}
	return r
}

// twice returns the function of x that calls the rule at x and at (x1, 0.5).
func twice(r nabla.Rule) func(x []nabla.Real) nabla.Real {
	f := r.Func()
	return func(x []nabla.Real) nabla.Real { return f(x...)[0].Mul(f(x[1], nabla.Const(0.5))[0]) }
}

// twiceDerivatives returns gradient and Hessian of twice at x.
func twiceDerivatives(r float64, x []float64) (g [2]float64, h [2][2]float64) {
	a, b := x[0], x[1]
	e, q := math.Exp(r*a*b), math.Exp(r*b*0.5)
	u, ua, ub := e+b*b, r*b*e, r*a*e+2*b
	uaa, uab, ubb := r*r*b*b*e, r*e+r*r*a*b*e, r*r*a*a*e+2
	v, vb, vbb := q+0.25, r*0.5*q, r*r*0.25*q
	g = [2]float64{ua * v, ub*v + u*vb}
	h = [2][2]float64{{uaa * v, uab*v + ua*vb}, {uab*v + ua*vb, ubb*v + 2*ub*vb + u*vbb}}
	return g, h
}

func checkGradient(t *testing.T, what string, r float64, x, got []float64) {
	t.Helper()
	want, _ := twiceDerivatives(r, x)
	for i, w := range want {
		if !(math.Abs(got[i]-w) <= 1e-12*(1+math.Abs(w))) {
			t.Errorf("%s at %v: derivative %d is %v, want %v", what, x, i, got[i], w)
		}
	}
}

// TestPullbackOfAsManyInputs: the pullback of a call is not used for another call of the same rule with more inputs,
// the first of which are the same.
func TestPullbackOfAsManyInputs(t *testing.T) {
	squares := nabla.Rule{
		Name: "squares",
		Value: func(y, x []float64) {
			y[0] = 0
			for _, v := range x {
				y[0] += v * v
			}
		},
		ValueVJP: func(y, x []float64) func(xbar, ybar []float64) {
			y[0] = 0
			for _, v := range x {
				y[0] += v * v
			}
			return func(xbar, ybar []float64) {
				for i, v := range x {
					xbar[i] += 2 * v * ybar[0]
				}
			}
		},
	}.Func()
	f := func(x []nabla.Real) nabla.Real { return squares(x...)[0].Mul(squares(x[0])[0]) }
	for _, b := range []nabla.Backend{reversediff.Backend{}, reversediff.Backend{Compile: true}, tracker.Backend{}} {
		p, err := nabla.PrepareGradient(f, b, []float64{2, 3})
		if err != nil {
			t.Fatal(err)
		}
		g := make([]float64, 2)
		if _, err := p.Gradient(g, []float64{3, 5}); err != nil {
			t.Fatal(err)
		}
		if g[0] != 258 || g[1] != 90 { // of (x0² + x1²)·x0²
			t.Errorf("%s: the gradient is %v, want [258 90]", b.Name(), g)
		}
	}
}

// TestPullbackIsKept: engines in reverse mode do the work of a rule once for value and gradient, at every new point.
// The first calls may take more, so the least of several is taken; comparisons with the function are turned off, as
// each would be another call.
func TestPullbackIsKept(t *testing.T) {
	compiled := nabla.Policy{Backend: reversediff.Backend{Compile: true}, NoStaleCheck: true}
	for _, b := range []nabla.Backend{reversediff.Backend{}, compiled, tracker.Backend{}} {
		c := newCounted(0.7)
		p, err := nabla.PrepareGradient(twice(c.rule(false)), b, []float64{0.3, 0.4})
		if err != nil {
			t.Fatal(err)
		}
		least := int64(math.MaxInt64)
		for k := range 8 {
			x, g := []float64{0.3 + float64(k), 1 - 0.1*float64(k)}, make([]float64, 2)
			before := c.work.Load()
			if _, err := p.Gradient(g, x); err != nil {
				t.Fatal(err)
			}
			least = min(least, c.work.Load()-before)
			checkGradient(t, b.Name(), 0.7, x, g)
		}
		if least != 2 {
			t.Errorf("%s does the work of two calls %d times", b.Name(), least)
		}
	}
}

// TestValueAndTangentTogether: dual numbers do the work of a call once for one direction, and complex steps call
// ValueJVP in place of a value and a tangent; they evaluate the function besides.
func TestValueAndTangentTogether(t *testing.T) {
	for _, b := range []nabla.Backend{forwarddiff.Backend{}, finitediff.Backend{Method: finitediff.Complex}} {
		c := newCounted(0.7)
		p, err := nabla.PreparePushforward(twice(c.rule(true)), b, []float64{0.3, 0.4})
		if err != nil {
			t.Fatal(err)
		}
		least := int64(math.MaxInt64)
		for k := range 4 {
			x := []float64{0.3 + float64(k), 1 - 0.1*float64(k)}
			before := c.work.Load()
			_, dy, err := p.ValueAndPushforward(nil, nil, x, []float64{2, -3})
			if err != nil {
				t.Fatal(err)
			}
			least = min(least, c.work.Load()-before)
			g, _ := twiceDerivatives(0.7, x)
			if want := 2*g[0] - 3*g[1]; !(math.Abs(dy[0]-want) <= 1e-12*math.Abs(want)) {
				t.Errorf("%s at %v: %v, want %v", b.Name(), x, dy, want)
			}
		}
		if least != 2 && b == (forwarddiff.Backend{}) {
			t.Errorf("%s does the work of two calls %d times", b.Name(), least)
		}
		if c.joined.Load() < 8 {
			t.Errorf("%s has called ValueJVP %d times", b.Name(), c.joined.Load())
		}
	}
}

// TestPullbackOfChangedData: a pullback of one call is not used in the next one at the same point, since the data that
// the rule reads may have changed.
func TestPullbackOfChangedData(t *testing.T) {
	for _, b := range engines.Exact() {
		c := newCounted(0.7)
		x, g := []float64{0.3, 0.4}, make([]float64, 2)
		p, err := nabla.PrepareGradient(twice(c.rule(false)), b, x)
		if err != nil {
			t.Fatal(err)
		}
		for _, rate := range []float64{0.7, -1.5, 2} {
			c.rate.Store(math.Float64bits(rate))
			if _, err := p.Gradient(g, x); err != nil {
				t.Fatal(err)
			}
			checkGradient(t, b.Name(), rate, x, g)
		}
	}
}

// TestPullbackEndsWithTheRun: the value of the first call is no part of the gradient of r(x0, 1) + r(x1, 1)², so that
// its cotangent has no pullback in a run, but the run before has left one at that point if x1 was the same, for other
// data.
func TestPullbackEndsWithTheRun(t *testing.T) {
	c := newCounted(0.7)
	r := c.rule(false).Func()
	one := nabla.Const(1)
	f := func(x []nabla.Real) nabla.Real { return r(x[0], one)[0].Add(r(x[1], one)[0].Sq()) }
	recorded, err := nabla.Record(f, []float64{0.3, 0.4})
	if err != nil {
		t.Fatal(err)
	}
	g, err := recorded.Gradient()
	if err != nil {
		t.Fatal(err)
	}
	m := program.NewMachine(program.Schedule(g.Program()))
	for _, run := range []struct{ rate, a, b float64 }{{0.7, 0.3, 0.4}, {-1.5, 0.4, 0.9}, {2, 0.9, 0.1}} {
		c.rate.Store(math.Float64bits(run.rate))
		copy(m.Input(0), []float64{run.a, run.b})
		before := c.work.Load()
		if !m.Run() {
			t.Fatal("a guard failed")
		}
		if n := c.work.Load() - before; n != 2 {
			t.Errorf("%d times the work of a call, want 2", n)
		}
		got := make([]float64, 2)
		m.Output(0, got)
		d := func(x float64) float64 { return run.rate * math.Exp(run.rate*x) }
		for i, want := range []float64{d(run.a), 2 * (math.Exp(run.rate*run.b) + 1) * d(run.b)} {
			if !(math.Abs(got[i]-want) <= 1e-13*math.Abs(want)) {
				t.Errorf("at %v: derivative %d is %v, want %v", run, i, got[i], want)
			}
		}
	}
}

// TestPullbackSecondOrder compares gradients and Hessians of all engines with closed forms, with exact second
// derivatives and with those by differences.
func TestPullbackSecondOrder(t *testing.T) {
	x := []float64{0.3, 0.4}
	_, hess := twiceDerivatives(0.7, x)
	exact := newCounted(0.7).rule(true)
	exact.Pure = true
	exact.VJPReal = func(xbar, x, y, ybar []nabla.Real) {
		e := y[0].Sub(x[1].Sq()).Scale(0.7).Mul(ybar[0])
		xbar[0] = xbar[0].Add(e.Mul(x[1]))
		xbar[1] = xbar[1].Add(e.Mul(x[0])).Add(x[1].Scale(2).Mul(ybar[0]))
	}
	for name, c := range map[string]struct {
		r   nabla.Rule
		tol float64
	}{
		"ValueVJP": {newCounted(0.7).rule(false), 1e-8}, "and ValueJVP": {newCounted(0.7).rule(true), 1e-8},
		"and VJPReal": {exact, 1e-12},
	} {
		for _, b := range engines.Exact() {
			g, err := nabla.Gradient(twice(c.r), b, x)
			if err != nil {
				t.Fatal(err)
			}
			checkGradient(t, name+": "+b.Name(), 0.7, x, g)
			h, err := nabla.Hessian(twice(c.r), b, x)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 2 {
				for j := range 2 {
					if d := h.At(i, j) - hess[i][j]; !(math.Abs(d) <= c.tol*math.Abs(hess[i][j])) {
						t.Errorf("%s: %s: Hessian[%d][%d] is %v, want %v", name, b.Name(), i, j, h.At(i, j), hess[i][j])
					}
				}
			}
		}
	}
}

// TestPullbackOfClones: clones differentiate at different points at once.
func TestPullbackOfClones(t *testing.T) {
	for _, b := range []nabla.Backend{reversediff.Backend{}, reversediff.Backend{Compile: true}, tracker.Backend{}} {
		p, err := nabla.PrepareGradient(twice(newCounted(0.7).rule(false)), b, []float64{0.3, 0.4})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for w := range 4 {
			q := p.Clone()
			wg.Go(func() {
				for k := range 50 {
					x, g := []float64{0.1 * float64(w+1), 0.01 * float64(k)}, make([]float64, 2)
					if _, err := q.Gradient(g, x); err != nil {
						t.Error(err)
						return
					}
					checkGradient(t, b.Name(), 0.7, x, g)
				}
			})
		}
		wg.Wait()
	}
}

// TestPullbackInLoops: the states of a Scan and the function of a Checkpoint are computed again in the reverse sweep,
// where pullbacks are made anew. The function is s ↦ exp(r·s·p) + p², applied three times to x0 with p = x1.
func TestPullbackInLoops(t *testing.T) {
	const rate = 0.2
	f := newCounted(rate).rule(false).Func()
	plain := func(x []nabla.Real) nabla.Real { // without a rule
		s := x[0]
		for range 3 {
			s = nabla.Exp(s.Mul(x[1]).Scale(rate)).Add(x[1].Sq())
		}
		return s
	}
	loop := nabla.Scan{Memory: 16, Step: func(s *nabla.ScanStep) { s.Next[0] = f(s.State[0], s.Params[0])[0] }}.Func()
	scan := func(x []nabla.Real) nabla.Real {
		s, _ := loop(3, x[:1], x[1:], nil)
		return s[0]
	}
	step := nabla.Checkpoint(func(x []nabla.Real) []nabla.Real { return []nabla.Real{f(x...)[0], x[1]} })
	checkpoint := func(x []nabla.Real) nabla.Real { return step(step(step(x)))[0] }
	for _, b := range engines.Exact() {
		for name, g := range map[string]func(x []nabla.Real) nabla.Real{"Scan": scan, "Checkpoint": checkpoint} {
			p, err := nabla.PrepareGradient(g, b, []float64{0.3, 0.4})
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range [][]float64{{0.3, 0.4}, {0.5, -1.2}, {-1, 0.1}} {
				want, err := nabla.Gradient(plain, forwarddiff.Backend{}, x)
				if err != nil {
					t.Fatal(err)
				}
				got := make([]float64, 2)
				if _, err := p.Gradient(got, x); err != nil {
					t.Fatal(err)
				}
				for i, w := range want {
					if !(math.Abs(got[i]-w) <= 1e-12*(1+math.Abs(w))) {
						t.Errorf("%s by %s at %v: derivative %d is %v, want %v", name, b.Name(), x, i, got[i], w)
					}
				}
			}
		}
	}
}

// TestPullbackViolations: a pullback that breaks the contract is an error that names it.
func TestPullbackViolations(t *testing.T) {
	boom := errors.New("boom")
	value := func(y, x []float64) { y[0] = x[0] * x[1] }
	for name, c := range map[string]struct {
		f    func(y, x []float64) func(xbar, ybar []float64)
		want string
	}{
		"nil": {func(y, x []float64) func(_, _ []float64) { value(y, x); return nil },
			"ValueVJP returns no pullback"},
		"unwritten": {func(y, x []float64) func(_, _ []float64) { return func(_, _ []float64) {} },
			"rule prod.ValueVJP: output 0"},
		"writes x": {func(y, x []float64) func(_, _ []float64) {
			value(y, x)
			x[0] = 7
			return func(_, _ []float64) {}
		}, "ValueVJP writes to x"},
		"pullback writes x": {func(y, x []float64) func(_, _ []float64) {
			value(y, x)
			return func(_, _ []float64) { x[1] = 7 }
		}, "the pullback of ValueVJP writes to x"},
		"pullback writes y": {func(y, x []float64) func(_, _ []float64) {
			value(y, x)
			return func(_, _ []float64) { y[0] = 7 }
		}, "the pullback of ValueVJP writes to y"},
		"pullback writes ybar": {func(y, x []float64) func(_, _ []float64) {
			value(y, x)
			return func(_, ybar []float64) { ybar[0] = 7 }
		}, "the pullback of ValueVJP writes to ybar"},
		"pullback panics": {func(y, x []float64) func(_, _ []float64) {
			value(y, x)
			return func(_, _ []float64) { panic(boom) }
		}, "rule prod.the pullback of ValueVJP panicked: boom"},
	} {
		call := nabla.Rule{Name: "prod", Value: value, ValueVJP: c.f}.Func()
		compiled := reversediff.Backend{Compile: true}
		for _, b := range []nabla.Backend{reversediff.Backend{}, compiled, tracker.Backend{}} {
			_, err := nabla.Gradient(func(x []nabla.Real) nabla.Real { return call(x...)[0] }, b, []float64{2, 3})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %s: error %v, want %q in it", name, b.Name(), err, c.want)
			}
		}
	}
}
