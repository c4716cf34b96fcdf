// Package ease has functions that use github.com/fogleman/ease: the progress of animations.
package ease

import "github.com/fogleman/ease"

// Bounce is a position on a bouncing way.
//
//corpus:at 0.45
func Bounce(t float64) float64 { return 200*ease.OutBounce(t) + 10*ease.InOutSine(t) }

// Elastic is a position on an elastic way.
//
//corpus:at 0.45
func Elastic(t float64) float64 { return ease.OutElastic(t) * ease.InOutCubic(t) }

// Custom is an ease with a period.
//
//corpus:at 0.45
func Custom(t float64) float64 {
	f := ease.OutElasticFunction(0.4)
	return f(t)
}

// Blend goes through a list of eases.
//
//corpus:at 0.45 0.2 0.3 0.5
func Blend(x []float64) float64 {
	eases := []ease.Function{ease.InQuad, ease.OutExpo, ease.InOutBack}
	s := 0.0
	for i, f := range eases {
		s += x[i+1] * f(x[0])
	}
	return s
}

// Named chooses an ease by its name.
//
//corpus:at 0.45
func Named(t float64) float64 {
	table := map[string]ease.Function{"circ": ease.InCirc, "quart": ease.OutQuart}
	return table["circ"](t) + table["quart"](t)
}
