package problems

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nabla-ad/nabla/internal/timing/timingtest"
)

// A vectorAdjoint is the adjoint of a problem with several outputs, for one seed and for four.
type vectorAdjoint struct {
	name string
	m, n int
	one  func(xbar, ybar []float64)
	four func(xbar, ybar [][4]float64)
}

func seededProblems() []vectorAdjoint {
	r := rand.New(rand.NewPCG(3, 4))
	draw := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = 2*r.Float64() - 1
		}
		return x
	}
	var work AdjointWork
	grid := &Grid{N: 8}
	cells, field := 2*grid.N*grid.N, draw(2*grid.N*grid.N)
	dx := make([]float64, cells)
	x, y, seen := draw(15), make([]float64, 2), &Feature{Z: draw(2)}
	hand := &Hand{Skin: draw(9), Weights: draw(3 * handBones), Points: draw(6),
		Triangles: [][3]int{{0, 1, 2}, {2, 0, 1}}}
	for i := range handBones {
		hand.Parents = append(hand.Parents, max(i-1, -1))
		var a, b affine
		for k := range 3 {
			a[k], b[k] = [4]float64(draw(4)), [4]float64(draw(4))
		}
		hand.Base, hand.Inverse = append(hand.Base, a), append(hand.Inverse, b)
	}
	pose, miss := draw(handPose+4), make([]float64, 6)
	const cameras, points, features = 2, 3, 4
	all := &Adjustment{Cameras: cameras, Points: points, Features: draw(2 * features)}
	scene, residuals := draw(11*cameras+3*points+features), make([]float64, 3*features)
	return []vectorAdjoint{
		{"brusselator", cells, cells,
			func(xbar, ybar []float64) { BrusselatorOnAdjoint(dx, field, grid, ybar, xbar, &work) },
			func(xbar, ybar [][4]float64) { BrusselatorOnAdjoint4(dx, field, grid, ybar, xbar, &work) }},
		{"reprojection", 2, 15,
			func(xbar, ybar []float64) { ReprojectionPlainAdjoint(y, x, seen, ybar, xbar, &work) },
			func(xbar, ybar [][4]float64) { ReprojectionPlainAdjoint4(y, x, seen, ybar, xbar, &work) }},
		{"hand", len(miss), len(pose),
			func(xbar, ybar []float64) { HandPlainAdjoint(miss, pose, hand, ybar, xbar, &work) },
			func(xbar, ybar [][4]float64) { HandPlainAdjoint4(miss, pose, hand, ybar, xbar, &work) }},
		{"adjustment", len(residuals), len(scene),
			func(xbar, ybar []float64) { AdjustmentPlainAdjoint(residuals, scene, all, ybar, xbar, &work) },
			func(xbar, ybar [][4]float64) { AdjustmentPlainAdjoint4(residuals, scene, all, ybar, xbar, &work) }},
	}
}

// TestSeeds compares adjoints for four seeds with those for each seed, which share a workspace.
func TestSeeds(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, p := range seededProblems() {
		for range 2 {
			ybar, xbar := make([][4]float64, p.m), make([][4]float64, p.n)
			for i := range ybar {
				ybar[i] = [4]float64{r.NormFloat64(), 0, r.NormFloat64(), float64(1 / (i + 1))}
			}
			seeds := slices.Clone(ybar)
			p.four(xbar, ybar)
			for k := range 4 {
				w, want := make([]float64, p.m), make([]float64, p.n)
				for i := range w {
					w[i] = seeds[i][k]
				}
				p.one(want, w)
				for i, v := range want {
					// Fused operations may differ between the two.
					if got := xbar[i][k]; !(math.Abs(got-v) <= 1e-13*(1+math.Abs(v))) {
						t.Errorf("%s, seed %d: derivative %d is %v, want %v", p.name, k, i, got, v)
					}
				}
				if k == 0 && !slices.ContainsFunc(want, func(v float64) bool { return v != 0 }) {
					t.Errorf("%s: all derivatives are 0", p.name)
				}
			}
		}
	}
}

// BenchmarkSeeds measures four adjoints for one seed beside one for four: Jacobians by rows.
func BenchmarkSeeds(b *testing.B) {
	for _, p := range seededProblems() {
		b.Run(p.name, func(b *testing.B) {
			ybar, xbar := make([]float64, p.m), make([]float64, p.n)
			ybar4, xbar4 := make([][4]float64, p.m), make([][4]float64, p.n)
			one := func() {
				for k := range 4 {
					ybar[k%p.m] = 1
					p.one(xbar, ybar)
				}
			}
			four := func() {
				for k := range 4 {
					ybar4[k%p.m][k] = 1
				}
				p.four(xbar4, ybar4)
			}
			timingtest.Ratio(b, one, four)
		})
	}
}
