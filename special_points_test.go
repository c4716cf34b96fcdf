package nabla_test

import (
	"math"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/internal/randfunc"
	"github.com/nabla-ad/nabla/rules"
)

// TestSpecialPointsOfAllFunctions checks that all engines agree with the table of rules at zeros,
// infinities, NaNs, ties, steps and edges of domains.
func TestSpecialPointsOfAllFunctions(t *testing.T) {
	longtest.Serial(t)
	points := []float64{0, math.Copysign(0, -1), 1, -1, 2, -2, 0.5, -2.5, 1e300, 5e-324, math.Inf(1), math.Inf(-1),
		math.NaN()}
	for name, p := range randfunc.Singles() {
		if p.N > 2 {
			continue
		}
		f := p.Real().Scalar
		var first []*nabla.GradientPrep
		var second []*nabla.HessianPrep
		for _, b := range straightOrder {
			prep, err := nabla.PrepareGradient(f, b, []float64{0.7, 0.3}[:p.N])
			if err != nil {
				t.Fatal(err)
			}
			first = append(first, prep)
		}
		for _, b := range secondOrder {
			prep, err := nabla.PrepareHessian(f, b, []float64{0.7, 0.3}[:p.N])
			if err != nil {
				t.Fatal(err)
			}
			second = append(second, prep)
		}
		x := make([]float64, p.N)
		for k := range len(points) * len(points) {
			if x[0] = points[k%len(points)]; p.N == 1 && k >= len(points) {
				break
			}
			if p.N == 2 {
				x[1] = points[k/len(points)]
			}
			o := p.Oracle(x)
			for i, prep := range first {
				_, g, err := prep.ValueAndGradient(nil, x)
				if err != nil {
					t.Fatalf("%s%v with %s: %v", name, x, straightOrder[i].Name(), err)
				}
				for j := range g {
					if !nearlyEqual(g[j], o.Grad[0][j]) {
						t.Errorf("gradient of %s%v with %s: %v, want %v", name, x, straightOrder[i].Name(), g,
							o.Grad[0])
						break
					}
				}
			}
			for i, prep := range second {
				_, g, h, err := prep.ValueGradientAndHessian(nil, nil, x)
				if err != nil {
					t.Fatalf("%s%v with %s: %v", name, x, secondOrder[i].Name(), err)
				}
				for j := range g {
					if !nearlyEqual(g[j], o.Grad[0][j]) {
						t.Errorf("gradient beside the Hessian of %s%v with %s: %v, want %v", name, x,
							secondOrder[i].Name(), g, o.Grad[0])
						break
					}
				}
				if tiny(x) {
					continue // 0·Inf or not depends on the order of products there
				}
				for j := range o.Hess[0] {
					r, c := j/p.N, j%p.N
					want := (o.Hess[0][j] + o.Hess[0][c*p.N+r]) / 2
					got := h.At(r, c)
					tol := 1e-300 + 1e-13*(o.Scale2[0][j]+o.Scale2[0][c*p.N+r])
					if !nearlyEqual(got, want) && !(math.Abs(got-want) <= tol) {
						t.Errorf("Hessian of %s%v with %s: element %d %d is %v, want %v", name, x,
							secondOrder[i].Name(), r, c, got, want)
					}
				}
			}
		}
	}
}

// tiny reports whether x has a subnormal number: its inverse overflows.
func tiny(x []float64) bool {
	for _, v := range x {
		if v != 0 && math.Abs(v) < 0x1p-1022 {
			return true
		}
	}
	return false
}

