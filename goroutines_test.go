package nabla_test

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/sparsity"
)

// parallel does f(0) to f(n-1) in goroutines of their own, and waits for them.
func parallel(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

// serial does the same one after the other, each in a goroutine of its own.
func serial(n int, f func(i int)) {
	for i := range n {
		parallel(1, func(int) { f(i) })
	}
}

// inline does the same in this goroutine.
func inline(n int, f func(i int)) {
	for i := range n {
		f(i)
	}
}

type schedule = func(n int, f func(i int))

var cube = nabla.Rule{
	Name:  "cube",
	Value: func(y, x []float64) { y[0] = x[0] * x[0] * x[0] },
	JVP:   func(ydot, x, _, xdot []float64) { ydot[0] = 3 * x[0] * x[0] * xdot[0] },
	JVPReal: func(ydot, x, _, xdot []nabla.Real) {
		ydot[0] = x[0].Sq().Scale(3).Mul(xdot[0])
	},
}.Func()

// terms are functions whose terms are computed by a schedule.
var terms = []struct {
	name string
	f    func(each schedule) func(x []nabla.Real) nabla.Real
}{
	{"elementary", func(each schedule) func(x []nabla.Real) nabla.Real {
		return func(x []nabla.Real) nabla.Real {
			ys := make([]nabla.Real, len(x))
			each(len(x), func(i int) {
				for range 5 {
					ys[i] = nabla.Sin(x[i]).Mul(x[(i+1)%len(x)]).Add(nabla.FMA(x[i], x[0], nabla.Const(1)))
				}
			})
			return nabla.Sum(ys...)
		}
	}},
	{"branches", func(each schedule) func(x []nabla.Real) nabla.Real {
		return func(x []nabla.Real) nabla.Real {
			ys := make([]nabla.Real, len(x))
			each(len(x), func(i int) {
				if x[i].Less(nabla.Const(0.3)) {
					ys[i] = x[i].Sq()
				} else {
					ys[i] = x[x[i].Int()].Mul(x[i]).Mul(x[i])
				}
			})
			return nabla.Sum(ys...)
		}
	}},
	{"rules", func(each schedule) func(x []nabla.Real) nabla.Real {
		return func(x []nabla.Real) nabla.Real {
			ys := make([]nabla.Real, len(x))
			each(len(x), func(i int) { ys[i] = cube(x[i])[0].Mul(x[0]) })
			return nabla.Sum(ys...)
		}
	}},
	{"derivatives inside", func(each schedule) func(x []nabla.Real) nabla.Real {
		return func(x []nabla.Real) nabla.Real {
			ys := make([]nabla.Real, len(x))
			each(len(x), func(i int) {
				inner := func(z []nabla.Real) nabla.Real { return nabla.Sin(z[0]).Mul(x[i]).Mul(z[0]) }
				ys[i] = nabla.GradientFunc(inner, reversediff.Backend{})(x[i : i+1])[0]
			})
			return nabla.Sum(ys...)
		}
	}},
	{"inside a derivative", func(each schedule) func(x []nabla.Real) nabla.Real {
		return func(x []nabla.Real) nabla.Real {
			inner := func(z []nabla.Real) nabla.Real {
				ys := make([]nabla.Real, len(z))
				each(len(z), func(i int) { ys[i] = nabla.Sin(z[i]).Mul(z[i]).Mul(x[0]) })
				return nabla.Sum(ys...)
			}
			g := nabla.GradientFunc(inner, forwarddiff.Backend{})(x)
			return nabla.Dot(g, g)
		}
	}},
	{"an iteration in two goroutines by turns", func(each schedule) func(x []nabla.Real) nabla.Real {
		return func(x []nabla.Real) nabla.Real {
			s := x[0]
			for i := range x {
				each(1, func(int) { s = nabla.Sin(s.Mul(x[i])) })
				s = s.Add(x[i])
			}
			return s
		}
	}},
}

var goroutineEngines = append([]nabla.Backend{
	nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: reversediff.Backend{Compile: true}},
	nabla.SecondOrder{Outer: tracker.Backend{}, Inner: forwarddiff.Backend{Chunk: 2, Workers: 2}},
	nabla.AutoSparse{Dense: nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: reversediff.Backend{Compile: true}}},
	nabla.AutoSparse{Dense: reversediff.Backend{Compile: true}},
	nabla.AutoSparse{Dense: tracker.Backend{}, Detector: sparsity.Local{}, Workers: 2},
}, allEngines...)

