package rules

import "math"

// MaxFactors is the largest number of factors that a partial derivative is split into.
const MaxFactors = 5

// Factors are numbers whose product is a partial derivative. The product itself may overflow or underflow although the
// factors, and the product of all of them with a tangent or cotangent, do not.
type Factors [MaxFactors]float64

// Stepwise reports whether the partial derivative of o with respect to argument i is a product of several factors or a
// reciprocal, so that it may overflow or underflow as one number.
func Stepwise(o Op, i int) bool { return stepwise[o][i] }

// stepwise[o][i] is the result of Stepwise(o, i).
var stepwise = func() (t [NumOps][3]bool) {
	for o := Invalid + 1; o < NumOps; o++ {
		for i := range Info(o).Arity {
			steps, _ := Steps(o, i)
			t[o][i] = len(steps) > 1 || len(steps) == 1 && steps[0].Kind == Call && steps[0].Op == Inv
		}
	}
	return t
}()

// Extreme reports whether d, a partial derivative of o with respect to argument i, must be replaced by its factors: it
// is so large or small that it may be infinite, 0 or inexact although the factors are not.
func Extreme(o Op, i int, d float64) bool {
	const most, least = 0x1p900, 0x1p-900
	if d = math.Abs(d); d >= least && d <= most {
		return false
	}
	return stepwise[o][i]
}

// Curvature says which second partial derivatives of an op are not structurally zero.
type Curvature uint8

// The second partial derivatives: by the first argument twice, by both, and by the second twice.
const (
	CurvedXX Curvature = 1 << iota
	CurvedXY
	CurvedYY
)

// Curved returns the second partial derivatives of o that are not structurally zero. It is 0 for ops with three
// arguments and for those that choose one of two.
func Curved(o Op) Curvature { return curvedIn[o] }

// Times returns t times all factors. It multiplies in an order that stays in range if the result does.
func (f Factors) Times(t float64) float64 {
	for n := len(f); n > 0; n-- {
		k := 0
		for i, d := range f[:n] { // choose the factor that brings t closest to 1
			if math.Abs(t) >= 1 == (math.Abs(d) < math.Abs(f[k])) {
				k = i
			}
		}
		t *= f[k]
		f[k] = f[n-1]
	}
	return t
}

// Zero reports whether the product is 0 in every order: one factor is 0, and none is infinite or NaN.
func (f *Factors) Zero() bool {
	zero := false
	for _, d := range f {
		if d-d != 0 {
			return false
		}
		zero = zero || d == 0
	}
	return zero
}

// reciprocal returns two factors of 1/x, neither of which overflows or is subnormal if x is not 0.
func reciprocal(x float64) (r, s float64) {
	switch a := math.Abs(x); {
	case a < 0x1p-1000:
		return 1 / (x * 0x1p100), 0x1p100
	case a > 0x1p1000:
		return 1 / (x * 0x1p-100), 0x1p-100
	}
	return 1 / x, 1
}
