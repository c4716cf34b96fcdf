package optim_test

import (
	"math"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/optim"
)

// BenchmarkLeastSquares fits Osborne's second model with Jacobians of nabla and of differences.
func BenchmarkLeastSquares(b *testing.B) {
	x0 := osborne2Start
	for _, engine := range []nabla.Backend{forwarddiff.Backend{}, compiled, finitediff.Backend{}} {
		b.Run(engine.Name(), func(b *testing.B) {
			var res *optim.LeastSquaresResult
			for b.Loop() {
				var err error
				if res, err = optim.LeastSquares(osborne2, engine, x0, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(res.Evaluations), "residuals")
			b.ReportMetric(float64(res.Jacobians), "Jacobians")
		})
	}
}

// BenchmarkLinearSolver smooths a track of positions from noisy distances between neighbours and a few fixes. The
// condition number of the Jacobian grows with the number of positions between fixes.
func BenchmarkLinearSolver(b *testing.B) {
	const n = 3000
	f := func(x []nabla.Real) []nabla.Real {
		y := make([]nabla.Real, n-1+n/100)
		for i := range n - 1 {
			d := x[i+1].Sub(x[i])
			y[i] = d.Add(d.Mul(d).Scale(0.1)).AddConst(-1 - 0.5*math.Sin(float64(i*i)))
		}
		for k := range n / 100 {
			y[n-1+k] = x[100*k].AddConst(-100 * float64(k)).Scale(0.1)
		}
		return y
	}
	for _, solver := range []optim.LinearSolver{optim.DirectSolver, optim.IterativeSolver} {
		b.Run(solver.String(), func(b *testing.B) {
			var res *optim.LeastSquaresResult
			for b.Loop() {
				var err error
				if res, err = optim.LeastSquares(f, nabla.AutoSparse{Dense: compiled}, make([]float64, n),
					&optim.LeastSquaresSettings{LinearSolver: solver, MaxEvaluations: 1000}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(res.Evaluations), "residuals")
		})
	}
}
