package sparsity

import (
	"math"
	"testing"

	"github.com/nabla-ad/nabla/rules"
)

// TestClassesNumerically compares the classes with differences of values.
func TestClassesNumerically(t *testing.T) {
	points := []float64{0.3, 0.45, 0.8, 1.6, 2.3, -0.35, -1.7}
	const h = 1e-3
	for op := rules.Invalid + 1; op < rules.NumOps; op++ {
		f := valueOf(op)
		if f == nil {
			continue // Select and FMA are put together from others
		}
		ys := points
		if op.Arity() == 1 {
			ys = points[:1]
		}
		var seen class
		for _, x := range points {
			for _, y := range ys {
				if order := op == rules.Jn || op == rules.Yn || op == rules.Polygamma; order {
					x = math.Max(math.Round(x), 1) // a constant: no differences with respect to it
					d, dd := differences(func(y float64) float64 { return f(x, y) }, y, h)
					seen |= bit(d, first2) | bit(dd, second22)
					continue
				}
				d, dd := differences(func(x float64) float64 { return f(x, y) }, x, h)
				seen |= bit(d, first1) | bit(dd, second11)
				if op.Arity() == 1 {
					continue
				}
				d, dd = differences(func(y float64) float64 { return f(x, y) }, y, h)
				seen |= bit(d, first2) | bit(dd, second22)
				seen |= bit(steady(func(h float64) float64 {
					return (f(x+h, y+h) - f(x+h, y-h) - f(x-h, y+h) + f(x-h, y-h)) / (4 * h * h)
				}, h), second12)
			}
		}
		if op == rules.Finite || op == rules.Stop { // its derivative is 0 by definition
			seen = 0
		}
		if got := classes()[op]; got != seen {
			t.Errorf("%v: class %05b, differences say %05b", op, got, seen)
		}
	}
}

func valueOf(op rules.Op) func(x, y float64) float64 {
	switch op.Arity() {
	case 1:
		return func(x, _ float64) float64 { return rules.Value1(op, x) }
	case 2:
		return func(x, y float64) float64 { return rules.Value2(op, x, y) }
	}
	return nil
}

// differences are the first and second central differences of f at x.
func differences(f func(float64) float64, x, h float64) (d, dd float64) {
	d = steady(func(h float64) float64 { return (f(x+h) - f(x-h)) / (2 * h) }, h)
	dd = steady(func(h float64) float64 { return (f(x+h) - 2*f(x) + f(x-h)) / (h * h) }, h)
	return d, dd
}

// steady is d(h), or NaN where half the step gives something else, as at a jump or
// a kink.
func steady(d func(h float64) float64, h float64) float64 {
	a, b := d(h), d(h/2)
	if math.Abs(a-b) > 0.1*(math.Abs(a)+1e-3) {
		return math.NaN()
	}
	return a
}

func bit(d float64, c class) class {
	if math.Abs(d) > 1e-6 && !math.IsInf(d, 0) {
		return c
	}
	return 0
}

// TestClassNames pins the classes that published lists of operators give.
func TestClassNames(t *testing.T) {
	for _, row := range []struct {
		class class
		ops   []rules.Op
	}{
		{curved, []rules.Op{rules.Cos, rules.Sin, rules.Tan, rules.Exp, rules.Log, rules.Sqrt, rules.Cbrt, rules.Inv,
			rules.Sq, rules.Tanh, rules.Log1p, rules.Atanh, rules.Erf, rules.Gamma, rules.Lgamma, rules.Softplus}},
		{first1, []rules.Op{rules.Neg, rules.Abs}},
		{0, []rules.Op{rules.Round, rules.Floor, rules.Ceil, rules.Trunc, rules.Sign, rules.RoundToEven, rules.Logb,
			rules.GammaSign, rules.Lt, rules.Le, rules.Eq, rules.Finite, rules.Stop}},
		{firsts | seconds, []rules.Op{rules.Pow, rules.Hypot, rules.Atan2, rules.LogAddExp}},
		{firsts | second22 | second12, []rules.Op{rules.Div, rules.DivZ, rules.XLogY}},
		{firsts | second12, []rules.Op{rules.Mul, rules.MulZ}},
		{firsts, []rules.Op{rules.Add, rules.Sub, rules.Mod, rules.Remainder, rules.Min, rules.Max}},
		{first1, []rules.Op{rules.Copysign, rules.Nextafter}},
	} {
		for _, op := range row.ops {
			if got := classes()[op]; got != row.class {
				t.Errorf("%v: class %05b, want %05b", op, got, row.class)
			}
		}
	}
}

// TestClassAt checks every class at a point against the partial derivatives there: derivatives that the class excludes
// are zero, and second derivatives do not change the class of first ones.
func TestClassAt(t *testing.T) {
	values := []float64{0, math.Copysign(0, -1), 0.5, -0.5, 1, -1, 2.5, 7, -7}
	const h = 1e-4
	for op := rules.Invalid + 1; op < rules.NumOps; op++ {
		if op.Arity() != 2 || op.Choice() {
			continue
		}
		for _, x := range values {
			for _, y := range values {
				gone := classes()[op] &^ classes()[op].at(op, x, y)
				px := func(x, y float64) float64 { return rules.PartialX2(op, x, y, rules.Value2(op, x, y)) }
				py := func(x, y float64) float64 { return rules.PartialY2(op, x, y, rules.Value2(op, x, y)) }
				for _, c := range []struct {
					bit class
					d   float64
				}{
					{first1, px(x, y)}, {first2, py(x, y)},
					{second11, (px(x+h, y) - px(x-h, y)) / h},
					{second22, (py(x, y+h) - py(x, y-h)) / h},
					{second12, (px(x, y+h) - px(x, y-h)) / h},
				} {
					if gone&c.bit != 0 && math.Abs(c.d) > 1e-9 && !math.IsInf(c.d, 0) {
						t.Errorf("%v at (%v, %v): derivative %05b is taken for zero and is %v", op, x, y, c.bit, c.d)
					}
				}
			}
		}
	}
}
