package nabla_test

import (
	"math"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/rules"
)

// TestFrexp checks values against package math and that a replay across a power of
// two is recorded again.
func TestFrexp(t *testing.T) {
	for _, v := range []float64{0, 1, -1, 0.75, 3, -1e300, 5e-324, 1e-310, math.Inf(1), math.Inf(-1), math.NaN()} {
		want, e := math.Frexp(v)
		p, err := nabla.PrepareDerivative(func(x nabla.Real) nabla.Real {
			f, exp := nabla.Frexp(x)
			if exp != e {
				t.Errorf("Frexp(%v): exponent %d, want %d", v, exp, e)
			}
			return f
		}, reversediff.Backend{Compile: true}, v)
		if err != nil {
			t.Fatal(err)
		}
		if y, _, err := p.ValueAndDerivative(v); err != nil || !near(y, want) {
			t.Errorf("Frexp(%v) = %v, %v, want %v", v, y, err, want)
		}
	}
	p, err := nabla.PrepareDerivative(func(x nabla.Real) nabla.Real {
		f, _ := nabla.Frexp(x)
		return f.Add(nabla.Logb(x)).Add(nabla.Const(float64(nabla.Ilogb(x))))
	}, reversediff.Backend{Compile: true}, 3)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct{ x, y, d float64 }{{3, 2.75, 0.25}, {3.5, 2.875, 0.25}, {5, 4.625, 0.125},
		{2, 2.5, 0.25}} {
		y, d, err := p.ValueAndDerivative(c.x)
		if err != nil || y != c.y || d != c.d {
			t.Errorf("case %d: %v %v %v, want %v %v", i, y, d, err, c.y, c.d)
		}
	}
	if p.Recordings() != 2 {
		t.Errorf("%d recordings, want 2", p.Recordings())
	}
}

// TestLdexp compares with package math, also where numbers are subnormal before or after.
func TestLdexp(t *testing.T) {
	numbers := []float64{0, 1, -1.5, 3, 1 / 3.0, 1e-300, 0x1.fffffffffffffp-60, 1e300, 0x1.23456789abcdfp-1030, 5e-324,
		math.MaxFloat64, math.Inf(1), math.NaN()}
	for _, x := range numbers {
		for _, n := range []int{0, 10, -10, -52, 999, 1000, 1001, 1020, -999, -1000, -1001, -1010, -1060, 1500, 2000,
			2100, -1500, -2000, -2090, 5000, -5000, math.MaxInt, math.MinInt} {
			if got, want := nabla.Ldexp(nabla.Const(x), n).Value(), math.Ldexp(x,
				max(-9999, min(9999, n))); !identical(got, want) {
				t.Errorf("Ldexp(%v, %d) = %v, want %v", x, n, got, want)
			}
		}
	}
}

// TestLgamma checks that the sign is that of package math in replays that have not seen the number, and that only a
// function that compares it branches.
func TestLgamma(t *testing.T) {
	ignored := func(x nabla.Real) nabla.Real { l, _ := nabla.Lgamma(x); return l }
	multiplied := func(x nabla.Real) nabla.Real { l, s := nabla.Lgamma(x); return l.Mul(s) }
	compared := func(x nabla.Real) nabla.Real {
		l, s := nabla.Lgamma(x)
		if s.Less(nabla.Const(0)) {
			return l.Neg()
		}
		return l
	}
	converted := func(x nabla.Real) nabla.Real { l, s := nabla.Lgamma(x); return l.Scale(float64(s.Int())) }
	points := []float64{2.5, -0.5, -1.5, 0.25, -2.25, -101.75, 1e10}
	for name, c := range map[string]struct {
		f          func(nabla.Real) nabla.Real
		signed     bool
		recordings int
	}{"ignored": {ignored, false, 1}, "multiplied": {multiplied, true, 1}, "compared": {compared, true, 2},
		"converted": {converted, true, 2}} {
		p, err := nabla.PrepareDerivative(c.f, reversediff.Backend{Compile: true}, 2.5)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range points {
			want, sign := math.Lgamma(x)
			slope := rules.Value1(rules.Digamma, x)
			if c.signed {
				want, slope = want*float64(sign), slope*float64(sign)
			}
			y, d, err := p.ValueAndDerivative(x)
			if err != nil || y != want || d != slope {
				t.Errorf("%s at %v: %v, %v, %v, want %v and %v", name, x, y, d, err, want, slope)
			}
		}
		if p.Recordings() != c.recordings {
			t.Errorf("%s: %d recordings, want %d", name, p.Recordings(), c.recordings)
		}
	}
}

