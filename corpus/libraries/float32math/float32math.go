// Package float32math has functions that use github.com/chewxy/math32: computations in single precision.
package float32math

import "github.com/chewxy/math32"

// Sigmoids adds activations.
//
//corpus:at 0.7 -0.4
//corpus:tolerance 1e-2
func Sigmoids(x []float64) float64 {
	s := float32(0)
	for _, v := range x {
		s += 1/(1+math32.Exp(-float32(v))) + math32.Tanh(float32(v))
	}
	return float64(s)
}

// Norm is a norm.
//
//corpus:at 3 4 0.5
//corpus:tolerance 1e-2
func Norm(x []float64) float64 {
	s := float32(0)
	for _, v := range x {
		s += math32.Pow(float32(v), 2)
	}
	return float64(math32.Sqrt(s))
}

// Wave is a wave.
//
//corpus:at 0.7 1.9
//corpus:tolerance 1e-2
func Wave(t, f float64) float64 {
	return float64(math32.Sin(float32(f)*float32(t)) * math32.Exp(-0.3*float32(t)))
}
