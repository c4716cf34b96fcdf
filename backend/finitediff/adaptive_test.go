package finitediff_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/engine"
)

// TestOrders compares derivatives of orders 1 to 8 with closed forms. Estimates must bound the errors, and digits must
// not be lost for nothing: the error of order q with p points is about eps^((p-q)/p).
func TestOrders(t *testing.T) {
	exp := func(q int, x float64) float64 { return math.Exp(x) }
	sin := func(q int, x float64) float64 { return math.Sin(x + float64(q)*math.Pi/2) }
	inv := func(q int, x float64) float64 { return math.Gamma(float64(q+1)) * math.Pow(-1/x, float64(q)) / x }
	bounded, n := 0, 0
	for _, c := range []struct {
		f  func(float64) float64
		d  func(q int, x float64) float64
		xs []float64
	}{
		{math.Exp, exp, []float64{-3, 0, 1, 5}}, {math.Sin, sin, []float64{-1, 0.1, 1, 30}},
		{func(x float64) float64 { return 1 / x }, inv, []float64{-2, 0.01, 1, 1000}},
	} {
		for q := 1; q <= 8; q++ {
			for _, a := range []finitediff.Adaptive{{}, {Extrapolate: 5}, {Points: q + 5},
				{Method: finitediff.Forward}} {
				for _, x := range c.xs {
					got, err := a.Derivative(c.f, x, q)
					if err != nil {
						t.Fatalf("order %d at %v by %s: %v", q, x, a.Name(), err)
					}
					want := c.d(q, x)
					n++
					if math.Abs(got.Value-want) <= got.Error {
						bounded++
					}
					scale := math.Abs(c.d(q, x)) + math.Abs(c.d(q+1, x))*max(1, math.Abs(x))
					points := float64(max(5, (q+3)|1, a.Points))
					tol := 3000 * math.Pow(0x1p-52, (points-float64(q))/points)
					if a.Method == finitediff.Forward {
						tol *= 300
					}
					if !(math.Abs(got.Value-want) <= tol*scale) {
						t.Errorf("order %d at %v by %s: %v, want %v, relative error %.2g, claims %.2g", q, x, a.Name(),
							got.Value, want, math.Abs(got.Value/want-1), got.Error)
					}
				}
			}
		}
	}
	t.Logf("%d of %d estimates bound the error", bounded, n)
	if 100*bounded < 95*n {
		t.Errorf("%d of %d estimates bound the error", bounded, n)
	}
}

// TestEvaluations counts the evaluations that the documentation promises where the model of the error holds.
func TestEvaluations(t *testing.T) {
	for _, c := range []struct {
		a     finitediff.Adaptive
		order int
		want  int // x, levels, quotient, half of the step
	}{
		{finitediff.Adaptive{}, 1, 1 + 6 + 4 + 2},
		{finitediff.Adaptive{}, 2, 1 + 8 + 4 + 2},
		{finitediff.Adaptive{Levels: 2}, 1, 1 + 8 + 6 + 4 + 2},
		{finitediff.Adaptive{Levels: finitediff.NoLevels}, 1, 1 + 4 + 2},
		{finitediff.Adaptive{Method: finitediff.Forward}, 1, 1 + 6 + 4 + 2},
		{finitediff.Adaptive{Points: 3}, 1, 1 + 4 + 2 + 2},
		{finitediff.Adaptive{Steps: &finitediff.Steps{0.01}}, 1, 1 + 4 + 2},
	} {
		calls := 0
		f := func(x float64) float64 { calls++; return math.Exp(x) }
		got, err := c.a.Derivative(f, 1, c.order)
		if err != nil || got.Evaluations != c.want || calls != c.want {
			t.Errorf("%s, order %d: %d evaluations, %d reported, want %d; %v", c.a.Name(), c.order, calls,
				got.Evaluations, c.want, err)
		}
	}
}

