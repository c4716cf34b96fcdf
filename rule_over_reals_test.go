package nabla_test

import (
	"math"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/internal/engines"
)

// BenchmarkRuleReal is the Hessian-vector product of a function that calls a rule with derivatives over Reals.
func BenchmarkRuleReal(b *testing.B) {
	p, err := nabla.PrepareHVP(overReals, reversediff.Backend{Compile: true}, []float64{2, 3, 0.5})
	if err != nil {
		b.Fatal(err)
	}
	x, v, dst := []float64{2, 3, 0.5}, []float64{1, -1, 2}, make([]float64, 3)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.HVP(dst, x, v); err != nil {
			b.Fatal(err)
		}
	}
}

// cubes is y[i] = x[i]³·x[0], with derivatives over Reals.
var cubes = nabla.Rule{Name: "cubes", Pure: true, Out: func(n int) int { return n },
	Value: func(y, x []float64) {
		for i, v := range x {
			y[i] = v * v * v * x[0]
		}
	},
	VJPReal: func(xbar, x, y, ybar []nabla.Real) {
		for i, v := range x {
			xbar[i] = xbar[i].Add(v.Sq().Mul(x[0]).Scale(3).Mul(ybar[i]))
			xbar[0] = xbar[0].Add(v.Sq().Mul(v).Mul(ybar[i]))
		}
	}}

func overReals(x []nabla.Real) nabla.Real {
	y := cubes.Func()(x...)
	return nabla.Sin(nabla.Dot(y, x))
}

// A rule that reads data which change, and does not state that it is pure, has the derivatives for the data of the
// call.
func TestRuleReadsChangingData(t *testing.T) {
	rate := 1.0
	r := nabla.Rule{Name: "growth",
		Value: func(y, x []float64) { y[0] = math.Exp(rate * x[0]) },
		VJPReal: func(xbar, x, y, ybar []nabla.Real) {
			xbar[0] = xbar[0].Add(nabla.Exp(x[0].Scale(rate)).Scale(rate).Mul(ybar[0]))
		}}.Func()
	f := func(x []nabla.Real) nabla.Real { return r(x[0])[0] }
	for _, b := range engines.Exact() {
		rate = 1
		g, err := nabla.PrepareGradient(f, b, []float64{0.5})
		if err != nil {
			t.Fatal(err)
		}
		h, err := nabla.PrepareHVP(f, b, []float64{0.5})
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			rate += 0.25
			want := rate * math.Exp(rate*0.5)
			if got, err := g.Gradient(nil, []float64{0.5}); err != nil || math.Abs(got[0]-want) > 1e-12 {
				t.Errorf("%s: gradient %v, %v, want %v", b.Name(), got, err, want)
			}
			got, err := h.HVP(nil, []float64{0.5}, []float64{1})
			if err != nil || math.Abs(got[0]-rate*want) > 1e-12 {
				t.Errorf("%s: HVP %v, %v, want %v", b.Name(), got, err, rate*want)
			}
		}
	}
}

// A structural zero that passes through a pure rule meets an infinite derivative without effect.
func TestPureRuleStructuralZero(t *testing.T) {
	f := func(x []nabla.Real) nabla.Real {
		root := nabla.Where(nabla.Lt(nabla.Const(0), x[0]), nabla.Sqrt(x[0]), nabla.Const(0))
		y := cubes.Func()(x[1], root)
		return y[0].Add(y[1].Mul(x[0]))
	}
	x, v := []float64{0, 2}, []float64{1, 1}
	for _, b := range engines.Exact() {
		g, err := nabla.Gradient(f, b, x)
		if err != nil || g[0] != 0 || g[1] != 32 {
			t.Errorf("%s: gradient %v, %v, want [0 32]", b.Name(), g, err)
		}
		hv, err := nabla.HVP(f, b, x, v)
		if err != nil || hv[0] != 0 || hv[1] != 48 {
			t.Errorf("%s: HVP %v, %v, want [0 48]", b.Name(), hv, err)
		}
	}
}

