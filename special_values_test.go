package nabla_test

import (
	"math"
	"testing"

	"github.com/nabla-ad/nabla"
)

// gradientsAgree checks the gradient of f at x on every engine, and the diagonal of
// its Hessian on every pair unless second is nil.
func gradientsAgree(t *testing.T, f func([]nabla.Real) nabla.Real, x, first, second []float64) {
	t.Helper()
	for _, b := range straightOrder {
		g, err := nabla.Gradient(f, b, x)
		if err != nil {
			t.Errorf("%s: %v", b.Name(), err)
			continue
		}
		for i := range g {
			if !nearlyEqual(g[i], first[i]) {
				t.Errorf("%s: gradient at %v is %v, want %v", b.Name(), x, g, first)
				break
			}
		}
	}
	if second == nil {
		return
	}
	for _, b := range secondOrder {
		h, err := nabla.Hessian(f, b, x)
		if err != nil {
			t.Errorf("%s: %v", b.Name(), err)
			continue
		}
		for i, want := range second {
			if !nearlyEqual(h.At(i, i), want) {
				t.Errorf("%s: second derivative %d at %v is %v, want %v", b.Name(), i, x, h.At(i, i), want)
			}
		}
	}
}

func nearlyEqual(got, want float64) bool {
	return sameNumber(got, want) || math.Abs(got-want) <= 1e-14*math.Abs(want)
}

// TestSignOfZero holds that a replay tells 0 from -0: 1/x does.
func TestSignOfZero(t *testing.T) {
	f := func(x []nabla.Real) nabla.Real { // a sum that begins with 0
		return nabla.Inv(nabla.Dot(x[:1], x[1:]))
	}
	g := func(x []nabla.Real) nabla.Real {
		if nabla.Inv(nabla.Const(0).Sub(x[0])).Greater(nabla.Const(0)) {
			return x[0]
		}
		return x[1]
	}
	for _, b := range firstOrder {
		if y, _, err := nabla.ValueAndGradient(f, b, []float64{-1, 0}); err != nil || y != math.Inf(1) {
			t.Errorf("%s: 1/(0 + -1·0) = %v, %v", b.Name(), y, err)
		}
		if _, grad, err := nabla.ValueAndGradient(g, b, []float64{0, 2}); err != nil || grad[0] != 1 {
			t.Errorf("%s: gradient %v, %v", b.Name(), grad, err)
		}
	}
}

// TestChoiceOfNaN holds that Max and Min choose a NaN as package math does, and its
// derivative with it.
func TestChoiceOfNaN(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	max := func(x []nabla.Real) nabla.Real { return nabla.Max(x[0], x[1]) }
	min := func(x []nabla.Real) nabla.Real { return nabla.Min(x[0], x[1]) }
	for _, c := range []struct{ x, max, min []float64 }{
		{[]float64{2, 2}, []float64{1, 0}, []float64{1, 0}},
		{[]float64{3, 2}, []float64{1, 0}, []float64{0, 1}},
		{[]float64{2, 3}, []float64{0, 1}, []float64{1, 0}},
		{[]float64{nan, 2}, []float64{1, 0}, []float64{1, 0}},
		{[]float64{2, nan}, []float64{0, 1}, []float64{0, 1}},
		{[]float64{nan, nan}, []float64{1, 0}, []float64{1, 0}},
		{[]float64{nan, inf}, []float64{0, 1}, []float64{1, 0}},
		{[]float64{inf, nan}, []float64{1, 0}, []float64{0, 1}},
		{[]float64{nan, -inf}, []float64{1, 0}, []float64{0, 1}},
		{[]float64{-inf, nan}, []float64{0, 1}, []float64{1, 0}},
		{[]float64{-inf, -inf}, []float64{1, 0}, []float64{1, 0}},
		{[]float64{0, math.Copysign(0, -1)}, []float64{1, 0}, []float64{1, 0}},
	} {
		gradientsAgree(t, max, c.x, c.max, []float64{0, 0})
		gradientsAgree(t, min, c.x, c.min, []float64{0, 0})
	}
}

// TestSignOfNaN: the sign bit of a NaN depends on the order of the operations that made it, so that no derivative
// depends on it.
func TestSignOfNaN(t *testing.T) {
	f := func(x []nabla.Real) nabla.Real { return nabla.Copysign(x[0], x[1]) }
	for _, nan := range []float64{math.NaN(), math.Copysign(math.NaN(), -1)} {
		gradientsAgree(t, f, []float64{nan, -1}, []float64{math.NaN(), 0}, nil)
	}
}

// TestDirectionThatDoesNotMove holds that a derivative that is infinite or NaN in a
// direction that nothing moves in is not seen.
func TestDirectionThatDoesNotMove(t *testing.T) {
	inner := func(z []nabla.Real) nabla.Real { return nabla.Sqrt(z[1]).Add(z[0].Scale(3)) }
	for _, b := range firstOrder {
		f := nabla.DifferentiateWith(inner, b)
		gradientsAgree(t, func(x []nabla.Real) nabla.Real { return f(x) }, []float64{1, 0}, []float64{3, math.Inf(1)},
			nil)
		gradientsAgree(t, func(x []nabla.Real) nabla.Real { return f([]nabla.Real{x[0], nabla.Const(0)}) },
			[]float64{1}, []float64{3}, nil)
	}
}

