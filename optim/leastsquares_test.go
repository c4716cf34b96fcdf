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
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/optim"
)

var compiled = reversediff.Backend{Compile: true}

// minpack has the results that MINPACK's program for the test of lmder1 prints: evaluations of residuals and Jacobians,
// info, and the final norm. A count of 0 is not compared: it depends on rounding errors, and differs between published
// results too.
var minpack = []struct {
	start
	factor     float64
	nfev, njev int
	info       optim.Status
	norm       float64
}{
	{start{"linear of full rank, 10", linearFullRank(10), same(5, 1)}, 1, 3, 2, 3, 2.2360680},
	{start{"linear of full rank, 50", linearFullRank(50), same(5, 1)}, 1, 3, 2, 3, 6.7082039},
	{start{"linear of rank 1, 10", linearRankOne(10), same(5, 1)}, 1, 3, 2, 1, 1.4638501},
	{start{"linear of rank 1, 50", linearRankOne(50), same(5, 1)}, 1, 3, 2, 1, 3.4826302},
	{start{"linear of rank 1 with zeros, 10", linearRankOneZeros(10), same(5, 1)}, 1, 3, 2, 1, 1.9097274},
	{start{"linear of rank 1 with zeros, 50", linearRankOneZeros(50), same(5, 1)}, 1, 3, 2, 1, 3.6917294},
	{start{"Rosenbrock", rosenbrock, []float64{-1.2, 1}}, 1, 21, 16, 4, 0},
	{start{"Rosenbrock", rosenbrock, []float64{-1.2, 1}}, 10, 8, 5, 2, 0},
	{start{"Rosenbrock", rosenbrock, []float64{-1.2, 1}}, 100, 6, 4, 2, 0},
	{start{"helical valley", helicalValley, []float64{-1, 0, 0}}, 1, 11, 8, 2, 0},
	{start{"helical valley", helicalValley, []float64{-1, 0, 0}}, 10, 20, 15, 2, 0},
	{start{"helical valley", helicalValley, []float64{-1, 0, 0}}, 100, 19, 16, 2, 0},
	{start{"Powell singular", powellSingular, []float64{3, -1, 0, 1}}, 1, 0, 0, 4, 0},
	{start{"Powell singular", powellSingular, []float64{3, -1, 0, 1}}, 10, 0, 0, 4, 0},
	{start{"Powell singular", powellSingular, []float64{3, -1, 0, 1}}, 100, 0, 0, 4, 0},
	{start{"Freudenstein–Roth", freudensteinRoth, []float64{0.5, -2}}, 1, 14, 8, 1, 6.9988752},
	{start{"Freudenstein–Roth", freudensteinRoth, []float64{0.5, -2}}, 10, 19, 12, 1, 6.9988752},
	{start{"Freudenstein–Roth", freudensteinRoth, []float64{0.5, -2}}, 100, 24, 17, 1, 6.9988752},
	{start{"Bard", bard, same(3, 1)}, 1, 6, 5, 1, 9.0635960e-2},
	{start{"Bard", bard, same(3, 1)}, 10, 37, 36, 1, 4.1747687},
	{start{"Bard", bard, same(3, 1)}, 100, 14, 13, 1, 4.1747687},
	{start{"Kowalik–Osborne", kowalikOsborne, kowalikStart}, 1, 18, 16, 1, 1.7535838e-2},
	{start{"Kowalik–Osborne", kowalikOsborne, kowalikStart}, 10, 78, 70, 1, 3.2052193e-2},
	{start{"Kowalik–Osborne", kowalikOsborne, kowalikStart}, 100, 500, 0, 5, 1.7535838e-2},
	{start{"Meyer", meyer, []float64{0.02, 4000, 250}}, 1, 126, 116, 3, 9.3779451},
	{start{"Meyer", meyer, []float64{0.02, 4000, 250}}, 10, 400, 346, 5, 7.95e2},
	{start{"Watson, 6", watson, same(6, 0)}, 1, 8, 7, 1, 4.7829594e-2},
	{start{"Watson, 6", watson, same(6, 0)}, 10, 14, 13, 1, 4.7829594e-2},
	{start{"Watson, 6", watson, same(6, 0)}, 100, 15, 14, 1, 4.7829594e-2},
	{start{"Watson, 9", watson, same(9, 0)}, 1, 8, 7, 3, 1.1831146e-3},
	{start{"Watson, 9", watson, same(9, 0)}, 10, 19, 15, 1, 1.1831146e-3},
	{start{"Watson, 9", watson, same(9, 0)}, 100, 19, 16, 3, 1.1831146e-3},
	{start{"Watson, 12", watson, same(12, 0)}, 1, 10, 9, 3, 2.1731040e-5},
	{start{"Watson, 12", watson, same(12, 0)}, 10, 13, 12, 2, 2.1731040e-5},
	{start{"Watson, 12", watson, same(12, 0)}, 100, 34, 28, 2, 2.1731040e-5},
	{start{"Box, three unknowns", box3, []float64{0, 10, 20}}, 1, 7, 6, 2, 0},
	{start{"Jennrich–Sampson", jennrichSampson, []float64{0.3, 0.4}}, 1, 21, 12, 1, 1.1151779e1},
	{start{"Brown–Dennis", brownDennis, []float64{25, 5, -5, -1}}, 1, 254, 236, 1, 2.9295429e2},
	{start{"Brown–Dennis", brownDennis, []float64{25, 5, -5, -1}}, 10, 53, 42, 1, 2.9295427e2},
	{start{"Brown–Dennis", brownDennis, []float64{25, 5, -5, -1}}, 100, 237, 221, 1, 2.9295431e2},
	{start{"Chebyquad, 1", chebyquad(8), same(1, 0.5)}, 1, 1, 1, 4, 1.8862380},
	{start{"Chebyquad, 1", chebyquad(8), same(1, 0.5)}, 10, 29, 28, 1, 1.8842482},
	{start{"Chebyquad, 1", chebyquad(8), same(1, 0.5)}, 100, 47, 46, 1, 1.8842482},
	{start{"Chebyquad, 8", chebyquad(8), even(8)}, 1, 39, 20, 1, 5.9303236e-2},
	{start{"Chebyquad, 9", chebyquad(9), even(9)}, 1, 12, 9, 2, 0},
	{start{"Chebyquad, 10", chebyquad(10), even(10)}, 1, 25, 12, 1,
		8.0647100e-2},
	{start{"Brown almost-linear, 10", brownAlmostLinear, same(10, 0.5)}, 1, 14, 12, 2, 0},
	{start{"Brown almost-linear, 10", brownAlmostLinear, same(10, 0.5)}, 10, 13, 8, 2, 0},
	{start{"Brown almost-linear, 10", brownAlmostLinear, same(10, 0.5)}, 100, 22, 20, 2, 0},
	{start{"Brown almost-linear, 30", brownAlmostLinear, same(30, 0.5)}, 1, 19, 14, 2, 0},
	{start{"Brown almost-linear, 40", brownAlmostLinear, same(40, 0.5)}, 1, 19, 14, 2, 0},
	{start{"Osborne 1", osborne1, []float64{0.5, 1.5, -1, 0.01, 0.02}}, 1, 18, 15, 1, 7.3924926e-3},
	{start{"Osborne 2", osborne2, osborne2Start}, 1, 16, 12, 1, 2.0034404e-1},
}

