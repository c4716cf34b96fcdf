package direct_test

import (
	"math"
	"testing"
	"time"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/internal/problems"
	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparse/direct"
)

// A rosenbrock integrates y' = f(y) by the method ROS2 (Verwer, Spee, Blom & Hundsdorfer, SIAM J. Sci. Comput. 20,
// 1999), which is of order 2 and L-stable, and solves two linear systems with I-γhJ in each step.
type rosenbrock struct {
	lu                           direct.LU
	prepare, derivative, factors time.Duration
}

// integrate advances y by a number of steps of length h.
func (s *rosenbrock) integrate(f func(dy, y []nabla.Real), plain func(dy, y []float64), y []float64, h float64,
	steps int) error {
	const gamma = 1 - 1/math.Sqrt2
	start := time.Now()
	prep, err := nabla.PrepareJacobian(nabla.InPlace(len(y), f), nabla.AutoSparse{Dense: forwarddiff.Backend{}}, y)
	if err != nil {
		return err
	}
	s.prepare = time.Since(start)
	k1, k2, stage := make([]float64, len(y)), make([]float64, len(y)), make([]float64, len(y))
	var j sparse.CSC
	for range steps {
		start = time.Now()
		if _, _, err := prep.ValueAndSparse(k1, &j, y); err != nil {
			return err
		}
		s.derivative += time.Since(start)
		start = time.Now()
		ptr, idx, data := j.ColPtr(), j.RowIndex(), j.Data()
		for c := range len(ptr) - 1 {
			for k := ptr[c]; k < ptr[c+1]; k++ {
				data[k] *= -gamma * h
				if idx[k] == c {
					data[k]++
				}
			}
		}
		if err := s.lu.Refactorize(&j); err != nil {
			return err
		}
		if err := s.lu.Solve(k1, k1); err != nil {
			return err
		}
		for i, v := range k1 {
			stage[i] = y[i] + h*v
		}
		plain(k2, stage)
		for i, v := range k1 {
			k2[i] -= 2 * v
		}
		if err := s.lu.Solve(k2, k2); err != nil {
			return err
		}
		for i := range y {
			y[i] += h * (1.5*k1[i] + 0.5*k2[i])
		}
		s.factors += time.Since(start)
	}
	return nil
}

// brusselator returns the Brusselator on a periodic grid of n×n points, over Reals and plain, and initial values.
func brusselator(n int) (f func(dy, y []nabla.Real), plain func(dy, y []float64), y []float64) {
	y = make([]float64, 2*n*n)
	for j := range n {
		for i := range n {
			a, b := float64(i)/float64(n), float64(j)/float64(n)
			y[i+n*j] = 22 * b * math.Pow(1-b, 1.5)
			y[n*n+i+n*j] = 27 * a * math.Pow(1-a, 1.5)
		}
	}
	return func(dy, y []nabla.Real) { problems.Brusselator(dy, y, n) },
		func(dy, y []float64) { problems.BrusselatorPlain(dy, y, n) }, y
}

// TestBrusselator compares with the explicit Runge–Kutta method of order 4 with steps short enough for it, and finds
// that the error falls with the square of the step.
func TestBrusselator(t *testing.T) {
	const n, end = 6, 0.02
	f, plain, want := brusselator(n)
	k := [4][]float64{}
	for i := range k {
		k[i] = make([]float64, len(want))
	}
	stage := make([]float64, len(want))
	const steps = 400
	for range steps {
		h := end / steps
		for i, c := range []float64{0, 0.5, 0.5, 1} {
			for l := range stage {
				stage[l] = want[l]
				if i > 0 {
					stage[l] += c * h * k[i-1][l]
				}
			}
			plain(k[i], stage)
		}
		for l := range want {
			want[l] += h / 6 * (k[0][l] + 2*k[1][l] + 2*k[2][l] + k[3][l])
		}
	}
	errors := map[int]float64{}
	for _, steps := range []int{100, 200} {
		_, _, y := brusselator(n)
		var s rosenbrock
		if err := s.integrate(f, plain, y, end/float64(steps), steps); err != nil {
			t.Fatal(err)
		}
		if s.lu.Pivotings() != 1 {
			t.Errorf("pivots were chosen %d times", s.lu.Pivotings())
		}
		for i := range y {
			errors[steps] = math.Max(errors[steps], math.Abs(y[i]-want[i]))
		}
	}
	if ratio := errors[100] / errors[200]; ratio < 3.7 || ratio > 4.3 || errors[200] > 1e-3 {
		t.Errorf("errors %v fall by %.2f, want 4", errors, ratio)
	}
}

// BenchmarkBrusselator makes 20 steps on 100×100 points, with the detection of the pattern, the colouring and the
// derivatives.
func BenchmarkBrusselator(b *testing.B) {
	for b.Loop() {
		f, plain, y := brusselator(100)
		var s rosenbrock
		if err := s.integrate(f, plain, y, 1e-3, 20); err != nil {
			b.Fatal(err)
		}
		lower, upper := s.lu.NNZ()
		b.ReportMetric(float64(lower+upper), "entries")
		b.ReportMetric(float64(s.lu.Pivotings()), "pivotings")
		b.ReportMetric(s.prepare.Seconds(), "s-prepare")
		b.ReportMetric(s.derivative.Seconds(), "s-derivative")
		b.ReportMetric(s.factors.Seconds(), "s-factors")
	}
}
