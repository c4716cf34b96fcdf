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

// Neg is the operation neg.
func Neg(x float64) float64 { return -x }

// Inv is the operation inv.
func Inv(x float64) float64 { return 1 / x }

// Sq is the operation sq.
func Sq(x float64) float64 { return x * x }

// Lgamma is the operation lgamma.
func Lgamma(x float64) float64 { return rules.Value1(rules.Lgamma, x) }

// Gammasign is the operation gammasign.
func Gammasign(x float64) float64 { return rules.Value1(rules.GammaSign, x) }

// Digamma is the operation digamma.
func Digamma(x float64) float64 { return rules.Value1(rules.Digamma, x) }

// Logistic is the operation logistic.
func Logistic(x float64) float64 { return rules.Value1(rules.Logistic, x) }

// Softplus is the operation softplus.
func Softplus(x float64) float64 { return rules.Value1(rules.Softplus, x) }

// Sign is the operation sign.
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

// Finite is the operation finite.
func Finite(x float64) float64 { return rules.Value1(rules.Finite, x) }

// Sechsq is the operation sechsq.
func Sechsq(x float64) float64 { return rules.Value1(rules.SechSq, x) }

// Cosatan is the operation cosatan. It repeats the formula of package rules so that it can be
// inlined.
func Cosatan(x float64) float64 {
	if x = math.Abs(x); x > 0x1p500 {
		return 1 / x
	}
	return 1 / math.Sqrt(1+x*x)
}

// Add is the operation add.
func Add(x, y float64) float64 { return x + y }

// Sub is the operation sub.
func Sub(x, y float64) float64 { return x - y }

// Mul is the operation mul.
func Mul(x, y float64) float64 { return x * y }

// Div is the operation div.
func Div(x, y float64) float64 { return x / y }

// Xlogy is the operation xlogy.
func Xlogy(x, y float64) float64 { return rules.Value2(rules.XLogY, x, y) }

// Logaddexp is the operation logaddexp.
func Logaddexp(x, y float64) float64 { return rules.Value2(rules.LogAddExp, x, y) }

// Jn is the operation jn.
func Jn(x, y float64) float64 { return rules.Value2(rules.Jn, x, y) }

// Yn is the operation yn.
func Yn(x, y float64) float64 { return rules.Value2(rules.Yn, x, y) }

// Polygamma is the operation polygamma.
func Polygamma(x, y float64) float64 { return rules.Value2(rules.Polygamma, x, y) }

// Powdx is the operation powdx.
func Powdx(x, y float64) float64 { return rules.Value2(rules.PowDx, x, y) }

// Powscale is the operation powscale.
func Powscale(x, y float64) float64 { return rules.Value2(rules.PowScale, x, y) }

// Powdp is the operation powdp.
func Powdp(x, y float64) float64 { return rules.Value2(rules.PowDp, x, y) }

// Hypotdx is the operation hypotdx.
func Hypotdx(x, y float64) float64 { return rules.Value2(rules.HypotDx, x, y) }

// Mulz is the operation mulz.
func Mulz(x, y float64) float64 { return rules.Value2(rules.MulZ, x, y) }

// Divz is the operation divz.
func Divz(x, y float64) float64 { return rules.Value2(rules.DivZ, x, y) }

// Lt is the operation lt.
func Lt(x, y float64) float64 { return rules.Value2(rules.Lt, x, y) }

// Le is the operation le.
func Le(x, y float64) float64 { return rules.Value2(rules.Le, x, y) }

// Eq is the operation eq.
func Eq(x, y float64) float64 { return rules.Value2(rules.Eq, x, y) }

// Select is the operation select.
func Select(x, y, z float64) float64 { return rules.Value3(rules.Select, x, y, z) }