// TestMaxRangeIsExact compares the points of evaluation with the limit in exact arithmetic.
func TestMaxRangeIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	exact := func(v float64) *big.Float { return new(big.Float).SetPrec(2200).SetFloat64(v) }
	furthest := 0.0
	for range 3000 {
		x := rng.NormFloat64() * math.Pow(10, float64(rng.IntN(20)-10))
		r := rng.Float64() * math.Pow(10, float64(-rng.IntN(12)))
		a := finitediff.Adaptive{MaxRange: r}
		switch rng.IntN(5) {
		case 0:
			a.Method = finitediff.Forward
		case 1:
			a.Grid = &finitediff.Grid{-0.3, 0, 0.7, 1.1}
		case 2:
			a.Extrapolate = 3
		case 3:
			a.MeasureNoise = true
		}
		_, err := a.Derivative(func(p float64) float64 {
			d := new(big.Float).SetPrec(2200).Sub(exact(p), exact(x))
			if d.Abs(d).Cmp(exact(r)) > 0 {
				t.Errorf("%s evaluates at %v for x = %v", a.Name(), p, x)
			}
			furthest = max(furthest, math.Abs(p-x)/r)
			return math.Cos(p)
		}, x, 1)
		var domain *finitediff.DomainError
		if err != nil && (!errors.As(err, &domain) || r > 1e-13*math.Abs(x)) {
			t.Errorf("%s at %v: %v", a.Name(), x, err)
		}
	}
	if furthest < 0.6 {
		t.Errorf("no evaluation is further away than %v of the limit", furthest)
	}
	// In a direction, and in a Hessian, the limit holds for every component.
	x := []float64{0.1, 300, -7}
	f := nabla.InPlace(1, func(y, p []float64) {
		for i := range p {
			d := new(big.Float).SetPrec(2200).Sub(exact(p[i]), exact(x[i]))
			if d.Abs(d).Cmp(exact(1e-3)) > 0 {
				t.Errorf("evaluated at %v", p)
			}
		}
		y[0] = p[0]*p[1] + math.Sin(p[2]*p[0])
	})
	a := finitediff.Adaptive{MaxRange: 1e-3}
	if _, err := nabla.Hessian(f, a, x); err != nil {
		t.Error(err)
	}
	if _, err := nabla.Pushforward(f, a, x, []float64{1e10, -3, 1e-20}); err != nil {
		t.Error(err)
	}
}

// TestAdaptiveBounds differentiates next to and on the faces of a box, without evaluations outside.
func TestAdaptiveBounds(t *testing.T) {
	a := finitediff.Adaptive{Bounds: &finitediff.Bounds{Lower: []float64{0, -1, 2}, Upper: []float64{1, 1, 2}}}
	f := nabla.InPlace(1, func(y, p []float64) {
		if p[0] < 0 || p[0] > 1 || p[1] < -1 || p[1] > 1 || p[2] != 2 {
			t.Errorf("evaluated at %v", p)
		}
		y[0] = math.Exp(p[0]) * math.Sin(p[1]+p[2])
	})
	for _, x := range [][]float64{{0, -1, 2}, {1, 1, 2}, {1e-9, 0, 2}, {0.5, 1 - 1e-12, 2}} {
		p, err := nabla.PrepareGradient(f, a, x)
		if err != nil {
			t.Fatal(err)
		}
		g, e, err := p.GradientWithError(nil, nil, x)
		if err != nil {
			t.Fatal(err)
		}
		want := []float64{math.Exp(x[0]) * math.Sin(x[1]+x[2]), math.Exp(x[0]) * math.Cos(x[1]+x[2])}
		for i := range want {
			if wrong := math.Abs(g[i] - want[i]); wrong > 1e-9 || wrong > e[i] {
				t.Errorf("at %v: %v with errors %v, want %v", x, g, e, want)
			}
		}
		if !math.IsNaN(g[2]) || !math.IsNaN(e[2]) {
			t.Errorf("a component that cannot move has derivative %v and error %v", g[2], e[2])
		}
		if _, err := nabla.Hessian(f, a, x); err != nil {
			t.Error(err)
		}
	}
	var bounds *finitediff.BoundsError
	if _, err := nabla.Gradient(f, a, []float64{2, 0, 2}); !errors.As(err, &bounds) {
		t.Errorf("outside of the bounds: %v", err)
	}
}

