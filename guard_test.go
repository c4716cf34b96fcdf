package nabla_test

import (
	"errors"
	"math"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/reversediff"
)

var compiled = reversediff.Backend{Compile: true}

// mustGradient prepares f at x.
func mustGradient(t *testing.T, f func([]nabla.Real) nabla.Real, b nabla.Backend, x ...float64) *nabla.GradientPrep {
	t.Helper()
	p, err := nabla.PrepareGradient(f, b, x)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// expect checks value, gradient and the number of recordings after a call at x.
func expect(t *testing.T, p *nabla.GradientPrep, x []float64, value float64, grad []float64, recordings int) {
	t.Helper()
	v, g, err := p.ValueAndGradient(nil, x)
	if err != nil {
		t.Fatalf("at %v: %v", x, err)
	}
	if v != value {
		t.Errorf("at %v: value %v, want %v", x, v, value)
	}
	for i := range g {
		if g[i] != grad[i] {
			t.Errorf("at %v: gradient %v, want %v", x, g, grad)
			break
		}
	}
	if r := p.Recordings(); r != recordings {
		t.Errorf("at %v: %d recordings, want %d", x, r, recordings)
	}
}

func sides(x []nabla.Real) nabla.Real {
	if x[0].Greater(nabla.Const(0)) {
		return x[0].Sq()
	}
	return x[0].Scale(-3)
}

func TestBranchesAreRecordedOnce(t *testing.T) {
	p := mustGradient(t, sides, compiled, 2)
	expect(t, p, []float64{3}, 9, []float64{6}, 1)
	expect(t, p, []float64{-1}, 3, []float64{-3}, 2)
	for range 10 { // both are known from now on
		expect(t, p, []float64{4}, 16, []float64{8}, 2)
		expect(t, p, []float64{-2}, 6, []float64{-3}, 2)
	}
	expect(t, p, []float64{0}, 0, []float64{-3}, 2)
	expect(t, p, []float64{math.Copysign(0, -1)}, 0, []float64{-3}, 2)
	nan := math.NaN()
	v, g, err := p.ValueAndGradient(nil, []float64{nan})
	if err != nil || v == v || g[0] != -3 || p.Recordings() != 2 {
		t.Errorf("at NaN: %v, %v, %v after %d recordings", v, g, err, p.Recordings())
	}
}

func TestBranchesOfHessians(t *testing.T) {
	for _, b := range secondOrder {
		p, err := nabla.PrepareHessian(sides, b, []float64{2})
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			for _, c := range [][2]float64{{3, 2}, {-3, 0}} {
				h, err := p.Hessian(nil, c[:1])
				if err != nil || h.At(0, 0) != c[1] {
					t.Errorf("%s at %v: %v, %v", b.Name(), c[0], h, err)
				}
			}
		}
		if r := p.Recordings(); r != 0 && r != 2 {
			t.Errorf("%s: %d recordings", b.Name(), r)
		}
	}
}

func TestIntAsIndex(t *testing.T) {
	f := func(x []nabla.Real) nabla.Real { return x[1+x[0].Int()].Sq() }
	p := mustGradient(t, f, compiled, 0.5, 2, 3, 4)
	expect(t, p, []float64{0.9, 2, 3, 4}, 4, []float64{0, 4, 0, 0}, 1)
	expect(t, p, []float64{-0.9, 2, 3, 4}, 4, []float64{0, 4, 0, 0}, 1)
	expect(t, p, []float64{1.5, 2, 3, 4}, 9, []float64{0, 0, 6, 0}, 2)
	expect(t, p, []float64{2, 2, 3, 4}, 16, []float64{0, 0, 0, 8}, 3)
	expect(t, p, []float64{1, 2, 5, 4}, 25, []float64{0, 0, 10, 0}, 3)
	var pe *nabla.PanicError
	if _, err := p.Gradient(nil, []float64{3, 2, 3, 4}); !errors.As(err, &pe) {
		t.Errorf("index out of range: %v", err)
	}
	expect(t, p, []float64{1, 2, 5, 4}, 25, []float64{0, 0, 10, 0}, 3)
}

