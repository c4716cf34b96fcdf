package difftest_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/difftest"
	"github.com/nabla-ad/nabla/difftest/coded"
	"github.com/nabla-ad/nabla/internal/engines"
	"github.com/nabla-ad/nabla/internal/longtest"
)

// elsewhere skips a test under the race detector: all engines run the kit under it in their own packages.
func elsewhere(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("the kit runs under the race detector in the packages of the engines")
	}
}

// TestRuns runs the kit on functions over Reals and on plain functions with generated code, with all engines and all
// pairs of two: a sample of the runs, a fifth of them in the long form, and all with NABLA_LONG=all.
func TestRuns(t *testing.T) {
	elsewhere(t)
	for _, r := range longtest.Part(engines.Runs(engines.Single()), 3, 5) {
		t.Run(r.Name(), func(t *testing.T) { difftest.Run(t, r.Backend, &r.Options) })
	}
}

// TestRunsAreAll requires a run of each pair of engines on generated code, and on functions over Reals either a run or
// an *UnsupportedError with a remedy.
func TestRunsAreAll(t *testing.T) {
	single := engines.Single()
	if len(single) != 11 {
		t.Fatalf("%d engines, want 11", len(single))
	}
	names := map[string]bool{}
	for _, r := range engines.Runs(engines.Single()) {
		names[r.Name()] = true
	}
	f := func(x []nabla.Real) nabla.Real { return x[0].Sq().Mul(x[1]) }
	refused := 0
	for _, outer := range single {
		for _, inner := range single {
			b := nabla.SecondOrder{Outer: outer.Backend, Inner: inner.Backend}
			if r := (engines.Run{Backend: b, Functions: engines.Generated}); !names[r.Name()] {
				t.Errorf("there is no run %s", r.Name())
			}
			if r := (engines.Run{Backend: b, Functions: engines.OverReals}); names[r.Name()] {
				continue
			}
			refused++
			_, err := nabla.Hessian(f, b, []float64{2, 3})
			var unsupported *nabla.UnsupportedError
			if !errors.As(err, &unsupported) || unsupported.Remedy == "" {
				t.Errorf("%s on a function over Reals: %v, want an *UnsupportedError with a remedy", b.Name(), err)
			}
		}
	}
	if refused != 26 { // two engines over eleven, and two of finitediff over the two
		t.Errorf("%d pairs have no run over Reals, want 26", refused)
	}
}

// scenario returns the scenario of the catalogue called name.
func scenario(t *testing.T, name string) *difftest.Scenario {
	t.Helper()
	all := difftest.Scenarios("")
	i := slices.IndexFunc(all, func(s difftest.Scenario) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("there is no scenario %s", name)
	}
	return &all[i]
}

// TestPairsOfOtherOperators compares weighted Hessians, KKT matrices, Hessians of all outputs and diagonals of
// Hessians, which are no operators of the catalogue, on all pairs of engines with closed forms.
func TestPairsOfOtherOperators(t *testing.T) {
	vector := scenario(t, "sparse/diffsquare_vec_to_vec/jacobian/out/out")
	scalar := scenario(t, "sparse/sumdiffcube_vec_to_num/hessian/out/out")
	f := coded.Function(vector).F.(func([]float64) []float64)
	g := coded.Function(scalar).F.(func([]float64) float64)
	n, m := len(vector.X), len(vector.Value)
	w := make([]float64, m)
	for i := range w {
		w[i] = 2 - float64(i)
	}
	want := mat.NewDense(n, n, nil)
	for j := range n { // differences of the Jacobian, which is linear, are exact
		x := slices.Clone(vector.X)
		x[j] += 1
		ahead := vector.At(x, nil).First
		for i := range m {
			for k := range n {
				want.Set(k, j, want.At(k, j)+w[i]*(ahead[i*n+k]-vector.First[i*n+k]))
			}
		}
	}
	jacobian := mat.NewDense(m, n, vector.First)
	apart := func(got, want mat.Matrix) float64 {
		var d mat.Dense
		d.Sub(got, want)
		return mat.Max(&d) - mat.Min(&d)
	}
	scale := slices.Max(scalar.Second)
	for _, outer := range engines.Single() {
		for _, inner := range engines.Single() {
			b := nabla.SecondOrder{Outer: outer.Backend, Inner: inner.Backend}
			tol := max(outer.Conform.SecondTol, inner.Conform.SecondTol, 1e-12)
			for _, b := range []nabla.Backend{b, nabla.AutoSparse{Dense: b}} {
				h, err := nabla.WeightedHessian(f, b, vector.X, w)
				if err != nil {
					t.Errorf("weighted Hessian on %s: %v", b.Name(), err)
				} else if d := apart(h, want); !(d <= tol*mat.Max(want)) {
					t.Errorf("weighted Hessian on %s: off by %v", b.Name(), d)
				}
				j, h, err := nabla.KKT(f, b, vector.X, w)
				if err != nil {
					t.Errorf("KKT matrix on %s: %v", b.Name(), err)
				} else if d := apart(h, want) + apart(j, jacobian); !(d <= 2*tol*mat.Max(want)) {
					t.Errorf("KKT matrix on %s: off by %v", b.Name(), d)
				}
				_, j, all, err := nabla.ValueJacobianAndHessians(f, b, vector.X)
				if err != nil {
					t.Errorf("Hessians on %s: %v", b.Name(), err)
					continue
				}
				sum := mat.NewDense(n, n, nil)
				for i, h := range all {
					var scaled mat.Dense
					scaled.Scale(w[i], h)
					sum.Add(sum, &scaled)
				}
				if d := apart(sum, want) + apart(j, jacobian); !(d <= 10*tol*mat.Max(want)) {
					t.Errorf("Hessians on %s: off by %v", b.Name(), d)
				}
			}
			diagonal, err := nabla.HessianDiagonal(g, b, scalar.X)
			if err != nil {
				t.Errorf("diagonal on %s: %v", b.Name(), err)
				continue
			}
			for i, v := range diagonal {
				if exact := scalar.Second[i*len(scalar.X)+i]; !(math.Abs(v-exact) <= tol*scale) {
					t.Errorf("diagonal on %s: element %d is %v, want %v", b.Name(), i, v, exact)
				}
			}
		}
	}
}

