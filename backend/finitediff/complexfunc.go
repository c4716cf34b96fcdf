package finitediff

import (
	"math"
)

// The functions in this file are the principal branches to the left and right of
// the real domain, computed so that imaginary parts of any size from 1e-300 on
// lose no digits. Package math/cmplx is not used where it subtracts (Asin, Tan,
// Atan, Log(1+z)) or where its real part is not that of package math.

// cmul returns z·w, without a NaN from 0·Inf if one factor is real.
func cmul(z, w complex128) complex128 {
	a, b, c, d := real(z), imag(z), real(w), imag(w)
	re := float64(a * c)
	if b != 0 && d != 0 {
		re -= float64(b * d)
	}
	return complex(re, scaled(a, d)+scaled(c, b))
}

// cdiv returns z/w by Smith's method.
func cdiv(z, w complex128) complex128 {
	a, b, c, d := real(z), imag(z), real(w), imag(w)
	if math.Abs(c) >= math.Abs(d) {
		r := d / c
		den := c + d*r
		return complex((a+b*r)/den, (b-a*r)/den)
	}
	r := c / d
	den := c*r + d
	return complex((a*r+b)/den, (b*r-a)/den)
}

func cinv(z complex128) complex128 { return cdiv(1, z) }

// csqrt returns the principal square root of z, whose real part is positive.
func csqrt(z complex128) complex128 {
	a, b := real(z), imag(z)
	r := math.Sqrt(a/2 + math.Hypot(a, b)/2)
	return complex(r, b/(2*r))
}

func cexp(z complex128) complex128 {
	e := math.Exp(real(z))
	return complex(e*math.Cos(imag(z)), e*math.Sin(imag(z)))
}

// cexpm1 returns e^z - 1 for z = a+ib, given v = e^a - 1.
func cexpm1(a, b, v float64) complex128 {
	s := math.Sin(b / 2)
	return complex(v*math.Cos(b)-2*s*s, math.Exp(a)*math.Sin(b))
}

// clog1p returns log(1+z) for a real part above -1.
func clog1p(z complex128) complex128 {
	a, b := real(z), imag(z)
	r := b / (1 + a)
	return complex(math.Log1p(a)+0.5*math.Log1p(r*r), math.Atan2(b, 1+a))
}

// clogistic returns 1/(1+e^-z).
func clogistic(z complex128) complex128 {
	if real(z) < 0 {
		e := cexp(z)
		return cdiv(e, 1+e)
	}
	return cinv(1 + cexp(-z))
}

// casin returns arcsin(z) by Kahan's formula. The square roots have positive real parts for |a| < 1 and also for a = 0
// and any b. W. Kahan, "Branch cuts for complex elementary functions", in: The State of the Art in Numerical Analysis
// (1987).
func casin(z complex128) complex128 {
	a, b := real(z), imag(z)
	s, t := csqrtAny(complex(1-a, -b)), csqrtAny(complex(1+a, b))
	re := math.Atan2(a, real(s)*real(t)-imag(s)*imag(t))
	return complex(re, math.Asinh(real(s)*imag(t)-imag(s)*real(t)))
}

// cacosh returns arcosh(z) by Kahan's formula, for a > 1.
func cacosh(z complex128) complex128 {
	a, b := real(z), imag(z)
	s, t := csqrt(complex(a-1, b)), csqrt(complex(a+1, b))
	return complex(math.Asinh(real(s)*real(t)+imag(s)*imag(t)), 2*math.Atan2(imag(s), real(t)))
}

// csqrtAny returns the principal square root for any real part.
func csqrtAny(z complex128) complex128 {
	a, b := real(z), imag(z)
	if a >= 0 {
		if a == 0 && b == 0 {
			return 0
		}
		return csqrt(z)
	}
	r := math.Sqrt(math.Hypot(a, b)/2 - a/2)
	return complex(math.Abs(b)/(2*r), math.Copysign(r, b))
}

// catan returns arctan(z) off the cuts on the imaginary axis beyond ±i. The real part is half the angle of
// (1+iz)/(1-iz), computed as two angles to avoid cancellation.
func catan(z complex128) complex128 {
	a, b := real(z), imag(z)
	re := (math.Atan2(a, 1-b) + math.Atan2(a, 1+b)) / 2
	im := 0.0
	if math.Abs(a) > 1e100 {
		im = b / a / a
	} else {
		im = math.Log1p(4*b/(a*a+(1-b)*(1-b))) / 4
	}
	return complex(re, im)
}

// cpow returns z^w, whose value for the real parts is v. A negative base has an integer exponent, since v would be NaN
// otherwise.
func cpow(z, w complex128, v float64) (complex128, bool) {
	a, b, c, d := real(z), imag(z), real(w), imag(w)
	if a == 0 || (a < 0 && d != 0) || v == 0 {
		return 0, false
	}
	if c == 0 && d == 0 {
		return 1, true
	}
	// z = ±r·e^iθ with θ near 0: |z|^w = v·(r/|a|)^c for the same sign.
	theta := math.Atan2(math.Copysign(1, a)*b, math.Abs(a))
	growth := math.Log1p((b/a)*(b/a)) / 2 // log(r/|a|)
	logr := 0.0
	if d != 0 {
		logr = math.Log(a) + growth
	}
	mag := v
	if e := c*growth - d*theta; e != 0 {
		mag *= math.Exp(e)
	}
	angle := c*theta + d*logr
	return complex(mag*math.Cos(angle), mag*math.Sin(angle)), true
}
