package nabla

import (
	"math"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/rules"
)

// The functions below have the special values of package math. Derivatives at kinks and singular
// points are documented in rules.Info(op).Kinks, unless they are given here. They follow IEEE
// arithmetic, without clamping.

// unary applies op to one number.
func unary(op rules.Op, a Real) Real { return real(core.Apply1(op, a.rep())) }

// binary applies op to two numbers.
func binary(op rules.Op, a, b Real) Real { return real(core.Apply2(op, a.rep(), b.rep())) }

// Inv returns 1/a.
func Inv(a Real) Real { return unary(rules.Inv, a) }

// Sqrt returns the square root of a. Its derivative at 0 is +Inf.
func Sqrt(a Real) Real { return unary(rules.Sqrt, a) }

// Cbrt returns the cube root of a. Its derivative at 0 is +Inf.
func Cbrt(a Real) Real { return unary(rules.Cbrt, a) }

// Exp returns e to the power of a.
func Exp(a Real) Real { return unary(rules.Exp, a) }

// Exp2 returns 2 to the power of a.
func Exp2(a Real) Real { return unary(rules.Exp2, a) }

// Expm1 returns exp(a) - 1, accurate near 0.
func Expm1(a Real) Real { return unary(rules.Expm1, a) }

// Log returns the natural logarithm of a.
func Log(a Real) Real { return unary(rules.Log, a) }

// Log2 returns the binary logarithm of a.
func Log2(a Real) Real { return unary(rules.Log2, a) }

// Log10 returns the decimal logarithm of a.
func Log10(a Real) Real { return unary(rules.Log10, a) }

// Log1p returns log(1 + a), accurate near 0.
func Log1p(a Real) Real { return unary(rules.Log1p, a) }

// Sin returns the sine of a, in radians.
func Sin(a Real) Real { return unary(rules.Sin, a) }

// Cos returns the cosine of a, in radians.
func Cos(a Real) Real { return unary(rules.Cos, a) }

// Tan returns the tangent of a, in radians.
func Tan(a Real) Real { return unary(rules.Tan, a) }

// Asin returns the arcsine of a, in radians. Its derivative at ±1 is +Inf.
func Asin(a Real) Real { return unary(rules.Asin, a) }

// Acos returns the arccosine of a, in radians. Its derivative at ±1 is -Inf.
func Acos(a Real) Real { return unary(rules.Acos, a) }

// Atan returns the arctangent of a, in radians.
func Atan(a Real) Real { return unary(rules.Atan, a) }

// Sinh returns the hyperbolic sine of a.
func Sinh(a Real) Real { return unary(rules.Sinh, a) }

// Cosh returns the hyperbolic cosine of a.
func Cosh(a Real) Real { return unary(rules.Cosh, a) }

// Tanh returns the hyperbolic tangent of a.
func Tanh(a Real) Real { return unary(rules.Tanh, a) }

// Asinh returns the inverse hyperbolic sine of a.
func Asinh(a Real) Real { return unary(rules.Asinh, a) }

// Acosh returns the inverse hyperbolic cosine of a.
func Acosh(a Real) Real { return unary(rules.Acosh, a) }

// Atanh returns the inverse hyperbolic tangent of a.
func Atanh(a Real) Real { return unary(rules.Atanh, a) }

// Erf returns the error function of a.
func Erf(a Real) Real { return unary(rules.Erf, a) }

// Erfc returns 1 - erf(a), accurate for large a.
func Erfc(a Real) Real { return unary(rules.Erfc, a) }

// Erfinv returns the inverse error function of a.
func Erfinv(a Real) Real { return unary(rules.Erfinv, a) }

// Erfcinv returns the inverse of erfc at a.
func Erfcinv(a Real) Real { return unary(rules.Erfcinv, a) }

// Gamma returns the gamma function of a.
func Gamma(a Real) Real { return unary(rules.Gamma, a) }

// Digamma returns the logarithmic derivative of the gamma function at a.
func Digamma(a Real) Real { return unary(rules.Digamma, a) }

// J0 returns the Bessel function of the first kind, order 0.
func J0(a Real) Real { return unary(rules.J0, a) }

// J1 returns the Bessel function of the first kind, order 1.
func J1(a Real) Real { return unary(rules.J1, a) }

// Y0 returns the Bessel function of the second kind, order 0.
func Y0(a Real) Real { return unary(rules.Y0, a) }

// Y1 returns the Bessel function of the second kind, order 1.
func Y1(a Real) Real { return unary(rules.Y1, a) }

// Logistic returns 1/(1+exp(-a)), the logistic function or sigmoid.
func Logistic(a Real) Real { return unary(rules.Logistic, a) }

// Softplus returns log(1+exp(a)), without overflow.
func Softplus(a Real) Real { return unary(rules.Softplus, a) }

