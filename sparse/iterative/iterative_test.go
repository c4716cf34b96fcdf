package iterative_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparse/direct"
	"github.com/nabla-ad/nabla/sparse/iterative"
	"github.com/nabla-ad/nabla/sparsity"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// A solver is one of the methods.
type solver interface {
	Solve(ctx context.Context, x []float64, a iterative.Operator, b []float64) (iterative.Result, error)
}

type method struct {
	name      string
	symmetric bool // only for symmetric matrices
	definite  bool // only for positive definite matrices
	make      func(s iterative.Settings) solver
}

var methods = []method{
	{"CG", true, true, func(s iterative.Settings) solver { return &iterative.CG{Settings: s} }},
	{"MINRES", true, false, func(s iterative.Settings) solver { return &iterative.MINRES{Settings: s} }},
	{"GMRES", false, false, func(s iterative.Settings) solver { return &iterative.GMRES{Settings: s} }},
	{"GMRES(5)", false, true, func(s iterative.Settings) solver { return &iterative.GMRES{Settings: s, Restart: 5} }},
	{"BiCGStab", false, false, func(s iterative.Settings) solver { return &iterative.BiCGStab{Settings: s} }},
}

// grid returns the matrix of the 5-point formula for -Δu + wind·∂u/∂x + c·u on m×m points, with unit spacing.
func grid(m int, wind, c float64) *sparse.CSC {
	var i, j []int
	var v []float64
	add := func(a, b int, value float64) { i, j, v = append(i, a), append(j, b), append(v, value) }
	for x := range m {
		for y := range m {
			k := x*m + y
			add(k, k, 4+c)
			if x > 0 {
				add(k, k-m, -1-wind/2)
			}
			if x+1 < m {
				add(k, k+m, -1+wind/2)
			}
			if y > 0 {
				add(k, k-1, -1)
			}
			if y+1 < m {
				add(k, k+1, -1)
			}
		}
	}
	a, err := sparse.FromTriplets(m*m, m*m, i, j, v)
	if err != nil {
		panic(err)
	}
	return a
}

