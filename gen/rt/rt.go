// Package rt is what generated code calls besides package math: the operations of the
// table of elementary functions that are no functions of package math, under the names
// of the table. Value hides a constant from the compiler.
//
// Where a zero meets an infinite derivative, generated code that is called by hand adds 0
// though NaN may be right, and [Skipped] counts it; engines find out which of the two it is.
package rt

import (
	"math"

	"github.com/nabla-ad/nabla/rules"
)

// Value is x. What is computed of it is computed when the program runs, rounded as
// floats are and wrapped as integers are, which constant expressions are not.
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

// Cosatan is the operation cosatan. It is written out here, as it is inlined so.
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
