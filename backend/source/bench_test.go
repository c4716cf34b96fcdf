package source_test

import (
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/source"
)

// BenchmarkOverhead is a gradient, pushforward and HVP by generated code through
// prepared objects, beside the same code called by itself. The function is small, so
// that the difference shows.
func BenchmarkOverhead(b *testing.B) {
	x, v := []float64{0.4, -1.2, 0.9, 0.3}, []float64{1, 2, 3, 4}
	y, ydot, bar, bardot, one := make([]float64,
		1), make([]float64, 1), make([]float64, 4), make([]float64, 4), []float64{1}
	ok := func(b *testing.B, err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	b.Run("gradient/code", func(b *testing.B) {
		for b.Loop() {
			valleyAdjoint(y, bar, x, one, nil)
		}
	})
	b.Run("gradient/prepared", func(b *testing.B) {
		p, err := nabla.PrepareGradient(valley, source.Reverse{}, x)
		ok(b, err)
		b.ReportAllocs()
		for b.Loop() {
			_, _, err := p.ValueAndGradient(bar, x)
			ok(b, err)
		}
	})
	b.Run("pushforward/code", func(b *testing.B) {
		for b.Loop() {
			valleyTangent(y, ydot, x, v, nil)
		}
	})
	b.Run("pushforward/prepared", func(b *testing.B) {
		p, err := nabla.PreparePushforward(valley, source.Forward{}, x)
		ok(b, err)
		b.ReportAllocs()
		for b.Loop() {
			_, _, err := p.ValueAndPushforward(y, ydot, x, v)
			ok(b, err)
		}
	})
	b.Run("hvp/code", func(b *testing.B) {
		for b.Loop() {
			valleyAdjointTangent(y, bar, bardot, x, v, one, nil)
		}
	})
	b.Run("hvp/prepared", func(b *testing.B) {
		p, err := nabla.PrepareHVP(valley, source.Reverse{}, x)
		ok(b, err)
		b.ReportAllocs()
		for b.Loop() {
			_, _, _, err := p.ValueGradientAndHVP(bar, bardot, x, v)
			ok(b, err)
		}
	})
}
