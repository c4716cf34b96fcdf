package optim_test

import (
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
