package rules_test

import (
	"math"
	"testing"

	. "github.com/nabla-ad/nabla/rules"
)

// TestKinks holds the conventions of Rule.Kinks: values and partials where the
// function has a corner, a pole or the edge of its domain.
func TestKinks(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	negZero := math.Copysign(0, -1)
	type args = []float64
	for _, c := range []struct {
		op   Op
		args args
		want float64 // the value
		grad args    // the partials
	}{
		{Inv, args{0}, inf, args{-inf}},
		{Inv, args{negZero}, -inf, args{-inf}},
		{Sqrt, args{0}, 0, args{inf}},
		{Sqrt, args{negZero}, negZero, args{-inf}},
		{Sqrt, args{inf}, inf, args{0}},
		{Sqrt, args{-1}, nan, args{nan}},
		{Cbrt, args{0}, 0, args{inf}},
		{Cbrt, args{negZero}, negZero, args{inf}},
		{Exp, args{-inf}, 0, args{0}},
		{Exp, args{inf}, inf, args{inf}},
		{Expm1, args{-inf}, -1, args{0}},
		{Log, args{0}, -inf, args{inf}},
		{Log, args{negZero}, -inf, args{-inf}},
		{Log, args{-1}, nan, args{-1}},
		{Log2, args{0}, -inf, args{inf}},
		{Log10, args{0}, -inf, args{inf}},
		{Log1p, args{-1}, -inf, args{inf}},
		{Asin, args{1}, math.Pi / 2, args{inf}},
		{Asin, args{-1}, -math.Pi / 2, args{inf}},
		{Asin, args{2}, nan, args{nan}},
		{Acos, args{1}, 0, args{-inf}},
		{Atan, args{inf}, math.Pi / 2, args{0}},
		{Tanh, args{-inf}, -1, args{0}},
		{Asinh, args{inf}, inf, args{0}},
		{Acosh, args{1}, 0, args{inf}},
		{Acosh, args{0}, nan, args{nan}},
		{Acosh, args{-2}, nan, args{nan}},
		{Atanh, args{1}, inf, args{inf}},
		{Atanh, args{-1}, -inf, args{inf}},
		{Erf, args{inf}, 1, args{0}},
		{Erfinv, args{1}, inf, args{inf}},
		{Erfinv, args{-1}, -inf, args{inf}},
		{Erfcinv, args{0}, inf, args{-inf}},
		{Erfcinv, args{2}, -inf, args{-inf}},
		{Gamma, args{0}, inf, args{-inf}},
		{Gamma, args{negZero}, -inf, args{-inf}},
		{Gamma, args{-2}, nan, args{nan}},
		{Lgamma, args{0}, inf, args{-inf}},
		{Lgamma, args{negZero}, inf, args{inf}},
		{Lgamma, args{-2}, inf, args{nan}},
		{Digamma, args{0}, -inf, args{inf}},
		{Digamma, args{negZero}, inf, args{inf}},
		{Digamma, args{-2}, nan, args{inf}},
		{Digamma, args{inf}, inf, args{0}},
		{Digamma, args{-inf}, nan, args{nan}},
		{J1, args{0}, 0, args{0.5}},
		{Y0, args{0}, -inf, args{inf}},
		{Y1, args{0}, -inf, args{nan}},
		{Logistic, args{inf}, 1, args{0}},
		{Logistic, args{-inf}, 0, args{0}},
		{Softplus, args{inf}, inf, args{1}},
		{Softplus, args{-inf}, 0, args{0}},
		{Abs, args{0}, 0, args{0}},
		{Abs, args{negZero}, 0, args{0}},
		{Abs, args{nan}, nan, args{nan}},
		{Sign, args{0}, 0, args{0}},
		{Sign, args{negZero}, 0, args{0}},
		{Sign, args{nan}, nan, args{0}},
		{Floor, args{2}, 2, args{0}},
		{Ceil, args{2}, 2, args{0}},
		{Trunc, args{-2}, -2, args{0}},
		{Round, args{-2.5}, -3, args{0}},
		{RoundToEven, args{2.5}, 2, args{0}},
		{Logb, args{8}, 3, args{0}},
		{Logb, args{0}, -inf, args{0}},
		{Logb, args{-inf}, inf, args{0}},
		{Logb, args{nan}, nan, args{0}},
		{GammaSign, args{0}, 1, args{0}},
		{GammaSign, args{negZero}, 1, args{0}},
		{GammaSign, args{-0.5}, -1, args{0}},
		{GammaSign, args{-1.5}, 1, args{0}},
		{GammaSign, args{-3}, 1, args{0}},
		{GammaSign, args{nan}, 1, args{0}},
		{GammaSign, args{-inf}, 1, args{0}},
		{Nextafter, args{2, 2}, 2, args{1, 0}},
		{Nextafter, args{1, 0}, 1 - 0x1p-53, args{1, 0}},
		{Nextafter, args{0, 1}, 5e-324, args{1, 0}},
		{Nextafter, args{inf, 0}, math.MaxFloat64, args{1, 0}},
		{Finite, args{inf}, 0, args{0}},
		{Finite, args{nan}, 0, args{0}},
		{Finite, args{3}, 3, args{0}},
		{Stop, args{inf}, inf, args{0}},
		{Stop, args{nan}, nan, args{0}},
		{Stop, args{3}, 3, args{0}},
		{SechSq, args{inf}, 0, args{0}},

		{Div, args{1, 0}, inf, args{inf, -inf}},
		{Div, args{0, 0}, nan, args{inf, nan}},
		{Pow, args{0, 0}, 1, args{0, -inf}},
		{Pow, args{inf, 0}, 1, args{0, inf}},
		{Pow, args{nan, 0}, 1, args{0, nan}},
		{Pow, args{0, 2}, 0, args{0, 0}},
		{Pow, args{0, 1}, 0, args{1, 0}},
		{Pow, args{0, 0.5}, 0, args{inf, 0}},
		{Pow, args{0, -1}, inf, args{-inf, -inf}},
		{Pow, args{-2, 3}, -8, args{12, nan}},
		{Pow, args{-8, 1. / 3}, nan, args{nan, nan}},
		{Hypot, args{0, 0}, 0, args{0, 0}},
		{Hypot, args{0, 2}, 2, args{0, 1}},
		{Hypot, args{inf, 2}, inf, args{1, 0}},
		{Hypot, args{1, -inf}, inf, args{0, -1}},
		{Hypot, args{inf, inf}, inf, args{nan, nan}},
		{Hypot, args{5e-324, 0}, 5e-324, args{1, 0}},
		{Hypot, args{0x1.8p1023, 0x1.8p1023}, inf, args{math.Sqrt2 / 2, math.Sqrt2 / 2}},
		{Atan2, args{0, 0}, 0, args{nan, nan}},
		{Atan2, args{0, -2}, math.Pi, args{-0.5, 0}},
		{Atan2, args{negZero, -2}, -math.Pi, args{-0.5, 0}},
		{Mod, args{5.5, 0}, nan, args{1, nan}},
		{Mod, args{5.5, inf}, 5.5, args{1, 0}},
		{Mod, args{1, 0.1}, 0.09999999999999995, args{1, -9}},
		{Remainder, args{5, 2}, 1, args{1, -2}},
		{Remainder, args{7, 2}, -1, args{1, -4}},
		{Copysign, args{0, -3}, negZero, args{-1, 0}},
		{Copysign, args{negZero, -3}, negZero, args{1, 0}},
		{Copysign, args{2, negZero}, -2, args{-1, 0}},
		{XLogY, args{0, 0}, 0, args{-inf, 0}},
		{XLogY, args{0, 2}, 0, args{math.Ln2, 0}},
		{XLogY, args{0, inf}, 0, args{inf, 0}},
		{XLogY, args{0, -1}, 0, args{nan, 0}},
		{XLogY, args{0, nan}, nan, args{nan, nan}},
		{XLogY, args{2, 0}, -inf, args{-inf, inf}},
		{LogAddExp, args{-inf, 1}, 1, args{0, 1}},
		{LogAddExp, args{-inf, -inf}, -inf, args{nan, nan}},
		{LogAddExp, args{inf, inf}, inf, args{nan, nan}},
		{LogAddExp, args{inf, -inf}, inf, args{1, 0}},
		{LogAddExp, args{nan, 1}, nan, args{nan, nan}},
		{Jn, args{0.5, 1}, nan, args{0, nan}},
		{Jn, args{1, 0}, 0, args{0, 0.5}},
		{Yn, args{0, 0}, -inf, args{0, inf}},
		{Yn, args{1, 0}, -inf, args{0, nan}},
		{Yn, args{nan, 1}, nan, args{0, nan}},
		{Polygamma, args{1, 0}, inf, args{0, -inf}},
		{Polygamma, args{2, negZero}, inf, args{0, inf}},
		{Polygamma, args{1, -3}, inf, args{0, nan}},
		{Polygamma, args{2, -3}, nan, args{0, inf}},
		{Polygamma, args{1, inf}, 0, args{0, 0}},
		{Polygamma, args{1e9, 3}, -inf, args{0, inf}},
		{Polygamma, args{5001, 1000}, inf, args{0, -inf}},
		{Polygamma, args{0.5, 2}, nan, args{0, nan}},
		{Polygamma, args{-2, 2}, nan, args{0, nan}},
		{PowDx, args{0, 0}, 0, args{0, nan}},
		{PowDx, args{0, 1}, 1, args{0, -inf}},
		{PowDx, args{0, 2}, 0, args{2, 0}},
		{PowDx, args{2, 0}, 0, args{0, 0.5}},
		{PowDp, args{0, 2}, 0, args{0, 0}},
		{PowDp, args{0, 0}, -inf, args{nan, inf}},
		{PowDp, args{0, -1}, -inf, args{inf, inf}},
		{HypotDx, args{0, 0}, 0, args{nan, nan}},
		{MulZ, args{negZero, inf}, negZero, args{inf, negZero}},
		{MulZ, args{negZero, nan}, negZero, args{nan, negZero}},
		{MulZ, args{0, -1}, 0, args{-1, 0}},
		{MulZ, args{-1, 0}, 0, args{0, -1}},
		{MulZ, args{-1e-200, 1e-200}, 0, args{1e-200, -1e-200}},
		{MulZ, args{0, inf}, nan, args{inf, 0}},
		{DivZ, args{negZero, 0}, negZero, args{inf, nan}},
		{DivZ, args{0, -2}, 0, args{-0.5, 0}},
		{DivZ, args{-1e-200, 1e200}, 0, args{1e-200, 0}},
		{DivZ, args{3, 0}, inf, args{inf, -inf}},
		{Lt, args{1, 1}, 0, args{0, 0}},
		{Le, args{1, 1}, 1, args{0, 0}},
		{Eq, args{0, negZero}, 1, args{0, 0}},
		{Eq, args{nan, nan}, 0, args{0, 0}},
	} {
		v := value(c.op, c.args...)
		if !identical(v, c.want) {
			t.Errorf("%v%v = %v, want %v", c.op, c.args, v, c.want)
		}
		for i, want := range c.grad {
			got := numeric(c.op, i, c.args...)
			if relErr(got, want) > 1e-15 {
				t.Errorf("d%d of %v%v = %v, want %v", i, c.op, c.args, got, want)
			}
			if first, _ := partialAt(c.op, i, i, c.args...); relErr(first, want) > 1e-15 {
				t.Errorf("d%d of %v%v = %v by its expression, want %v", i, c.op, c.args, first, want)
			}
		}
	}
}

