package schemes

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nabla-ad/nabla/internal/timing/timingtest"
)

// A scheme is a function with its generated derivatives.
type scheme struct {
	f        func(x []float64, steps int) float64
	tangent  func(x []float64, steps int, xDot []float64) (r, rDot float64)
	gradient func(x []float64, steps int, xBar []float64, rBar float64, ws *AdjointWork) float64
	product  func(
		x []float64, steps int, xBar []float64, rBar float64, ws *AdjointWork, xDot, xBarDot []float64) float64
	inputs int // for each cell
}

var schemes = map[string]scheme{
	"Heat":           {Heat, HeatTangent, HeatAdjoint, HeatAdjointTangent, 2},
	"HeatInSegments": {HeatInSegments, HeatInSegmentsTangent, HeatInSegmentsAdjoint, HeatInSegmentsAdjointTangent, 2},
	"Burgers":        {Burgers, BurgersTangent, BurgersAdjoint, BurgersAdjointTangent, 1},
}

// input returns numbers from 0 to 0.4.
func input(n int) []float64 {
	r := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, n)
	for i := range x {
		x[i] = 0.4 * r.Float64()
	}
	return x
}

// TestGradient compares gradients with tangents and differences, and second derivatives with those of the gradient, for
// few cells and for many, of which kernels record blocks.
func TestGradient(t *testing.T) {
	for name, s := range schemes {
		ws := new(AdjointWork)
		for _, cells := range []int{3, 20, 101, 9000, 20} {
			x, d := input(s.inputs*cells), input(s.inputs*cells)
			for i := range d {
				d[i] = math.Sin(float64(i))
			}
			gradient := func(x []float64, steps int) []float64 {
				bar := make([]float64, len(x))
				if r := s.gradient(x, steps, bar, 1, ws); r != s.f(x, steps) {
					t.Errorf("%s of %d cells: got %v, want %v", name, cells, r, s.f(x, steps))
				}
				return bar
			}
			for _, steps := range []int{0, 1, 2, 7} {
				at := func(h float64) []float64 {
					y := make([]float64, len(x))
					for i := range y {
						y[i] = x[i] + h*d[i]
					}
					return y
				}
				const h = 1e-6
				g, got := gradient(x, steps), 0.0
				for i := range g {
					got += g[i] * d[i]
				}
				if _, want := s.tangent(x, steps, d); math.Abs(got-want) > 1e-11*(1+math.Abs(want)) {
					t.Errorf("%s of %d cells: the gradient gives %v, the tangent %v", name, cells, got, want)
				}
				want := (s.f(at(h), steps) - s.f(at(-h), steps)) / (2 * h)
				if math.Abs(got-want) > 1e-6*(1+math.Abs(want)) {
					t.Errorf("%s of %d cells: the gradient gives %v, want %v", name, cells, got, want)
				}
				product := make([]float64, len(x))
				s.product(x, steps, make([]float64, len(x)), 1, ws, d, product)
				up, down := gradient(at(h), steps), gradient(at(-h), steps)
				for i := range product {
					want := (up[i] - down[i]) / (2 * h)
					if math.Abs(product[i]-want) > 1e-6*(1+math.Abs(want)) {
						t.Fatalf("%s of %d cells: product %d is %v, want %v", name, cells, i, product[i], want)
					}
				}
			}
		}
	}
}

// BenchmarkSchemes compares gradients, and products with Hessians, with the function, for 10⁵ cells and 100 steps.
func BenchmarkSchemes(b *testing.B) {
	const cells, steps = 100000, 100
	for _, name := range []string{"Heat", "Burgers"} {
		s := schemes[name]
		n := s.inputs * cells
		x, bar, ws := input(n), make([]float64, n), new(AdjointWork)
		plain := func() { s.f(x, steps) }
		b.Run(name+"/gradient", func(b *testing.B) {
			timingtest.Ratio(b, func() {
				clear(bar)
				s.gradient(x, steps, bar, 1, ws)
			}, plain)
		})
		dot, barDot := input(n), make([]float64, n)
		b.Run(name+"/product", func(b *testing.B) {
			timingtest.Ratio(b, func() {
				clear(bar)
				clear(barDot)
				s.product(x, steps, bar, 1, ws, dot, barDot)
			}, plain)
		})
	}
}
