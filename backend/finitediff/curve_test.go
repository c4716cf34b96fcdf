package finitediff_test

import (
	"math"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
)

// TestCurveSecondDerivative is that of (sin, exp), also at the faces of a box,
// outside of which the function must not be evaluated.
func TestCurveSecondDerivative(t *testing.T) {
	lo, hi := 0.25, 1.5
	f := func(x float64) []float64 {
		if x < lo || x > hi {
			t.Errorf("evaluated at %v", x)
		}
		return []float64{math.Sin(x), math.Exp(x)}
	}
	bounds := &finitediff.Bounds{Lower: []float64{lo}, Upper: []float64{hi}}
	for m := finitediff.Central; m <= finitediff.Backward; m++ {
		for _, x := range []float64{lo, 0.7, hi} {
			y, dy, d2y, err := nabla.ValueDerivativeAndCurveSecondDerivative(f,
				finitediff.Backend{Method: m, Bounds: bounds}, x)
			if err != nil {
				t.Fatal(err)
			}
			s, c, e := math.Sin(x), math.Cos(x), math.Exp(x)
			for _, v := range []struct{ got, want float64 }{
				{y[0], s}, {y[1], e}, {dy[0], c}, {dy[1], e}, {d2y[0], -s}, {d2y[1], e},
			} {
				if math.Abs(v.got-v.want) > 1e-5 {
					t.Errorf("%v at %v: got %v, want %v", m, x, v.got, v.want)
				}
			}
		}
	}
}

// TestRecordingsOfCurves: the complex step records, once for each branch; differences of
// values do not.
func TestRecordingsOfCurves(t *testing.T) {
	f := func(x nabla.Real) nabla.Real {
		if x.Less(nabla.Const(0)) {
			return x.Sq().Neg()
		}
		return x.Sq()
	}
	for method, want := range map[finitediff.Method][2]int{finitediff.Complex: {1, 2}, finitediff.Central: {0, 0}} {
		p, err := nabla.PrepareSecondDerivative(f, finitediff.Backend{Method: method}, 1)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range []float64{2, -2} {
			if d, err := p.SecondDerivative(x); err != nil || math.Abs(d*x-4) > 1e-5 {
				t.Errorf("%v at %v: %v, %v", method, x, d, err)
			}
			if n := p.Recordings(); n != want[i] {
				t.Errorf("%v at %v: %d recordings, want %d", method, x, n, want[i])
			}
		}
	}
}
