package nabla_test

import (
	"math"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
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
	for i, c := range []struct{ x, y, d float64 }{{3, 2.75, 0.25}, {3.5, 2.875, 0.25}, {5, 4.625, 0.125}, {2, 2.5, 0.25}} {
		y, d, err := p.ValueAndDerivative(c.x)
		if err != nil || y != c.y || d != c.d {
			t.Errorf("case %d: %v %v %v, want %v %v", i, y, d, err, c.y, c.d)
		}
	}
	if p.Recordings() != 2 {
		t.Errorf("%d recordings, want 2", p.Recordings())
	}
}

// TestLdexp compares with package math where the product is not subnormal on the
// way.
func TestLdexp(t *testing.T) {
	for _, c := range []struct {
		x float64
		n int
	}{{1, 10}, {1.5, -1000}, {3, 1020}, {1e-300, 2000}, {1e300, -2000}, {1, 5000}, {1, -5000}, {1, math.MaxInt}, {0, 7}} {
		if got, want := nabla.Ldexp(nabla.Const(c.x), c.n).Value(), math.Ldexp(c.x, c.n); got != want {
			t.Errorf("Ldexp(%v, %d) = %v, want %v", c.x, c.n, got, want)
		}
	}
}

func TestSquare(t *testing.T) {
	if d, err := nabla.Derivative(nabla.Square, reversediff.Backend{}, -3); err != nil || d != -6 {
		t.Errorf("%v, %v, want -6", d, err)
	}
}

var extremes = []float64{0, math.Copysign(0, -1), 1, -2.5, math.Inf(1), math.Inf(-1), math.NaN()}

// TestLeast holds that Least and Greatest are Go's min and max, traced or not, and in a
// replay that has not seen the numbers before.
func TestLeast(t *testing.T) {
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
				"Least beside a constant":    {func(x []nabla.Real) nabla.Real { return nabla.Least(x[0], nabla.Const(b)) }, min(a, b)},
				"Greatest of a constant":     {func(x []nabla.Real) nabla.Real { return nabla.Greatest(nabla.Const(b), x[0]) }, max(b, a)},
				"Least of three":             {func(x []nabla.Real) nabla.Real { return nabla.Least(x[0], nabla.Const(b), x[0]) }, min(a, b, a)},
				"Greatest of one":            {func(x []nabla.Real) nabla.Real { return nabla.Greatest(x[0]) }, a},
				"Least of a constant, again": {func(x []nabla.Real) nabla.Real { return nabla.Least(nabla.Const(b), x[0]) }, min(b, a)},
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
