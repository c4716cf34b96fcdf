package gonumopt_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/optim/gonumopt"
)

// The Rosenbrock function and its derivatives in closed form.
func rosenbrockAt(x []float64) (y float64, g []float64, h [3]float64) {
	a, b := x[1]-x[0]*x[0], 1-x[0]
	return 100*a*a + b*b, []float64{-400*a*x[0] - 2*b, 200 * a},
		[3]float64{1200*x[0]*x[0] - 400*x[1] + 2, -400 * x[0], 200}
}

func close(a, b float64) bool { return math.Abs(a-b) <= 1e-11*max(1, math.Abs(b)) }

// TestOrderOfCalls asks for values, gradients and Hessians at a few points in random order, so that each result is
// sometimes computed for the request, sometimes along with another, and sometimes in advance.
func TestOrderOfCalls(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, b := range []nabla.Backend{compiled, forwarddiff.Backend{}, nil} {
		p, err := gonumopt.Problem(objective(rosenbrock), b, []float64{-1.2, 1})
		if err != nil {
			t.Fatal(err)
		}
		points := [][]float64{{0, 1}, {math.Copysign(0, -1), 1}, {2, 3}, {-1.2, 1}}
		g, h := make([]float64, 2), mat.NewSymDense(2, nil)
		call := func(what int, x []float64) {
			y, wantG, wantH := rosenbrockAt(x)
			switch what {
			case 0:
				if got := p.Func(x); !close(got, y) {
					t.Fatalf("Func(%v) = %v, want %v", x, got, y)
				}
			case 1:
				if p.Grad(g, x); !close(g[0], wantG[0]) || !close(g[1], wantG[1]) {
					t.Fatalf("gradient at %v is %v, want %v", x, g, wantG)
				}
			case 2:
				p.Hess(h, x)
				if got := [3]float64{h.At(0, 0), h.At(0, 1), h.At(1, 1)}; !slices.EqualFunc(got[:], wantH[:], close) {
					t.Fatalf("Hessian at %v is %v, want %v", x, got, wantH)
				}
			}
		}
		for _, weights := range [][]int{{0}, {0, 1}, {0, 1, 2}, {2}, {1, 0}, {0, 0, 1, 2, 2}} {
			for range 200 {
				x := points[rng.IntN(len(points))]
				for _, what := range weights {
					call(what, x)
				}
				call(rng.IntN(3), points[rng.IntN(len(points))])
			}
		}
		if status, err := p.Status(); status != optimize.NotTerminated || err != nil {
			t.Errorf("status %v, %v", status, err)
		}
	}
}

// TestZerosAreTwoPoints: results at 0 are not taken for those at -0.
func TestZerosAreTwoPoints(t *testing.T) {
	p, err := gonumopt.Problem(func(x reals) nabla.Real { return x[0].Inv() }, forwarddiff.Backend{}, []float64{1})
	if err != nil {
		t.Fatal(err)
	}
	p.Grad(make([]float64, 1), []float64{0}) // computes the value too
	if y := p.Func([]float64{math.Copysign(0, -1)}); !math.IsInf(y, -1) {
		t.Errorf("1/-0 is %v", y)
	}
}

// TestCostOfMethods counts runs of a function whose gradient takes n+1 of them: a method that asks for gradients at all
// points pays one gradient for each and no values besides, and one that never asks for any pays values.
func TestCostOfMethods(t *testing.T) {
	const n = 6
	runs := 0
	f := func(x []float64) float64 {
		runs++
		s := 0.0
		for i := 0; i+1 < len(x); i++ {
			y, _, _ := rosenbrockAt(x[i : i+2])
			s += y
		}
		return s
	}
	x0 := same(n, -0.5)
	for _, m := range []struct {
		method optimize.Method
		extra  int // runs at points with a value alone that were taken for others, and the reverse
	}{{&optimize.NelderMead{}, 0}, {&optimize.CG{}, 3}, {&optimize.BFGS{}, 20}, {&optimize.LBFGS{}, 40},
		{&optimize.GradientDescent{}, 60}} {
		p, err := gonumopt.Problem(f, finitediff.Backend{Method: finitediff.Forward}, x0)
		if err != nil {
			t.Fatal(err)
		}
		runs = 0
		res, err := optimize.Minimize(p, x0, &optimize.Settings{MajorIterations: 20}, m.method)
		if err != nil {
			t.Fatal(err)
		}
		need := res.FuncEvaluations - res.GradEvaluations + (n+1)*res.GradEvaluations
		if runs < need || runs > need+m.extra {
			t.Errorf("%T: %d runs for %d values and %d gradients, want %d", m.method, runs, res.FuncEvaluations,
				res.GradEvaluations, need)
		}
	}
}

