package nabla

import (
	"math"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/rules"
)

// Special values are those of package math. What the derivative is at kinks and
// singular points stands in rules.Info(op).Kinks for each function, where it is
// not said here; it is what IEEE arithmetic gives, without clamps.

// unary is op on one number.
func unary(op rules.Op, a Real) Real { return real(core.Apply1(op, a.rep())) }

// binary is op on two numbers.
func binary(op rules.Op, a, b Real) Real { return real(core.Apply2(op, a.rep(), b.rep())) }

// Inv is 1/a.
func Inv(a Real) Real { return unary(rules.Inv, a) }

// Sqrt is the square root of a. Its derivative at 0 is +Inf.
func Sqrt(a Real) Real { return unary(rules.Sqrt, a) }

// Cbrt is the cube root of a. Its derivative at 0 is +Inf.
func Cbrt(a Real) Real { return unary(rules.Cbrt, a) }

// Exp is e to the power of a.
func Exp(a Real) Real { return unary(rules.Exp, a) }

// Exp2 is 2 to the power of a.
func Exp2(a Real) Real { return unary(rules.Exp2, a) }

// Expm1 is exp(a) - 1, accurate near 0.
func Expm1(a Real) Real { return unary(rules.Expm1, a) }

// Log is the natural logarithm of a.
func Log(a Real) Real { return unary(rules.Log, a) }

// Log2 is the binary logarithm of a.
func Log2(a Real) Real { return unary(rules.Log2, a) }

// Log10 is the decimal logarithm of a.
func Log10(a Real) Real { return unary(rules.Log10, a) }

// Log1p is log(1 + a), accurate near 0.
func Log1p(a Real) Real { return unary(rules.Log1p, a) }

// Sin is the sine of a, in radians.
func Sin(a Real) Real { return unary(rules.Sin, a) }

// Cos is the cosine of a, in radians.
func Cos(a Real) Real { return unary(rules.Cos, a) }

// Tan is the tangent of a, in radians.
func Tan(a Real) Real { return unary(rules.Tan, a) }

// Asin is the arcsine of a, in radians. Its derivative at ±1 is +Inf.
func Asin(a Real) Real { return unary(rules.Asin, a) }

// Acos is the arccosine of a, in radians. Its derivative at ±1 is -Inf.
func Acos(a Real) Real { return unary(rules.Acos, a) }

// Atan is the arctangent of a, in radians.
func Atan(a Real) Real { return unary(rules.Atan, a) }

// Sinh is the hyperbolic sine of a.
func Sinh(a Real) Real { return unary(rules.Sinh, a) }

// Cosh is the hyperbolic cosine of a.
func Cosh(a Real) Real { return unary(rules.Cosh, a) }

// Tanh is the hyperbolic tangent of a.
func Tanh(a Real) Real { return unary(rules.Tanh, a) }

// Asinh is the inverse hyperbolic sine of a.
func Asinh(a Real) Real { return unary(rules.Asinh, a) }

// Acosh is the inverse hyperbolic cosine of a.
func Acosh(a Real) Real { return unary(rules.Acosh, a) }

// Atanh is the inverse hyperbolic tangent of a.
func Atanh(a Real) Real { return unary(rules.Atanh, a) }

// Erf is the error function of a.
func Erf(a Real) Real { return unary(rules.Erf, a) }

// Erfc is 1 - erf(a), accurate for large a.
func Erfc(a Real) Real { return unary(rules.Erfc, a) }

// Erfinv is the inverse error function of a.
func Erfinv(a Real) Real { return unary(rules.Erfinv, a) }

// Erfcinv is the inverse of erfc at a.
func Erfcinv(a Real) Real { return unary(rules.Erfcinv, a) }

// Gamma is the gamma function of a.
func Gamma(a Real) Real { return unary(rules.Gamma, a) }

// Digamma is the logarithmic derivative of the gamma function at a.
func Digamma(a Real) Real { return unary(rules.Digamma, a) }

// J0 is the Bessel function of the first kind, order 0.
func J0(a Real) Real { return unary(rules.J0, a) }

// J1 is the Bessel function of the first kind, order 1.
func J1(a Real) Real { return unary(rules.J1, a) }

// Y0 is the Bessel function of the second kind, order 0.
func Y0(a Real) Real { return unary(rules.Y0, a) }

// Y1 is the Bessel function of the second kind, order 1.
func Y1(a Real) Real { return unary(rules.Y1, a) }

// Logistic is 1/(1+exp(-a)), the logistic function or sigmoid.
func Logistic(a Real) Real { return unary(rules.Logistic, a) }

// Softplus is log(1+exp(a)), without overflow.
func Softplus(a Real) Real { return unary(rules.Softplus, a) }

// Abs is |a|. Its derivative at 0 is 0.
func Abs(a Real) Real { return unary(rules.Abs, a) }

