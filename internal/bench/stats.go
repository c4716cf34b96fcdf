package bench

import (
	"math"
	"slices"
)

// median is the middle of v, the mean of the two middle ones for an even number.
func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	n := len(s)
	if n == 0 {
		return math.NaN()
	}
	return (s[(n-1)/2] + s[n/2]) / 2
}

// relative is the largest difference of the two, relative to the largest of want.
// It is NaN where got has a NaN.
func relative(got, want []float64) float64 {
	worst, scale := 0.0, 0.0
	for i, w := range want {
		if got[i] != w { // equal infinities have no difference
			worst = worse(worst, math.Abs(got[i]-w))
		}
		scale = max(scale, math.Abs(w))
	}
	if worst == 0 || scale == 0 {
		return worst
	}
	return worst / scale
}

// worse is the larger of two errors; NaN is worse than any number.
func worse(a, b float64) float64 {
	if a != a || b != b {
		return math.NaN()
	}
	return max(a, b)
}