func TestValueThatEscapes(t *testing.T) {
	f := func(x []nabla.Real) nabla.Real { return x[0].Scale(x[1].Value()) }
	p := mustGradient(t, f, compiled, 1, 2)
	expect(t, p, []float64{3, 2}, 6, []float64{2, 0}, 1)
	expect(t, p, []float64{3, 5}, 15, []float64{5, 0}, 2)
	expect(t, p, []float64{4, 2}, 8, []float64{2, 0}, 2)
	for _, b := range firstOrder {
		expectNoRecordings := mustGradient(t, f, b, 1, 2)
		if v, g, err := expectNoRecordings.ValueAndGradient(nil, []float64{3, 7}); v != 21 || g[0] != 7 || g[1] != 0 ||
			err != nil {
			t.Errorf("%s: %v, %v, %v", b.Name(), v, g, err)
		}
	}
}

func TestPrintingIsNoEscape(t *testing.T) {
	f := func(x []nabla.Real) nabla.Real {
		if x[0].String() == "" {
			t.Error("no text")
		}
		return x[0].Sq()
	}
	p := mustGradient(t, f, compiled, 1)
	expect(t, p, []float64{5}, 25, []float64{10}, 1)
}

// TestCapturedVariable holds that a captured variable that changes is seen at every call.
func TestCapturedVariable(t *testing.T) {
	c := 2.0
	f := func(x []nabla.Real) nabla.Real { return x[0].Scale(c) }
	p := mustGradient(t, f, compiled, 1)
	x := []float64{3}
	for k := range 4 {
		c = float64(5 + k)
		expect(t, p, x, 3*c, []float64{c}, 2+k)
	}
	expect(t, p, x, 3*c, []float64{c}, 5)

	fail := mustGradient(t, f, nabla.Policy{Backend: compiled, OnGuard: nabla.Fail}, 1)
	for _, c = range []float64{4, 5, 6} {
		if _, err := fail.Gradient(nil, x); !errors.Is(err, nabla.ErrStale) {
			t.Errorf("changed variable with Fail: %v", err)
		}
	}
	c = 8
	expect(t, fail, x, 24, []float64{8}, 1)

	trust := mustGradient(t, f, nabla.Policy{Backend: compiled, NoStaleCheck: true}, 1)
	c = 4
	for range 8 {
		expect(t, trust, x, 24, []float64{8}, 1)
	}
}

// TestCapturedVariableBesideLargeOutput holds that a small output is compared by
// its own size.
func TestCapturedVariableBesideLargeOutput(t *testing.T) {
	for _, b := range []nabla.Backend{compiled, finitediff.Backend{Method: finitediff.Complex}} {
		c := 2.0
		f := func(x []nabla.Real) []nabla.Real { return []nabla.Real{x[0].Scale(1e20), x[0].Scale(c)} }
		p, err := nabla.PrepareJacobian(f, b, []float64{1})
		if err != nil {
			t.Fatal(err)
		}
		c = 3
		if j, err := p.Dense(nil, []float64{1}); err != nil || math.Abs(j.At(1, 0)-3) > 1e-15 {
			t.Errorf("%s: %v, %v", b.Name(), j, err)
		}
		c = math.Inf(1)
		if j, err := p.Dense(nil, []float64{1}); err != nil || j.At(1, 0) != c {
			t.Errorf("%s: %v, %v", b.Name(), j, err)
		}
	}
}

