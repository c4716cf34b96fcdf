package nabla_test

import (
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/internal/problems"
)

// BenchmarkHVP measures a Hessian-vector product against the gradient of the inner
// engine, for chained Rosenbrock with n = 1000.
func BenchmarkHVP(b *testing.B) {
	x := make([]float64, 1000)
	v := make([]float64, len(x))
	for i := range x {
		x[i], v[i] = 1-2.2*float64(1-i%2), float64(i%7)
	}
	dst := make([]float64, len(x))
	f, compiled := forwarddiff.Backend{}, reversediff.Backend{Compile: true}
	for _, e := range []nabla.SecondOrder{
		{Outer: f, Inner: compiled}, {Outer: compiled, Inner: compiled}, {Outer: compiled, Inner: f},
		{Outer: f, Inner: reversediff.Backend{}}, {Outer: f, Inner: tracker.Backend{}},
		{Outer: tracker.Backend{}, Inner: tracker.Backend{}},
	} {
		gradient, err := nabla.PrepareGradient(problems.Rosenbrock, e.Inner, x)
		if err != nil {
			b.Fatal(err)
		}
		p, err := nabla.PrepareHVP(problems.Rosenbrock, e, x)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(e.Name()+"/gradient", func(b *testing.B) {
			for b.Loop() {
				if _, err := gradient.Gradient(dst, x); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(e.Name()+"/hvp", func(b *testing.B) {
			for b.Loop() {
				if _, err := p.HVP(dst, x, v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
