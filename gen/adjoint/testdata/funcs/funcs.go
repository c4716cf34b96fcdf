// Package funcs has functions whose adjoints are easily wrong.
package funcs

import "math"

// Still has adjoints that are 0 at x[0] = 0.7 and whose derivatives are not.
func Still(x []float64) float64 {
	t := x[0] - 0.7
	return t*math.Log(x[1]) + t*math.Sqrt(x[2])/x[3] + t*math.Pow(x[1], x[2]) + t*math.Exp(x[3])
}
