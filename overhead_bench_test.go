package nabla_test

import (
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/internal/problems"
)

// BenchmarkOverhead measures the cost of a prepared call apart from the arithmetic: the gradient of
// a sum of ten squares.
func BenchmarkOverhead(b *testing.B) {
	x := make([]float64, 10)
	for i := range x {
		x[i] = float64(i)
	}
	for _, e := range exact {
		p, err := nabla.PrepareGradient(problems.SumSquares, e, x)
		if err != nil {
			b.Fatal(err)
		}
		g := make([]float64, len(x))
		b.Run(e.Name(), func(b *testing.B) {
			for b.Loop() {
				if _, err := p.Gradient(g, x); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