// TestDomains differentiates at the edge of domains, where functions are NaN, infinite, panic or return errors.
func TestDomains(t *testing.T) {
	nan := func(f func(float64) float64, inside func(float64) bool) func(float64) float64 {
		return func(x float64) float64 {
			if !inside(x) {
				return math.NaN()
			}
			return f(x)
		}
	}
	panics := func(f func(float64) float64, inside func(float64) bool) func(float64) float64 {
		return func(x float64) float64 {
			if !inside(x) {
				panic("outside of the domain")
			}
			return f(x)
		}
	}
	for name, restrict := range map[string]func(func(float64) float64, func(float64) bool) func(float64) float64{
		"NaN": nan, "panic": panics} {
		for _, c := range []struct {
			f      func(float64) float64
			inside func(float64) bool
			x      float64
			want   float64
			tol    float64
		}{
			{math.Exp, func(x float64) bool { return x >= 0 }, 0, 1, 1e-10},
			{math.Exp, func(x float64) bool { return x <= 0 }, 0, 1, 1e-10},
			{math.Exp, func(x float64) bool { return x >= 1 }, 1 + 1e-13, math.E, 1e-9},
			{math.Exp, func(x float64) bool { return 0 <= x && x <= 1e-6 }, 0, 1, 1e-6},
			{math.Sqrt, func(x float64) bool { return x >= 0 }, 1e-12, 5e5, 1e-4},
			{math.Log, func(x float64) bool { return x > 0 }, 1e-200, 1e200, 1e190},
			{math.Asin, func(x float64) bool { return x*x <= 1 }, 0.9999, 70.71244595191452, 1e-6},
		} {
			got, err := finitediff.Adaptive{}.Derivative(restrict(c.f, c.inside), c.x, 1)
			wrong := math.Abs(got.Value - c.want)
			if err != nil || !(wrong <= c.tol) || wrong > got.Error {
				t.Errorf("%s at %v: %+v, %v, want %v", name, c.x, got, err, c.want)
			}
		}
		// A single point has no derivative.
		point := restrict(math.Exp, func(x float64) bool { return x == 1 })
		var domain *finitediff.DomainError
		if got, err := (finitediff.Adaptive{}).Derivative(point, 1, 1); !errors.As(err, &domain) || domain.X[0] != 1 {
			t.Errorf("%s: defined at one point only: %v, %v", name, got, err)
		}
		var panicked *engine.PanicError
		if errors.As(domain, &panicked) != (name == "panic") {
			t.Errorf("%s: %v", name, domain)
		}
		_, err := finitediff.Adaptive{Steps: &finitediff.Steps{0.1}, Method: finitediff.Forward}.Derivative(
			restrict(math.Exp, func(x float64) bool { return x <= 1.01 && x > 0.99 }), 1, 1)
		if !errors.As(err, &domain) {
			t.Errorf("%s: a step that leads outside gives %v", name, err)
		}
	}
	if got, err := (finitediff.Adaptive{}).Derivative(math.Sqrt, -1, 1); err != nil || !math.IsNaN(got.Value) {
		t.Errorf("where f is NaN: %v, %v", got, err)
	}
	var panicked *engine.PanicError
	if _, err := (finitediff.Adaptive{}).Derivative(func(float64) float64 { panic("no") }, 1, 1); !errors.As(err,
		&panicked) {
		t.Errorf("where f panics: %v", err)
	}
	// Quotients that tend to infinity, at a singular point and at a jump.
	for _, f := range []func(float64) float64{math.Sqrt, math.Cbrt,
		func(x float64) float64 { return math.Copysign(1, x) }} {
		if got, err := (finitediff.Adaptive{}).Derivative(f, 0, 1); err != nil || !math.IsNaN(got.Value) &&
			!(got.Error > math.Abs(got.Value)/10) {
			t.Errorf("at a singular point: %+v, %v", got, err)
		}
	}
	failing := errors.New("outside")
	g := nabla.Bind(func(x []float64, _ *struct{}) (float64, error) {
		if x[0] < 0 {
			return 0, failing
		}
		return x[0] * x[0] * x[1], nil
	}, new(struct{}))
	if d, err := nabla.Gradient(g, finitediff.Adaptive{}, []float64{0, 3}); err != nil || math.Abs(d[0]) > 1e-9 {
		t.Errorf("a function that returns an error outside of its domain: %v, %v", d, err)
	}
	if _, err := nabla.Gradient(g, finitediff.Adaptive{}, []float64{-1, 3}); !errors.Is(err, failing) {
		t.Errorf("a function that returns an error at x: %v", err)
	}
}

