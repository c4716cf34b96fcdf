package optim_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/optim"
)

// minima are problems of the paper with the minima of the sum of squares that it gives, one of which the solver finds.
var minima = []struct {
	start
	values []float64
}{
	{start{"Rosenbrock", rosenbrock, []float64{-1.2, 1}}, []float64{0}},
	{start{"Freudenstein–Roth", freudensteinRoth, []float64{0.5, -2}}, []float64{0, 48.9842536792400}},
	{start{"Powell badly scaled", powellBadlyScaled, []float64{0, 1}}, []float64{0}},
	{start{"Brown badly scaled", brownBadlyScaled, []float64{1, 1}}, []float64{0}},
	{start{"Beale", beale, []float64{1, 1}}, []float64{0}},
	{start{"Jennrich–Sampson", jennrichSampson, []float64{0.3, 0.4}}, []float64{124.362182355615}},
	{start{"helical valley", helicalValley, []float64{-1, 0, 0}}, []float64{0}},
	{start{"Bard", bard, same(3, 1)}, []float64{8.21487730657898e-3, 17.4286914}},
	{start{"Box, three unknowns", box3, []float64{0, 10, 20}}, []float64{0}},
	{start{"Powell singular", powellSingular, []float64{3, -1, 0, 1}}, []float64{0}},
	{start{"Wood", wood, []float64{-3, -1, -3, -1}}, []float64{0}},
	{start{"Kowalik–Osborne", kowalikOsborne, kowalikStart}, []float64{3.07505603849238e-4}},
	{start{"Brown–Dennis", brownDennis, []float64{25, 5, -5, -1}}, []float64{85822.2016263563}},
	{start{"Osborne 1", osborne1, []float64{0.5, 1.5, -1, 0.01, 0.02}}, []float64{5.46489469748e-5}},
	{start{"Biggs EXP6", biggsExp6, []float64{1, 2, 1, 1, 1, 1}}, []float64{0, 5.65564992628e-3}},
	{start{"Osborne 2", osborne2, osborne2Start},
		[]float64{4.01377362935e-2, 8.75947240934e-2}}, // and a second local minimum
	{start{"Watson, 6", watson, same(6, 0)}, []float64{2.28767005355e-3}},
	{start{"Watson, 9", watson, same(9, 0)}, []float64{1.39976013110e-6}},
	{start{"extended Rosenbrock", extendedRosenbrock, repeat(10, -1.2, 1)}, []float64{0}},
	{start{"extended Powell", extendedPowell, repeat(12, 3, -1, 0, 1)}, []float64{0}},
	{start{"penalty 1, 4", penalty1, along(4, func(i float64) float64 { return i })}, []float64{2.24997750092e-5}},
	{start{"penalty 1, 10", penalty1, along(10, func(i float64) float64 { return i })}, []float64{7.08765146709e-5}},
	{start{"variably dimensioned", variablyDimensioned, along(10, func(i float64) float64 { return 1 - i/10 })},
		[]float64{0}},
	{start{"trigonometric", trigonometric, same(10, 0.1)}, []float64{0, 2.79506069548e-5}},
	{start{"Brown almost-linear", brownAlmostLinear, same(10, 0.5)}, []float64{0, 1}},
	{start{"discrete boundary value", discreteBoundary,
		along(10, func(i float64) float64 { return i / 11 * (i/11 - 1) })}, []float64{0}},
	{start{"discrete integral equation", discreteIntegral,
		along(10, func(i float64) float64 { return i / 11 * (i/11 - 1) })}, []float64{0}},
	{start{"Gaussian", gaussian, []float64{0.4, 1, 0}}, []float64{1.12793276961871e-8}},
	{start{"Broyden tridiagonal", broydenTridiagonal, same(10, -1)}, []float64{0}},
	{start{"Broyden banded", broydenBanded, same(10, -1)}, []float64{0}},
	{start{"linear of full rank", linearFullRank(20), same(10, 1)}, []float64{10}},
	{start{"linear of rank 1", linearRankOne(20), same(10, 1)}, []float64{20. * 19 / (2 * 41)}},
	{start{"linear of rank 1 with zeros", linearRankOneZeros(20), same(10, 1)}, []float64{(400. + 60 - 6) / (2 * 37)}},
	{start{"Chebyquad, 8", chebyquad(8), even(8)}, []float64{3.51687372568e-3}},
	{start{"Chebyquad, 10", chebyquad(10), even(10)},
		[]float64{6.50395480067e-3, 4.77271369637e-3}},
}

