// Package gofft has functions that use github.com/argusdusty/gofft.
package gofft

import "github.com/argusdusty/gofft"

// Convolved is a norm of a convolution with a kernel.
//
//corpus:at 1.2 0.7 2.2 1.9
func Convolved(x []float64) (float64, error) {
	kernel := gofft.Float64ToComplex128Array([]float64{0.25, 0.5, 0.25})
	y, err := gofft.Convolve(gofft.Float64ToComplex128Array(x), kernel)
	if err != nil {
		return 0, err
	}
	s := 0.0
	for _, v := range gofft.Complex128ToFloat64Array(y) {
		s += v * v
	}
	return s, nil
}

// LowPass removes high frequencies and takes one sample.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4 1.1 -0.3 0.8
func LowPass(x []float64) (float64, error) {
	c := gofft.Float64ToComplex128Array(x)
	if err := gofft.FFT(c); err != nil {
		return 0, err
	}
	for k := range c {
		if k > 2 && k < len(c)-2 {
			c[k] = 0
		}
	}
	if err := gofft.IFFT(c); err != nil {
		return 0, err
	}
	return real(c[3]) * real(c[3]), nil
}