// TestBadSettings requires a typed error of every Prepare.
func TestBadSettings(t *testing.T) {
	f := func(x []float64) float64 { return x[0] * x[1] }
	x := []float64{1, 2}
	nan := math.NaN()
	for _, c := range []struct {
		a    finitediff.Adaptive
		want string
	}{
		{finitediff.Adaptive{Points: 1}, "Points is 1 point, want at least 2 points for a derivative of order 1"},
		{finitediff.Adaptive{Points: -1}, "Points is 0 points"},
		{finitediff.Adaptive{Points: 100}, "Points is 100 points, want at most 31"},
		{finitediff.Adaptive{Grid: &finitediff.Grid{0, 1, 1}}, "Grid[2] is 1, want a node that differs from node 1"},
		{finitediff.Adaptive{Grid: &finitediff.Grid{0, nan}}, "Grid[1] is NaN"},
		{finitediff.Adaptive{Grid: &finitediff.Grid{0, 1}, Points: 3}, "Points is 3"},
		{finitediff.Adaptive{Method: finitediff.Complex}, "Method is complex, want Central, Forward or Backward"},
		{finitediff.Adaptive{Method: 77}, "Method is method(77)"},
		{finitediff.Adaptive{Factor: -1}, "Factor is -1"},
		{finitediff.Adaptive{Factor: nan}, "Factor is NaN"},
		{finitediff.Adaptive{Condition: -1}, "Condition is -1"},
		{finitediff.Adaptive{Noise: -1}, "Noise is -1"},
		{finitediff.Adaptive{Noise: math.Inf(1)}, "Noise is +Inf"},
		{finitediff.Adaptive{Noise: 1, MeasureNoise: true}, "Noise is 1, want 0 with MeasureNoise"},
		{finitediff.Adaptive{MaxRange: -1}, "MaxRange is -1"},
		{finitediff.Adaptive{MaxRange: nan}, "MaxRange is NaN"},
		{finitediff.Adaptive{Levels: -2}, "Levels is -2, want 0 to 10, or NoLevels"},
		{finitediff.Adaptive{Levels: 11}, "Levels is 11"},
		{finitediff.Adaptive{Extrapolate: -1}, "Extrapolate is -1"},
		{finitediff.Adaptive{Extrapolate: 11}, "Extrapolate is 11"},
		{finitediff.Adaptive{Steps: &finitediff.Steps{1, nan}}, "Steps[1] is NaN"},
		{finitediff.Adaptive{Steps: &finitediff.Steps{1, -1}}, "Steps[1] is -1"},
		{finitediff.Adaptive{Workers: -1}, "Workers is -1, want 0 or more"},
		{finitediff.Adaptive{Bounds: &finitediff.Bounds{Lower: []float64{1, 1}, Upper: []float64{0, 1}}},
			"the interval of Bounds for component 0 is [1 0]"},
	} {
		var setting *finitediff.SettingError
		_, first := nabla.PrepareGradient(f, c.a, x)
		_, second := nabla.PrepareHVP(f, c.a, x)
		for _, err := range []error{first, second} {
			if !errors.As(err, &setting) || !contains(err.Error(), c.want[:min(len(c.want), 12)]) {
				t.Errorf("%s: %v, want a SettingError", c.a.Name(), err)
			}
		}
		if first != nil && !contains(first.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.a.Name(), first, c.want)
		}
	}
	var shape *nabla.ShapeError
	if _, err := nabla.PrepareJacobian(nabla.InPlace(1, func(y, x []float64) { y[0] = x[0] }),
		finitediff.Adaptive{Steps: &finitediff.Steps{1}}, x); !errors.As(err, &shape) || shape.Want != 2 {
		t.Errorf("one step for two variables: %v", err)
	}
	var setting *finitediff.SettingError
	if _, err := (finitediff.Adaptive{Points: 2}).PrepareDerivative(math.Exp, 2); !errors.As(err, &setting) {
		t.Errorf("2 points for order 2: %v", err)
	}
	if _, err := (finitediff.Adaptive{}).PrepareDerivative(math.Exp, 0); !errors.As(err, &setting) {
		t.Errorf("order 0: %v", err)
	}
	if _, err := nabla.PrepareHessian(f, finitediff.Adaptive{Points: 2}, x); !errors.As(err, &setting) {
		t.Errorf("a Hessian with 2 points: %v", err)
	}
	if _, err := nabla.PrepareGradient(f, finitediff.Adaptive{Points: 2}, x); err != nil {
		t.Errorf("a gradient with 2 points: %v", err)
	}
}