// TestGoroutines: a function that computes in goroutines of its own has the derivatives of
// the one that does not, with every engine, at every call. Run it with -race.
func TestGoroutines(t *testing.T) {
	x := make([]float64, 12)
	for i := range x {
		x[i] = 0.1 + float64(i)/14
	}
	for _, term := range terms {
		for _, b := range goroutineEngines {
			for name, each := range map[string]schedule{"parallel": parallel, "serial": serial} {
				if testing.Short() && name == "serial" {
					continue
				}
				what := term.name + ", " + name
				f, want := term.f(each), term.f(inline)
				g, err := nabla.PrepareGradient(f, b, x)
				if err != nil {
					t.Errorf("%s with %s: %v", what, b.Name(), err)
					continue
				}
				h, err := nabla.PrepareHessian(f, b, x)
				if err != nil {
					t.Errorf("Hessian: %s with %s: %v", what, b.Name(), err)
					continue
				}
				for k := range 3 {
					at := append([]float64(nil), x...)
					at[k] -= 0.05
					compareAt(t, what, b, g, h, want, at)
				}
			}
		}
	}
}

// compareAt compares derivatives at x with those of the function want.
func compareAt(t *testing.T, what string, b nabla.Backend, g *nabla.GradientPrep, h *nabla.HessianPrep,
	want func([]nabla.Real) nabla.Real, x []float64) {
	t.Helper()
	exact, err := nabla.Gradient(want, tracker.Backend{}, x)
	if err != nil {
		t.Fatal(err)
	}
	got, err := g.Gradient(nil, x)
	if err != nil {
		t.Errorf("%s with %s: %v", what, b.Name(), err)
		return
	}
	within(t, what, b, got, exact, 1e-12)
	exactH, err := nabla.Hessian(want, nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: reversediff.Backend{}}, x)
	if err != nil {
		t.Fatal(err)
	}
	hess, err := h.Hessian(nil, x)
	switch {
	case err != nil:
		t.Errorf("Hessian: %s with %s: %v", what, b.Name(), err)
	case !mat.EqualApprox(hess, exactH, 1e-4):
		t.Errorf("Hessian: %s with %s: %v, want %v", what, b.Name(), mat.Formatted(hess), mat.Formatted(exactH))
	}
}

// TestGoroutinesOfVectorFunctions is TestGoroutines for the other operators.
func TestGoroutinesOfVectorFunctions(t *testing.T) {
	of := func(each schedule) func(x []nabla.Real) []nabla.Real {
		return func(x []nabla.Real) []nabla.Real {
			y := make([]nabla.Real, 2*len(x))
			each(len(y), func(i int) { y[i] = nabla.Exp(x[i%len(x)]).Mul(x[(i+1)%len(x)]) })
			return y
		}
	}
	x := []float64{0.1, 0.2, 0.3, 0.4, 0.5}
	want, err := nabla.Jacobian(of(inline), forwarddiff.Backend{}, x)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range goroutineEngines {
		p, err := nabla.PrepareJacobian(of(parallel), b, x)
		if err != nil {
			t.Errorf("%s: %v", b.Name(), err)
			continue
		}
		for range 3 {
			if j, err := p.Jacobian(nil, x); err != nil || !mat.EqualApprox(j, want, 1e-5) {
				t.Errorf("%s: %v, %v", b.Name(), j, err)
			}
		}
		push, err := nabla.PreparePushforward(of(parallel), b, x)
		if err != nil {
			t.Errorf("%s: %v", b.Name(), err)
			continue
		}
		at, err := push.At(x)
		if err != nil {
			t.Errorf("%s: %v", b.Name(), err)
			continue
		}
		dy, err := at.Apply(nil, x)
		exact := mat.NewVecDense(10, nil)
		exact.MulVec(want, mat.NewVecDense(5, x))
		if err != nil {
			t.Errorf("%s: %v", b.Name(), err)
			continue
		}
		within(t, "At", b, dy, exact.RawVector().Data, 1e-12)
	}
}

