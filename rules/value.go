package rules

import "math"

// This file defines the values of the ops that package math lacks.

// sq returns x².
func sq(x float64) float64 { return x * x }

// sign returns -1, 0 or 1, and NaN for NaN.
func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	case x == 0:
		return 0
	}
	return x
}

// finite returns x if x is finite and 0 otherwise.
func finite(x float64) float64 {
	if x-x == 0 {
		return x
	}
	return 0
}

// logistic returns 1/(1+e^-x). For x < 0 it computes e^x/(1+e^x), since e^-x may overflow.
func logistic(x float64) float64 {
	if x < 0 {
		e := math.Exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-x))
}

// softplus returns log(1+e^x) = max(x, 0) + log(1+e^-|x|).
func softplus(x float64) float64 {
	l := math.Log1p(math.Exp(-math.Abs(x)))
	if x > 0 {
		return x + l
	}
	return l
}

func identity(x float64) float64 { return x }

// sechSq returns 1/cosh(x)² = 4e/(1+e)² with e = e^(-2|x|), which cannot overflow.
func sechSq(x float64) float64 {
	e := math.Exp(-2 * math.Abs(x))
	return 4 * e / ((1 + e) * (1 + e))
}

// cosAtan returns 1/sqrt(1+x²).
func cosAtan(x float64) float64 {
	if x = math.Abs(x); x > 0x1p500 {
		return 1 / x
	}
	return 1 / math.Sqrt(1+x*x)
}

// xLogY returns x·log y, or 0 if x is 0 and y is not NaN.
func xLogY(x, y float64) float64 {
	if x == 0 && y == y {
		return 0
	}
	return x * math.Log(y)
}

// logAddExp returns log(e^x + e^y) = max(x, y) + log(1+e^-|x-y|).
func logAddExp(x, y float64) float64 {
	if x == y {
		return x + math.Ln2 // x - y is NaN for equal infinities
	}
	if x < y {
		x, y = y, x
	}
	return x + math.Log1p(math.Exp(y-x))
}

// order returns n as an int and reports whether n is an integer of at most 32 bits.
func order(n float64) (int, bool) {
	return int(n), n == math.Trunc(n) && math.Abs(n) <= math.MaxInt32
}

// jn returns math.Jn, or NaN if n is not an integer.
func jn(n, x float64) float64 {
	if i, ok := order(n); ok {
		return math.Jn(i, x)
	}
	return math.NaN()
}

// yn returns math.Yn, or NaN if n is not an integer.
func yn(n, x float64) float64 {
	if i, ok := order(n); ok {
		return math.Yn(i, x)
	}
	return math.NaN()
}

// lgamma returns log|Γ(x)|.
func lgamma(x float64) float64 {
	l, _ := math.Lgamma(x)
	return l
}

// gammaSign returns the sign of Γ(x).
func gammaSign(x float64) float64 {
	if x > 0 {
		return 1
	}
	_, s := math.Lgamma(x)
	return float64(s)
}

// powDx returns p·x^(p-1)/powScale(x, p), and 0 for p == 0 and every x, including NaN.
func powDx(x, p float64) float64 {
	if p == 0 {
		return 0
	}
	s := powScale(x, p)
	if s == 1 {
		return p * math.Pow(x, p-1)
	}
	root := math.Pow(math.Abs(x), (p-1)/2)
	power := root * (root / s)
	if x < 0 {
		power *= math.Pow(-1, p-1) // NaN where p is no integer
	}
	return p * power
}

// powScale returns a power of two of about half the exponent of x^(p-1) if that overflows or underflows or nearly so,
// and 1 otherwise.
func powScale(x, p float64) float64 {
	const wide = 1000
	e := float64(int(math.Float64bits(x)>>52&0x7ff) - 1023)
	if (math.Abs(e)+53)*math.Abs(p-1) <= wide { // subnormal numbers have exponents down to -1074
		return 1
	}
	l := (p - 1) * math.Log2(math.Abs(x))
	if !(math.Abs(l) > wide) || math.IsInf(l, 0) {
		return 1
	}
	return math.Ldexp(1, int(max(-1020, min(math.Round(l/2), 1020))))
}

// powDp returns x^p·log x, or 0 if x^p is 0.
func powDp(x, p float64) float64 { return powDpAt(x, math.Pow(x, p)) }

// powDpAt returns powDp(x, p) given v = x^p.
func powDpAt(x, v float64) float64 {
	if v == 0 {
		return 0
	}
	return v * math.Log(x)
}

// hypotDx returns x/hypot(x, y): 0 at the origin, ±1 for infinite x and finite y.
func hypotDx(x, y float64) float64 { return hypotDxAt(x, y, math.Hypot(x, y)) }

// hypotDxAt returns hypotDx(x, y) given h = hypot(x, y). It scales so that h does not overflow if x and y are finite,
// and is not subnormal.
func hypotDxAt(x, y, h float64) float64 {
	const tiny, up = 0x1p-1000, 0x1p600
	switch {
	case h >= tiny && h <= math.MaxFloat64:
		return x / h
	case h == 0:
		return 0
	case h < tiny:
		return x * up / math.Hypot(x*up, y*up)
	case h != h:
		return h
	case math.IsInf(x, 0):
		if y-y != 0 {
			return math.NaN()
		}
		return math.Copysign(1, x)
	case math.IsInf(y, 0):
		return x / h
	}
	return x / 2 / math.Hypot(x/2, y/2)
}

// mulZ returns x·y with -0 replaced by +0, except that -0 times any y is -0.
func mulZ(x, y float64) float64 {
	if x == 0 && math.Signbit(x) {
		return x
	}
	// The conversion forbids fusing, which would round a product that underflows
	// from below to -0.
	return float64(x*y) + 0
}

// divZ returns x/y with -0 replaced by +0, except that -0 divided by any y is -0.
func divZ(x, y float64) float64 {
	if x == 0 && math.Signbit(x) {
		return x
	}
	return x/y + 0
}

// indicator returns 1 for true and 0 for false.
func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// choose returns y if c is not 0, otherwise z.
func choose(c, y, z float64) float64 {
	if c != 0 {
		return y
	}
	return z
}
