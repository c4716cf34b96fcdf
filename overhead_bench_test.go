package nabla_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/difftest/zero"
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

// BenchmarkInterface measures what the interface takes of a call of each operator: the engines compute nothing, the
// functions next to nothing.
func BenchmarkInterface(b *testing.B) {
	for _, e := range []nabla.Backend{zero.Forward{}, zero.Reverse{}} {
		calls := inPlace(b, e, 2, trivialFunctions)
		for _, name := range slices.Sorted(maps.Keys(calls)) {
			b.Run(e.Name()+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := calls[name](); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