// scaled returns the start times factor, and factor in place of a start of zeros, as MINPACK's tests do.
func scaled(x []float64, factor float64) []float64 {
	x = slices.Clone(x)
	floats.Scale(factor, x)
	if factor != 1 && floats.Norm(x, 1) == 0 {
		x = same(len(x), factor)
	}
	return x
}

// TestAgainstMINPACK compares a run from each start with that of MINPACK's lmder1.
func TestAgainstMINPACK(t *testing.T) {
	for _, p := range minpack {
		accepted := 0
		res, err := optim.LeastSquares(p.f, compiled, scaled(p.x, p.factor), &optim.LeastSquaresSettings{
			Progress: func(it optim.Iteration) error { accepted = it.Number + 1; return nil }})
		if res == nil || (err != nil) != (res.Status == optim.EvaluationLimit) {
			t.Errorf("%s ×%v: %v", p.name, p.factor, err)
			continue
		}
		norm := floats.Norm(res.Residuals, 2)
		tol := 1e-7
		if p.info == optim.EvaluationLimit { // far from the end rounding errors decide where the run is
			tol = 1e-2
		}
		if !(math.Abs(norm-p.norm) <= tol*p.norm+1e-12) {
			t.Errorf("%s ×%v: norm %v, want %v", p.name, p.factor, norm, p.norm)
		}
		if p.nfev > 0 && math.Abs(float64(res.Evaluations-p.nfev)) > 1+0.05*float64(p.nfev) {
			t.Errorf("%s ×%v: %d evaluations, want %d", p.name, p.factor, res.Evaluations, p.nfev)
		}
		if p.njev > 0 && math.Abs(float64(accepted-p.njev)) > 1+0.05*float64(p.njev) {
			t.Errorf("%s ×%v: %d Jacobians, want %d", p.name, p.factor, accepted, p.njev)
		}
		if (res.Status == optim.EvaluationLimit) != (p.info == optim.EvaluationLimit) {
			t.Errorf("%s ×%v: %v, want %v", p.name, p.factor, res.Status, p.info)
		}
	}
}

