// Package godsp has functions that use github.com/mjibson/go-dsp.
package godsp

import (
	"math"
	"math/cmplx"

	"github.com/mjibson/go-dsp/fft"
	"github.com/mjibson/go-dsp/spectral"
	"github.com/mjibson/go-dsp/window"
)

// Power is the energy of the low frequencies.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4 1.1 -0.3 0.8
func Power(x []float64) float64 {
	s := 0.0
	for k, c := range fft.FFTReal(x) {
		if k < 3 {
			s += cmplx.Abs(c) * cmplx.Abs(c)
		}
	}
	return s
}

// Flatness is a ratio of means of a spectrum of a windowed signal.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4 1.1 -0.3 0.8
func Flatness(x []float64) float64 {
	y := append([]float64(nil), x...)
	window.Apply(y, window.Hamming)
	logs, sum := 0.0, 0.0
	spectrum := fft.FFTReal(y)
	n := len(spectrum)/2 + 1
	for _, c := range spectrum[:n] {
		p := real(c)*real(c) + imag(c)*imag(c)
		logs += math.Log(p)
		sum += p
	}
	return math.Exp(logs/float64(n)) / (sum / float64(n))
}

// Windowed is the sum of squares behind a window.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4
func Windowed(x []float64) float64 {
	y := make([]float64, len(x))
	copy(y, x)
	window.Apply(y, window.Blackman)
	s := 0.0
	for _, v := range y {
		s += v * v
	}
	return s
}

// Density is a value of a power spectral density.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4 1.1 -0.3 0.8
func Density(x []float64) float64 {
	pxx, _ := spectral.Pwelch(x, 8, &spectral.PwelchOptions{NFFT: 8})
	return pxx[1] + 2*pxx[2]
}