// TestConventionsAtKinks holds the conventions that rules.Info(op).Kinks states, in words
// and numbers, to second order.
func TestConventionsAtKinks(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	zero := nabla.Const(0)
	type real = nabla.Real
	for _, c := range []struct {
		name          string
		f             func(x []real) real
		x             []float64
		first, second []float64
	}{
		{"abs", func(x []real) real { return nabla.Abs(x[0]) }, []float64{0}, []float64{0}, []float64{0}},
		{"sqrt", func(x []real) real { return nabla.Sqrt(x[0]) }, []float64{0}, []float64{inf}, []float64{-inf}},
		{"cbrt", func(x []real) real { return nabla.Cbrt(x[0]) }, []float64{0}, []float64{inf}, nil},
		{"pow(0, 0)", func(x []real) real { return nabla.Pow(x[0], x[1]) }, []float64{0, 0}, []float64{0, -inf}, nil},
		{"x^0", func(x []real) real { return x[0].PowConst(0) }, []float64{0}, []float64{0}, []float64{0}},
		{"x^1", func(x []real) real { return x[0].PowConst(1) }, []float64{0}, []float64{1}, []float64{0}},
		{"x^2", func(x []real) real { return x[0].PowConst(2) }, []float64{0}, []float64{0}, []float64{2}},
		{"x^3", func(x []real) real { return x[0].PowConst(3) }, []float64{0}, []float64{0}, []float64{0}},
		{"x^½", func(x []real) real { return x[0].PowConst(0.5) }, []float64{0}, []float64{inf}, []float64{-inf}},
		{"(-2)^3", func(x []real) real { return x[0].PowConst(3) }, []float64{-2}, []float64{12}, []float64{-12}},
		{"hypot", func(x []real) real { return nabla.Hypot(x[0], x[1]) }, []float64{0, 0}, []float64{0, 0},
			[]float64{nan, nan}},
		{"xlogy", func(x []real) real { return nabla.XLogY(x[0], x[1]) }, []float64{0, 2}, []float64{math.Ln2, 0},
			[]float64{0, 0}},
		{"dim at the corner", func(x []real) real { return nabla.Dim(x[0], x[1]) }, []float64{2, 2}, []float64{0, 0},
			[]float64{0, 0}},
		{"floor at a step", func(x []real) real { return nabla.Floor(x[0]).Add(x[0]) }, []float64{2}, []float64{1},
			[]float64{0}},
		{"max of one number", func(x []real) real { return nabla.Max(x[0], x[0]) }, []float64{2}, []float64{1},
			[]float64{0}},
		{"log-sum-exp of -Inf", func(x []real) real { return nabla.LogSumExp(x...) }, []float64{1, -inf},
			[]float64{1, 0}, []float64{0, 0}},

		// Where excludes the number not selected, whatever its value.
		{"where √x", func(x []real) real { return nabla.Where(nabla.Lt(zero, x[0]), nabla.Sqrt(x[0]), zero) },
			[]float64{0}, []float64{0}, []float64{0}},
		{"where log x", func(x []real) real { return nabla.Where(nabla.Lt(zero, x[0]), nabla.Log(x[0]), x[0]) },
			[]float64{0}, []float64{1}, []float64{0}},
		{"where x/x", func(x []real) real {
			return nabla.Where(nabla.Eq(x[0], zero), nabla.Const(1), nabla.Sin(x[0]).Div(x[0]))
		}, []float64{0}, []float64{0}, []float64{0}},
		{"where NaN", func(x []real) real {
			return nabla.Where(nabla.Lt(x[0], zero), nabla.Sqrt(x[0].AddConst(-1)), x[0].Sq())
		}, []float64{0.5}, []float64{1}, []float64{2}},

		// 0·Inf: a structural zero stays zero, a number that happens to be 0 does not.
		{"√x·√x", func(x []real) real { return nabla.Sqrt(x[0]).Mul(nabla.Sqrt(x[0])) }, []float64{0}, []float64{nan},
			[]float64{nan}},
		{"(√x)²", func(x []real) real { return nabla.Sqrt(x[0]).Sq() }, []float64{0}, []float64{nan}, []float64{nan}},
		{"0·√x", func(x []real) real { return nabla.Sqrt(x[0]).Scale(0) }, []float64{0}, []float64{nan}, nil},
		{"√x·y", func(x []real) real { return nabla.Sqrt(x[0]).Mul(x[1]) }, []float64{0, 3}, []float64{inf, 0}, nil},
		{"√x + 3y", func(x []real) real { return nabla.Sqrt(x[0]).Add(x[1].Scale(3)) }, []float64{0, 1},
			[]float64{inf, 3}, []float64{-inf, 0}},
		{"√(x²)", func(x []real) real { return nabla.Sqrt(x[0].Sq()) }, []float64{0}, []float64{nan}, []float64{nan}},
		{"constant √0 · x", func(x []real) real { return nabla.Sqrt(zero).Mul(x[0]) }, []float64{2}, []float64{0},
			[]float64{0}},
		{"x·Inf", func(x []real) real { return x[0].Mul(nabla.Const(inf)) }, []float64{2}, []float64{inf},
			[]float64{0}},
		{"3·Inf as x", func(x []real) real { return nabla.Const(3).Mul(x[0]) }, []float64{inf}, []float64{3},
			[]float64{0}},
	} {
		t.Run(c.name, func(t *testing.T) { gradientsAgree(t, c.f, c.x, c.first, c.second) })
	}
}

// TestEveryKinkIsDescribed checks that the table describes the kinks of every function.
func TestEveryKinkIsDescribed(t *testing.T) {
	for op := rules.Invalid + 1; op < rules.NumOps; op++ {
		if rules.Info(op).Kinks == "" {
			t.Errorf("%v says nothing", op)
		}
	}
}

// TestLinearOpAtSpecialPoints checks that the derivative kept at a point agrees with the operators,
// also where it is infinite.
func TestLinearOpAtSpecialPoints(t *testing.T) {
	inf := math.Inf(1)
	for name, p := range randfunc.Singles() {
		f := p.Real().Scalar
		for _, b := range straightOrder {
			for _, v := range []float64{0, 1, -1, 2.5, inf, -inf} {
				x := make([]float64, p.N)
				for i := range x {
					x[i] = v - float64(i)
				}
				op, err := nabla.Linearize(f, b, x)
				if err != nil {
					t.Fatal(err)
				}
				g, err := nabla.Gradient(f, b, x)
				if err != nil {
					t.Fatal(err)
				}
				back, err := op.Transpose(nil, []float64{1})
				if err != nil {
					t.Fatal(err)
				}
				dir := make([]float64, p.N)
				for i := range x {
					dir[i] = 1
					forth, err := op.Apply(nil, dir)
					if err != nil || !nearlyEqual(forth[0], g[i]) || !nearlyEqual(back[i], g[i]) {
						t.Errorf("%s with %s at %v: %v forwards, %v backwards, gradient %v, %v", name, b.Name(), x,
							forth, back, g, err)
					}
					dir[i] = 0
				}
			}
		}
	}
	for _, b := range straightOrder { // a constant factor beside an infinity
		op, err := nabla.Linearize(func(x []nabla.Real) nabla.Real {
			return nabla.Const(3).Mul(x[0]).Add(nabla.Const(2).Div(x[0]))
		}, b, []float64{inf})
		if err != nil {
			t.Fatal(err)
		}
		if d, err := op.Apply(nil, []float64{1}); err != nil || d[0] != 3 {
			t.Errorf("%s: %v, %v", b.Name(), d, err)
		}
	}
}