func sym(t testing.TB, a *sparse.CSC, uplo blas.Uplo) *sparse.SymCSC {
	t.Helper()
	s, err := a.Sym(uplo)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// product makes an Operator of a function that does not fail.
func product(f func(dst, x []float64)) iterative.Func {
	return func(dst, x []float64) error { f(dst, x); return nil }
}

func vector(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return x
}

// preconditioners returns those for a symmetric positive definite matrix, or for any.
func preconditioners(t testing.TB, a *sparse.CSC, symmetric bool) map[string]iterative.Preconditioner {
	t.Helper()
	var jacobi iterative.Jacobi
	var ilu iterative.ILU0
	var lu direct.LU
	if err := errors.Join(jacobi.Factorize(a), ilu.Factorize(a), lu.Factorize(a)); err != nil {
		t.Fatal(err)
	}
	all := map[string]iterative.Preconditioner{"none": nil, "Jacobi": &jacobi, "direct": &lu}
	if !symmetric {
		all["ILU0"] = &ilu
		return all
	}
	var ic iterative.IC0
	if err := ic.Factorize(sym(t, a, blas.Upper)); err != nil {
		t.Fatal(err)
	}
	all["IC0"] = &ic
	return all
}

// TestSolutions solves systems with known solutions by all methods and preconditioners.
func TestSolutions(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, m := range []int{1, 2, 7, 15} {
		for _, wind := range []float64{0, 0.7} {
			a := grid(m, wind, 0.1)
			n := m * m
			want := vector(r, n)
			b := a.MulVec(nil, want)
			for _, c := range methods {
				if c.symmetric && wind != 0 {
					continue
				}
				counts := map[string]int{}
				for name, p := range preconditioners(t, a, c.symmetric) {
					s := c.make(iterative.Settings{Tolerance: 1e-11, Preconditioner: p})
					x := make([]float64, n)
					result, err := s.Solve(t.Context(), x, a, b)
					if err != nil {
						t.Fatalf("%s, %s, m = %d: %v", c.name, name, m, err)
					}
					counts[name] = result.Iterations
					if d := floats.Distance(x, want, 2); d > 1e-8*floats.Norm(want, 2) {
						t.Errorf("%s, %s, m = %d: wrong by %.3g", c.name, name, m, d)
					}
					res := a.MulVec(nil, x)
					floats.Sub(res, b)
					got := floats.Norm(res, 2)
					if math.Abs(got-result.Residual) > 1e-3*result.Residual+1e-14*float64(n) ||
						got > 1.0001e-11*floats.Norm(b, 2) {
						t.Errorf("%s, %s, m = %d: residual %.3g, reported %.3g", c.name, name, m, got, result.Residual)
					}
					// A second call with the solution has nothing to do.
					again, err := s.Solve(t.Context(), x, a, b)
					if err != nil || again.Iterations != 0 || again.Products != 1 {
						t.Errorf("%s, %s: from the solution: %+v, %v", c.name, name, again, err)
					}
				}
				if counts["direct"] > 2 {
					t.Errorf("%s, m = %d: %d iterations with the inverse", c.name, m, counts["direct"])
				}
				if m == 15 {
					incomplete := max(counts["ILU0"], counts["IC0"])
					if 3*incomplete > 2*counts["none"] {
						t.Errorf("%s: %v iterations", c.name, counts)
					}
					t.Logf("%s, wind %g: %v iterations", c.name, wind, counts)
				}
			}
		}
	}
}

// TestIterations: with exact arithmetic CG and MINRES end after as many iterations as A has distinct eigenvalues, and
// GMRES after the degree of the minimal polynomial.
func TestIterations(t *testing.T) {
	const n = 60
	p := sparsity.Banded(n, n, 0, 0)
	s, err := sparse.NewSymCSC(p, blas.All, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		s.SetSym(i, i, float64(1+i%4))
	}
	b := vector(r, n)
	for _, c := range methods {
		if c.name == "GMRES(5)" {
			continue
		}
		x := make([]float64, n)
		result, err := c.make(iterative.Settings{Tolerance: 1e-12}).Solve(t.Context(), x, s, b)
		if err != nil || result.Iterations > 5 || c.name != "BiCGStab" && result.Iterations != 4 {
			t.Errorf("%s: %+v, %v", c.name, result, err)
		}
	}
}

// TestMinimalResiduals: the residuals of GMRES without restart and of MINRES are the least in the Krylov space, which
// is compared with dense least squares.
func TestMinimalResiduals(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	const n, steps = 30, 8
	for _, c := range methods {
		if c.name != "GMRES" && c.name != "MINRES" {
			continue
		}
		d := mat.NewDense(n, n, vector(r, n*n))
		if c.symmetric {
			d.Add(d, mat.DenseCopyOf(d.T()))
		}
		a := sparse.FromMatrix(d)
		b := vector(r, n)
		var got []float64
		s := c.make(iterative.Settings{Tolerance: 1e-14, MaxIterations: steps,
			Progress: func(_ int, residual float64) { got = append(got, residual) }})
		x := make([]float64, n)
		var failed *iterative.NotConvergedError
		if _, err := s.Solve(t.Context(), x, a, b); !errors.As(err, &failed) || failed.Result.Iterations != steps {
			t.Fatalf("%s: %v", c.name, err)
		}
		// The images A·q of an orthonormal basis of the Krylov space.
		basis := mat.NewDense(n, steps, nil)
		v := append([]float64(nil), b...)
		for k := range steps {
			for range 2 {
				for i := range k {
					q := mat.Col(nil, i, basis)
					floats.AddScaled(v, -floats.Dot(q, v), q)
				}
			}
			floats.Scale(1/floats.Norm(v, 2), v)
			basis.SetCol(k, v)
			v = a.MulVec(nil, v)
			var images, y, res mat.Dense
			images.Mul(d, basis.Slice(0, n, 0, k+1))
			if err := y.Solve(&images, mat.NewDense(n, 1, b)); err != nil {
				t.Fatal(err)
			}
			res.Mul(&images, &y)
			res.Sub(&res, mat.NewDense(n, 1, b))
			if want := mat.Norm(&res, 2); math.Abs(got[k]-want) > 1e-9*want {
				t.Errorf("%s, step %d: residual %.12g, want %.12g", c.name, k+1, got[k], want)
			}
		}
		res := a.MulVec(nil, x)
		floats.Sub(res, b)
		if math.Abs(floats.Norm(res, 2)-got[steps-1]) > 1e-9 {
			t.Errorf("%s: the result has residual %.3g, want %.3g", c.name, floats.Norm(res, 2), got[steps-1])
		}
	}
}

// TestIndefinite: MINRES solves indefinite systems, CG refuses them.
func TestIndefinite(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	a := grid(8, 0, -2.3)
	want := vector(r, 64)
	b := a.MulVec(nil, want)
	var ic iterative.IC0
	if err := ic.Factorize(sym(t, grid(8, 0, 1), blas.Lower)); err != nil {
		t.Fatal(err)
	}
	for _, p := range []iterative.Preconditioner{nil, &ic} {
		x := make([]float64, 64)
		m := iterative.MINRES{Settings: iterative.Settings{Tolerance: 1e-12, Preconditioner: p}}
		if _, err := m.Solve(t.Context(), x, a, b); err != nil || floats.Distance(x, want, 2) > 1e-8 {
			t.Errorf("MINRES: %.3g, %v", floats.Distance(x, want, 2), err)
		}
		x = make([]float64, 64)
		cg := iterative.CG{Settings: iterative.Settings{Preconditioner: p}}
		var indefinite *iterative.IndefiniteError
		if _, err := cg.Solve(t.Context(), x, a, b); !errors.As(err, &indefinite) || indefinite.Curvature > 0 {
			t.Errorf("CG: %v", err)
		}
	}
	negative := product(func(dst, x []float64) { floats.ScaleTo(dst, -1, x) })
	cg := iterative.CG{Settings: iterative.Settings{Preconditioner: minus{}}}
	var breakdown *iterative.BreakdownError
	ones := []float64{1, 1, 1, 1}
	if _, err := cg.Solve(t.Context(), make([]float64, 4), negative, ones); !errors.As(err, &breakdown) {
		t.Errorf("CG with a negative preconditioner: %v", err)
	}
	m := iterative.MINRES{Settings: cg.Settings}
	if _, err := m.Solve(t.Context(), make([]float64, 4), negative, ones); !errors.As(err, &breakdown) {
		t.Errorf("MINRES with a negative preconditioner: %v", err)
	}
}

type minus struct{}

func (minus) Solve(dst, r []float64) error { floats.ScaleTo(dst, -1, r); return nil }

// TestErrorsKeepTheBest: after any error x is the iterate with the smallest residual, and the result has it.
func TestErrorsKeepTheBest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	// Badly scaled, so that residuals grow in between.
	symmetric, other := grid(20, 0, 0), grid(20, 1.9, 0)
	scale := make([]float64, 400)
	for i := range scale {
		scale[i] = math.Exp(3 * r.Float64())
	}
	for j := range 400 {
		for _, i := range other.Pattern().Col(j) {
			symmetric.Set(i, j, symmetric.At(i, j)*scale[i]*scale[j])
			other.Set(i, j, other.At(i, j)*scale[j])
		}
	}
	b := vector(r, 400)
	grown := map[string]bool{}
	for _, c := range methods {
		a := other
		if c.symmetric {
			a = symmetric
		}
		for _, stop := range []string{"iterations", "context"} {
			for at := 1; at < 50; at += 1 + at/6 {
				ctx, cancel := context.WithCancelCause(t.Context())
				cause := errors.New("enough")
				least, last := floats.Norm(b, 2), 0.0
				settings := iterative.Settings{Tolerance: 1e-13, Progress: func(k int, residual float64) {
					least, last = math.Min(least, residual), residual
					if stop == "context" && k == at {
						cancel(cause)
					}
				}}
				if stop == "iterations" {
					settings.MaxIterations = at
				}
				x := make([]float64, 400)
				result, err := c.make(settings).Solve(ctx, x, a, b)
				cancel(nil)
				var failed *iterative.NotConvergedError
				var canceled *iterative.CanceledError
				switch {
				case stop == "iterations" && errors.As(err, &failed):
					if failed.Result != result {
						t.Errorf("%s: the error has %+v, the result is %+v", c.name, failed.Result, result)
					}
				case stop == "context" && errors.As(err, &canceled) && errors.Is(err, cause):
				default:
					t.Fatalf("%s, %s: %v", c.name, stop, err)
				}
				res := a.MulVec(nil, x)
				floats.Sub(res, b)
				got := floats.Norm(res, 2)
				if last > 1.1*least {
					grown[c.name] = true
				}
				if result.Iterations != at || math.Abs(got-result.Residual) > 1e-10 || got > least*(1+1e-8)+1e-12 {
					t.Errorf("%s, %s at %d: residual %.6g, reported %+v, the least was %.6g", c.name, stop, at, got,
						result, least)
				}
			}
		}
	}
	if !grown["CG"] || !grown["BiCGStab"] || grown["GMRES"] || grown["MINRES"] {
		t.Errorf("the last residual was above the least: %v", grown)
	}
}