// TestProjectedMethod takes the same starts with the method for bounds, which do not bind: it ends no higher than
// lmder.
func TestProjectedMethod(t *testing.T) {
	evaluations, minpacks := 0, 0
	for _, p := range minpack {
		if p.info == optim.EvaluationLimit {
			continue
		}
		x := scaled(p.x, p.factor)
		res, err := optim.LeastSquares(p.f, compiled, x, &optim.LeastSquaresSettings{Upper: same(len(x), math.Inf(1))})
		if norm := floats.Norm(res.Residuals, 2); err != nil || !(norm <= p.norm*(1+1e-5)+1e-10) {
			t.Errorf("%s ×%v: norm %v, want %v; %v, %v", p.name, p.factor, norm, p.norm, res.Status, err)
		}
		evaluations, minpacks = evaluations+res.Evaluations, minpacks+p.nfev
	}
	if evaluations > 2*minpacks {
		t.Errorf("%d evaluations, MINPACK takes %d", evaluations, minpacks)
	}
}

// line is a model with two unknowns that is linear, x₀ + x₁·t, at t = 1 … 5.
var lineData = []float64{2.1, 3.9, 6.2, 7.8, 10.1}

func line(x reals) reals {
	f := make(reals, len(lineData))
	for i, y := range lineData {
		f[i] = x[0].Add(x[1].Scale(float64(i + 1))).AddConst(-y)
	}
	return f
}