// StopGradient returns a as a number without derivative: every derivative with respect to a that passes through it is a
// structural zero, of every order, also where another factor is infinite, and sparsity patterns have no entry for it.
// The value follows a: a recording stays valid at other points, which it does not with Const(a.Value()), and not with a
// constant computed outside of the function.
//
// Finite differences see values only. They return an *[UnsupportedError] for a function over Reals that stops a
// derivative. Functions over float64, and code generated from them, have no StopGradient.
func StopGradient(a Real) Real { return real(core.Stop(a.rep())) }

// Abs returns |a|. Its derivative at 0 is 0.
func Abs(a Real) Real { return unary(rules.Abs, a) }

// Floor returns the greatest integer not above a. Its derivative is 0, also at the steps.
func Floor(a Real) Real { return unary(rules.Floor, a) }

// Ceil returns the least integer not below a. Its derivative is 0, also at the steps.
func Ceil(a Real) Real { return unary(rules.Ceil, a) }

// Trunc returns the integer part of a. Its derivative is 0, also at the steps.
func Trunc(a Real) Real { return unary(rules.Trunc, a) }

// Round returns the integer nearest to a, halves away from 0. Its derivative is 0, also at the steps.
func Round(a Real) Real { return unary(rules.Round, a) }

// RoundToEven returns the integer nearest to a, halves to even. Its derivative is 0, also at the steps.
func RoundToEven(a Real) Real { return unary(rules.RoundToEven, a) }

// Hypot returns sqrt(a²+b²) without overflow.
func Hypot(a, b Real) Real { return binary(rules.Hypot, a, b) }

// Atan2 returns the angle of the point (x, y), in radians, from -π to π.
func Atan2(y, x Real) Real { return binary(rules.Atan2, y, x) }

// Max returns the larger of a and b. The derivative is that of the larger; a tie counts as a.
func Max(a, b Real) Real { return binary(rules.Max, a, b) }

// Min returns the smaller of a and b. The derivative is that of the smaller; a tie counts as a.
func Min(a, b Real) Real { return binary(rules.Min, a, b) }

// Greatest returns the largest of the numbers as the builtin max does: as [Max], but NaN if any of
// them is NaN, also beside an infinity. Of two NaNs it returns the first.
func Greatest(a Real, more ...Real) Real {
	for _, b := range more {
		a = orNaN(rules.Max, a, b)
	}
	return a
}

// Least returns the smallest of the numbers as the builtin min does: as [Min], but NaN if any of
// them is NaN, also beside an infinity. Of two NaNs it returns the first.
func Least(a Real, more ...Real) Real {
	for _, b := range more {
		a = orNaN(rules.Min, a, b)
	}
	return a
}

// orNaN returns op(a, b), or the one of the two numbers that is NaN.
func orNaN(op rules.Op, a, b Real) Real {
	c := binary(op, a, b)
	// With a finite constant, op itself returns NaN.
	if math.IsInf(a.v, 0) || a.id != 0 {
		c = unlessNaN(b, c)
	}
	if math.IsInf(b.v, 0) || b.id != 0 { // applied last, so that of two NaNs the first number is returned
		c = unlessNaN(a, c)
	}
	return c
}

// unlessNaN returns c, or a if a is NaN.
func unlessNaN(a, c Real) Real {
	switch {
	case a.id != 0:
		return Where(Eq(a, a), c, a)
	case a.v != a.v:
		return a
	}
	return c
}

// Mod returns the remainder of a/b with the sign of a. Its derivative with respect to b is -trunc(a/b).
func Mod(a, b Real) Real { return binary(rules.Mod, a, b) }

// Remainder returns the IEEE remainder of a/b. Its derivative with respect to b is minus the rounded quotient.
func Remainder(a, b Real) Real { return binary(rules.Remainder, a, b) }

// Copysign returns |a| with the sign of sign.
func Copysign(a, sign Real) Real { return binary(rules.Copysign, a, sign) }

// Nextafter returns the next float64 after a towards b. Its derivative with respect to a is 1, and with respect to b 0.
func Nextafter(a, b Real) Real { return binary(rules.Nextafter, a, b) }

// Pow returns a to the power of b. If b is the constant 0, the derivative with respect to a is 0,
// for every a; if the power is 0, the derivative with respect to b is 0.
func Pow(a, b Real) Real { return binary(rules.Pow, a, b) }

// XLogY returns x·log(y), and 0 if x is 0.
func XLogY(x, y Real) Real { return binary(rules.XLogY, x, y) }

// LogAddExp returns log(exp(a)+exp(b)) without overflow.
func LogAddExp(a, b Real) Real { return binary(rules.LogAddExp, a, b) }

// Square returns a².
func Square(a Real) Real { return a.Sq() }

// Dim returns max(a-b, 0). Its derivative is 0 if a == b.
func Dim(a, b Real) Real { return Max(Real{}, a.Sub(b)) }

