package source_test

import (
	"fmt"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/source"
	"github.com/nabla-ad/nabla/internal/problems"
	"github.com/nabla-ad/nabla/internal/timing/timingtest"
)

// BenchmarkRatio is how many plain evaluations the operators take that nabla bench has no
// rows for, through prepared objects.
func BenchmarkRatio(b *testing.B) {
	ok := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	b.Run("HVP/T3", func(b *testing.B) {
		p := problems.T3(1000)
		x := p.Cases[0].X
		v, grad, hv := make([]float64, len(x)), make([]float64, len(x)), make([]float64, len(x))
		for i := range v {
			v[i] = float64(i%7) - 3
		}
		plain := func() { p.Plain(x) }
		prep, err := nabla.PrepareHVP(p.Plain, source.Reverse{}, x)
		ok(err)
		b.Run("alone", func(b *testing.B) {
			timingtest.Ratio(b, func() {
				_, err := prep.HVP(hv, x, v)
				ok(err)
			}, plain)
		})
		b.Run("gradient", func(b *testing.B) {
			timingtest.Ratio(b, func() {
				_, _, _, err := prep.ValueGradientAndHVP(grad, hv, x, v)
				ok(err)
			}, plain)
		})
	})
	for _, n := range []int{6, 32} {
		p := problems.T4(n)
		x := p.Cases[0].X
		y, directions, out := make([]float64, p.M), mat.NewDense(p.N, 12, nil), mat.NewDense(p.M, 12, nil)
		for i := range p.N {
			directions.Set(i, i%12, 1)
		}
		b.Run(fmt.Sprintf("Pushforwards/T4/n=%d", p.N), func(b *testing.B) {
			prep, err := nabla.PreparePushforward(p.Bound, source.Forward{}, x)
			ok(err)
			timingtest.Ratio(b, func() {
				_, err := prep.PushforwardBatch(out, x, directions)
				ok(err)
			}, func() { p.PlainVector(y, x) })
		})
	}
}