// TestCovariance compares with the closed form for a line: JᵀJ = (5 15; 15 55).
func TestCovariance(t *testing.T) {
	for _, b := range []nabla.Backend{compiled, nabla.AutoSparse{Dense: compiled}} {
		res, err := optim.LeastSquares(line, b, []float64{0, 0}, &optim.LeastSquaresSettings{Covariance: true})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []float64{55. / 50, -15. / 50, -15. / 50, 5. / 50} {
			if got := res.Covariance.At(i/2, i%2); !close(got, want) {
				t.Errorf("%s: covariance %d is %v, want %v", b.Name(), i, got, want)
			}
		}
		// The normal equations give the solution: 5·a + 15·b = 30.1, 15·a + 55·b = 110.2.
		// The damped steps end with the tolerance.
		if math.Abs(res.X[1]-1.99) > 1e-9 || math.Abs(res.X[0]-0.05) > 1e-9 || res.GradientNorm > 1e-9 {
			t.Errorf("%s: x = %v, gradient %v", b.Name(), res.X, res.GradientNorm)
		}
		sum := 0.0
		for _, v := range res.Residuals {
			sum += v * v
		}
		if e := res.StandardErrors(); len(e) != 2 || !close(e[0]*e[0], sum/3*55/50) || !close(e[1]*e[1], sum/3*5/50) {
			t.Errorf("%s: standard errors %v", b.Name(), e)
		}
		var rank *optim.RankError
		res, err = optim.LeastSquares(linearRankOne(10), b, same(5, 1), &optim.LeastSquaresSettings{Covariance: true})
		if !errors.As(err, &rank) || rank.Rank != 1 || res == nil || !res.Status.Converged() {
			t.Errorf("%s: covariance for rank 1: %v", b.Name(), err)
		} else if res.StandardErrors() != nil {
			t.Errorf("%s: standard errors without a covariance", b.Name())
		}
	}
	exact, err := optim.LeastSquares(rosenbrock, compiled, []float64{-1.2, 1},
		&optim.LeastSquaresSettings{Covariance: true})
	if err != nil || !math.IsNaN(exact.StandardErrors()[0]) {
		t.Errorf("standard errors of as many unknowns as residuals: %v, %v", exact.StandardErrors(), err)
	}
}

// TestGaussNewton solves problems of small residuals, and one of rank 1.
func TestGaussNewton(t *testing.T) {
	for _, p := range minpack {
		switch p.name {
		case "linear of full rank, 10", "linear of rank 1, 10", "linear of rank 1 with zeros, 50", "Rosenbrock", "Bard",
			"Kowalik–Osborne", "Watson, 6", "Osborne 1", "Osborne 2", "helical valley":
		default:
			continue
		}
		if p.factor != 1 {
			continue
		}
		res, err := optim.LeastSquares(p.f, compiled, p.x, &optim.LeastSquaresSettings{Method: optim.GaussNewton})
		if norm := floats.Norm(res.Residuals, 2); err != nil || math.Abs(norm-p.norm) > 1e-6*p.norm+1e-10 {
			t.Errorf("%s: norm %v, want %v; %v", p.name, norm, p.norm, err)
		}
		if res.Evaluations > 100 {
			t.Errorf("%s: %d evaluations", p.name, res.Evaluations)
		}
	}
}

// TestSparse solves large problems with sparse Jacobians, and the same in few unknowns with dense ones.
func TestSparse(t *testing.T) {
	auto := nabla.AutoSparse{Dense: compiled}
	for _, s := range []struct {
		start
		norm float64
	}{
		{start{"extended Rosenbrock", extendedRosenbrock, repeat(400, -1.2, 1)}, 0},
		{start{"extended Powell", extendedPowell, repeat(80, 3, -1, 0, 1)}, 0},
		{start{"Broyden tridiagonal", broydenTridiagonal, same(400, -1)}, 0},
		{start{"Broyden banded", broydenBanded, same(60, -1)}, 0},
		{start{"Bard", bard, same(3, 1)}, 9.0635960e-2},
		{start{"Kowalik–Osborne", kowalikOsborne, kowalikStart}, 1.7535838e-2},
		{start{"Freudenstein–Roth", freudensteinRoth, []float64{0.5, -2}}, 6.9988752},
		{start{"Osborne 1", osborne1, []float64{0.5, 1.5, -1, 0.01, 0.02}}, 7.3924926e-3},
	} {
		res, err := optim.LeastSquares(s.f, auto, s.x, nil)
		if res == nil {
			t.Fatal(err)
		}
		if norm := floats.Norm(res.Residuals, 2); err != nil || math.Abs(norm-s.norm) > 1e-5*s.norm+1e-7 {
			t.Errorf("%s: norm %v, want %v; %v", s.name, norm, s.norm, err)
		}
	}
	// A nil backend selects a sparse Jacobian for such a function.
	res, err := optim.LeastSquares(broydenTridiagonal, nil, same(500, -1), nil)
	if err != nil || res.Cost > 1e-12 {
		t.Errorf("Broyden tridiagonal with a nil backend: %v", err)
	}
}

