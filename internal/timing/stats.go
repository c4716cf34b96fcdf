package timing

import (
	"math"
	"slices"
)

// Median is the middle of v, the mean of the two middle ones for an even number.
func Median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	n := len(s)
	if n == 0 {
		return math.NaN()
	}
	return (s[(n-1)/2] + s[n/2]) / 2
}

// Quantile is the value below which a part q of v lies, interpolated linearly
// between order statistics (definition 7 of Hyndman & Fan, "Sample Quantiles in
// Statistical Packages", Amer. Statist. 50 (1996)).
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

// Spread is the distance between the quartiles, relative to the median. One sample
// has none: NaN.
func Spread(v []float64) float64 {
	if len(v) < 2 {
		return math.NaN()
	}
	return (Quantile(v, 0.75) - Quantile(v, 0.25)) / Median(v)
}