// TestSingularSystems: without a solution the methods stop with an error, whose result is a small residual.
func TestSingularSystems(t *testing.T) {
	for _, c := range methods {
		zero := product(func(dst, _ []float64) { clear(dst) })
		x := []float64{0, 0}
		if result, err := c.make(iterative.Settings{}).Solve(t.Context(), x, zero, []float64{3, 4}); err == nil ||
			result.Residual != 5 {
			t.Errorf("%s of the zero matrix: %+v, %v", c.name, result, err)
		}
		// diag(1, 2, 0): the last equation has no solution.
		diag := product(func(dst, x []float64) { dst[0], dst[1], dst[2] = x[0], 2*x[1], 0 })
		y := make([]float64, 3)
		result, err := c.make(iterative.Settings{}).Solve(t.Context(), y, diag, []float64{1, 1, 1})
		if err == nil || result.Residual < 1-1e-12 {
			t.Errorf("%s of diag(1, 2, 0): %+v, %v", c.name, result, err)
		}
		if strings.Contains(c.name, "RES") && result.Residual > 1+1e-9 {
			t.Errorf("%s of diag(1, 2, 0): the residual is %.12g, want 1", c.name, result.Residual)
		}
		// Its range has solutions.
		y = make([]float64, 3)
		if _, err := c.make(iterative.Settings{}).Solve(t.Context(), y, diag, []float64{1, 1, 0}); err != nil ||
			math.Abs(y[0]-1) > 1e-7 || math.Abs(y[1]-0.5) > 1e-7 {
			t.Errorf("%s of a consistent system: %v, %v", c.name, y, err)
		}
	}
}