// TestLinearSolvers: factorisations and iterations lead to the same solutions, and factorisations in few evaluations
// for an ill-conditioned problem.
func TestLinearSolvers(t *testing.T) {
	auto := nabla.AutoSparse{Dense: compiled}
	for _, s := range []start{
		{"extended Rosenbrock", extendedRosenbrock, repeat(40, -1.2, 1)},
		{"Broyden banded", broydenBanded, same(60, -1)},
		{"Osborne 1", osborne1, []float64{0.5, 1.5, -1, 0.01, 0.02}},
		{"Osborne 2", osborne2, osborne2Start},
	} {
		var first *optim.LeastSquaresResult
		for _, solver := range []optim.LinearSolver{optim.AutoSolver, optim.DirectSolver, optim.IterativeSolver} {
			for _, m := range []optim.Method{optim.LevenbergMarquardt, optim.GaussNewton} {
				if m == optim.GaussNewton && s.name[0] == 'O' {
					continue // from this start the steps without damping lead to other points
				}
				set := optim.LeastSquaresSettings{Method: m, LinearSolver: solver}
				res, err := optim.LeastSquares(s.f, auto, s.x, &set)
				if err != nil {
					t.Errorf("%s, %v, %v: %v", s.name, solver, m, err)
					continue
				}
				if first == nil {
					first = res
				}
				if math.Abs(res.Cost-first.Cost) > 1e-6*first.Cost+1e-12 {
					t.Errorf("%s, %v, %v: cost %v, want %v", s.name, solver, m, res.Cost, first.Cost)
				}
			}
		}
	}
	_, err := optim.LeastSquares(bard, auto, same(3, 1), &optim.LeastSquaresSettings{LinearSolver: 7})
	var setting *optim.SettingError
	if !errors.As(err, &setting) || setting.Setting != "LinearSolver" {
		t.Errorf("an unknown solver: %v", err)
	}
}

// TestSparseAgainstMINPACK solves the problems of MINPACK with sparse Jacobians: the norm is that of MINPACK or less,
// but for that of Brown, where the iteration ends early, and Chebyshev quadrature in one unknown, which has
// another local minimum. The number of evaluations is logged.
func TestSparseAgainstMINPACK(t *testing.T) {
	for _, solver := range []optim.LinearSolver{optim.DirectSolver, optim.IterativeSolver} {
		evaluations := 0
		for _, p := range minpack {
			res, err := optim.LeastSquares(p.f, nabla.AutoSparse{Dense: compiled}, p.x,
				&optim.LeastSquaresSettings{MaxEvaluations: 2000, LinearSolver: solver})
			if res == nil {
				t.Fatal(err)
			}
			evaluations += res.Evaluations
			limit := (1+1e-4)*p.norm + 1e-6
			switch p.name {
			case "Chebyquad, 1":
				limit = 1.887
			case "Brown almost-linear, 40":
				limit = 1e-4
			}
			if norm := floats.Norm(res.Residuals, 2); err != nil || !(norm <= limit) {
				t.Errorf("%v solver, %s from %g: norm %v, want at most %v; %v", solver, p.name, p.factor, norm, limit,
					err)
			}
		}
		t.Logf("%v solver: %d evaluations for %d runs", solver, evaluations, len(minpack))
		if solver == optim.DirectSolver && evaluations > 1200 {
			t.Errorf("%d evaluations with factorisations", evaluations)
		}
	}
}