// TestSecondOrderOfUnusedBranch checks that the number not selected has no effect on second
// derivatives either.
func TestSecondOrderOfUnusedBranch(t *testing.T) {
	for _, c := range []struct {
		name string
		f    func(x []nabla.Real) nabla.Real
	}{
		{"dim of -Inf", func(x []nabla.Real) nabla.Real { return nabla.Dim(nabla.Digamma(x[0]), x[0]) }},
		{"where of sqrt", func(x []nabla.Real) nabla.Real {
			return nabla.Where(nabla.Lt(nabla.Const(0), x[0]), nabla.Sqrt(x[0]), nabla.Const(0))
		}},
		{"max of log", func(x []nabla.Real) nabla.Real { return nabla.Max(nabla.Const(0), nabla.Log(x[0])) }},
		{"where of 1/x²", func(x []nabla.Real) nabla.Real {
			return nabla.Where(nabla.Eq(x[0], nabla.Const(0)), nabla.Const(0), nabla.Inv(x[0].Sq()))
		}},
		{"deeper", func(x []nabla.Real) nabla.Real {
			s := nabla.Exp(nabla.Sqrt(x[0])).Mul(nabla.Log(x[0])).Div(x[0])
			return nabla.Where(nabla.Lt(nabla.Const(0), x[0]), s, nabla.Const(1))
		}},
	} {
		t.Run(c.name, func(t *testing.T) { gradientsAgree(t, c.f, []float64{0}, []float64{0}, []float64{0}) })
	}
}

// TestModf holds the special values of math.Modf.
func TestModf(t *testing.T) {
	for _, v := range []float64{3.25, -3.25, 3, -3, 0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(),
		1e300, 5e-324} {
		w, f := nabla.Modf(nabla.Const(v))
		wantW, wantF := math.Modf(v)
		if !identical(w.Value(), wantW) || !identical(f.Value(), wantF) {
			t.Errorf("Modf(%v) = %v, %v, want %v, %v", v, w, f, wantW, wantF)
		}
	}
	frac := func(x []nabla.Real) nabla.Real {
		_, f := nabla.Modf(x[0])
		return f
	}
	gradientsAgree(t, frac, []float64{-2}, []float64{1}, []float64{0})
}

func identical(a, b float64) bool {
	return a != a && b != b || math.Float64bits(a) == math.Float64bits(b)
}

// TestCaptureOfEqualIdentity holds that an inner function that captures x and x+1
// sees two numbers: in forward mode they have the same tangents.
func TestCaptureOfEqualIdentity(t *testing.T) {
	for _, b := range firstOrder {
		f := func(x []nabla.Real) nabla.Real {
			a, c := x[0], x[0].AddConst(1)
			m := nabla.Max(x[0].AddConst(2), nabla.Const(0))
			inner := func(z []nabla.Real) nabla.Real { return z[0].Mul(a).Mul(c).Mul(m) }
			return nabla.GradientFunc(inner, b)(x)[0]
		}
		// x(x+1)(x+2) at 2, and its derivative 3x²+6x+2
		gradientsAgree(t, f, []float64{2}, []float64{26}, nil)
	}
}

// TestSecondOrderOfTie holds that a tie chooses the first argument and nothing of
// the second, whose second derivative is NaN here, gets through.
func TestSecondOrderOfTie(t *testing.T) {
	gradientsAgree(t, func(x []nabla.Real) nabla.Real { return nabla.Max(x[0], nabla.Hypot(x[0], x[0])) },
		[]float64{0}, []float64{1}, []float64{0})
}

// TestInnerDerivativeHasNoNegativeZero holds that an inner derivative that is 0 is
// +0 in every engine and in every mode of it: 1/x tells it from -0.
func TestInnerDerivativeHasNoNegativeZero(t *testing.T) {
	for _, inner := range firstOrder {
		f := func(x []nabla.Real) nabla.Real {
			g := nabla.GradientFunc(func(z []nabla.Real) nabla.Real { return nabla.Cos(z[0]) }, inner)(x) // -sin(0)
			return nabla.Inv(g[0])
		}
		for _, b := range firstOrder {
			if y, g, err := nabla.ValueAndGradient(f, b, []float64{0}); err != nil || y != math.Inf(1) {
				t.Errorf("%s inside %s: %v, %v, %v", inner.Name(), b.Name(), y, g, err)
			}
		}
		for _, b := range secondOrder {
			if y, _, _, err := nabla.ValueGradientAndHessian(f, b, []float64{0}); err != nil || y != math.Inf(1) {
				t.Errorf("%s inside %s: %v, %v", inner.Name(), b.Name(), y, err)
			}
		}
	}
}

// TestGradientOfReverseOverForward holds that the gradient that comes with a Hessian
// is right in a direction that does not move, also through a rule, where another
// element is NaN.
func TestGradientOfReverseOverForward(t *testing.T) {
	box := nabla.DifferentiateWith(func(z []nabla.Real) nabla.Real { return z[0].Neg() }, firstOrder[0])
	for _, f := range []func(x []nabla.Real) nabla.Real{
		func(x []nabla.Real) nabla.Real { return nabla.Mod(box(x[:1]), x[1]) },
		func(x []nabla.Real) nabla.Real { return nabla.Mod(x[0].Neg(), x[1]) },
	} {
		for _, b := range secondOrder {
			_, g, _, err := nabla.ValueGradientAndHessian(f, b, []float64{0, 0})
			if err != nil || g[0] != -1 && g[0] == g[0] { // a NaN is honest
				t.Errorf("%s: %v, %v", b.Name(), g, err)
			}
		}
	}
}
