// Package constrain maps all real numbers to positive ones, intervals, simplices, ascending numbers and correlation
// matrices, with the logarithm of the determinant of the Jacobian.
//
// A density of constrained parameters becomes one of unconstrained numbers, as samplers and optimisers without bounds
// want it:
//
//	func LogDensity(u []float64) float64 {
//		sigma, logJ := constrain.Positive(u[0])
//		rate, j := constrain.Between(u[1], 0, 1)
//		return logJ + j + … // the log density of sigma and rate
//	}
//
// For a maximum of the density of the constrained parameters themselves, leave the logarithms out.
//
// The functions are plain Go, which nabla gen differentiates where they are called. For functions over nabla.Real there
// are forms with the suffix Real. Functions with the prefix Free return the unconstrained numbers of given parameters,
// for a start.
//
// All results are finite for finite arguments unless a result over- or underflows; at ±∞ they are at the ends of their
// ranges. Slices of a wrong length are a panic with a *LengthError, which the operators of nabla return as an error.
// Nothing is allocated or retained, and no function keeps state. The maps are those of the reference manual of Stan.
package constrain

import (
	"github.com/nabla-ad/nabla/internal/page"
)

// A LengthError says that a slice has not the length that others imply.
type LengthError struct {
	Func string
	Arg  string
	Got  int
	Want int
}

func (e *LengthError) Error() string {
	return page.Namef("constrain.LengthError", "constrain: %s: %s has length %d, want %d", e.Func, e.Arg, e.Got, e.Want)
}