// TestBoundsOfLeastSquares solves problems whose solution is at bounds and checks the conditions of Karush, Kuhn and
// Tucker there, with a gradient from differences. Bounds that do not bind change nothing.
func TestBoundsOfLeastSquares(t *testing.T) {
	inf := math.Inf(1)
	for _, s := range []struct {
		start
		lower, upper []float64
		norm         float64 // where it is known
	}{
		{start{"Rosenbrock, free", rosenbrock, []float64{-1.2, 1}}, []float64{-10, -10}, []float64{10, 10}, 0},
		{start{"Rosenbrock, x ≤ 0.5", rosenbrock, []float64{-1.2, 1}}, nil, []float64{0.5, inf}, 0.5},
		{start{"Rosenbrock, y ≥ 4", rosenbrock, []float64{-1.2, 5}}, []float64{0, 4}, nil, math.NaN()},
		{start{"Bard, free", bard, same(3, 1)}, same(3, 0), nil, 9.0635960e-2},
		{start{"Bard, x₂ ≤ 1", bard, same(3, 1)}, same(3, 0), []float64{inf, 1, inf}, math.NaN()},
		{start{"Kowalik–Osborne, corner", kowalikOsborne, kowalikStart}, same(4, 0.15), same(4, 0.5),
			math.NaN()},
		{start{"Meyer", meyer, []float64{0.02, 4000, 250}}, []float64{0, 0, 0}, []float64{1, 1e4, 1e3}, 9.3779451},
		{start{"Osborne 2", osborne2, osborne2Start}, same(11, 0.4), nil,
			2.0034404e-1},
		{start{"Osborne 2, at bounds", osborne2, osborne2Start}, same(11, 0.5),
			same(11, 5.5), math.NaN()},
		{start{"start outside", bard, []float64{-5, 20, 3}}, same(3, 0.01), same(3, 5), 9.0635960e-2},
	} {
		for _, b := range []nabla.Backend{compiled, nabla.AutoSparse{Dense: compiled}} {
			for _, m := range []optim.Method{optim.LevenbergMarquardt, optim.GaussNewton} {
				if m == optim.GaussNewton && s.name == "Meyer" {
					continue
				}
				res, err := optim.LeastSquares(s.f, b, s.x, &optim.LeastSquaresSettings{Method: m, Lower: s.lower,
					Upper: s.upper, MaxEvaluations: 3000})
				name := s.name + " with " + b.Name() + ", " + m.String()
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				if norm := floats.Norm(res.Residuals, 2); math.Abs(norm-s.norm) > 1e-5*s.norm+1e-7 {
					t.Errorf("%s: norm %v, want %v", name, norm, s.norm)
				}
				optimal(t, name, objective(s.f), res.X, s.lower, s.upper, 1e-4)
			}
		}
	}
}

// TestStartNearBounds: an unknown that starts near a bound of the solution gets there, exactly.
func TestStartNearBounds(t *testing.T) {
	x0 := []float64{0.5 - 1e-7, 0.25}
	set := &optim.LeastSquaresSettings{Upper: []float64{0.5, 9}}
	res, err := optim.LeastSquares(rosenbrock, compiled, x0, set)
	if err != nil || res.X[0] != 0.5 {
		t.Errorf("LeastSquares: %+v, %v", res, err)
	}
	other, err := optim.Bounded(objective(rosenbrock), compiled, x0, nil, set.Upper, nil)
	if err != nil || other.X[0] != 0.5 {
		t.Errorf("Bounded: %+v, %v", other, err)
	}
}

// optimal reports x if it is outside of the bounds or if the projected gradient there is not small beside the gradient
// and the curvature.
func optimal(t *testing.T, name string, f func(x reals) nabla.Real, x, lower, upper []float64, tol float64) {
	t.Helper()
	g, err := nabla.Gradient(f, forwarddiff.Backend{}, x)
	if err != nil {
		t.Fatal(err)
	}
	h, err := nabla.HessianDiagonal(f, forwarddiff.Backend{}, x)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range x {
		lo, up := math.Inf(-1), math.Inf(1)
		if lower != nil {
			lo = lower[i]
		}
		if upper != nil {
			up = upper[i]
		}
		if v < lo || v > up {
			t.Errorf("%s: x[%d] = %v is outside of [%v, %v]", name, i, v, lo, up)
		}
		// The Newton step of the unknown, on its own, within the bounds.
		step := v - min(max(v-g[i]/max(math.Abs(h[i]), 1e-8), lo), up)
		if math.Abs(step) > tol*max(1, math.Abs(v)) {
			t.Errorf("%s: x[%d] = %v has the gradient %v and the curvature %v", name, i, v, g[i], h[i])
		}
	}
}

