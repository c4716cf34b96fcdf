package nabla_test

import (
	"fmt"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/internal/problems"
)

// BenchmarkRosenbrock measures engines per operation of the function: 8 for each
// term.
func BenchmarkRosenbrock(b *testing.B) {
	const n = 1000
	x := make([]float64, n)
	for i := range x {
		x[i] = 1 - 2.2*float64(1-i%2)
	}
	per := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(8*(n-1)), "ns/op-primal")
	}
	b.Run("plain", func(b *testing.B) {
		s := 0.0
		for b.Loop() {
			s += problems.RosenbrockPlain(x)
		}
		per(b)
		_ = s
	})
	b.Run("untraced", func(b *testing.B) {
		xs := make([]nabla.Real, n)
		for i := range xs {
			xs[i] = nabla.Const(x[i])
		}
		var s nabla.Real
		for b.Loop() {
			s = problems.Rosenbrock(xs)
		}
		per(b)
		_ = s
	})
	for _, e := range []nabla.Backend{reversediff.Backend{Compile: true}, reversediff.Backend{}, tracker.Backend{},
		forwarddiff.Backend{}} {
		b.Run(fmt.Sprintf("gradient/%s", e.Name()), func(b *testing.B) {
			p, err := nabla.PrepareGradient(problems.Rosenbrock, e, x)
			if err != nil {
				b.Fatal(err)
			}
			g := make([]float64, n)
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := p.ValueAndGradient(g, x); err != nil {
					b.Fatal(err)
				}
			}
			per(b)
		})
	}
	b.Run("prepare/reversediff(compile)", func(b *testing.B) {
		for b.Loop() {
			if _, err := nabla.PrepareGradient(problems.Rosenbrock, reversediff.Backend{Compile: true}, x); err != nil {
				b.Fatal(err)
			}
		}
		per(b)
	})
}
