package core

import "math"

// A structural zero is a tangent or cotangent that is zero because nothing depends on it, for all values. Its product
// with an infinite partial derivative is 0. A sweep in strong mode represents it as -0 and keeps every other zero +0:
// -0 + x is x for every x, so sums need no test.
//
// Sweeps run in plain mode first and again in strong mode only if a result is NaN, so that the test costs nothing if
// derivatives are finite.

const negZeroBits = 1 << 63

// IsStructuralZero reports whether a tangent in strong mode is a structural zero.
func IsStructuralZero(t float64) bool { return math.Float64bits(t) == negZeroBits }

// StrongMul returns t·p for a tangent t in strong mode and a partial derivative p.
func StrongMul(t, p float64) float64 {
	if math.Float64bits(t) == negZeroBits {
		return t
	}
	return t*p + 0
}

// Strong reports whether derivatives computed now must preserve structural zeros, because the trace that x belongs to
// may sweep over them in strong mode. A trace in forward mode knows its mode. For a tape the answer is true: its sweep
// comes later. A recording that becomes a program is made again for strong mode, so that the answer is false, unless it
// is blind or keeps values.
func Strong(x []Rep) bool {
	for _, r := range x {
		if r.ID != 0 && r.T != nil {
			return r.T.mode(r) != modePlain
		}
	}
	return false
}

// StrongSeed returns the tangent t of a user in strong mode: a zero component of a direction is a structural zero.
func StrongSeed(t float64) float64 {
	if t == 0 {
		return math.Copysign(0, -1)
	}
	return t
}