// TestSettingsMatter requires of each setting that it changes the points of evaluation.
func TestSettingsMatter(t *testing.T) {
	visited := func(a finitediff.Adaptive) (points []float64) {
		f := func(x float64) float64 { points = append(points, x); return math.Exp(x) + 1e-9*scrambled(x) }
		if _, err := a.Derivative(f, 0.5, 1); err != nil {
			t.Errorf("%s: %v", a.Name(), err)
		}
		return points
	}
	names, seen := map[string]bool{}, map[string]string{}
	for _, a := range []finitediff.Adaptive{
		{}, {Points: 4}, {Method: finitediff.Forward}, {Method: finitediff.Backward},
		{Grid: &finitediff.Grid{-2, -1, 0, 1.5}}, {Levels: 2}, {Levels: finitediff.NoLevels}, {Condition: 1000},
		{Factor: 1e4}, {Noise: 1e-7}, {MeasureNoise: true}, {MaxRange: 1e-3},
		{Bounds: &finitediff.Bounds{Lower: []float64{0.499}}}, {Steps: &finitediff.Steps{0.1}}, {Extrapolate: 3},
	} {
		if names[a.Name()] {
			t.Errorf("two settings have the name %s", a.Name())
		}
		names[a.Name()] = true
		key := fmt.Sprint(visited(a))
		if other := seen[key]; other != "" {
			t.Errorf("%s does what %s does", a.Name(), other)
		}
		seen[key] = a.Name()
	}
}