// TestNestedDerivativesOfPlainFunctions differentiates F(x) = |∇g(x)|²/2 and F(x) = ∇g(x)·v, for a plain function g
// with generated code, its inner derivative by every engine, and the outer ones by every engine: ∇F is H·∇g and H·v,
// and ∇²F has third derivatives of g, which are compared with differences of closed forms. Engines of generated code,
// which cannot differentiate F, a function over Reals, refuse with a remedy.
func TestNestedDerivativesOfPlainFunctions(t *testing.T) {
	s := scenario(t, "sparse/sumdiffcube_vec_to_num/hessian/out/out")
	g := coded.Function(s).F.(func([]float64) float64)
	n := len(s.X)
	v := make([]float64, n)
	for i := range v {
		v[i] = 1 - float64(i)/2
	}
	// gradient writes ∇F in closed form; along is nil for the first F.
	gradient := func(x, along []float64) []float64 {
		r := s.At(x, nil)
		if along == nil {
			along = r.First
		}
		y := make([]float64, n)
		for i := range y {
			for j, d := range along {
				y[i] += r.Second[i*n+j] * d
			}
		}
		return y
	}
	for _, inner := range engines.Single() {
		nabla1 := nabla.GradientFunc(g, inner.Backend)
		push := nabla.PushforwardFunc(g, inner.Backend)
		direction := make([]nabla.Real, n)
		for i, d := range v {
			direction[i] = nabla.Const(d)
		}
		for _, f := range []struct {
			name  string
			f     func(x []nabla.Real) nabla.Real
			along []float64
		}{
			{"gradient", func(x []nabla.Real) (y nabla.Real) {
				for _, d := range nabla1(x) {
					y = y.Add(d.Sq().Scale(0.5))
				}
				return y
			}, nil},
			{"pushforward", func(x []nabla.Real) nabla.Real { return push(x, direction)[0] }, v},
		} {
			want := gradient(s.X, f.along)
			for _, outer := range engines.Single() {
				name := outer.Backend.Name() + " of " + f.name + " by " + inner.Backend.Name()
				tol := max(outer.Conform.SecondTol, inner.Conform.SecondTol, 1e-12) * slices.Max(want)
				got, err := nabla.Gradient(f.f, outer.Backend, s.X)
				if outer.Functions == engines.Generated {
					var unsupported *nabla.UnsupportedError
					if !errors.As(err, &unsupported) || unsupported.Remedy == "" {
						t.Errorf("%s: %v, want an *UnsupportedError with a remedy", name, err)
					}
					continue
				}
				if err != nil || !floats.EqualApprox(got, want, tol) {
					t.Errorf("%s: %v, want %v; %v", name, got, want, err)
				}
				h, err := nabla.HVP(f.f, outer.Backend, s.X, v)
				const step = 1e-5
				ahead, behind := slices.Clone(s.X), slices.Clone(s.X)
				floats.AddScaled(ahead, step, v)
				floats.AddScaled(behind, -step, v)
				third := gradient(ahead, f.along)
				floats.Sub(third, gradient(behind, f.along))
				floats.Scale(1/(2*step), third)
				if err != nil || !floats.EqualApprox(h, third, 1e-3*(1+floats.Norm(third, math.Inf(1)))) {
					t.Errorf("third order, %s: %v, want %v; %v", name, h, third, err)
				}
			}
		}
	}
}