// identical tells -0 from 0.
func identical(a, b float64) bool {
	return same(a, b) && math.Signbit(a) == math.Signbit(b) || a != a && b != b
}

// TestSecondAtKinks holds second derivatives at points where a careless form
// gives NaN or loses a derivative.
func TestSecondAtKinks(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		op   Op
		i, j int
		x, y float64
		want float64
	}{
		{Pow, 0, 0, 0, 0, 0},
		{Pow, 0, 0, 0, 1, 0},
		{Pow, 0, 0, 0, 2, 2},
		{Pow, 0, 0, 0, 3, 0},
		{Pow, 0, 0, 0, 1.5, inf},
		{Pow, 0, 0, -3, 2, 2},
		{Pow, 0, 1, 2, 0, 0.5},
		{Pow, 1, 0, 2, 0, 0.5},
		{Pow, 1, 1, 0, 2, 0},
		{Pow, 1, 1, 1, 2, 0},
		{PowDx, 0, 1, 2, 0, -0.25}, // ∂/∂p of p(p-1)x^(p-2)
		{XLogY, 1, 0, 0, 4, 0.25},
		{XLogY, 0, 1, 0, 4, 0.25},
		{XLogY, 1, 1, 0, 0, 0},
		{Hypot, 0, 0, 0, 2, 0.5},
		{Hypot, 0, 0, 0, 0, nan},
		{Mod, 1, 0, 5.5, 2, 0},
		{Mul, 0, 1, 0, 0, 1},
		{Div, 1, 1, 0, 2, 0},
		{LogAddExp, 0, 0, 0, 1000, 0},
	} {
		_, got := partialAt(c.op, c.i, c.j, c.x, c.y)
		if !same(got, c.want) {
			t.Errorf("d%d%d of %v(%v, %v) = %v, want %v", c.i, c.j, c.op, c.x, c.y, got, c.want)
		}
	}
}

func TestSelect(t *testing.T) {
	nan := math.NaN()
	for _, c := range [][4]float64{{1, 2, 3, 2}, {0, 2, 3, 3}, {math.Copysign(0, -1), 2, 3, 3}, {nan, 2, 3, 2},
		{-1, 2, nan, 2}} {
		if got := Value3(Select, c[0], c[1], c[2]); got != c[3] {
			t.Errorf("select%v = %v", c[:3], got)
		}
	}
	if got := Value3(FMA, 1+0x1p-30, 1-0x1p-30, -1); got != -0x1p-60 {
		t.Errorf("fma rounds twice: %v", got)
	}
}