// A rule over Reals has exact second derivatives in every engine, whether or not it reads values; calls of compiled
// objects do not allocate in the second case.
func TestRuleOverRealsSecondOrder(t *testing.T) {
	branches := nabla.Rule{Name: "branches", Pure: true,
		Value: func(y, x []float64) {
			y[0] = x[0] * x[0] * x[1]
			if x[0] < 0 {
				y[0] *= 2
			}
		},
		VJPReal: func(xbar, x, y, ybar []nabla.Real) {
			c := 1.0
			if x[0].Less(nabla.Const(0)) {
				c = 2
			}
			xbar[0] = xbar[0].Add(x[0].Mul(x[1]).Scale(2 * c).Mul(ybar[0]))
			xbar[1] = xbar[1].Add(x[0].Sq().Scale(c).Mul(ybar[0]))
		}}
	branching := func(x []nabla.Real) nabla.Real { return branches.Func()(x[0], x[1])[0].Mul(x[2]) }
	plain := func(x []nabla.Real) nabla.Real {
		c := nabla.Where(nabla.Lt(x[0], nabla.Const(0)), nabla.Const(2), nabla.Const(1))
		return x[0].Sq().Mul(x[1]).Mul(c).Mul(x[2])
	}
	scalars := func(x []nabla.Real) nabla.Real {
		sum := nabla.Const(0)
		for _, v := range x {
			sum = sum.Add(v.Sq().Sq().Mul(x[0]))
		}
		return nabla.Sin(sum)
	}
	compiled := reversediff.Backend{Compile: true}
	for _, c := range []struct {
		name     string
		f, plain func([]nabla.Real) nabla.Real
		free     bool
	}{{"branches", branching, plain, false}, {"cubes", overReals, scalars, true}} {
		for _, b := range append(engines.Exact(), nabla.SecondOrder{Outer: compiled, Inner: compiled}) {
			p, err := nabla.PrepareHVP(c.f, b, []float64{2, 3, 0.5})
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range [][]float64{{1.2, 0.3, 0.5}, {-0.7, 0.2, 0.4}, {1.1, 0.3, 0.5}} {
				v := []float64{1, -1, 2}
				want, err := nabla.HVP(c.plain, compiled, x, v)
				if err != nil {
					t.Fatal(err)
				}
				got, err := p.HVP(nil, x, v)
				if err != nil {
					t.Fatal(err)
				}
				for i := range want {
					if !(math.Abs(got[i]-want[i]) <= 1e-12*(1+math.Abs(want[i]))) {
						t.Errorf("%s on %s at %v: %v, want %v", c.name, b.Name(), x, got, want)
						break
					}
				}
			}
		}
	}
	p, err := nabla.PrepareHVP(overReals, compiled, []float64{2, 3, 0.5})
	if err != nil {
		t.Fatal(err)
	}
	x, v, dst := []float64{2, 3, 0.5}, []float64{1, -1, 2}, make([]float64, 3)
	call := func() {
		if _, err := p.HVP(dst, x, v); err != nil {
			t.Fatal(err)
		}
	}
	for range 70 { // comparisons with the function are at calls 1, 2, 4, …, 64 and 128
		call()
	}
	if n := testing.AllocsPerRun(20, call); n > 0 {
		t.Errorf("%v allocations in a call", n)
	}
}

// TestRuleInGoroutines has a rule over Reals whose derivative is computed in a goroutine, for engines that trace it
// when it is differentiated again.
func TestRuleInGoroutines(t *testing.T) {
	square := nabla.Rule{
		Name:  "square",
		Value: func(y, x []float64) { y[0] = x[0] * x[0] },
		VJPReal: func(xbar, x, y, ybar []nabla.Real) {
			done := make(chan nabla.Real)
			go func() { done <- x[0].Scale(2).Mul(ybar[0]) }()
			xbar[0] = xbar[0].Add(<-done)
		},
	}.Func()
	f := func(x []nabla.Real) nabla.Real { return square(x[0].Mul(x[0]))[0] }
	for _, b := range secondOrder {
		h, err := nabla.Hessian(f, b, []float64{3})
		if err != nil || h.At(0, 0) != 12*9 {
			t.Errorf("%s: the second derivative is %v, %v, want %v", b.Name(), h, err, 12*9)
		}
	}
}
