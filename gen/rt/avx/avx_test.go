//go:build goexperiment.simd && amd64

package avx_test

import (
	"math"
	"math/rand/v2"
	"simd/archsimd"
	"testing"

	"github.com/nabla-ad/nabla/gen/rt/avx"
)

// lanes stores the vector that f returns, and leaves the registers in the state that Go expects.
//
//go:noinline
func lanes(out *[4]float64, f func() archsimd.Float64x4) {
	f().Store(out)
	archsimd.ClearAVXUpperBits()
}

func check(t *testing.T, what string, want float64, f func() archsimd.Float64x4) {
	t.Helper()
	var got [4]float64
	lanes(&got, f)
	for _, x := range got {
		if math.Float64bits(x) != math.Float64bits(want) {
			t.Errorf("%s: %v, want %v in each lane", what, got, want)
			return
		}
	}
}

func TestLanes(t *testing.T) {
	if !avx.Ready() {
		t.Skip("the processor has no AVX2")
	}
	var via [4]float64
	for _, x := range []float64{0, math.Copysign(0, -1), 1, -2.5, math.Inf(1), math.Inf(-1), 5e-324, math.MaxFloat64} {
		check(t, "a number in memory", x, func() archsimd.Float64x4 { return avx.Get(&x, &via) })
		check(t, "its negative", -x, func() archsimd.Float64x4 { return avx.Neg(avx.Get(&x, &via)) })
		check(t, "its absolute value", math.Abs(x), func() archsimd.Float64x4 { return avx.Abs(avx.Get(&x, &via)) })
		y := 7.0
		var all [4]float64
		lanes(&all, func() archsimd.Float64x4 { v := avx.Get(&x, &via); avx.Put(&y, v, &via); return v })
		if math.Float64bits(y) != math.Float64bits(x) {
			t.Errorf("%v is put to memory, want %v", y, x)
		}
	}
}

// TestInt: conversions round as those of Go do.
func TestInt(t *testing.T) {
	if !avx.Ready() {
		t.Skip("the processor has no AVX2")
	}
	list := []int64{0, 1, -1, 1<<31 - 1, 1 << 31, -1 << 31, 1<<32 - 1, 1 << 32, 1<<52 + 1, 1<<53 + 1, 1<<53 + 3,
		-1<<53 - 1, math.MaxInt64, math.MinInt64, math.MinInt64 + 1}
	var via [4]float64
	for range 10000 {
		list = append(list, int64(rand.Uint64())>>rand.IntN(63))
	}
	for _, i := range list {
		check(t, "an integer", float64(i), func() archsimd.Float64x4 { return avx.Int(i, &via) })
	}
}