// TestArguments: errors of arguments are typed, and x does not change.
func TestArguments(t *testing.T) {
	a := grid(2, 0, 0)
	ok := []float64{1, 2, 3, 4}
	nan := []float64{1, 2, math.NaN(), 4}
	var shape *sparse.ShapeError
	var nonFinite *iterative.NonFiniteError
	var setting *iterative.SettingError
	for _, c := range methods {
		x := []float64{5, 6, 7, 8}
		_, err := c.make(iterative.Settings{}).Solve(t.Context(), x[:3], a, ok)
		if !errors.As(err, &shape) {
			t.Errorf("%s: x of 3: %v", c.name, err)
		}
		if _, err = c.make(iterative.Settings{}).Solve(t.Context(), x, a, ok[:3]); !errors.As(err, &shape) {
			t.Errorf("%s: b of 3: %v", c.name, err)
		}
		wide := sparse.NewCSC(sparsity.Full(4, 3), nil)
		if _, err = c.make(iterative.Settings{}).Solve(t.Context(), x, wide, ok); !errors.As(err, &shape) {
			t.Errorf("%s: 4×3: %v", c.name, err)
		}
		if _, err = c.make(iterative.Settings{}).Solve(t.Context(), x, a, nan); !errors.As(err, &nonFinite) ||
			nonFinite.Index != 2 {
			t.Errorf("%s: b with NaN: %v", c.name, err)
		}
		if _, err = c.make(iterative.Settings{}).Solve(t.Context(), nan, a, ok); !errors.As(err, &nonFinite) {
			t.Errorf("%s: x with NaN: %v", c.name, err)
		}
		for _, s := range []iterative.Settings{{Tolerance: -1}, {AbsTolerance: math.NaN()}, {MaxIterations: -1}} {
			if _, err = c.make(s).Solve(t.Context(), x, a, ok); !errors.As(err, &setting) {
				t.Errorf("%s: %+v: %v", c.name, s, err)
			}
		}
		if fmt.Sprint(x) != "[5 6 7 8]" {
			t.Errorf("%s: x is %v", c.name, x)
		}
		count := 0
		breaks := product(func(dst, x []float64) {
			a.MulVec(dst, x)
			if count++; count == 2 {
				dst[1] = math.Inf(1)
			}
		})
		if _, err = c.make(iterative.Settings{}).Solve(t.Context(), x, breaks, ok); !errors.As(err, &nonFinite) {
			t.Errorf("%s: a product with an infinity: %v", c.name, err)
		}
		var none iterative.ILU0
		if _, err = c.make(iterative.Settings{Preconditioner: &none}).Solve(t.Context(), x, a, ok); !errors.As(err,
			new(*iterative.NotFactorizedError)) {
			t.Errorf("%s: a preconditioner without factors: %v", c.name, err)
		}
		if result, err := c.make(iterative.Settings{}).Solve(t.Context(), nil, sparse.NewCSC(sparsity.Empty(0, 0), nil),
			nil); err != nil || result.Iterations != 0 {
			t.Errorf("%s of 0×0: %v", c.name, err)
		}
		x = []float64{5, 6, 7, 8}
		if _, err := c.make(iterative.Settings{}).Solve(t.Context(), x, a, make([]float64, 4)); err != nil ||
			floats.Norm(x, 2) != 0 {
			t.Errorf("%s with b = 0: %v, %v", c.name, x, err)
		}
	}
	g := iterative.GMRES{Restart: -1}
	if _, err := g.Solve(t.Context(), ok, a, ok); !errors.As(err, &setting) {
		t.Errorf("a negative Restart: %v", err)
	}
}

