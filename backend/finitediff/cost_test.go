package finitediff

import (
	"math"
	"sync"
	"testing"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/rules"
)

const costN, costM = 5, 3

// operators are the hot calls of b for plain functions, ready to be called.
func operators(t testing.TB, b Backend, f, g *engine.Function, x []float64) map[string]func() []float64 {
	t.Helper()
	n, m := f.Dims()
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	push, err := b.PreparePushforward(f, x, 2)
	check(err)
	jac, err := b.PrepareJacobian(f, x)
	check(err)
	grad, err := b.PrepareGradient(g, x)
	check(err)
	hess, err := b.PrepareHessian(g, x)
	check(err)
	hvp, err := b.PrepareHVP(g, x, 2)
	check(err)
	v := engine.NewBlock(n, 2)
	for i := range v.Data {
		v.Data[i] = math.Sin(float64(i + 1))
	}
	y, ydot, j := make([]float64, m), engine.NewBlock(m, 2), engine.NewBlock(m, n)
	gr, h, hv := make([]float64, n), engine.NewBlock(n, n), engine.NewBlock(n, 2)
	fail := func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
	return map[string]func() []float64{
		"pushforward": func() []float64 { fail(push.Pushforward(y, ydot, x, v)); return ydot.Data },
		"jacobian":    func() []float64 { fail(jac.ValueAndJacobian(y, j, x)); return j.Data },
		"gradient":    func() []float64 { _, err := grad.ValueAndGradient(gr, x); fail(err); return gr },
		"hessian":     func() []float64 { _, err := hess.ValueGradientAndHessian(gr, h, x); fail(err); return h.Data },
		"hvp":         func() []float64 { _, err := hvp.ValueGradientAndHVP(gr, hv, x, v); fail(err); return hv.Data },
	}
}

func costFunctions() (f, g *engine.Function) {
	return plain(costN, costM, costMap), plain(costN, 1, costScalar)
}

func costMap(y, x []float64) {
	for i := range y {
		y[i] = math.Exp(x[i]) * x[(i+2)%costN]
	}
}

func costScalar(y, x []float64) {
	y[0] = 1
	for i, v := range x {
		y[0] *= 1 + v*v/float64(i+1)
	}
}

func costPoint() []float64 { return []float64{0.5, -1, 2, 0.125, 3} }

func TestEvaluationsAreAsDocumented(t *testing.T) {
	const n = costN
	for _, m := range []Method{Central, Forward, Backward} {
		f, g := costFunctions()
		ops := operators(t, Backend{Method: m}, f, g, costPoint())
		side := 1
		if m == Central {
			side = 2
		}
		for name, want := range map[string]int{
			"pushforward": 1 + 2*side, "jacobian": 1 + n*side, "gradient": 1 + n*side,
			"hessian": 1 + 2*n + 2*n*(n-1), "hvp": 1 + 2*4*n,
		} {
			before := f.Calls() + g.Calls()
			ops[name]()
			if got := f.Calls() + g.Calls() - before; got != want {
				t.Errorf("%v %s: %d evaluations, want %d", m, name, got, want)
			}
		}
	}
}

func TestHotCallsDoNotAllocate(t *testing.T) {
	bounds := &Bounds{Lower: []float64{0.5, -1, 2, 0, 0}, Upper: []float64{5, 5, 5, 5, 3}}
	for _, b := range []Backend{{}, {Method: Forward}, {Method: Backward}, {Bounds: bounds},
		{Method: Forward, Bounds: bounds}} {
		f, g := costFunctions()
		for name, op := range operators(t, b, f, g, costPoint()) {
			op() // a direction without room prepares its Hessian here
			if a := testing.AllocsPerRun(20, func() { op() }); a != 0 {
				t.Errorf("%s: %s: %v allocations", b.Name(), name, a)
			}
		}
	}
}

// tracedCost makes functions that are traced when recorded and plain when evaluated.
func tracedCost() (f, g *engine.Function) {
	plainOf := func(h func(y, x []float64)) func(y, x []float64, _ engine.Context) error {
		return func(y, x []float64, _ engine.Context) error {
			h(y, x)
			return nil
		}
	}
	f = engine.NewFunction(engine.Def{Name: "f", N: costN, M: costM, Plain: plainOf(costMap),
		Traced: func(y, x []engine.Real, _ engine.Context) error {
			for i := range y {
				y[i] = op2(rules.Mul, op1(rules.Exp, x[i]), x[(i+2)%costN])
			}
			return nil
		}})
	g = engine.NewFunction(engine.Def{Name: "g", N: costN, M: 1, Plain: plainOf(costScalar),
		Traced: func(y, x []engine.Real, _ engine.Context) error {
			y[0] = num(1)
			for i, v := range x {
				y[0] = op2(rules.Mul, y[0],
					op2(rules.Add, num(1), op2(rules.Div, op2(rules.Mul, v, v), num(float64(i+1)))))
			}
			return nil
		}})
	return f, g
}

func TestComplexStepDoesNotAllocate(t *testing.T) {
	f, g := tracedCost()
	for name, op := range operators(t, Backend{Method: Complex}, f, g, costPoint()) {
		if a := testing.AllocsPerRun(20, func() { op() }); a != 0 {
			t.Errorf("%s: %v allocations", name, a)
		}
	}
}

func TestWorkersGiveTheSameNumbers(t *testing.T) {
	for m := Central; m < numMethods; m++ {
		for _, bounds := range []*Bounds{nil, {Lower: []float64{0.5, -1, 2, 0, 0}}} {
			f, g := costFunctions()
			if m == Complex {
				f, g = tracedCost()
			}
			serial := operators(t, Backend{Method: m, Bounds: bounds}, f, g, costPoint())
			for _, workers := range []int{2, 3, 9} {
				if m == Complex {
					f, g = tracedCost()
				}
				parallel := operators(t, Backend{Method: m, Bounds: bounds, Workers: workers}, f, g, costPoint())
				for name, op := range parallel {
					for range 3 {
						got, want := op(), serial[name]()
						for i := range want {
							if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
								t.Errorf("%v %s with %d workers: [%d] = %v, one worker gives %v", m, name, workers, i,
									got[i], want[i])
							}
						}
					}
				}
			}
		}
	}
}

// TestPreparedObjectsOfOneBackend uses clones of one function in several
// goroutines; the race detector watches.
func TestPreparedObjectsOfOneBackend(t *testing.T) {
	f, g := costFunctions()
	want := operators(t, Backend{}, f, g, costPoint())["jacobian"]()
	var wg sync.WaitGroup
	for range 4 {
		b := Backend{Workers: 2}
		ops := operators(t, b, f.Clone(), g.Clone(), costPoint())
		wg.Go(func() {
			for range 20 {
				for name, op := range ops {
					got := op()
					if name == "jacobian" && got[0] != want[0] {
						t.Errorf("got %v, want %v", got, want)
					}
				}
			}
		})
	}
	wg.Wait()
}