// TestMinima minimises the sums of squares as functions, with products and with Hessians.
func TestMinima(t *testing.T) {
	set := &optim.MinimizeSettings{MaxEvaluations: 3000, GTol: 1e-13}
	for _, p := range minima {
		f := objective(p.f)
		for name, solve := range map[string]func() (*optim.MinimizeResult, error){
			"NewtonCG": func() (*optim.MinimizeResult, error) { return optim.NewtonCG(f, compiled, p.x, set) },
			"Bounded":  func() (*optim.MinimizeResult, error) { return optim.Bounded(f, compiled, p.x, nil, nil, set) },
		} {
			if name == "Bounded" && p.name == "Biggs EXP6" { // descends along a valley without end
				continue
			}
			res, err := solve()
			if err != nil {
				t.Errorf("%s of %s: %v", name, p.name, err)
				continue
			}
			if !slices.ContainsFunc(p.values, func(v float64) bool { return math.Abs(res.Value-v) <= 1e-6*v+1e-9 }) {
				t.Errorf("%s of %s: %.12g, want one of %v; %v, %d evaluations", name, p.name, res.Value, p.values,
					res.Status, res.Evaluations)
			}
		}
		res, err := optim.LeastSquares(p.f, compiled, p.x, &optim.LeastSquaresSettings{MaxEvaluations: 3000})
		if err != nil || !slices.ContainsFunc(p.values, func(v float64) bool {
			return math.Abs(2*res.Cost-v) <= 1e-5*v+1e-8
		}) {
			t.Errorf("LeastSquares of %s: %.12g, want one of %v; %v", p.name, 2*res.Cost, p.values, err)
		}
	}
}

// TestNewtonCGOfManyUnknowns converges in few iterations.
func TestNewtonCGOfManyUnknowns(t *testing.T) {
	x0 := repeat(longtest.Cases(0, 20, 60, 1000), -1.2, 1)
	res, err := optim.NewtonCG(chained, compiled, x0, &optim.MinimizeSettings{MaxEvaluations: 5000})
	if err != nil || res.Status != optim.GradientConverged || res.Value > 4 {
		t.Fatalf("%v, value %v, %v", err, res.Value, res.Status)
	}
	g, err := nabla.Gradient(chained, forwarddiff.Backend{}, res.X)
	if err != nil || floats.Norm(g, math.Inf(1)) > 1e-4 {
		t.Errorf("the gradient is %v, %v", floats.Norm(g, math.Inf(1)), err)
	}
	res, err = optim.NewtonCG(objective(extendedRosenbrock), compiled, repeat(1000, -1.2, 1), nil)
	if err != nil || res.Value > 1e-10 || res.Evaluations > 60 || res.Products > 200 {
		t.Errorf("extended Rosenbrock: value %v, %d evaluations, %d products, %v", res.Value, res.Evaluations,
			res.Products, err)
	}
}

// TestBoundsOfMinima checks the conditions of Karush, Kuhn and Tucker at solutions.
func TestBoundsOfMinima(t *testing.T) {
	inf := math.Inf(1)
	for _, s := range []struct {
		start
		lower, upper []float64
		value        float64 // NaN if it is not known
	}{
		{start{"Rosenbrock, x ≤ 0.5", rosenbrock, []float64{-1.2, 1}}, nil, []float64{0.5, inf}, 0.25},
		{start{"Rosenbrock, y ≥ 4", rosenbrock, []float64{-1.2, 5}}, []float64{0, 4}, nil, math.NaN()},
		{start{"Wood, corner", wood, []float64{-3, -1, -3, -1}}, same(4, -10), []float64{0.5, 10, 10, 0.8}, math.NaN()},
		{start{"Osborne 2, at bounds", osborne2, osborne2Start}, same(11, 0.5),
			same(11, 5.5), math.NaN()},
		{start{"Chebyquad in the unit cube", chebyquad(8), same(8, 0.2)}, same(8, 0), same(8, 1), math.NaN()},
		{start{"extended Rosenbrock", extendedRosenbrock, repeat(20, -1.2, 1)}, nil, repeat(20, 0.5, 10), 2.5},
	} {
		f := objective(s.f)
		res, err := optim.Bounded(f, compiled, s.x, s.lower, s.upper, &optim.MinimizeSettings{GTol: 1e-9})
		if err != nil || math.Abs(res.Value-s.value) > 1e-9 {
			t.Errorf("%s: %v, %v", s.name, res.Value, err)
			continue
		}
		optimal(t, s.name, f, res.X, s.lower, s.upper, 1e-6)
	}
	// A linear function ends in a corner.
	res, err := optim.Bounded(func(x reals) nabla.Real { return x[0].Sub(x[1]) }, compiled, []float64{0.5, 0.5},
		same(2, 0), same(2, 1), nil)
	if err != nil || !slices.Equal(res.X, []float64{0, 1}) || res.GradientNorm != 0 {
		t.Errorf("a linear function: %+v, %v", res, err)
	}
}