// TestNoAllocation: repeated solutions do not allocate, nor do preconditioners of one pattern.
func TestNoAllocation(t *testing.T) {
	a := grid(8, 0, 0.1)
	s := sym(t, a, blas.Upper)
	b, x := make([]float64, 64), make([]float64, 64)
	for i := range b {
		b[i] = float64(i)
	}
	var ic iterative.IC0
	var ilu iterative.ILU0
	var jacobi iterative.Jacobi
	for name, f := range map[string]func() error{
		"IC0":    func() error { return ic.Factorize(s) },
		"ILU0":   func() error { return ilu.Factorize(a) },
		"Jacobi": func() error { return jacobi.Factorize(a) },
	} {
		if allocs := testing.AllocsPerRun(3, func() {
			if err := f(); err != nil {
				t.Fatal(err)
			}
		}); allocs != 0 {
			t.Errorf("%s: %g allocations", name, allocs)
		}
	}
	ctx := t.Context()
	for _, c := range methods {
		solver := c.make(iterative.Settings{Preconditioner: &ic})
		for name, op := range map[string]iterative.Operator{"CSC": a, "SymCSC": s,
			"Func": product(func(dst, x []float64) { a.MulVec(dst, x) })} {
			if allocs := testing.AllocsPerRun(3, func() {
				clear(x)
				if _, err := solver.Solve(ctx, x, op, b); err != nil {
					t.Fatal(err)
				}
			}); allocs != 0 {
				t.Errorf("%s with %s: %g allocations", c.name, name, allocs)
			}
		}
	}
}

