// Package rt is the run-time library of generated code: the elementary functions of package rules
// that are not in package math, under their names in the table of rules; memory for shadows; and
// checks of arguments.
//
// If a zero cotangent meets an infinite derivative, generated code called directly adds 0 although
// NaN may be correct (strong zeros), and [Skipped] counts it; engines determine which of the two is
// correct.
package rt

import (
	"math"

	"github.com/nabla-ad/nabla/rules"
)

// Value returns x. The compiler does not treat the result as a constant: operations on it are
// rounded as floats and wrapped as integers at run time, unlike constant expressions.
func Value[T any](x T) T { return x }

// Neg returns -x.
func Neg(x float64) float64 { return -x }

// Inv returns 1/x.
func Inv(x float64) float64 { return 1 / x }

// Sq returns x².
func Sq(x float64) float64 { return x * x }

// Lgamma returns log |Γ(x)|.
func Lgamma(x float64) float64 { return rules.Value1(rules.Lgamma, x) }

// Gammasign returns the sign of Γ(x), the second result of math.Lgamma.
func Gammasign(x float64) float64 { return rules.Value1(rules.GammaSign, x) }

// Digamma returns ψ(x) = Γ′(x)/Γ(x).
func Digamma(x float64) float64 { return rules.Value1(rules.Digamma, x) }

// Logistic returns 1/(1+e⁻ˣ).
func Logistic(x float64) float64 { return rules.Value1(rules.Logistic, x) }

// Softplus returns log(1+eˣ).
func Softplus(x float64) float64 { return rules.Value1(rules.Softplus, x) }

// Sign returns 1 for x > 0, -1 for x < 0, 0 for ±0 and NaN for NaN.
func Sign(x float64) float64 {
	if x > 0 {
		return 1
	}
	if x < 0 {
		return -1
	}
	if x == 0 {
		return 0
	}
	return x
}

// Stop returns x. Its derivative is 0.
func Stop(x float64) float64 { return x }

// Finite returns x if it is finite, otherwise 0.
func Finite(x float64) float64 { return rules.Value1(rules.Finite, x) }

// Sechsq returns 1/cosh(x)², the derivative of tanh.
func Sechsq(x float64) float64 { return rules.Value1(rules.SechSq, x) }

// Cosatan returns cos(atan(x)) = 1/√(1+x²), whose square is the derivative of atan. It repeats the formula of package
// rules so that it can be inlined.
func Cosatan(x float64) float64 {
	if x = math.Abs(x); x > 0x1p500 {
		return 1 / x
	}
	return 1 / math.Sqrt(1+x*x)
}

// Add returns x + y.
func Add(x, y float64) float64 { return x + y }

// Sub returns x - y.
func Sub(x, y float64) float64 { return x - y }

// Mul returns x·y.
func Mul(x, y float64) float64 { return x * y }

// Div returns x/y.
func Div(x, y float64) float64 { return x / y }

// Xlogy returns x·log(y), 0 for x = 0 unless y is NaN.
func Xlogy(x, y float64) float64 { return rules.Value2(rules.XLogY, x, y) }

// Logaddexp returns log(eˣ+eʸ).
func Logaddexp(x, y float64) float64 { return rules.Value2(rules.LogAddExp, x, y) }

// Jn returns the Bessel function of the first kind of order x, a whole number, at y.
func Jn(x, y float64) float64 { return rules.Value2(rules.Jn, x, y) }

// Yn returns the Bessel function of the second kind of order x, a whole number, at y.
func Yn(x, y float64) float64 { return rules.Value2(rules.Yn, x, y) }

// Polygamma returns derivative x, a whole number, of ψ at y.
func Polygamma(x, y float64) float64 { return rules.Value2(rules.Polygamma, x, y) }

// Powdx returns a number whose product with Powscale(x, y) is y·x^(y-1), the derivative of x^y with respect to x; 0 for
// y = 0.
func Powdx(x, y float64) float64 { return rules.Value2(rules.PowDx, x, y) }

// Powscale returns 1, or a power of two if x^(y-1) overflows, underflows or nearly does. It counts as a constant.
func Powscale(x, y float64) float64 { return rules.Value2(rules.PowScale, x, y) }

// Powdp returns x^y·log(x), the derivative of x^y with respect to y; 0 if x^y is 0.
func Powdp(x, y float64) float64 { return rules.Value2(rules.PowDp, x, y) }

// Hypotdx returns x/hypot(x, y), the derivative of hypot with respect to x; 0 at the origin.
func Hypotdx(x, y float64) float64 { return rules.Value2(rules.HypotDx, x, y) }

// Mulz returns x·y, where x = -0 represents a structural zero: the result is then -0 for every y, and never otherwise.
func Mulz(x, y float64) float64 { return rules.Value2(rules.MulZ, x, y) }

// Divz returns x/y, where x = -0 represents a structural zero: the result is then -0 for every y, and never otherwise.
func Divz(x, y float64) float64 { return rules.Value2(rules.DivZ, x, y) }

// Lt returns 1 if x < y, otherwise 0.
func Lt(x, y float64) float64 { return rules.Value2(rules.Lt, x, y) }

// Le returns 1 if x ≤ y, otherwise 0.
func Le(x, y float64) float64 { return rules.Value2(rules.Le, x, y) }

// Eq returns 1 if x = y, otherwise 0.
func Eq(x, y float64) float64 { return rules.Value2(rules.Eq, x, y) }

// Select returns y if x is not 0, otherwise z.
func Select(x, y, z float64) float64 { return rules.Value3(rules.Select, x, y, z) }