// TestErrorsInGoroutines: a failure in a goroutine of the function's own is an error of the call. A
// panic there would end the process.
func TestErrorsInGoroutines(t *testing.T) {
	boom := errors.New("boom")
	angry := nabla.Rule{Name: "angry", Value: func(y, x []float64) {
		if x[0] > 1 {
			panic(boom)
		}
		y[0] = x[0]
	}, VJP: func(xbar, _, _, ybar []float64) { xbar[0] += ybar[0] }}.Func()
	bare := nabla.Rule{Name: "bare", Value: func(y, x []float64) { y[0] = x[0] }}.Func()
	black := func(x []float64) float64 { return x[0] }
	var kept nabla.Real
	for _, c := range []struct {
		name string
		f    func(x nabla.Real) nabla.Real
		want error
		as   any
	}{
		{"a rule that panics", func(x nabla.Real) nabla.Real { return angry(x)[0] }, boom, new(*nabla.PanicError)},
		{"a rule without derivatives", func(x nabla.Real) nabla.Real { return bare(x)[0] }, nil, new(*nabla.FuncError)},
		{"an engine that cannot", func(x nabla.Real) nabla.Real {
			return nabla.GradientFunc(black, reversediff.Backend{})([]nabla.Real{x})[0]
		}, nabla.ErrUnsupported, new(*nabla.UnsupportedError)},
		{"a derivative inside that panics", func(x nabla.Real) nabla.Real {
			return nabla.DerivativeFunc(func(z nabla.Real) nabla.Real { return angry(z)[0] }, tracker.Backend{})(x)
		}, boom, new(*nabla.PanicError)},
		{"a number kept from an earlier call", func(x nabla.Real) nabla.Real {
			y := x
			if kept.String() != "0" {
				y = y.Mul(kept)
			}
			kept = x.Sq()
			return y
		}, nabla.ErrForeignReal, nil},
		{"too many operations", func(x nabla.Real) nabla.Real {
			for range 5000 {
				x = nabla.Sin(x)
			}
			return x
		}, nil, new(*nabla.LimitError)},
	} {
		for _, b := range []nabla.Backend{forwarddiff.Backend{Limit: 2000}, reversediff.Backend{Limit: 2000},
			reversediff.Backend{Compile: true, Limit: 2000}, tracker.Backend{Limit: 2000}} {
			kept = nabla.Real{}
			f := func(x []nabla.Real) nabla.Real {
				var y [2]nabla.Real
				parallel(1, func(i int) { y[i] = c.f(x[i]) })
				serial(2, func(i int) { y[1] = x[1].Sq() })
				return y[0].Add(y[1])
			}
			var err error
			for range 2 {
				if _, err = nabla.Gradient(f, b, []float64{2, 3}); err != nil {
					break
				}
			}
			if err == nil || c.want != nil && !errors.Is(err, c.want) || c.as != nil && !errors.As(err, c.as) {
				t.Errorf("%s with %s: got %v", c.name, b.Name(), err)
			}
		}
	}
}

// TestSparsityInGoroutines: a goroutine that decides by a value has no pattern that holds
// everywhere, and must not go astray for want of values.
func TestSparsityInGoroutines(t *testing.T) {
	f := func(x []nabla.Real) nabla.Real {
		var y [2]nabla.Real
		parallel(2, func(i int) {
			y[i] = x[i].Sq()
			for !y[i].Less(nabla.Const(0.1)) { // with NaNs for ever
				y[i] = y[i].Scale(0.5)
			}
			y[i] = y[i].Mul(x[x[i].Int()]) // with NaNs out of range
		})
		return y[0].Add(y[1])
	}
	var branch *sparsity.BranchError
	if _, err := nabla.HessianSparsity(f, sparsity.Global{}, []float64{0.5, 1}); !errors.As(err, &branch) ||
		branch.Line == 0 {
		t.Errorf("global: %v", err)
	}
	p, err := nabla.PrepareHessian(f, nabla.AutoSparse{Dense: reversediff.Backend{Compile: true}}, []float64{0.5, 1})
	if err != nil {
		t.Fatal(err)
	}
	if h, err := p.Hessian(nil, []float64{0.5, 1}); err != nil || math.Abs(h.At(0, 0)-0.75) > 1e-12 ||
		math.Abs(h.At(1, 1)-0.375) > 1e-12 {
		t.Errorf("AutoSparse: %v, %v", h, err)
	}
}