func TestFailOnGuard(t *testing.T) {
	for _, b := range []nabla.Backend{
		nabla.Policy{Backend: compiled, OnGuard: nabla.Fail},
		nabla.SecondOrder{Outer: compiled, Inner: nabla.Policy{Backend: compiled, OnGuard: nabla.Fail}},
	} {
		p := mustGradient(t, sides, b, 2)
		expect(t, p, []float64{3}, 9, []float64{6}, 1)
		if _, err := p.Gradient(nil, []float64{-1}); !errors.Is(err, nabla.ErrGuard) {
			t.Errorf("%s: %v", b.Name(), err)
		}
		expect(t, p, []float64{3}, 9, []float64{6}, 1)
		h, err := nabla.PrepareHessian(sides, b, []float64{2})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Hessian(nil, []float64{-1}); !errors.Is(err, nabla.ErrGuard) {
			t.Errorf("Hessian with %s: %v", b.Name(), err)
		}
		if m, err := h.Hessian(nil, []float64{5}); err != nil || m.At(0, 0) != 2 {
			t.Errorf("Hessian with %s: %v, %v", b.Name(), m, err)
		}
	}
}

func TestLoopOfDataDependentLength(t *testing.T) {
	f := func(x []nabla.Real) nabla.Real { // doubles until 10
		s := x[0]
		for s.Less(nabla.Const(10)) {
			s = s.Scale(2)
		}
		return s
	}
	p := mustGradient(t, f, compiled, 1)
	expect(t, p, []float64{1}, 16, []float64{16}, 1)
	expect(t, p, []float64{1.2}, 19.2, []float64{16}, 1)
	expect(t, p, []float64{2}, 16, []float64{8}, 2)
	expect(t, p, []float64{20}, 20, []float64{1}, 3)
	expect(t, p, []float64{1}, 16, []float64{16}, 3)
}

