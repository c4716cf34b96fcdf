package funcs

import (
	"iter"
	"math"
	"slices"
)

// Iterated ranges over functions whose loops are left in every way.
func Iterated(x []float64, n int) (s float64) {
	y := make([]float64, len(x))
	for i, v := range slices.All(x) {
		y[i] = v * v
		if i > 0 {
			y[i] += y[i-1] * math.Sin(v)
		}
	}
outer:
	for v := range scaled(slices.Values(y), x[0]) {
		for w := range until(x, &s) {
			if w > 2 {
				continue outer
			}
			s += v * w
			if n--; n == 0 {
				break outer
			}
			if w < 0.5 {
				return s * v
			}
		}
		s *= 0.75
	}
	return s * x[1]
}

func scaled(seq iter.Seq[float64], by float64) iter.Seq[float64] {
	return func(yield func(float64) bool) {
		for v := range seq {
			if v > 0 && !yield(v*by) {
				return
			}
		}
	}
}

// until does something when its loop is left.
func until(x []float64, s *float64) iter.Seq[float64] {
	return func(yield func(float64) bool) {
		last := x[0]
		for i := 0; i < len(x) && yield(x[i]*last); i++ {
			last += x[i]
		}
		*s += last * last
	}
}
