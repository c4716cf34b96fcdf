package ir_test

import (
	"testing"

	"github.com/nabla-ad/nabla/gen/ir"
)

// One addition, one product and one element per iteration.
func BenchmarkEval(b *testing.B) {
	f := parse(b, `func geom.F(x []float64) (r float64) exit {
	for l, m i int = 0; i < len(x); i += 1 {
		r += x[i] * 0.5
	}
}`)[0]
	in := ir.ValuesOf(make([]float64, 1000))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ir.Eval(f, in); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/iteration")
}
