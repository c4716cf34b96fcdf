package direct_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparse/direct"
	"gonum.org/v1/gonum/blas"
)

// bratu is the discrete Bratu problem -Δu = λ·exp(u) on the unit square with u = 0 on the boundary, on a grid of m×m
// inner points with the spacing h: the residual of the 5-point formula times h².
func bratu(m int, lambda float64) func(y, u []nabla.Real) {
	h2 := 1 / float64((m+1)*(m+1))
	return func(y, u []nabla.Real) {
		for i := range m {
			for j := range m {
				k := i*m + j
				f := u[k].Scale(4).Sub(nabla.Exp(u[k]).Scale(lambda * h2))
				if i > 0 {
					f = f.Sub(u[k-m])
				}
				if i+1 < m {
					f = f.Sub(u[k+m])
				}
				if j > 0 {
					f = f.Sub(u[k-1])
				}
				if j+1 < m {
					f = f.Sub(u[k+1])
				}
				y[k] = f
			}
		}
	}
}

// A newton is Newton's method for a function whose Jacobian is symmetric and positive definite, with the time spent in
// its parts.
type newton struct {
	ldl                          direct.LDL
	steps                        int
	prepare, derivative, factors time.Duration
}

// solve returns a zero of f near u, which it changes.
func (s *newton) solve(f func(y, u []nabla.Real), u []float64) ([]float64, error) {
	start := time.Now()
	prep, err := nabla.PrepareJacobian(nabla.InPlace(len(u), f), nabla.AutoSparse{Dense: forwarddiff.Backend{}}, u)
	if err != nil {
		return nil, err
	}
	s.prepare = time.Since(start)
	y, step := make([]float64, len(u)), make([]float64, len(u))
	var j sparse.CSC
	for s.steps = 1; s.steps <= 20; s.steps++ {
		start = time.Now()
		if _, _, err := prep.ValueAndSparse(y, &j, u); err != nil {
			return nil, err
		}
		s.derivative += time.Since(start)
		start = time.Now()
		a, err := sparse.NewSymCSC(j.Pattern(), blas.All, j.Data())
		if err != nil {
			return nil, err
		}
		if err := s.ldl.FactorizeDefinite(a); err != nil {
			return nil, err
		}
		if err := s.ldl.Solve(step, y); err != nil {
			return nil, err
		}
		s.factors += time.Since(start)
		largest := 0.0
		for i, v := range step {
			u[i] -= v
			largest = math.Max(largest, math.Abs(v))
		}
		if largest < 1e-10 {
			return u, nil
		}
	}
	return nil, fmt.Errorf("no convergence in %d steps", s.steps-1)
}

// Newton's method for the Bratu problem on a grid: the Jacobian comes from nabla as a sparse matrix, and is factorised
// in each step.
func ExampleLDL_newton() {
	const m = 31
	var s newton
	u, err := s.solve(bratu(m, 6), make([]float64, m*m))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d steps, u = %.4f in the middle\n", s.steps, u[m*m/2])
	fmt.Println("entries of the factor:", s.ldl.NNZ())
	// Output:
	// 6 steps, u = 0.7969 in the middle
	// entries of the factor: 10917
}

// TestBratu: the solution satisfies the equation, and in the middle of the square it converges like h². Near λ = 6.808,
// the largest value for which there are solutions, the Jacobian is nearly singular; beyond it becomes indefinite.
func TestBratu(t *testing.T) {
	middle := func(m int, lambda float64) float64 {
		t.Helper()
		var s newton
		u, err := s.solve(bratu(m, lambda), make([]float64, m*m))
		if err != nil {
			t.Fatal(err)
		}
		h2 := 1 / float64((m+1)*(m+1))
		for i := range m {
			for j := range m {
				k := i*m + j
				sum := 4 * u[k]
				for _, d := range [][2]int{{-1, 0}, {1, 0}, {0, -1}, {0, 1}} {
					if a, b := i+d[0], j+d[1]; a >= 0 && a < m && b >= 0 && b < m {
						sum -= u[a*m+b]
					}
				}
				if r := sum - h2*lambda*math.Exp(u[k]); math.Abs(r) > 1e-13 {
					t.Fatalf("residual %.3g at (%d, %d)", r, i, j)
				}
			}
		}
		return u[m*m/2]
	}
	a, b, c := middle(15, 2), middle(31, 2), middle(63, 2)
	if ratio := (a - b) / (b - c); ratio < 3.9 || ratio > 4.1 {
		t.Errorf("%.6f, %.6f, %.6f: differences fall by %.2f, want 4", a, b, c, ratio)
	}
	// For small λ, u is λ times the solution of -Δu = 1, whose value in the middle is 0.0736713…
	if v := middle(31, 1e-3) / 1e-3; math.Abs(v-0.0736713) > 2e-4 {
		t.Errorf("u/λ = %.7f for small λ, want 0.0736713", v)
	}
}

// BenchmarkBratu solves the problem on 256×256 points, with the detection of the pattern, the colouring and the
// derivatives.
func BenchmarkBratu(b *testing.B) {
	for b.Loop() {
		var s newton
		if _, err := s.solve(bratu(256, 6), make([]float64, 256*256)); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(s.steps), "steps")
		b.ReportMetric(s.prepare.Seconds(), "s-prepare")
		b.ReportMetric(s.derivative.Seconds(), "s-derivative")
		b.ReportMetric(s.factors.Seconds(), "s-factors")
	}
}
