package core

import "math"

// A structural zero is a tangent or cotangent that is zero because nothing
// depends on it, whatever the values are. It must not meet an infinite partial
// derivative. A sweep in strong mode writes it as -0 and keeps every other zero
// +0: -0 + x is x for every x, so sums need no test.
//
// Sweeps run plainly first. Only where a NaN comes out are they run again in
// strong mode, so the test costs nothing where derivatives are finite.

const negZeroBits = 1 << 63

// IsStructuralZero reports whether a tangent in strong mode is a structural zero.
func IsStructuralZero(t float64) bool { return math.Float64bits(t) == negZeroBits }

// StrongMul is t·p for a tangent t in strong mode and a partial derivative p.
func StrongMul(t, p float64) float64 {
	if math.Float64bits(t) == negZeroBits {
		return t
	}
	return t*p + 0
}

// Strong reports whether the trace that x belongs to may sweep in strong mode over
// what is computed now: a trace in forward mode says so, a log that is swept
// backwards does not know yet. A recording that becomes a program is made anew, but for
// a blind one.
func Strong(x []Rep) bool {
	for _, r := range x {
		if r.ID != 0 && r.T != nil {
			return r.T.mode(r) != modePlain
		}
	}
	return false
}

// StrongSeed is the tangent in strong mode that a user's tangent stands for: a
// direction that does not move an input is structurally zero there.
func StrongSeed(t float64) float64 {
	if t == 0 {
		return math.Copysign(0, -1)
	}
	return t
}

// AnyNaN reports whether x has a NaN.
func AnyNaN(x []float64) bool {
	for _, v := range x {
		if v != v {
			return true
		}
	}
	return false
}