// Lgamma returns the logarithm of |Γ(a)|, and the sign of Γ(a), which is 1 or -1 and has derivative
// 0. A function that compares the sign, or takes its value as an int, branches there; one that
// ignores it does not.
func Lgamma(a Real) (lgamma, sign Real) {
	return unary(rules.Lgamma, a), unary(rules.GammaSign, a)
}

// Polygamma returns the n-th derivative of the digamma function at a, which is the derivative of
// order n+1 of the logarithm of the gamma function. It is NaN for n < 0.
func Polygamma(n int, a Real) Real {
	if n == 0 {
		return Digamma(a)
	}
	return binary(rules.Polygamma, Const(float64(n)), a)
}

// Jn returns the Bessel function of the first kind, order n.
func Jn(n int, a Real) Real { return binary(rules.Jn, Const(float64(n)), a) }

// Yn returns the Bessel function of the second kind, order n.
func Yn(n int, a Real) Real { return binary(rules.Yn, Const(float64(n)), a) }

// Sincos returns the sine and the cosine of a, in radians.
func Sincos(a Real) (sin, cos Real) { return Sin(a), Cos(a) }

// Modf returns the integer part of a and the fraction, both with the sign of a. The fraction of an
// infinity is NaN.
func Modf(a Real) (whole, frac Real) { return Trunc(a), Mod(a, Const(1)) }

// Frexp returns the fraction in [½, 1), with the sign of a, and the exponent of a = frac·2^exp. The
// exponent is a plain number: a recording is valid while it is the same. The derivative of the
// fraction is 2^-exp.
func Frexp(a Real) (frac Real, exp int) {
	if a.id == 0 {
		f, e := math.Frexp(a.v)
		return Real{v: f}, e
	}
	if a.Equal(Real{}) || a.IsNaN() || a.IsInf(0) {
		return a, 0
	}
	_, exp = math.Frexp(a.v)
	size := Abs(a) // the comparisons hold here; they record guards
	size.Less(Ldexp(Const(1), exp))
	size.Less(Ldexp(Const(0.5), exp))
	return Ldexp(a, -exp), exp
}

// Logb returns the binary exponent of a, a whole number. Its derivative is 0.
func Logb(a Real) Real { return unary(rules.Logb, a) }

// Ilogb returns the binary exponent of a as an int. A recording is valid while it is the same.
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

// Ldexp returns a·2^n.
func Ldexp(a Real, n int) Real {
	// The scaling is done in steps, so that no factor overflows or underflows before the product
	// does. The odd step comes first: it is exact, unless the result of the later steps is 0.
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

// FMA returns x·y + z with one rounding.
func FMA(x, y, z Real) Real { return real(core.Apply3(rules.FMA, x.rep(), y.rep(), z.rep())) }

// Sum returns the sum of xs from left to right, 0 if there are none.
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

// Dot returns Σ a[i]·b[i], summed from left to right. It panics with a *ShapeError unless the
// slices have the same length.
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

// LogSumExp returns log Σ exp(xs[i]) without overflow, -Inf if there are none.
func LogSumExp(xs ...Real) Real {
	if len(xs) == 0 {
		return Log(Real{})
	}
	shift := xs[0]
	for _, x := range xs[1:] {
		shift = Max(shift, x)
	}
	// The result does not depend on the shift, which therefore carries no derivative.
	shift = unary(rules.Finite, shift)
	s := Exp(xs[0].Sub(shift))
	for _, x := range xs[1:] {
		s = s.Add(Exp(x.Sub(shift)))
	}
	return Log(s).Add(shift)
}

// A Cond is the outcome of a comparison as a traced number. [Where] selects by it and keeps both
// branches. It is not a bool, so that a function does not branch on it by mistake.
type Cond struct{ c Real }

// Lt returns the condition a < b.
func Lt(a, b Real) Cond { return Cond{binary(rules.Lt, a, b)} }

// Le returns the condition a <= b.
func Le(a, b Real) Cond { return Cond{binary(rules.Le, a, b)} }

// Eq returns the condition a == b.
func Eq(a, b Real) Cond { return Cond{binary(rules.Eq, a, b)} }

// And returns the condition that c and d hold.
func (c Cond) And(d Cond) Cond { return Cond{c.c.Mul(d.c)} }

// Or returns the condition that c or d holds.
func (c Cond) Or(d Cond) Cond { return Cond{Max(c.c, d.c)} }

// Not returns the condition that c does not hold.
func (c Cond) Not() Cond { return Cond{Const(1).Sub(c.c)} }

// Where returns yes if c holds and no otherwise. Both are computed and both remain in a recording.
// The derivative is that of the selected number; the other one has no effect, even if it is
// infinite or NaN.
func Where(c Cond, yes, no Real) Real {
	return real(core.Apply3(rules.Select, c.c.rep(), yes.rep(), no.rep()))
}
