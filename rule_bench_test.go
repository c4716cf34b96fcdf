package nabla_test

import (
	"testing"

	"github.com/nabla-ad/nabla"
)

// BenchmarkRule is the gradient of a function that is little but two calls of a rule.
func BenchmarkRule(b *testing.B) {
	r := nabla.Rule{Name: "prod", Value: func(y, x []float64) { y[0] = x[0] * x[1] },
		VJP: func(xbar, x, y, ybar []float64) {
			xbar[0] += x[1] * ybar[0]
			xbar[1] += x[0] * ybar[0]
		}}.Func()
	f := func(x []nabla.Real) nabla.Real { return r(x...)[0].Add(nabla.Sin(x[0])).Add(r(x...)[0]) }
	for _, e := range firstOrder {
		p, err := nabla.PrepareGradient(f, e, []float64{2, 3})
		if err != nil {
			b.Fatal(err)
		}
		x, g := []float64{2, 3}, make([]float64, 2)
		b.Run(e.Name(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Gradient(g, x); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
