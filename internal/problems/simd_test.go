//go:build goexperiment.simd && amd64 && !amd64.v3

package problems

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nabla-ad/nabla/gen/rt/avx"
)

// A twin is a derivative that has a SIMD variant, which use enables.
type twin struct {
	name string
	use  func(bool)
	run  func(x []float64, dirs [][4]float64) []float64
	n    int
}

// switched returns a function that enables the variant in hook, or disables it.
func switched[F any](hook *F) func(bool) {
	f := *hook
	return func(on bool) {
		if *hook = f; !on {
			*hook = *new(F)
		}
	}
}

func scalar(f func([]float64, [][4]float64) (r, d0, d1, d2, d3 float64)) func([]float64, [][4]float64) []float64 {
	out := make([]float64, 5)
	return func(x []float64, dirs [][4]float64) []float64 {
		out[0], out[1], out[2], out[3], out[4] = f(x, dirs)
		return out
	}
}

func twins(t testing.TB) []twin {
	if !avx.Ready() {
		t.Skip("the processor has no AVX2")
	}
	const side = 32
	cells := 2 * side * side
	grid := &Grid{side}
	var work AdjointWork
	y, ybar, out := make([]float64, cells), make([][4]float64, cells), []float64(nil)
	return []twin{
		{"T1", switched(&sumSquaresPlainTangent4Twin), scalar(SumSquaresPlainTangent4), 1000},
		{"T2", switched(&diffSquaresPlainTangent4Twin), scalar(DiffSquaresPlainTangent4), 1000},
		{"T3", switched(&rosenbrockPlainTangent4Twin), scalar(RosenbrockPlainTangent4), 1000},
		{"T4", switched(&brusselatorPlainReverseLanes4Twin), func(x []float64, dirs [][4]float64) []float64 {
			for i := range ybar {
				ybar[i] = [4]float64{1, x[i], 0, -1}
			}
			BrusselatorOnAdjoint4(y, x, grid, ybar, dirs, &work)
			out = append(out[:0], y...)
			for i := range dirs {
				out = append(append(out, dirs[i][:]...), ybar[i][:]...)
			}
			return out
		}, cells},
		{"T8", switched(&lorenzPlainTangent4Twin), scalar(LorenzPlainTangent4), 6},
	}
}

// TestSIMD requires that SIMD variants return the same bits as the scalar functions, also for NaN and infinities.
func TestSIMD(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, w := range twins(t) {
		for try := range 20 {
			x, dirs := make([]float64, w.n), make([][4]float64, w.n)
			for i := range x {
				x[i] = r.NormFloat64()
				for k := range dirs[i] {
					dirs[i][k] = r.NormFloat64()
				}
			}
			if i := r.IntN(w.n); try > 10 {
				x[i] = []float64{0, math.Inf(1), math.Inf(-1), math.NaN(), 1e200, 1e-310}[r.IntN(6)]
				dirs[i][r.IntN(4)] = []float64{math.Copysign(0, -1), math.Inf(-1), math.NaN(), 1e-310}[r.IntN(4)]
			}
			var got [2][]float64
			for i, on := range []bool{false, true} {
				w.use(on)
				got[i] = append([]float64(nil), w.run(x, append([][4]float64(nil), dirs...))...)
			}
			for i, want := range got[0] {
				if y := got[1][i]; math.Float64bits(y) != math.Float64bits(want) &&
					!(math.IsNaN(y) && math.IsNaN(want)) {
					t.Fatalf("%s: number %d is %v in vectors, want %v", w.name, i, y, want)
				}
			}
		}
	}
}

// BenchmarkSIMD compares SIMD variants with the scalar functions.
func BenchmarkSIMD(b *testing.B) {
	for _, w := range twins(b) {
		x, dirs := make([]float64, w.n), make([][4]float64, w.n)
		for i := range x {
			x[i] = math.Sin(float64(i + 1))
			dirs[i][i%4] = 1
		}
		for _, on := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/vectors=%t", w.name, on), func(b *testing.B) {
				w.use(on)
				defer w.use(true)
				for b.Loop() {
					w.run(x, dirs)
				}
			})
		}
	}
}
