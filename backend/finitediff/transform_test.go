package finitediff

import (
	"errors"
	"math"
	"sync"
	"testing"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/rules"
)

// tapeJacobian differentiates f with a tape: another engine, for this test.
func tapeJacobian(t testing.TB, f *engine.Function, x []float64) (y []float64, jac engine.Block) {
	t.Helper()
	n, m := f.Dims()
	tr := new(engine.Tracer)
	tr.StartTape(n, 0)
	defer tr.Close()
	xs, ys := make([]engine.Real, n), make([]engine.Real, m)
	engine.Inputs(tr, xs, x)
	if err := f.OverIn(tr, ys, xs); err != nil {
		t.Fatal(err)
	}
	ids, y := make([]int32, m), make([]float64, m)
	for i, r := range ys {
		ids[i], y[i] = r.ID, r.V
	}
	jac = engine.NewBlock(m, n)
	for i := range m {
		ybar := make([]float64, m)
		ybar[i] = 1
		tr.SweepBack(jac.Row(i), ids, ybar, false)
	}
	return y, jac
}

func transformed(t testing.TB, b Backend, f *engine.Function, gradient bool) *engine.Function {
	t.Helper()
	g, err := b.PushforwardFunction(f)
	if gradient {
		g, err = b.GradientFunction(f)
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestAnotherEngineDifferentiatesTheQuotient(t *testing.T) {
	x := []float64{0.5, -1, 1.5, 0.75}
	v := []float64{1, -2, 0.5, 3}
	inf := math.Inf(1)
	face := &Bounds{Lower: []float64{0.5, -2, -inf, -inf}, Upper: []float64{inf, inf, 1.5, 5}}
	corner := &Bounds{Lower: []float64{0.5, -1, 0, 0}}
	value, want, hess := bowlAt(x)
	xv := append(append([]float64(nil), x...), v...)
	for m := Central; m < numMethods; m++ {
		tol := [numMethods]float64{1e-8, 1e-6, 1e-6, 1e-13}[m]
		for _, bounds := range []*Bounds{nil, face, corner} {
			b := Backend{Method: m, Bounds: bounds}
			f := traced(4, 1, bowl)
			g := transformed(t, b, f, true)
			plain := make([]float64, 5)
			y, jac := tapeJacobian(t, g, x)
			if err := g.Value(plain, x); err != nil {
				t.Fatal(err)
			}
			if far(y[4]-value, 1e-15) || far(plain[4]-value, 1e-15) {
				t.Errorf("%s: value over Reals %v, plain %v, want %v", b.Name(), y[4], plain[4], value)
			}
			for i := range x {
				if m != Complex && y[i] != plain[i] || far(y[i]-want[i], tol) {
					t.Errorf("%s: gradient over Reals %v, plain %v, want %v", b.Name(), y, plain, want)
				}
				for j := range x {
					if got := jac.Row(i)[j]; far(got-hess[i][j], tol) {
						t.Errorf("%s: H[%d,%d] = %v, want %v", b.Name(), i, j, got, hess[i][j])
					}
				}
			}
			p := transformed(t, b, f, false)
			dot, along := tapeJacobian(t, p, xv)
			if err := p.Value(plain[:2], xv); err != nil {
				t.Fatal(err)
			}
			if far(dot[1]-value, 1e-15) || far(plain[1]-value, 1e-15) {
				t.Errorf("%s: value over Reals %v, plain %v, want %v", b.Name(), dot[1], plain[1], value)
			}
			if m != Complex && dot[0] != plain[0] || far(dot[0]-plain[0], tol) {
				t.Errorf("%s: pushforward over Reals %v, plain %v", b.Name(), dot, plain[0])
			}
			sum := 0.0
			for i := range x {
				sum += want[i] * v[i]
				hv := 0.0
				for j := range x {
					hv += hess[i][j] * v[j]
				}
				if got := along.Data[i]; far(got-hv, 20*tol) {
					t.Errorf("%s: d(J·v)/dx[%d] = %v, want %v", b.Name(), i, got, hv)
				}
				if got := along.Data[4+i]; far(got-want[i], 20*tol) {
					t.Errorf("%s: d(J·v)/dv[%d] = %v, want %v", b.Name(), i, got, want[i])
				}
			}
			if far(dot[0]-sum, 20*tol) {
				t.Errorf("%s: J·v = %v, want %v", b.Name(), dot, sum)
			}
		}
	}
}

// TestRecordedQuotientFollowsThePoint replays the recorded quotient elsewhere: its
// steps move with x, and a guard fails where a node met a bound.
func TestRecordedQuotientFollowsThePoint(t *testing.T) {
	f := traced(4, 1, bowl)
	at, other := []float64{0.5, -1, 1.5, 0.75}, []float64{3, 20, -0.25, 1e4}
	face := &Bounds{Lower: []float64{-1, -1, -2, -2}}
	for _, c := range []struct {
		b     Backend
		to    []float64
		holds bool
	}{
		{Backend{}, other, true},
		{Backend{Method: Forward}, other, true},
		{Backend{Method: Backward}, other, true},
		{Backend{Bounds: &Bounds{Lower: []float64{-9, -9, -9, -9}}}, []float64{0, 0, 0, 0}, true},
		{Backend{Bounds: &Bounds{Lower: []float64{-9, -9, -9, -9}}}, []float64{-9, 0, 0, 0}, false},
		{Backend{Bounds: &Bounds{Upper: []float64{9, 9, 9, 9}}}, []float64{0, 0, 9, 0}, false},
		{Backend{Bounds: face}, at, true},
		{Backend{Bounds: face}, []float64{0.5, -0.5, 1.5, 0.75}, false},
	} {
		for _, gradient := range []bool{true, false} {
			g := transformed(t, c.b, f, gradient)
			x, to := at, c.to
			if !gradient {
				v := []float64{1, 0, 2, -3}
				x, to = append(append([]float64(nil), at...), v...), append(append([]float64(nil), c.to...), v...)
			}
			if !gradient && c.b.Bounds == face {
				continue // v does not move x[1]: nothing meets the bound
			}
			p, err := g.Program(x)
			if err != nil {
				t.Fatal(err)
			}
			mc := program.NewMachine(p)
			copy(mc.Input(0), to)
			if mc.Run() != c.holds {
				t.Errorf("%s, gradient %v: the recording at %v holds at %v: %v", c.b.Name(), gradient, x, to, !c.holds)
				continue
			}
			if !c.holds {
				continue
			}
			_, m := g.Dims()
			got, want := make([]float64, m), make([]float64, m)
			mc.Output(0, got)
			if err := g.Value(want, to); err != nil {
				t.Fatal(err)
			}
			for i := range got {
				if got[i] != want[i] {
					t.Errorf("%s, gradient %v: replayed %v, computed %v", c.b.Name(), gradient, got, want)
				}
			}
		}
	}
}

func TestTransformsAtAZeroTangent(t *testing.T) {
	f := traced(4, 1, bowl)
	x := []float64{0.5, -1, 1.5, 0.75, 0, 0, 0, 0}
	_, g, _ := bowlAt(x[:4])
	for m := Central; m < numMethods; m++ {
		p := transformed(t, Backend{Method: m}, f, false)
		y, jac := tapeJacobian(t, p, x)
		for i := range g {
			if y[0] != 0 || far(jac.Data[i], 1e-6) || far(jac.Data[4+i]-g[i], 1e-6) {
				t.Errorf("%v: J·0 = %v with derivatives %v, gradient %v", m, y, jac.Data, g)
			}
		}
	}
}

func TestTransformsOfPlainFunctions(t *testing.T) {
	f, g := costFunctions()
	grad := transformed(t, Backend{}, g, true)
	push := transformed(t, Backend{}, f, false)
	if grad.Traceable() || push.Traceable() {
		t.Error("the transform of a plain function is traceable")
	}
	x := costPoint()
	y, out := make([]float64, costN+1), make([]float64, 2*costM)
	want := operators(t, Backend{}, f, g, x)["gradient"]()
	for range 2 {
		if err := grad.Value(y, x); err != nil {
			t.Fatal(err)
		}
	}
	for i := range want {
		if y[i] != want[i] {
			t.Errorf("gradient %v, want %v", y, want)
		}
	}
	xv := append(append([]float64(nil), x...), 1, 2, 3, 4, 5)
	for name, run := range map[string]func() error{
		"gradient":    func() error { return grad.Value(y, x) },
		"pushforward": func() error { return push.Value(out, xv) },
	} {
		if a := testing.AllocsPerRun(10, func() {
			if err := run(); err != nil {
				t.Fatal(err)
			}
		}); a != 0 {
			t.Errorf("%s: %v allocations", name, a)
		}
	}
	if err := grad.Over(make([]engine.Real, costN+1),
		make([]engine.Real, costN)); !errors.Is(err, engine.ErrUnsupported) {
		t.Errorf("over Reals: %v", err)
	}
	if _, err := (Backend{Method: Complex}).GradientFunction(g); !errors.Is(err, engine.ErrUnsupported) {
		t.Errorf("complex: %v", err)
	}
	// A second derivative of plain Go: differences of the difference function.
	second, err := Backend{RelStep: 1e-4}.PrepareJacobian(transformed(t, Backend{RelStep: 1e-4}, g, true), x)
	if err != nil {
		t.Fatal(err)
	}
	jac := engine.NewBlock(costN+1, costN)
	if err := second.ValueAndJacobian(y, jac, x); err != nil {
		t.Fatal(err)
	}
	hess := engine.Block{N: costN, B: costN, Stride: costN, Data: operators(t, Backend{}, f, g, x)["hessian"]()}
	for i, h := range hess.Data {
		if far(h-jac.Data[i], 1e-4*(1+math.Abs(h))) {
			t.Errorf("hessian %v, nested differences %v", h, jac.Data[i])
		}
	}
}

func TestClonesOfTransformsShareNothing(t *testing.T) {
	for m := Central; m < numMethods; m++ {
		_, f := tracedCost()
		g := transformed(t, Backend{Method: m}, f, true)
		x := costPoint()
		want := make([]float64, costN+1)
		if err := g.Value(want, x); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 3 {
			c := g.Clone()
			wg.Go(func() {
				y, xs := make([]float64, costN+1), costPoint()
				for range 50 {
					if err := c.Value(y, xs); err != nil || y[0] != want[0] {
						t.Errorf("got %v, %v, want %v", y, err, want)
					}
				}
			})
		}
		wg.Wait()
	}
}

// TestStepsCarryNoDerivative has a step so long that it would show: the quotient
// of x² is 2x + h, whose derivative with h held fixed is 2.
func TestStepsCarryNoDerivative(t *testing.T) {
	f := traced(1, 1, func(y, x []engine.Real) { y[0] = op1(rules.Sq, x[0]) })
	b := Backend{Method: Forward, RelStep: 0.125}
	if y, jac := tapeJacobian(t, transformed(t, b, f, true), []float64{2}); y[0] != 4.25 || jac.Data[0] != 2 {
		t.Errorf("quotient %v, derivative %v, want 4.25 and 2", y, jac.Data)
	}
	if y, jac := tapeJacobian(t, transformed(t, b, f, false), []float64{2, 1}); y[0] != 4.25 || jac.Data[0] != 2 {
		t.Errorf("quotient %v, derivatives %v, want 4.25 and 2", y, jac.Data)
	}
}

// TestDerivedOfOverwriting: the quotient of a function that writes to its argument evaluates it at the nodes, and not
// at points that an earlier evaluation left.
func TestDerivedOfOverwriting(t *testing.T) {
	f := engine.Derived("overwrites", 2, 1, func(y, x []engine.Real) {
		y[0] = engine.Real{}
		for i := range x {
			x[i] = core.Apply1(rules.Sq, x[i])
			y[0] = core.Apply2(rules.Add, y[0], core.Apply2(rules.Mul, x[i], engine.Real{V: float64(i + 1)}))
		}
	})
	for _, gradient := range []bool{true, false} {
		g := transformed(t, Backend{}, f, gradient)
		x, want := []float64{3, 5}, []float64{2, 0, 0, 4}
		if !gradient { // along (1, 1)
			x, want = []float64{3, 5, 1, 1}, []float64{2, 4}
		}
		_, jac := tapeJacobian(t, g, x)
		for i, w := range want {
			if got := jac.Row(i / 2)[i%2]; math.Abs(got-w) > 1e-5 {
				t.Errorf("gradient %v: derivative %d is %v, want %v", gradient, i, got, w)
			}
		}
	}
}
