package nabla_test

import (
	"math"
	"testing"

	"github.com/nabla-ad/nabla"
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
