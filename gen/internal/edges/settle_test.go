package edges

import (
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/source"
)

// unused returns a chain of sines of x[1], multiplied by the square root of x[0] if x[2] is above 0.
func unused() *Chain {
	op := func(name string) int { return slices.Index(Names, name) }
	c := &Chain{Steps: []Step{{Op: op("sqrt"), Use: -1}, {Op: op("sin"), A: 1, Use: -1}}}
	for i := range 30 {
		c.Steps = append(c.Steps, Step{Op: op("sin"), A: 4 + i, Use: -1})
	}
	c.Steps = append(c.Steps, Step{Op: op("mul"), A: 2 + len(c.Steps), B: 3, Use: 2})
	return c
}

// settlePoints holds a point of unused without skipped products, one with skipped products whose result stands, and one
// where the square root is used.
var settlePoints = []struct {
	name string
	x    []float64
	want float64 // the derivative by x[0]
}{{"regular", []float64{1, 1, -1}, 0}, {"unreached", []float64{0, 1, -1}, 0},
	{"reached", []float64{0, 0, 1}, math.NaN()}}

// TestSettleDoesNotAllocate requires that calls with skipped products on which nothing depends do not allocate.
func TestSettleDoesNotAllocate(t *testing.T) {
	for _, f := range []*nabla.Func{nabla.Bind(Run, unused()), nabla.Bind(Alone, unused())} {
		for _, c := range settlePoints {
			p, err := nabla.PrepareGradient(f, nabla.Policy{Backend: source.Reverse{}, NoStaleCheck: true}, c.x)
			if err != nil {
				t.Fatal(err)
			}
			g := make([]float64, 3)
			if _, err := p.Gradient(g, c.x); err != nil || !sameDerivative(g[0], c.want) {
				t.Errorf("%s: %v, %v; want %v first", c.name, g, err, c.want)
			}
			n := testing.AllocsPerRun(10, func() {
				if _, err := p.Gradient(g, c.x); err != nil {
					t.Error(err)
				}
			})
			if n != 0 {
				t.Errorf("%s: %v allocations", c.name, n)
			}
		}
	}
}

// TestSettleConcurrent requires that skipped products of other goroutines make no difference.
func TestSettleConcurrent(t *testing.T) {
	var wg sync.WaitGroup
	for k := range 8 {
		wg.Go(func() {
			c := settlePoints[1+k%2]
			p, err := nabla.PrepareGradient(nabla.Bind(Alone, unused()), source.Reverse{}, c.x)
			if err != nil {
				t.Error(err)
				return
			}
			for range 200 {
				if g, err := p.Gradient(nil, c.x); err != nil || !sameDerivative(g[0], c.want) {
					t.Errorf("%s: %v, %v; want %v first", c.name, g, err, c.want)
					return
				}
			}
		})
	}
	wg.Wait()
}

// BenchmarkSettle measures gradients at the points in settlePoints.
func BenchmarkSettle(b *testing.B) {
	for _, c := range settlePoints {
		b.Run(c.name, func(b *testing.B) {
			p, err := nabla.PrepareGradient(nabla.Bind(Run, unused()),
				nabla.Policy{Backend: source.Reverse{}, NoStaleCheck: true}, c.x)
			if err != nil {
				b.Fatal(err)
			}
			g := make([]float64, 3)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Gradient(g, c.x); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