// TestLeastSquaresErrors has the errors that the solver documents, each with the best point.
func TestLeastSquaresErrors(t *testing.T) {
	x0 := []float64{-1.2, 1}
	var limit *optim.ConvergenceError
	for _, set := range []optim.LeastSquaresSettings{{}, {Lower: same(2, -5)}} {
		set.MaxEvaluations = 8
		res, err := optim.LeastSquares(rosenbrock, compiled, x0, &set)
		if !errors.As(err, &limit) || limit.Evaluations != 8 || res.Status != optim.EvaluationLimit ||
			res.Cost >= 12 || math.IsNaN(res.GradientNorm) {
			t.Errorf("limit of 8: %+v, %v", res, err)
		}
	}

	ctx, cancel := context.WithCancel(context.Background())
	calls := 0
	res, err := optim.LeastSquares(rosenbrock, compiled, x0, &optim.LeastSquaresSettings{Context: ctx,
		Progress: func(it optim.Iteration) error {
			if calls++; it.Number == 3 {
				cancel()
			}
			return nil
		}})
	var stop *optim.StopError
	if !errors.As(err, &stop) || !errors.Is(err, context.Canceled) || calls != 4 || res.Iterations != 3 ||
		res.Status != optim.Stopped {
		t.Errorf("cancelled: %+v, %v", res, err)
	}
	enough := errors.New("good enough")
	res, err = optim.LeastSquares(rosenbrock, compiled, x0, &optim.LeastSquaresSettings{
		Progress: func(it optim.Iteration) error {
			if it.Cost < 1 {
				return enough
			}
			return nil
		}})
	if !errors.Is(err, enough) || !(res.Cost < 1) {
		t.Errorf("ended by Progress: %+v, %v", res, err)
	}

	var under *optim.UnderdeterminedError
	if _, err := optim.LeastSquares(func(x reals) reals { return x[:1] }, compiled, x0, nil); !errors.As(err, &under) ||
		under.Residuals != 1 || under.Unknowns != 2 {
		t.Errorf("one residual of two unknowns: %v", err)
	}
	var bad *optim.NonFiniteError
	logarithm := func(x reals) reals { return reals{nabla.Log(x[0]).AddConst(2), x[1]} }
	if _, err := optim.LeastSquares(logarithm, compiled, x0, nil); !errors.As(err, &bad) || bad.Index != 0 ||
		!math.IsNaN(bad.Value) {
		t.Errorf("the logarithm of a negative start: %v", err)
	}
	// Trial points with a negative logarithm are rejected: the solution is e⁻².
	for _, set := range []optim.LeastSquaresSettings{{}, {Lower: same(2, -100)}, {Method: optim.GaussNewton}} {
		if res, err := optim.LeastSquares(logarithm, compiled, []float64{30, 1}, &set); err != nil ||
			math.Abs(res.X[0]-math.Exp(-2)) > 1e-8 {
			t.Errorf("the logarithm: %+v, %v", res, err)
		}
	}
	// The best point, 0, is where the square root ends: all trial points beyond are NaN.
	root := func(x reals) reals { return reals{nabla.Sqrt(x[0]).AddConst(1), constant(0)} }
	if res, err := optim.LeastSquares(root, compiled, []float64{2}, nil); !errors.As(err, &bad) || res == nil {
		t.Errorf("the square root: %+v, %v", res, err)
	}
	// A Jacobian of the wrong sign: no step decreases the residuals.
	wrong := func(x reals) reals {
		return reals{nabla.StopGradient(x[0].Scale(2)).Sub(x[0]).AddConst(1),
			nabla.StopGradient(x[1].Scale(2)).Sub(x[1])}
	}
	for _, set := range []optim.LeastSquaresSettings{{}, {Lower: same(2, -100)}, {Method: optim.GaussNewton}} {
		var descent *optim.DescentError
		res, err := optim.LeastSquares(wrong, compiled, []float64{3, 4}, &set)
		if !errors.As(err, &descent) || res.X[0] != 3 || res.Status.Converged() {
			t.Errorf("a wrong Jacobian: %+v, %v", res, err)
		}
	}
	// The derivative is infinite where the value is not.
	steep := func(x reals) reals { return reals{nabla.Cbrt(x[0]).AddConst(1), x[0]} }
	if res, err := optim.LeastSquares(steep, compiled, []float64{0}, nil); !errors.As(err, &bad) || res == nil {
		t.Errorf("the cube root: %+v, %v", res, err)
	}
	var panicked *nabla.PanicError
	runs := 0
	if res, err := optim.LeastSquares(func(x reals) reals {
		if runs++; x[0].Value() > -1 {
			panic("too large")
		}
		return rosenbrock(x)
	}, forwarddiff.Backend{}, x0, nil); !errors.As(err, &panicked) || res == nil {
		t.Errorf("a panic: %+v, %v", res, err)
	}

	nan, inf := math.NaN(), math.Inf(1)
	for _, set := range []optim.LeastSquaresSettings{{FTol: nan}, {XTol: inf}, {GTol: nan}, {Factor: -1}, {Factor: nan},
		{MaxEvaluations: -1}, {Scale: []float64{1}}, {Scale: []float64{1, 0}}, {Method: 7}, {Lower: []float64{1}},
		{Upper: same(3, 1)}, {Lower: same(2, 1), Upper: same(2, 1)}, {Lower: same(2, nan)}, {Lower: same(2, inf)}} {
		var setting *optim.SettingError
		if _, err := optim.LeastSquares(rosenbrock, compiled, x0, &set); !errors.As(err, &setting) {
			t.Errorf("%+v: %v", set, err)
		}
	}
	if _, err := optim.LeastSquares(rosenbrock, compiled, nil, nil); err == nil {
		t.Error("no unknowns are accepted")
	}
	if _, err := optim.LeastSquares(rosenbrock, compiled, []float64{nan, 1}, nil); !errors.As(err, &bad) {
		t.Error("a start that is NaN is accepted")
	}
}