// Floor is the greatest integer not above a. Its derivative is 0, also at the steps.
func Floor(a Real) Real { return unary(rules.Floor, a) }

// Ceil is the least integer not below a. Its derivative is 0, also at the steps.
func Ceil(a Real) Real { return unary(rules.Ceil, a) }

// Trunc is a without its fraction. Its derivative is 0, also at the steps.
func Trunc(a Real) Real { return unary(rules.Trunc, a) }

// Round is the integer nearest to a, halves away from 0. Its derivative is 0, also at the steps.
func Round(a Real) Real { return unary(rules.Round, a) }

// RoundToEven is the integer nearest to a, halves to even. Its derivative is 0, also at the steps.
func RoundToEven(a Real) Real { return unary(rules.RoundToEven, a) }

// Hypot is sqrt(a²+b²) without overflow.
func Hypot(a, b Real) Real { return binary(rules.Hypot, a, b) }

// Atan2 is the angle of the point (x, y), in radians, from -π to π.
func Atan2(y, x Real) Real { return binary(rules.Atan2, y, x) }

// Max is the larger of a and b. The derivative is that of the larger; a tie counts as a.
func Max(a, b Real) Real { return binary(rules.Max, a, b) }

// Min is the smaller of a and b. The derivative is that of the smaller; a tie counts as a.
func Min(a, b Real) Real { return binary(rules.Min, a, b) }

// Greatest is the builtin max: as [Max], but NaN where one of the numbers is NaN, also beside an infinity. Of two NaNs
// it
// is the first.
func Greatest(a Real, more ...Real) Real {
	for _, b := range more {
		a = orNaN(rules.Max, a, b)
	}
	return a
}

// Least is the builtin min: as [Min], but NaN where one of the numbers is NaN, also beside an infinity. Of two NaNs it
// is
// the first.
func Least(a Real, more ...Real) Real {
	for _, b := range more {
		a = orNaN(rules.Min, a, b)
	}
	return a
}

// orNaN is a choice of two numbers, or the one of them that is NaN.
func orNaN(op rules.Op, a, b Real) Real {
	c := binary(op, a, b)
	// Beside a finite constant the choice itself is NaN.
	if math.IsInf(a.v, 0) || a.id != 0 {
		c = unlessNaN(b, c)
	}
	if math.IsInf(b.v, 0) || b.id != 0 { // the last to ask, so that of two NaNs it is the first number
		c = unlessNaN(a, c)
	}
	return c
}

// unlessNaN is c, or a where that is NaN.
func unlessNaN(a, c Real) Real {
	switch {
	case a.id != 0:
		return Where(Eq(a, a), c, a)
	case a.v != a.v:
		return a
	}
	return c
}

// Mod is the remainder of a/b with the sign of a. Its derivative with respect to b is -trunc(a/b).
func Mod(a, b Real) Real { return binary(rules.Mod, a, b) }

// Remainder is the IEEE remainder of a/b. Its derivative with respect to b is minus the rounded quotient.
func Remainder(a, b Real) Real { return binary(rules.Remainder, a, b) }

// Copysign is |a| with the sign of sign.
func Copysign(a, sign Real) Real { return binary(rules.Copysign, a, sign) }

// Nextafter is the next float64 after a towards b. Its derivative with respect to a is 1, and with respect to b 0.
func Nextafter(a, b Real) Real { return binary(rules.Nextafter, a, b) }

// Pow is a to the power of b. Where b is the constant 0 the derivative with respect to a is 0, for every a; where the
// power is 0, the derivative with respect to b is 0.
func Pow(a, b Real) Real { return binary(rules.Pow, a, b) }

// XLogY is x·log(y), and 0 where x is 0.
func XLogY(x, y Real) Real { return binary(rules.XLogY, x, y) }

// LogAddExp is log(exp(a)+exp(b)) without overflow.
func LogAddExp(a, b Real) Real { return binary(rules.LogAddExp, a, b) }

// Square is a².
func Square(a Real) Real { return a.Sq() }

// Dim is max(a-b, 0). Its derivative where a == b is 0.
func Dim(a, b Real) Real { return Max(Real{}, a.Sub(b)) }

// Lgamma is the logarithm of |Γ(a)|, and the sign of Γ(a), which is 1 or -1 and whose derivative is 0. A
// function that compares the sign, or takes its value as an int, branches there; one that ignores it does not.
func Lgamma(a Real) (lgamma, sign Real) {
	return unary(rules.Lgamma, a), unary(rules.GammaSign, a)
}

// Polygamma is the n-th derivative of the digamma function at a, for n >= 0.
func Polygamma(n int, a Real) Real {
	if n == 0 {
		return Digamma(a)
	}
	return binary(rules.Polygamma, Const(float64(n)), a)
}

// Jn is the Bessel function of the first kind, order n.
func Jn(n int, a Real) Real { return binary(rules.Jn, Const(float64(n)), a) }