// TestGoroutineThatOutlivesItsCall computes in a goroutine that continues after the function has
// returned: no later call sees its operations, and a call that uses a number it left behind ends
// with an error.
func TestGoroutineThatOutlivesItsCall(t *testing.T) {
	for _, b := range []nabla.Backend{forwarddiff.Backend{}, reversediff.Backend{}, compiled, tracker.Backend{}} {
		stop, left := make(chan bool), make(chan nabla.Real, 1)
		var wg sync.WaitGroup
		f := func(x []nabla.Real) nabla.Real {
			started, x := make(chan bool), []nabla.Real{x[0], x[1]} // f's own x is that of the next call too
			wg.Go(func() {
				y := x[0].Sq()
				close(started)
				for {
					select {
					case <-stop:
						return
					default:
						y = nabla.Sin(y).Mul(x[1]).Add(cube(x[0])[0])
						if y.Less(nabla.Const(2)) {
							y = nabla.GradientFunc(func(z []nabla.Real) nabla.Real { return z[0].Mul(y) }, b)(x[:1])[0]
						}
						select {
						case left <- y:
						default:
						}
					}
				}
			})
			<-started
			return nabla.Exp(x[0]).Mul(x[1])
		}
		p, err := nabla.PrepareGradient(f, b, []float64{1, 2})
		if err != nil {
			t.Fatal(err)
		}
		for k := range 20 {
			x := []float64{float64(k) / 10, 2}
			g, err := p.Gradient(nil, x)
			if err != nil || math.Abs(g[0]-2*math.Exp(x[0])) > 1e-12 || math.Abs(g[1]-math.Exp(x[0])) > 1e-12 {
				t.Errorf("%s: %v, %v", b.Name(), g, err)
			}
		}
		close(stop)
		wg.Wait()
		old := <-left
		_, err = nabla.Gradient(func(x []nabla.Real) nabla.Real { return x[0].Mul(old) }, b, []float64{1})
		if !errors.Is(err, nabla.ErrForeignReal) {
			t.Errorf("%s: what a goroutine left: %v", b.Name(), err)
		}
	}
}

// TestNestedAfterItsCall computes nested derivatives, and a rule with a mistake, in a goroutine after the function that
// started it has returned: a later call that uses the results ends with an error, and does not take them for constants.
func TestNestedAfterItsCall(t *testing.T) {
	double := func(z nabla.Real) nabla.Real { return z.Add(z) }
	broken := nabla.Rule{Value: func(y, x []float64) { y[0] = x[0] }}.Func()
	for _, b := range []nabla.Backend{forwarddiff.Backend{}, reversediff.Backend{}, compiled, tracker.Backend{}} {
		for name, nested := range map[string]func(x, y nabla.Real) nabla.Real{
			"GradientFunc": func(x, y nabla.Real) nabla.Real {
				f := func(z []nabla.Real) nabla.Real { return z[0].Mul(y) }
				return nabla.GradientFunc(f, b)([]nabla.Real{x})[0]
			},
			"DerivativeFunc": func(x, y nabla.Real) nabla.Real {
				return nabla.DerivativeFunc(func(z nabla.Real) nabla.Real { return z.Mul(y) }, b)(x)
			},
			"PushforwardFunc": func(x, y nabla.Real) nabla.Real {
				f := func(z []nabla.Real) nabla.Real { return z[0].Mul(y) }
				return nabla.PushforwardFunc(f, b)([]nabla.Real{x}, []nabla.Real{double(y)})[0]
			},
			"Rule": func(x, y nabla.Real) nabla.Real { return broken(x, y)[0] },
		} {
			ended, left := make(chan bool), make(chan nabla.Real, 9) // f runs more than once
			f := func(x []nabla.Real) nabla.Real {
				p, q := x[0], x[0].Sq()
				go func() {
					<-ended
					left <- nested(p, q)
				}()
				return q
			}
			if _, err := nabla.Gradient(f, b, []float64{3}); err != nil {
				t.Fatal(err)
			}
			close(ended)
			old := <-left
			_, err := nabla.Gradient(func(x []nabla.Real) nabla.Real { return x[0].Mul(old) }, b, []float64{1})
			if !errors.Is(err, nabla.ErrForeignReal) {
				t.Errorf("%s, %s: %v", b.Name(), name, err)
			}
		}
	}
}

// BenchmarkGoroutines is the price of goroutines in a function, by engine.
func BenchmarkGoroutines(b *testing.B) {
	x := make([]float64, 100)
	for i := range x {
		x[i] = float64(i) * 0.01
	}
	for _, e := range []nabla.Backend{forwarddiff.Backend{}, reversediff.Backend{}, tracker.Backend{}} {
		for name, each := range map[string]schedule{"parallel": parallel, "inline": inline} {
			b.Run(fmt.Sprintf("%s/%s", e.Name(), name), func(b *testing.B) {
				p, err := nabla.PrepareGradient(terms[0].f(each), e, x)
				if err != nil {
					b.Fatal(err)
				}
				g := make([]float64, len(x))
				for b.Loop() {
					if _, err := p.Gradient(g, x); err != nil {
						b.Fatal(err)
					}
				}
				perOp(b, 100*5*4)
			})
		}
	}
}
