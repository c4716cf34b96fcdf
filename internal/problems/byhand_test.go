package problems

import (
	"math"
	"slices"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/source"
	"github.com/nabla-ad/nabla/internal/timing/timingtest"
)

// byHand holds tasks whose value and gradient are also written by hand, as fast as is reasonable in Go.
var byHand = []struct {
	name  string
	task  func(n int) *Problem
	plain func(x []float64) float64
	hand  func(grad, x []float64) float64
}{
	{"T1", T1, SumSquaresPlain, func(grad, x []float64) float64 {
		s := 0.0
		grad = grad[:len(x)]
		for i, v := range x {
			s += v * v
			grad[i] = 2 * v
		}
		return s
	}},
	{"T3", T3, RosenbrockPlain, func(grad, x []float64) float64 {
		s, carry := 0.0, 0.0
		now := x[0]
		rest := x[1:]
		grad = grad[:len(x)]
		for i, next := range rest {
			a, b := next-now*now, 1-now
			s += 100*(a*a) + b*b
			grad[i] = carry - 400*now*a - 2*b
			carry = 200 * a
			now = next
		}
		grad[len(rest)] = carry
		return s
	}},
}

func TestByHand(t *testing.T) {
	for _, tt := range byHand {
		p := tt.task(50)
		x := p.Cases[0].X
		grad := make([]float64, len(x))
		y := tt.hand(grad, x)
		wantY, want, err := nabla.ValueAndGradient(tt.plain, source.Reverse{}, x)
		if err != nil {
			t.Fatal(err)
		}
		near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*(1+math.Abs(b)) }
		if !near(y, wantY) || !slices.EqualFunc(grad, want, near) {
			t.Errorf("%s: %v, %v, want %v, %v", tt.name, y, grad, wantY, want)
		}
	}
}

// BenchmarkByHand measures value and gradient by hand, and by generated code through the interface, beside the
// function.
func BenchmarkByHand(b *testing.B) {
	for _, tt := range byHand {
		x := tt.task(1000).Cases[0].X
		grad := make([]float64, len(x))
		plain := func() { sink = tt.plain(x) }
		b.Run(tt.name+"/hand", func(b *testing.B) {
			timingtest.Ratio(b, func() { sink = tt.hand(grad, x) }, plain)
		})
		b.Run(tt.name+"/generated", func(b *testing.B) {
			prep, err := nabla.PrepareGradient(tt.plain, source.Reverse{}, x)
			if err != nil {
				b.Fatal(err)
			}
			timingtest.Ratio(b, func() {
				if sink, _, err = prep.ValueAndGradient(grad, x); err != nil {
					b.Fatal(err)
				}
			}, plain)
		})
	}
}