// TestResultsAreShared: what a gradient or a Hessian brings along costs nothing afterwards, once.
func TestResultsAreShared(t *testing.T) {
	runs := 0
	p, err := gonumopt.Problem(func(x []float64) float64 { runs++; return x[0]*x[0]*x[1] + x[1] }, finitediff.Backend{},
		[]float64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	g, h, x := make([]float64, 2), mat.NewSymDense(2, nil), []float64{3, 4}
	p.Hess(h, x)
	runs = 0
	p.Grad(g, x)
	y := p.Func(x)
	if runs != 0 || y != 40 || math.Abs(g[0]-24) > 1e-4 {
		t.Errorf("after the Hessian value and gradient are %v and %v, from %d runs", y, g, runs)
	}
	x[0] = 5
	p.Grad(g, x)
	runs = 0
	if y := p.Func(x); runs != 0 || y != 104 {
		t.Errorf("after the gradient the value is %v, from %d runs", y, runs)
	}
	if p.Func(x); runs == 0 {
		t.Error("a value is passed on twice")
	}
}

// TestHessianIsPreparedLate: a method without Hessians does not prepare one.
func TestHessianIsPreparedLate(t *testing.T) {
	runs := 0
	f := func(x reals) nabla.Real { runs++; return objective(rosenbrock)(x) }
	x0 := []float64{-1.2, 1}
	p, err := gonumopt.Problem(f, compiled, x0)
	if err != nil {
		t.Fatal(err)
	}
	runs = 0
	g := make([]float64, 2)
	for i := range 5 {
		p.Grad(g, []float64{1, float64(i)})
	}
	before := runs
	p.Hess(mat.NewSymDense(2, nil), x0)
	if after := runs - before; after == 0 {
		t.Errorf("the first Hessian ran the function %d times, want a recording", after)
	}
	before = runs
	p.Hess(mat.NewSymDense(2, nil), []float64{3, 4})
	if after := runs - before; after > 1 { // one for the comparison with the recording
		t.Errorf("the second Hessian ran the function %d times", after)
	}
}

// TestNewton is the use that people ask for: Newton's method with exact Hessians.
func TestNewton(t *testing.T) {
	for _, s := range []start{{"Rosenbrock", rosenbrock, []float64{-1.2, 1}}, {"Wood", wood, []float64{-3, -1, -3, -1}},
		{"Beale", beale, []float64{1, 1}}, {"extended Rosenbrock", extendedRosenbrock, repeat(20, -1.2, 1)}} {
		p, err := gonumopt.Problem(objective(s.f), nil, s.x)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []optimize.Method{&optimize.Newton{}, &optimize.BFGS{}, &optimize.LBFGS{}} {
			res, err := optimize.Minimize(p, s.x, &optimize.Settings{GradientThreshold: 1e-9,
				Converger: optimize.NeverTerminate{}}, m)
			if err != nil || res.F > 1e-12 {
				t.Errorf("%s, %T: %v, %v", s.name, m, res, err)
			}
			if _, ok := m.(*optimize.Newton); ok && (res.HessEvaluations == 0 || res.FuncEvaluations > 200) {
				t.Errorf("%s: %d Hessians, %d values", s.name, res.HessEvaluations, res.FuncEvaluations)
			}
		}
	}
}

// TestConcurrentTasks uses the functions of a problem from several goroutines, with a function that writes to the
// struct bound to it.
func TestConcurrentTasks(t *testing.T) {
	type model struct{ Work []float64 }
	f := nabla.Bind(func(x []float64, m *model) float64 {
		for i, v := range x {
			m.Work[i] = v * v
		}
		s := 0.0
		for i := range x {
			s += m.Work[i] * float64(i+1)
		}
		return s
	}, &model{make([]float64, 3)})
	p, err := gonumopt.Problem(f, finitediff.Backend{}, make([]float64, 3))
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	var wrong atomic.Int32
	for k := range 4 {
		group.Go(func() {
			g, h := make([]float64, 3), mat.NewSymDense(3, nil)
			for i := range 60 {
				x := []float64{float64(k), float64(i), float64(k + i)}
				want := x[0]*x[0] + 2*x[1]*x[1] + 3*x[2]*x[2]
				if y := p.Func(x); math.Abs(y-want) > 1e-9*max(1, want) {
					wrong.Add(1)
				}
				if p.Grad(g, x); math.Abs(g[2]-6*x[2]) > 1e-4*max(1, want) {
					wrong.Add(1)
				}
				if i%5 == 0 {
					if p.Hess(h, x); math.Abs(h.At(1, 1)-4) > 1e-2*max(1, want) {
						wrong.Add(1)
					}
				}
			}
		})
	}
	group.Wait()
	if _, err := p.Status(); err != nil || wrong.Load() > 0 {
		t.Errorf("%d wrong results, %v", wrong.Load(), err)
	}
	res, err := optimize.Minimize(p, same(3, 1), &optimize.Settings{Concurrent: 3, FuncEvaluations: 3000,
		Converger: optimize.NeverTerminate{}}, &optimize.CmaEsChol{Src: rand.NewPCG(3, 4)})
	if err != nil || res.F > 1e-2 {
		t.Errorf("%v, %v", res, err)
	}
}

// TestErrorsEndTheRun: Minimize returns the first error of the function.
func TestErrorsEndTheRun(t *testing.T) {
	bad := errors.New("no value here")
	x0 := []float64{-1.2, 1}
	for name, broken := range map[string]func() error{
		"an error": func() error { return bad },
		"a panic":  func() error { panic(bad) },
	} {
		for _, at := range []int{1, 7} {
			calls := math.MinInt32 // negative during the preparation
			p, err := gonumopt.Problem(func(x reals) (nabla.Real, error) {
				if calls++; calls >= at {
					return nabla.Real{}, fmt.Errorf("call %d: %w", calls, broken())
				}
				return objective(rosenbrock)(x), nil
			}, forwarddiff.Backend{}, x0)
			if err != nil {
				t.Fatal(err)
			}
			calls = 0
			for range 2 { // a second run does not start
				res, err := optimize.Minimize(p, x0, nil, &optimize.BFGS{})
				if !errors.Is(err, bad) {
					t.Errorf("%s in call %d: %v, %v", name, at, res, err)
				}
			}
			if calls > at+1 {
				t.Errorf("%s in call %d: the function was called %d times", name, at, calls)
			}
		}
	}
	calls, fail := 0, false
	p, err := gonumopt.Problem(func(x reals) (nabla.Real, error) {
		if calls++; fail {
			return nabla.Real{}, bad
		}
		return objective(rosenbrock)(x), nil
	}, compiled, x0)
	if err != nil {
		t.Fatal(err)
	}
	fail = true
	h := mat.NewSymDense(2, nil)
	if p.Hess(h, x0); !math.IsNaN(h.At(0, 1)) {
		t.Errorf("a Hessian whose preparation failed: %v", mat.Formatted(h))
	}
	if s, err := p.Status(); s != optimize.Failure || !errors.Is(err, bad) {
		t.Errorf("status %v, %v", s, err)
	}
	if _, err := optimize.Minimize(p, x0, nil, &optimize.Newton{}); !errors.Is(err, bad) {
		t.Error(err)
	}

	p, _ = gonumopt.Problem(objective(rosenbrock), compiled, x0)
	var shape *nabla.ShapeError
	if y := p.Func(x0[:1]); !math.IsNaN(y) {
		t.Errorf("a value at a point of another length: %v", y)
	}
	if _, err := p.Status(); !errors.As(err, &shape) {
		t.Errorf("a point of another length: %v", err)
	}
	_, err = gonumopt.Problem(func(x []float64) float64 { return x[0] }, nil, x0)
	if !errors.Is(err, nabla.ErrUnsupported) {
		t.Errorf("a black box without a backend: %v", err)
	}
}

// chained is the chained Rosenbrock function. It captures nothing, so that its recordings are compared rarely.
func chained(x reals) nabla.Real {
	s := constant(0)
	for i := 0; i+1 < len(x); i++ {
		s = s.Add(x[i+1].Sub(x[i].Sq()).Sq().Scale(100)).Add(x[i].AddConst(-1).Sq())
	}
	return s
}

// TestProblemAllocates nothing in calls.
func TestProblemAllocates(t *testing.T) {
	x := repeat(10, -1.2, 1)
	p, err := gonumopt.Problem(chained, compiled, x)
	if err != nil {
		t.Fatal(err)
	}
	g, h := make([]float64, 10), mat.NewSymDense(10, nil)
	step := func() {
		x[0] += 1e-3
		p.Func(x)
		p.Grad(g, x)
		p.Hess(h, x)
	}
	for range 30 {
		step()
	}
	if n := testing.AllocsPerRun(20, step); n > 0 {
		t.Errorf("%v allocations of Func, Grad and Hess", n)
	}
	if floats.Norm(g, 2) == 0 || strings.Contains(fmt.Sprint(g), "NaN") {
		t.Error(g)
	}
}