// TestStagnation: if rounding errors, or the length of a restart, keep the residual from falling, the methods stop.
func TestStagnation(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	a := grid(12, 0, 0)
	b := vector(r, 144)
	var failed *iterative.NotConvergedError
	for _, c := range methods {
		x := make([]float64, 144)
		result, err := c.make(iterative.Settings{Tolerance: 1e-30, MaxIterations: 1e6}).Solve(t.Context(), x, a, b)
		if !errors.As(err, &failed) || !failed.Stagnated || result.Residual > 1e-13*floats.Norm(b, 2) {
			t.Errorf("%s to 1e-30: %+v, %v", c.name, result, err)
		}
	}
	shift := product(func(dst, x []float64) {
		for i, v := range x {
			dst[(i+1)%len(x)] = v
		}
	})
	b, x := make([]float64, 10), make([]float64, 10)
	b[0] = 1
	m := iterative.GMRES{Settings: iterative.Settings{MaxIterations: 1e6}, Restart: 5}
	if result, err := m.Solve(t.Context(), x, shift, b); !errors.As(err, &failed) || !failed.Stagnated ||
		result.Iterations != 5 || result.Residual != 1 {
		t.Errorf("GMRES(5) of a cyclic shift of 10: %+v, %v", result, err)
	}
	m.Restart = 10
	if result, err := m.Solve(t.Context(), x, shift, b); err != nil || result.Iterations != 10 {
		t.Errorf("GMRES(10) of a cyclic shift of 10: %+v, %v", result, err)
	}
}

// TestBreakdown: BiCGStab starts again if the residual becomes orthogonal to the shadow residual, as it does here after
// one iteration, and stops if a first direction leads nowhere.
func TestBreakdown(t *testing.T) {
	a := sparse.FromMatrix(mat.NewDense(3, 3, []float64{
		1, 0, 0,
		1, 2, 1,
		1, 0, 3,
	}))
	x := make([]float64, 3)
	var m iterative.BiCGStab
	if _, err := m.Solve(t.Context(), x, a, []float64{1, 0, 0}); err != nil || math.Abs(x[0]-1) > 1e-8 ||
		math.Abs(x[1]+1./3) > 1e-8 || math.Abs(x[2]+1./3) > 1e-8 {
		t.Errorf("%v, %v", x, err)
	}
	skew := sparse.FromMatrix(mat.NewDense(2, 2, []float64{0, 1, -1, 0}))
	var breakdown *iterative.BreakdownError
	x = make([]float64, 2)
	if result, err := m.Solve(t.Context(), x, skew, []float64{3, 4}); !errors.As(err, &breakdown) ||
		breakdown.Result != result || result.Residual != 5 {
		t.Errorf("a skew matrix: %+v, %v", result, err)
	}
}

// TestErrorOfFunc: a method stops at the error of a product and returns it, with the best iterate.
func TestErrorOfFunc(t *testing.T) {
	a := grid(5, 0, 0)
	b := vector(rand.New(rand.NewPCG(1, 8)), 25)
	want := errors.New("out of range")
	for _, c := range methods {
		for last := range 7 {
			count := 0
			f := iterative.Func(func(dst, x []float64) error {
				if count++; count > last {
					return want
				}
				a.MulVec(dst, x)
				return nil
			})
			x := make([]float64, 25)
			result, err := c.make(iterative.Settings{}).Solve(t.Context(), x, f, b)
			if !errors.Is(err, want) || result.Products != last+1 {
				t.Errorf("%s, product %d: %+v, %v", c.name, last, result, err)
			}
			res := a.MulVec(nil, x)
			floats.Sub(res, b)
			if got := floats.Norm(res, 2); got > floats.Norm(b, 2)*(1+1e-12) ||
				last > 0 && math.Abs(got-result.Residual) > 1e-10 {
				t.Errorf("%s, product %d: residual %.6g, reported %.6g", c.name, last, got, result.Residual)
			}
		}
	}
	v := mat.NewVecDense(25, nil)
	product(func(dst, x []float64) { a.MulVec(dst, x) }).MulVecTo(v, false, mat.NewVecDense(25, b))
	if !floats.Equal(v.RawVector().Data, a.MulVec(nil, b)) {
		t.Error("MulVecTo of a Func")
	}
}