// Yn is the Bessel function of the second kind, order n.
func Yn(n int, a Real) Real { return binary(rules.Yn, Const(float64(n)), a) }

// Sincos is the sine and the cosine of a, in radians.
func Sincos(a Real) (sin, cos Real) { return Sin(a), Cos(a) }

// Modf is the integer part of a and the rest, both with the sign of a. The rest of
// an infinity is NaN.
func Modf(a Real) (whole, frac Real) { return Trunc(a), Mod(a, Const(1)) }

// Frexp is the fraction in [½, 1), with the sign of a, and the exponent of
// a = frac·2^exp. The exponent is a plain number: a recording is valid where it
// comes out the same. The derivative of the fraction is 2^-exp.
func Frexp(a Real) (frac Real, exp int) {
	if a.id == 0 {
		f, e := math.Frexp(a.v)
		return Real{v: f}, e
	}
	if a.Equal(Real{}) || a.IsNaN() || a.IsInf(0) {
		return a, 0
	}
	_, exp = math.Frexp(a.v)
	size := Abs(a) // these hold, and are guards
	size.Less(Ldexp(Const(1), exp))
	size.Less(Ldexp(Const(0.5), exp))
	return Ldexp(a, -exp), exp
}

// Logb is the binary exponent of a, a whole number. Its derivative is 0.
func Logb(a Real) Real { return unary(rules.Logb, a) }

// Ilogb is the binary exponent of a as an int. A recording is valid where it comes
// out the same.
func Ilogb(a Real) int {
	if a.id == 0 {
		return math.Ilogb(a.v)
	}
	if a.Equal(Real{}) || a.IsNaN() || a.IsInf(0) {
		return math.Ilogb(a.v)
	}
	_, exp := Frexp(a)
	return exp - 1
}

// Ldexp is a·2^n.
func Ldexp(a Real, n int) Real {
	// In steps, so that no factor overflows or underflows before the product does. The odd step comes first: it is
	// exact, or what follows leaves 0.
	const most = 1000
	n = max(-4*most, min(4*most, n))
	a = a.Scale(math.Ldexp(1, n%most))
	for n -= n % most; n != 0; {
		step := max(-most, min(most, n))
		a = a.Scale(math.Ldexp(1, step))
		n -= step
	}
	return a
}

// FMA is x·y + z with one rounding.
func FMA(x, y, z Real) Real { return real(core.Apply3(rules.FMA, x.rep(), y.rep(), z.rep())) }

// Sum is the sum of xs from left to right, 0 for none.
func Sum(xs ...Real) Real {
	var s Real
	for i, x := range xs {
		if i == 0 {
			s = x
			continue
		}
		s = s.Add(x)
	}
	return s
}

// Dot is Σ a[i]·b[i], summed from left to right. The slices have one length.
func Dot(a, b []Real) Real {
	if len(a) != len(b) {
		panic(&ShapeError{Op: "Dot", Arg: "len(b)", Got: len(b), Want: len(a)})
	}
	var s Real
	for i, x := range a {
		s = s.Add(x.Mul(b[i]))
	}
	return s
}

// LogSumExp is log Σ exp(xs[i]) without overflow, -Inf for none.
func LogSumExp(xs ...Real) Real {
	if len(xs) == 0 {
		return Log(Real{})
	}
	shift := xs[0]
	for _, x := range xs[1:] {
		shift = Max(shift, x)
	}
	// The result does not depend on the shift: it carries no derivative.
	shift = unary(rules.Finite, shift)
	s := Exp(xs[0].Sub(shift))
	for _, x := range xs[1:] {
		s = s.Add(Exp(x.Sub(shift)))
	}
	return Log(s).Add(shift)
}

// A Cond is a comparison that is not decided: [Where] keeps both branches. It is
// not a bool, so that a function does not branch on it by mistake.
type Cond struct{ c Real }

// Lt is the condition a < b.
func Lt(a, b Real) Cond { return Cond{binary(rules.Lt, a, b)} }

// Le is the condition a <= b.
func Le(a, b Real) Cond { return Cond{binary(rules.Le, a, b)} }

// Eq is the condition a == b.
func Eq(a, b Real) Cond { return Cond{binary(rules.Eq, a, b)} }

// And holds where c and d do.
func (c Cond) And(d Cond) Cond { return Cond{c.c.Mul(d.c)} }

// Or holds where c or d does.
func (c Cond) Or(d Cond) Cond { return Cond{Max(c.c, d.c)} }

// Not holds where c does not.
func (c Cond) Not() Cond { return Cond{Const(1).Sub(c.c)} }

// Where is yes where c holds and no elsewhere. Both are computed and both stay in
// a recording; the derivative is that of the one that is taken, and what the other
// one is, infinite or NaN, does not matter.
func Where(c Cond, yes, no Real) Real {
	return real(core.Apply3(rules.Select, c.c.rep(), yes.rep(), no.rep()))
}
