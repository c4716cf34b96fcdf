// Package fourier has the fast Fourier transform, of which code is generated, for tests and a benchmark.
package fourier

import (
	"math"
	"math/bits"
	"math/cmplx"
)

const (
	logN = 10
	N    = 1 << logN // the length of transforms
)

var (
	from [N]int            // the bit reversal
	root [N / 2]complex128 // the roots of unity exp(-2πik/N)
)

func init() {
	for k := range root {
		root[k] = cmplx.Rect(1, -2*math.Pi*float64(k)/N)
	}
	for i := range from {
		from[i] = int(bits.Reverse16(uint16(i)) >> (16 - logN))
	}
}

// Transform returns the discrete Fourier transform of z by decimation in time: J. W. Cooley and J. W. Tukey, "An
// algorithm for the machine calculation of complex Fourier series", Math. Comp. 19 (1965).
func Transform(z []complex128) []complex128 {
	a := make([]complex128, len(z))
	for i := range a {
		a[i] = z[from[i]]
	}
	for stage := range logN {
		half, step := 1<<stage, N/2>>stage
		for block := range step {
			lo, hi := a[2*block*half:][:half], a[(2*block+1)*half:][:half]
			for k := range lo {
				u, t := lo[k], hi[k]*root[k*step]
				lo[k], hi[k] = u+t, u-t
			}
		}
	}
	return a
}

// Power returns the power in the transform of z, weighted by the frequency.
//
//nabla:differentiate
func Power(z []complex128) (r float64) {
	for k, v := range Transform(z) {
		r += float64(k) * (real(v)*real(v) + imag(v)*imag(v))
	}
	return r
}
