// Package quadad has functions of gonum's package integrate/quad in a form that can be differentiated: the integrand is
// evaluated serially, and no variable holds a function. The values are those of quad, up to the order of a sum that
// quad computes in goroutines. The source of these functions is differentiated in place of that of the originals.
package quadad

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
)

// Fixed is quad.Fixed. It evaluates f serially for every value of concurrent.
func Fixed(f func(float64) float64, min, max float64, n int, rule quad.FixedLocationer, concurrent int) float64 {
	if n <= 0 {
		panic("quad: non-positive number of locations")
	}
	if min > max {
		panic("quad: min > max")
	}
	if min == max {
		return 0
	}
	if rule == nil {
		return legendre(f, min, max, n)
	}
	var integral float64
	if single, ok := rule.(quad.FixedLocationSingler); ok {
		for k := 0; k < n; k++ {
			x, weight := single.FixedLocationSingle(n, k, min, max)
			integral += weight * f(x)
		}
		return integral
	}
	xs, weights := make([]float64, n), make([]float64, n)
	rule.FixedLocations(xs, weights, min, max)
	for i, x := range xs {
		integral += weights[i] * f(x)
	}
	return integral
}

// legendre integrates f by the rule of Legendre, after a substitution that makes infinite bounds finite.
func legendre(f func(float64) float64, min, max float64, n int) float64 {
	below, above := math.IsInf(min, -1), math.IsInf(max, 1)
	lo, hi := min, max
	switch {
	case below && above:
		lo, hi = -1, 1
	case below || above:
		lo, hi = 0, 1
	}
	var integral float64
	for k := 0; k < n; k++ {
		x, weight := quad.Legendre{}.FixedLocationSingle(n, k, lo, hi)
		var y float64
		switch {
		case below && above: // t/(1-t²)
			v := 1 - x*x
			y = f(x/v) * (1 + x*x) / (v * v)
		case above: // min + t/(1-t)
			v := 1 - x
			y = f(min+x/v) / (v * v)
		case below: // max - (1-t)/t
			y = f(max-(1-x)/x) / (x * x)
		default:
			y = f(x)
		}
		integral += weight * y
	}
	return integral
}
