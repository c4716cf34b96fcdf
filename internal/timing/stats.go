package timing

import (
	"math"
	"slices"
)

// Median returns the median of v: the mean of the two middle elements if their number is even.
func Median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	n := len(s)
	if n == 0 {
		return math.NaN()
	}
	return (s[(n-1)/2] + s[n/2]) / 2
}

// Quantile returns the value below which a fraction q of v lies, interpolated linearly between order statistics
// (definition 7 of Hyndman & Fan, "Sample Quantiles in Statistical Packages", Amer. Statist. 50 (1996)).
func Quantile(v []float64, q float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(v))
	h := q * float64(len(s)-1)
	i := int(h)
	if i+1 >= len(s) {
		return s[len(s)-1]
	}
	return s[i] + (h-float64(i))*(s[i+1]-s[i])
}

// Spread returns the interquartile range of v divided by its median. It is NaN for a single sample.
func Spread(v []float64) float64 {
	if len(v) < 2 {
		return math.NaN()
	}
	return (Quantile(v, 0.75) - Quantile(v, 0.25)) / Median(v)
}