// TestMinimizeErrors has the errors that the solvers document.
func TestMinimizeErrors(t *testing.T) {
	f, x0 := objective(rosenbrock), []float64{-1.2, 1}
	type (
		function = func(reals) nabla.Real
		settings = *optim.MinimizeSettings
	)
	solvers := map[string]func(f function, x0 []float64, s settings) (*optim.MinimizeResult, error){
		"NewtonCG": func(f function, x0 []float64, s settings) (*optim.MinimizeResult, error) {
			return optim.NewtonCG(f, forwarddiff.Backend{}, x0, s)
		},
		"Bounded": func(f function, x0 []float64, s settings) (*optim.MinimizeResult, error) {
			return optim.Bounded(f, forwarddiff.Backend{}, x0, nil, nil, s)
		},
	}
	for name, solve := range solvers {
		var limit *optim.ConvergenceError
		res, err := solve(f, x0, &optim.MinimizeSettings{MaxEvaluations: 4})
		if !errors.As(err, &limit) || res.Status != optim.EvaluationLimit || res.Value >= 24.2 {
			t.Errorf("%s, limit of 4: %+v, %v", name, res, err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		res, err = solve(f, x0, &optim.MinimizeSettings{Context: ctx, Progress: func(it optim.Iteration) error {
			if it.Number == 2 {
				cancel()
			}
			return nil
		}})
		if !errors.Is(err, context.Canceled) || res.Iterations != 2 || res.Status != optim.Stopped {
			t.Errorf("%s, cancelled: %+v, %v", name, res, err)
		}
		enough := errors.New("enough")
		_, err = solve(f, x0, &optim.MinimizeSettings{Progress: func(optim.Iteration) error { return enough }})
		if !errors.Is(err, enough) {
			t.Errorf("%s, ended by Progress: %v", name, err)
		}
		var bad *optim.NonFiniteError
		logarithm := func(x reals) nabla.Real { return x[0].Sub(nabla.Log(x[0])).Add(x[1].Sq()) }
		if _, err = solve(logarithm, x0, nil); !errors.As(err, &bad) {
			t.Errorf("%s, the logarithm of a negative start: %v", name, err)
		}
		if res, err = solve(logarithm, []float64{5, 1}, nil); err != nil || math.Abs(res.X[0]-1) > 1e-7 {
			t.Errorf("%s, the logarithm: %+v, %v", name, res, err)
		}
		broken := errors.New("broken")
		runs := 0
		failing := func(x reals) nabla.Real {
			if runs++; x[0].Value() > -1 {
				panic(broken)
			}
			return f(x)
		}
		if res, err = solve(failing, x0, nil); !errors.Is(err, broken) || res == nil || res.Iterations == 0 {
			t.Errorf("%s, a panic: %+v, %v", name, res, err)
		}
		// Without a test of the gradient, rounding errors end the run at the minimum.
		offset := func(x reals) nabla.Real { return f(x).AddConst(1e3) }
		if res, err = solve(offset, x0, &optim.MinimizeSettings{GTol: -1}); err != nil || !res.Status.Converged() ||
			math.Abs(res.X[0]-1) > 1e-5 {
			t.Errorf("%s without tests: %+v, %v", name, res, err)
		}
		// A gradient of the wrong sign, and a kink: no step decreases the function.
		var descent *optim.DescentError
		res, err = solve(func(x reals) nabla.Real {
			return nabla.StopGradient(nabla.Dot(x, x).Scale(2)).Sub(nabla.Dot(x, x))
		}, []float64{3, 4}, nil)
		if !errors.As(err, &descent) || res.Status.Converged() || res.X[0] != 3 {
			t.Errorf("%s, a wrong gradient: %+v, %v", name, res, err)
		}
		res, err = solve(func(x reals) nabla.Real { return x[0].AddConst(-1).Abs().Add(x[1].Sq()).AddConst(1) },
			[]float64{3, 4}, nil)
		if err == nil || math.Abs(res.X[0]-1) > 1e-6 {
			t.Errorf("%s, a kink: %+v, %v", name, res, err)
		}
		// The derivatives of the second order are infinite where those of the first are not.
		res, err = solve(func(x reals) nabla.Real {
			return x[0].Abs().Pow(constant(1.5)).Add(x[0]).Add(x[1].Sq())
		}, []float64{0, 1}, nil)
		if !errors.As(err, &bad) || res == nil || res.Iterations != 0 {
			t.Errorf("%s, an infinite Hessian: %+v, %v", name, res, err)
		}
		nan := math.NaN()
		var setting *optim.SettingError
		for _, set := range []optim.MinimizeSettings{{GTol: nan}, {MaxEvaluations: -2}, {Radius: -1}, {Radius: nan}} {
			if _, err := solve(f, x0, &set); !errors.As(err, &setting) {
				t.Errorf("%s, %+v: %v", name, set, err)
			}
		}
		if _, err := solve(f, nil, nil); !errors.As(err, &setting) {
			t.Errorf("%s without unknowns: %v", name, err)
		}
		if _, err := solve(f, []float64{nan, 1}, nil); !errors.As(err, &bad) {
			t.Errorf("%s from NaN: %v", name, err)
		}
	}
	var setting *optim.SettingError
	if _, err := optim.Bounded(f, nil, x0, same(2, 1), same(2, 0), nil); !errors.As(err, &setting) {
		t.Errorf("bounds that cross: %v", err)
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