// TestNextafter is that of package math, with the derivatives 1 and 0.
func TestNextafter(t *testing.T) {
	p := mustGradient(t, func(x []nabla.Real) nabla.Real { return nabla.Nextafter(x[0], x[1]) }, compiled, 1, 2)
	for _, x := range [][]float64{{1, 2}, {2, 1}, {3, 3}, {0, -1}, {math.MaxFloat64, math.Inf(1)}} {
		y, g, err := p.ValueAndGradient(nil, x)
		if err != nil || y != math.Nextafter(x[0], x[1]) || g[0] != 1 || g[1] != 0 {
			t.Errorf("at %v: %v, %v, %v", x, y, g, err)
		}
	}
}

func TestSquare(t *testing.T) {
	if d, err := nabla.Derivative(nabla.Square, reversediff.Backend{}, -3); err != nil || d != -6 {
		t.Errorf("%v, %v, want -6", d, err)
	}
}

var extremes = []float64{0, math.Copysign(0, -1), 1, -2.5, math.Inf(1), math.Inf(-1), math.NaN()}

// TestLeastAndGreatest holds that Least and Greatest are Go's min and max, traced or not, and in a
// replay that has not seen the numbers before.
func TestLeastAndGreatest(t *testing.T) {
	type fn = func([]nabla.Real) nabla.Real
	least := func(x []nabla.Real) nabla.Real { return nabla.Least(x[0], x[1]) }
	greatest := func(x []nabla.Real) nabla.Real { return nabla.Greatest(x[0], x[1]) }
	pl, pg := mustGradient(t, least, compiled, 1, 2), mustGradient(t, greatest, compiled, 1, 2)
	for _, a := range extremes {
		for _, b := range extremes {
			check := func(what string, got, want float64) {
				t.Helper()
				if !identical(got, want) {
					t.Errorf("%s of %v and %v is %v, want %v", what, a, b, got, want)
				}
			}
			check("Least", nabla.Least(nabla.Const(a), nabla.Const(b)).Value(), min(a, b))
			check("Greatest", nabla.Greatest(nabla.Const(a), nabla.Const(b)).Value(), max(a, b))
			for what, c := range map[string]struct {
				f    fn
				want float64
			}{
				"Least beside a constant": {func(x []nabla.Real) nabla.Real {
					return nabla.Least(x[0], nabla.Const(b))
				}, min(a, b)},
				"Greatest of a constant": {func(x []nabla.Real) nabla.Real {
					return nabla.Greatest(nabla.Const(b), x[0])
				}, max(b, a)},
				"Least of three": {func(x []nabla.Real) nabla.Real {
					return nabla.Least(x[0], nabla.Const(b), x[0])
				}, min(a, b, a)},
				"Greatest of one": {func(x []nabla.Real) nabla.Real { return nabla.Greatest(x[0]) }, a},
				"Least of a constant, again": {func(x []nabla.Real) nabla.Real {
					return nabla.Least(nabla.Const(b), x[0])
				}, min(b, a)},
			} {
				v, _, err := nabla.ValueAndGradient(c.f, forwarddiff.Backend{}, []float64{a})
				if err != nil {
					t.Fatal(err)
				}
				check(what, v, c.want)
			}
			for what, p := range map[string]*nabla.GradientPrep{"recorded Least": pl, "recorded Greatest": pg} {
				want := min(a, b)
				if p == pg {
					want = max(a, b)
				}
				v, g, err := p.ValueAndGradient(nil, []float64{a, b})
				if err != nil {
					t.Fatal(err)
				}
				check(what, v, want)
				first := (a < b) == (p == pl)
				if a != b && a == a && b == b && (g[0] == 1) != first {
					t.Errorf("%s: gradient at %v, %v is %v", what, a, b, g)
				}
			}
		}
	}
}

// TestSignbit: the sign of a traced number is that of math.Signbit, also in a replay.
func TestSignbit(t *testing.T) {
	p := mustGradient(t, func(x []nabla.Real) nabla.Real {
		if x[0].Signbit() {
			return nabla.Const(1)
		}
		return nabla.Const(0)
	}, compiled, 1)
	for _, x := range append(extremes, math.Copysign(math.NaN(), -1)) {
		v, _, err := p.ValueAndGradient(nil, []float64{x})
		if err != nil || v == 1 != math.Signbit(x) {
			t.Errorf("Signbit of %v: %v, %v", x, v, err)
		}
	}
}