// TestSteps looks for the nodes of given steps.
func TestSteps(t *testing.T) {
	var points []float64
	f := func(x []float64) float64 { points = append(points, x[1]); return math.Exp(x[0] * x[1]) }
	a := finitediff.Adaptive{Steps: &finitediff.Steps{0, 0.125}}
	if _, err := nabla.Gradient(f, a, []float64{1, 2}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []float64{1.75, 1.875, 2.125, 2.25, 1.9375, 2.0625} {
		if !slices.Contains(points, want) {
			t.Errorf("no evaluation with x[1] = %v", want)
		}
	}
	if len(points) != 2+13+6 && len(points) != 1+12+6 { // nabla evaluates once at preparation
		t.Errorf("%d evaluations", len(points))
	}
}

// TestScalesOfOutputs differentiates outputs of different sizes together.
func TestScalesOfOutputs(t *testing.T) {
	f := func(y, x []float64) {
		y[0], y[1], y[2], y[3] = 1e12*math.Sin(x[0]), 1e-12*math.Exp(x[0]), 3*x[0]-x[1], math.Sin(50*x[1])
	}
	x := []float64{0.7, 0.2}
	p, err := nabla.PrepareJacobian(nabla.InPlace(4, f), finitediff.Adaptive{}, x)
	if err != nil {
		t.Fatal(err)
	}
	j, e, err := p.JacobianWithError(nil, nil, x)
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{1e12 * math.Cos(0.7), 0, 1e-12 * math.Exp(0.7), 0, 3, -1, 0, 50 * math.Cos(10)}
	for i, w := range want {
		got, bound := j.At(i/2, i%2), e.At(i/2, i%2)
		if wrong := math.Abs(got - w); wrong > bound || bound > 1e-10*math.Abs(w)+1e-300 && w != 0 {
			t.Errorf("element %d: %v with error %.2g, want %v", i, got, bound, w)
		}
	}
}

// TestAdaptiveAllocations requires that prepared calls do not allocate, those that search for steps included.
func TestAdaptiveAllocations(t *testing.T) {
	for _, a := range []finitediff.Adaptive{{}, {Extrapolate: 4}, {MeasureNoise: true}} {
		for _, f := range []func(float64) float64{math.Exp, func(x float64) float64 { return 1 / (x - 1.0001) },
			func(x float64) float64 { return math.Sqrt(x - 1 + 1e-9) }} {
			d, err := a.PrepareDerivative(f, 1)
			if err != nil {
				t.Fatal(err)
			}
			if n := testing.AllocsPerRun(10, func() {
				if _, err := d.At(1); err != nil {
					t.Fatal(err)
				}
			}); n != 0 {
				t.Errorf("%s: %v allocations", a.Name(), n)
			}
		}
	}
}

// TestAdaptiveWorkers requires the same results of several goroutines.
func TestAdaptiveWorkers(t *testing.T) {
	f := func(x []float64) float64 { return math.Exp(x[0]*x[1]) * math.Sin(x[2]) / x[3] }
	x := []float64{0.5, -1, 2, 1e-3}
	one, err := nabla.Hessian(f, finitediff.Adaptive{}, x)
	if err != nil {
		t.Fatal(err)
	}
	three, err := nabla.Hessian(f, finitediff.Adaptive{Workers: 3}, x)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		for j := range 4 {
			if one.At(i, j) != three.At(i, j) {
				t.Errorf("element %d, %d: %v and %v", i, j, one.At(i, j), three.At(i, j))
			}
		}
	}
}

// TestRoundingAtThePoint differentiates functions whose value at x has another rounding error than its neighbours, as
// that of a factorisation may have: second differences then grow by the same factor with each half of the step, and in
// one direction.
func TestRoundingAtThePoint(t *testing.T) {
	for _, slope := range []float64{0.1, 0.5, 2, 3, 8, 40, 100} {
		for _, phase := range []float64{0, 0.3, 1.2, 1.5, 2} {
			for _, off := range []float64{1e-15, 2e-15, 4e-15, -1e-14, 2e-14, 5e-14, 1e-13, 1e-12} {
				got, err := finitediff.Adaptive{}.Derivative(func(x float64) float64 {
					y := math.Cos(slope*x + phase)
					if x == 0 {
						y += off
					}
					return y
				}, 0, 2)
				want := -slope * slope * math.Cos(phase)
				if err != nil || !(math.Abs(got.Value-want) <= 1e-5*slope*slope) {
					t.Errorf("slope %v, phase %v, %v at x: %+v, %v, want %v", slope, phase, off, got, err, want)
				}
			}
		}
	}
}