// TestTolerances: a negative tolerance turns a test off, and the run ends where rounding errors end it.
func TestTolerances(t *testing.T) {
	res, err := optim.LeastSquares(bard, compiled, same(3, 1), &optim.LeastSquaresSettings{FTol: -1, XTol: -1, GTol: -1,
		MaxEvaluations: 100000})
	if err != nil || res.Status < optim.CostPrecision {
		t.Errorf("without tests: %v, %v", res.Status, err)
	}
	res, err = optim.LeastSquares(bard, compiled, same(3, 1),
		&optim.LeastSquaresSettings{FTol: -1, XTol: -1, GTol: 1e-4})
	if err != nil || res.Status != optim.GradientConverged {
		t.Errorf("with GTol alone: %v, %v", res.Status, err)
	}
}

// decay is a model of two unknowns, in place, for data that it does not fit.
func decay(f, x reals) {
	for i := range f {
		f[i] = x[0].Mul(nabla.Exp(x[1].Scale(float64(-i)))).AddConst(-1 / float64(i+1))
	}
}

// TestIterationsAllocate nothing: longer runs allocate as much as short ones.
func TestIterationsAllocate(t *testing.T) {
	f := nabla.InPlace(40, decay)
	for _, set := range []optim.LeastSquaresSettings{{}, {Lower: same(2, -10)}} {
		set.FTol, set.XTol = -1, -1
		run := func(limit int) float64 {
			set.MaxEvaluations = limit
			return testing.AllocsPerRun(3, func() {
				if _, err := optim.LeastSquares(f, compiled, []float64{2, 0.3}, &set); err == nil {
					t.Error("converged")
				}
			})
		}
		if short, long := run(2), run(6); long > short {
			t.Errorf("%v allocations for 2 evaluations, %v for 6", short, long)
		}
	}
}

func close(a, b float64) bool { return math.Abs(a-b) <= 1e-11*max(1, math.Abs(b)) }
