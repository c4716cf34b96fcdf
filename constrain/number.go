package constrain

import "math"

// Positive returns exp(u), which is positive, and the logarithm of its derivative.
func Positive(u float64) (x, logJ float64) { return math.Exp(u), u }

// FreePositive returns the u for which [Positive] returns x.
func FreePositive(x float64) (u float64) { return math.Log(x) }

// Above returns lower+exp(u), which is greater than lower, and the logarithm of its derivative.
func Above(u, lower float64) (x, logJ float64) { return lower + math.Exp(u), u }

// FreeAbove returns the u for which [Above] returns x.
func FreeAbove(x, lower float64) (u float64) { return math.Log(x - lower) }

// Below returns upper-exp(u), which is less than upper, and the logarithm of the size of its derivative.
func Below(u, upper float64) (x, logJ float64) { return upper - math.Exp(u), u }

// FreeBelow returns the u for which [Below] returns x.
func FreeBelow(x, upper float64) (u float64) { return math.Log(upper - x) }

// Between returns the number that divides the interval from lower to upper as the logistic function of u does, and the
// logarithm of its derivative.
func Between(u, lower, upper float64) (x, logJ float64) {
	part, rest, logPart, logRest := logistic(u)
	if u < 0 {
		x = lower + (upper-lower)*part
	} else {
		x = upper - (upper-lower)*rest
	}
	return x, math.Log(upper-lower) + logPart + logRest
}

// logistic returns 1/(1+exp(-u)), what it leaves of 1, and the logarithms of both. Each branch is the same function, so
// that derivatives are right where they meet.
func logistic(u float64) (part, rest, logPart, logRest float64) {
	if u < 0 {
		e := math.Exp(u)
		l := math.Log1p(e)
		return e / (1 + e), 1 / (1 + e), u - l, -l
	}
	e := math.Exp(-u)
	l := math.Log1p(e)
	return 1 / (1 + e), e / (1 + e), -l, -u - l
}

// FreeBetween returns the u for which [Between] returns x.
func FreeBetween(x, lower, upper float64) (u float64) { return math.Log((x - lower) / (upper - x)) }
