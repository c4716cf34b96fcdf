package gonumopt_test

import (
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/optimize"

	"github.com/nabla-ad/nabla/internal/problems"
	"github.com/nabla-ad/nabla/optim"
	"github.com/nabla-ad/nabla/optim/gonumopt"
)

// BenchmarkMinimize solves the chained Rosenbrock problem of 100 unknowns with the derivatives of nabla's generated
// code and with differences of gonum's diff/fd, preparation included. The metrics are the calls of Func, Grad and Hess.
func BenchmarkMinimize(b *testing.B) {
	x0 := repeat(100, -1.2, 1)
	nablas := func() optimize.Problem {
		p, err := gonumopt.Problem(problems.RosenbrockPlain, nil, x0)
		if err != nil {
			b.Fatal(err)
		}
		return p
	}
	differences := func() optimize.Problem {
		set := &fd.Settings{Formula: fd.Central}
		grad := func(g, x []float64) { fd.Gradient(g, problems.RosenbrockPlain, x, set) }
		return optimize.Problem{Func: problems.RosenbrockPlain, Grad: grad}
	}
	for _, c := range []struct {
		name    string
		problem func() optimize.Problem
		method  func() optimize.Method
	}{
		{"LBFGS/nabla", nablas, func() optimize.Method { return &optimize.LBFGS{} }},
		{"LBFGS/differences", differences, func() optimize.Method { return &optimize.LBFGS{} }},
		{"BFGS/nabla", nablas, func() optimize.Method { return &optimize.BFGS{} }},
		{"BFGS/differences", differences, func() optimize.Method { return &optimize.BFGS{} }},
		{"Newton/nabla", nablas, func() optimize.Method { return &optimize.Newton{} }},
	} {
		b.Run(c.name, func(b *testing.B) {
			var stats optimize.Stats
			for b.Loop() {
				res, err := optimize.Minimize(c.problem(), x0, &optimize.Settings{GradientThreshold: 1e-5,
					Converger: optimize.NeverTerminate{}}, c.method())
				if err != nil {
					b.Fatal(err)
				}
				stats = res.Stats
			}
			b.ReportMetric(float64(stats.FuncEvaluations), "Func")
			b.ReportMetric(float64(stats.GradEvaluations), "Grad")
			b.ReportMetric(float64(stats.HessEvaluations), "Hess")
		})
	}
	b.Run("NewtonCG/nabla", func(b *testing.B) {
		var res *optim.MinimizeResult
		for b.Loop() {
			var err error
			if res, err = optim.NewtonCG(problems.RosenbrockPlain, nil, x0, nil); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(res.Evaluations), "Func")
		b.ReportMetric(float64(res.Gradients), "Grad")
		b.ReportMetric(float64(res.Products), "HVP")
	})
}