// TestMoreBranchesThanAreKept holds that results stay right where programs are
// dropped.
func TestMoreBranchesThanAreKept(t *testing.T) {
	f := func(x []nabla.Real) nabla.Real {
		y := nabla.Const(0)
		for k := range x[0].Int() {
			y = y.Add(x[0].Scale(float64(k)))
		}
		return y
	}
	p := mustGradient(t, f, compiled, 1)
	for round := range 3 {
		for n := 1; n <= 20; n++ {
			slope := float64(n * (n - 1) / 2)
			x := float64(n) + 0.5
			v, g, err := p.ValueAndGradient(nil, []float64{x})
			if err != nil || v != slope*x || g[0] != slope {
				t.Errorf("round %d, %d: %v, %v, %v", round, n, v, g, err)
			}
		}
	}
	for range 50 { // until programs are derived again
		for n := 16; n <= 20; n++ {
			if _, err := p.Gradient(nil, []float64{float64(n)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	before := p.Recordings()
	for n := 20; n > 15; n-- { // the last ones are known
		if _, err := p.Gradient(nil, []float64{float64(n)}); err != nil {
			t.Fatal(err)
		}
	}
	if r := p.Recordings(); r != before {
		t.Errorf("%d recordings of the last branches", r-before)
	}
}

// TestGuardOnConstants holds that a decision between constants leaves no guard.
func TestGuardOnConstants(t *testing.T) {
	limit := 1.0
	f := func(x []nabla.Real) nabla.Real {
		if nabla.Const(limit).Less(nabla.Const(2)) {
			return x[0]
		}
		return x[0].Neg()
	}
	p := mustGradient(t, f, compiled, 1)
	expect(t, p, []float64{4}, 4, []float64{1}, 1)
	limit = 3 // a captured variable: call 2 finds it
	expect(t, p, []float64{4}, -4, []float64{-1}, 2)
}

// TestOtherBranchAtEveryCall: a function that takes another branch at every call is recorded at
// every call, without a program derived each time, and stays right; a program comes
// back when the branches calm down.
func TestOtherBranchAtEveryCall(t *testing.T) {
	f := func(x []nabla.Real) nabla.Real {
		s := x[1]
		for range x[0].Int() {
			s = s.Mul(x[1])
		}
		return s
	}
	p, err := nabla.PrepareGradient(f, reversediff.Backend{Compile: true}, []float64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	at := func(k int) {
		t.Helper()
		v := 1.01
		g, err := p.Gradient(nil, []float64{float64(k), v})
		if want := float64(k+1) * math.Pow(v, float64(k)); err != nil || math.Abs(g[1]-want) > 1e-12*want {
			t.Fatalf("k = %d: %v, %v, want %v", k, g, err, want)
		}
	}
	for k := range 200 {
		at(k)
	}
	if n := p.Recordings(); n < 190 {
		t.Errorf("%d recordings of 200 branches", n)
	}
	for range 200 {
		at(7)
	}
	before := p.Recordings()
	for range 200 {
		at(7)
	}
	if n := p.Recordings(); n != before {
		t.Errorf("%d recordings of a branch that no longer changes", n-before)
	}
}

// TestGuardBeforeRule holds that a replay on another branch does not call a rule
// that the function would not have called there, whatever other guards follow it.
func TestGuardBeforeRule(t *testing.T) {
	root := nabla.Rule{
		Name: "root",
		Value: func(y, x []float64) {
			if x[0] < 0 {
				panic("a negative argument")
			}
			y[0] = math.Sqrt(x[0])
		},
		VJP: func(xbar, x, y, ybar []float64) { xbar[0] += ybar[0] / (2 * y[0]) },
	}.Func()
	f := func(x []nabla.Real) nabla.Real {
		if nabla.Tanh(nabla.Exp(x[0])).Less(nabla.Const(math.Tanh(1))) { // x[0] < 0
			return x[0]
		}
		z := root(x[0])[0]
		if z.Less(nabla.Const(100)) {
			return z
		}
		return z.Sq()
	}
	p := mustGradient(t, f, compiled, 4)
	expect(t, p, []float64{4}, 2, []float64{0.25}, 1)
	expect(t, p, []float64{-1}, -1, []float64{1}, 2)
	expect(t, p, []float64{16}, 4, []float64{0.125}, 2)
}

// TestErrorOnBranchNotPrepared has second-order operators that fail on the other side of
// a branch and not on the side where they were prepared, also if that call is first.
func TestErrorOnBranchNotPrepared(t *testing.T) {
	f := func(x nabla.Real) nabla.Real {
		if x.Greater(nabla.Const(0)) {
			return x.Sq()
		}
		return x.Sq().Scale(3)
	}
	g := func(x []nabla.Real) nabla.Real { return f(x[0]) }
	for _, outer := range allEngines[:len(allEngines)-1] {
		if outer.Name() == "tracker" {
			continue // records at every call
		}
		b := nabla.Policy{Backend: nabla.SecondOrder{Outer: outer, Inner: compiled}, OnGuard: nabla.Fail}
		hp, err := nabla.PrepareHessian(g, b, []float64{1})
		if err != nil {
			t.Fatal(err)
		}
		sp, err := nabla.PrepareSecondDerivative(f, b, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []*nabla.HessianPrep{hp, hp.Clone()} {
			if h, err := p.Dense(nil, []float64{-1}); !errors.Is(err, nabla.ErrGuard) {
				t.Errorf("Hessian on the other side with %s: %v, %v", b.Name(), h, err)
			}
			if h, err := p.Dense(nil, []float64{2}); err != nil || math.Abs(h.At(0, 0)-2) > 1e-4 {
				t.Errorf("Hessian with %s: %v, %v", b.Name(), h, err)
			}
		}
		if d, err := sp.SecondDerivative(-1); !errors.Is(err, nabla.ErrGuard) {
			t.Errorf("second derivative on the other side with %s: %v, %v", b.Name(), d, err)
		}
		if d, err := sp.SecondDerivative(2); err != nil || math.Abs(d-2) > 1e-4 {
			t.Errorf("second derivative with %s: %v, %v", b.Name(), d, err)
		}
	}

}
