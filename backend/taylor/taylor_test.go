package taylor_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/taylor"
	"github.com/nabla-ad/nabla/linalg"
)

// close reports whether got is within tol of want, relative to it.
func near(got, want, tol float64) bool {
	return got == want || got != got && want != want || math.Abs(got-want) <= tol*math.Abs(want)
}

// TestExpSin compares the coefficients of exp(sin x) at 1/2 to order 20 with their recurrence in rational arithmetic
// with 300 bits.
func TestExpSin(t *testing.T) {
	const order, prec = 20, 300
	num := func(v float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(v) }
	mul := func(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(prec).Mul(a, b) }
	add := func(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(prec).Add(a, b) }
	quo := func(a *big.Float, k int) *big.Float { return new(big.Float).SetPrec(prec).Quo(a, num(float64(k))) }
	// series returns the sum of z^k·sign^(k/2)/k! over the k from first in the given steps.
	series := func(z *big.Float, first, step int, sign float64) *big.Float {
		sum, term := num(0), num(1)
		for k := 0; k < 120; k++ {
			if k > 0 {
				term = quo(mul(term, z), k)
			}
			if (k-first)%step == 0 && k >= first {
				s := 1.0
				if (k-first)/step%2 == 1 {
					s = sign
				}
				sum = add(sum, mul(term, num(s)))
			}
		}
		return sum
	}
	half := num(0.5)
	sin, cos := series(half, 1, 2, -1), series(half, 0, 2, -1)
	// The coefficients of sin(1/2 + t): sin, cos, -sin/2, -cos/6, ….
	s := make([]*big.Float, order+1)
	factorial := num(1)
	for k := range s {
		if k > 0 {
			factorial = mul(factorial, num(float64(k)))
		}
		v := []*big.Float{sin, cos, mul(sin, num(-1)), mul(cos, num(-1))}[k%4]
		s[k] = new(big.Float).SetPrec(prec).Quo(v, factorial)
	}
	// Those of exp(s): powers of s - s[0] divided by factorials.
	want := make([]*big.Float, order+1)
	power := make([]*big.Float, order+1)
	for k := range want {
		want[k], power[k] = num(0), num(0)
	}
	power[0] = num(1)
	for p := 0; p <= order; p++ {
		for k := range want {
			want[k] = add(want[k], power[k])
		}
		next := make([]*big.Float, order+1)
		for k := range next {
			next[k] = num(0)
			for j := 1; j <= k; j++ {
				next[k] = add(next[k], mul(s[j], power[k-j]))
			}
			next[k] = quo(next[k], p+1)
		}
		power = next
	}
	scale := series(sin, 0, 1, 1)
	got, err := nabla.Derivatives(expSin, 0.5, order)
	if err != nil {
		t.Fatal(err)
	}
	factorial = num(1)
	for k, v := range got {
		if k > 0 {
			factorial = mul(factorial, num(float64(k)))
		}
		w, _ := mul(mul(want[k], scale), factorial).Float64()
		if !near(v, w, 1e-12) {
			t.Errorf("derivative %d is %v, want %v, error %.2g", k, v, w, math.Abs(v/w-1))
		}
	}
}

// falling returns a·(a-1)·…·(a-k+1).
func falling(a float64, k int) float64 {
	f := 1.0
	for i := range k {
		f *= a - float64(i)
	}
	return f
}

// derivSin returns the k-th derivative of the sine.
func derivSin(x float64, k int) float64 {
	sin, cos := math.Sincos(x)
	return [4]float64{sin, cos, -sin, -cos}[k%4]
}

func factorial(k int) float64 { return falling(float64(k), k) }

// TestPartials compares all partial derivatives to order 4 of five functions with closed forms.
func TestPartials(t *testing.T) {
	for _, f := range []struct {
		name string
		x    []float64
		f    func([]nabla.Real) nabla.Real
		want func(x []float64, a []int) float64
	}{
		{"exp(x+2y)·z³", []float64{0.3, -0.2, 1.5},
			func(x []nabla.Real) nabla.Real {
				return nabla.Exp(x[0].Add(x[1].Scale(2))).Mul(x[2].PowConst(3))
			},
			func(x []float64, a []int) float64 {
				z := falling(3, a[2]) * math.Pow(x[2], float64(3-a[2]))
				return math.Exp(x[0]+2*x[1]) * math.Pow(2, float64(a[1])) * z
			}},
		{"sin(2x-y)", []float64{0.7, 0.4},
			func(x []nabla.Real) nabla.Real { return nabla.Sin(x[0].Scale(2).Sub(x[1])) },
			func(x []float64, a []int) float64 {
				return derivSin(2*x[0]-x[1], a[0]+a[1]) * math.Pow(2, float64(a[0])) * math.Pow(-1, float64(a[1]))
			}},
		{"1/(x+y+z)", []float64{0.5, 1, 0.25},
			func(x []nabla.Real) nabla.Real { return nabla.Inv(nabla.Sum(x...)) },
			func(x []float64, a []int) float64 {
				k := a[0] + a[1] + a[2]
				return math.Pow(-1, float64(k)) * factorial(k) / math.Pow(x[0]+x[1]+x[2], float64(k+1))
			}},
		{"√x·log y", []float64{2.5, 0.75},
			func(x []nabla.Real) nabla.Real { return nabla.Sqrt(x[0]).Mul(nabla.Log(x[1])) },
			func(x []float64, a []int) float64 {
				p := falling(0.5, a[0]) * math.Pow(x[0], 0.5-float64(a[0]))
				if a[1] == 0 {
					return p * math.Log(x[1])
				}
				return p * math.Pow(-1, float64(a[1]-1)) * factorial(a[1]-1) / math.Pow(x[1], float64(a[1]))
			}},
		{"x²·y³·z·w⁴", []float64{1.5, -0.5, 2, 0.75},
			func(x []nabla.Real) nabla.Real {
				return x[0].Sq().Mul(x[1].PowConst(3)).Mul(x[2]).Mul(x[3].Sq().Sq())
			},
			func(x []float64, a []int) float64 {
				y := 1.0
				for i, p := range []int{2, 3, 1, 4} {
					if a[i] > p {
						return 0
					}
					y *= falling(float64(p), a[i]) * math.Pow(x[i], float64(p-a[i]))
				}
				return y
			}},
	} {
		t.Run(f.name, func(t *testing.T) {
			p, err := nabla.PartialDerivatives(f.f, f.x, 4)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for a, d := range p.All() {
				n++
				if want := f.want(f.x, a); !near(d, want, 1e-13) && math.Abs(d-want) > 1e-14 {
					t.Errorf("∂%v is %v, want %v", a, d, want)
				}
				if at, err := p.At(a...); err != nil || at != d {
					t.Errorf("At(%v) = %v, %v; All has %v", a, at, err, d)
				}
			}
			if want := int(falling(float64(len(f.x)+4), 4) / 24); n != want || p.Len() != want {
				t.Errorf("%d derivatives, want %d", n, want)
			}
			checkTensors(t, p, f.x, f.want)
		})
	}
}

// checkTensors compares gradient, Hessian and third derivatives of p.
func checkTensors(t *testing.T, p *nabla.Partials, x []float64, want func(x []float64, a []int) float64) {
	n := len(x)
	index := func(by ...int) []int {
		a := make([]int, n)
		for _, i := range by {
			a[i]++
		}
		return a
	}
	g, err := p.Gradient(nil)
	if err != nil {
		t.Fatal(err)
	}
	h, err := p.Hessian(nil)
	if err != nil {
		t.Fatal(err)
	}
	same := func(what string, got float64, a []int) {
		if w := want(x, a); !near(got, w, 1e-13) && math.Abs(got-w) > 1e-14 {
			t.Errorf("%s %v is %v, want %v", what, a, got, w)
		}
	}
	for i := range n {
		same("gradient", g[i], index(i))
		for j := range n {
			same("Hessian", h.At(i, j), index(i, j))
			for k := range n {
				d, err := p.Third(i, j, k)
				if err != nil {
					t.Fatal(err)
				}
				same("third", d, index(i, j, k))
			}
		}
	}
}

// TestOrdersByInput: derivatives are bounded by input, and those beyond are errors.
func TestOrdersByInput(t *testing.T) {
	f := func(x []nabla.Real) nabla.Real { return nabla.Exp(x[0].Mul(x[1])).Add(nabla.Sin(x[2].Mul(x[0]))) }
	x := []float64{0.5, 0.25, 1}
	all, err := nabla.PartialDerivatives(f, x, 5)
	if err != nil {
		t.Fatal(err)
	}
	prep, err := nabla.PreparePartialDerivatives(f, taylor.Backend{}, x, 5, []int{3, 1, 0})
	if err != nil {
		t.Fatal(err)
	}
	p, err := prep.Partials(nil, x)
	if err != nil {
		t.Fatal(err)
	}
	if p.Len() != 8 || p.Order() != 4 {
		t.Errorf("%d derivatives to order %d, want 8 and 4", p.Len(), p.Order())
	}
	for a, d := range p.All() {
		if want, err := all.At(a...); err != nil || !near(d, want, 1e-13) {
			t.Errorf("∂%v is %v, want %v, %v", a, d, want, err)
		}
	}
	var order *nabla.OrderError
	if _, err := p.At(0, 0, 1); !errors.As(err, &order) {
		t.Errorf("a derivative that was not computed: %v, want an *OrderError", err)
	}
	if _, err := p.Gradient(nil); !errors.As(err, &order) {
		t.Errorf("a gradient that was not computed: %v, want an *OrderError", err)
	}
	var shape *nabla.ShapeError
	if _, err := p.At(0, 1); !errors.As(err, &shape) {
		t.Errorf("two exponents: %v, want a *ShapeError", err)
	}
	if _, err := p.By(3); !errors.As(err, &shape) {
		t.Errorf("input 3: %v, want a *ShapeError", err)
	}
}

// TestMistakes: bad arguments are errors with a type.
func TestMistakes(t *testing.T) {
	f := func(x []nabla.Real) nabla.Real { return x[0].Sq() }
	g := func(x nabla.Real) nabla.Real { return x.Sq() }
	black := func(x []float64) float64 { return x[0] * x[0] }
	x := []float64{1, 2}
	order, shape := func(err error) bool { var e *nabla.OrderError; return errors.As(err, &e) },
		func(err error) bool { var e *nabla.ShapeError; return errors.As(err, &e) }
	unsupported := func(err error) bool {
		var e *nabla.UnsupportedError
		return errors.As(err, &e) && e.Remedy != ""
	}
	limit := func(err error) bool { var e *nabla.LimitError; return errors.As(err, &e) }
	try := func(name string, is func(error) bool, f func() error) {
		t.Helper()
		if err := f(); !is(err) {
			t.Errorf("%s: %v (%T)", name, err, err)
		}
	}
	try("negative order", order, func() error { _, err := nabla.TaylorCoefficients(f, x, x, -1); return err })
	try("negative order of derivatives", order, func() error { _, err := nabla.Derivatives(g, 1, -1); return err })
	try("negative order of partials", order, func() error { _, err := nabla.PartialDerivatives(f, x, -2); return err })
	try("order above the limit", order, func() error {
		_, err := nabla.TaylorCoefficients(f, x, x, taylor.DefaultMaxOrder+1)
		return err
	})
	try("order above a limit", order, func() error {
		_, err := nabla.PrepareTaylorCoefficients(f, taylor.Backend{MaxOrder: 3}, x, 4)
		return err
	})
	try("order within a limit", func(err error) bool { return err == nil }, func() error {
		_, err := nabla.PrepareTaylorCoefficients(f, taylor.Backend{MaxOrder: 300}, x, 250)
		return err
	})
	try("length of v", shape, func() error { _, err := nabla.TaylorCoefficients(f, x, x[:1], 2); return err })
	try("no inputs", shape, func() error {
		_, err := nabla.PartialDerivatives(func(x []nabla.Real) nabla.Real { return nabla.Const(1) }, nil, 2)
		return err
	})
	try("orders", shape, func() error {
		_, err := nabla.PreparePartialDerivatives(f, nil, x, 2, []int{1})
		return err
	})
	try("negative order by an input", order, func() error {
		_, err := nabla.PreparePartialDerivatives(f, nil, x, 2, []int{1, -1})
		return err
	})
	try("black box", unsupported, func() error { _, err := nabla.TaylorCoefficients(black, x, x, 2); return err })
	try("another engine", unsupported, func() error {
		_, err := nabla.PrepareTaylorCoefficients(f, forwarddiff.Backend{}, x, 2)
		return err
	})
	try("too many monomials", limit, func() error {
		_, err := nabla.PartialDerivatives(f, make([]float64, 60), 12)
		return err
	})
	try("nothing prepared", unsupported, func() error {
		var p *nabla.TaylorPrep
		_, err := p.Coefficients(nil, x, x)
		return err
	})
	prep, err := nabla.PrepareTaylorCoefficients(f, nil, x, 2)
	if err != nil {
		t.Fatal(err)
	}
	try("length of dst", shape, func() error { _, err := prep.Coefficients(make([]float64, 2), x, x); return err })
	try("columns of a curve", shape, func() error { _, err := prep.Along(nil, mat.NewDense(2, 4, nil)); return err })
	alias := func(err error) bool { var e *nabla.AliasError; return errors.As(err, &e) }
	long := make([]float64, 5)
	try("overlap", alias, func() error { _, err := prep.Coefficients(long[:3], long[:2], x); return err })
	try("overlap with v", alias, func() error { _, err := prep.Coefficients(long[:3], x, long[:2]); return err })
}

// TestForms: functions over float64 with code over Reals, bound structs, goroutines, nested derivatives, branches, and
// functions of package linalg have the coefficients that a closed form gives.
func TestForms(t *testing.T) {
	x, v := []float64{0.5, 0.25}, []float64{1, -2}
	// f = exp(a·b) along (½+t, ¼-2t): the exponent is ⅛ - ¾t - 2t².
	e := math.Exp(0.125)
	want := []float64{e, -0.75 * e, (-2 + 0.75*0.75/2) * e, (1.5 - 0.75*0.75*0.75/6) * e}
	mul := func(x []nabla.Real) nabla.Real { return x[0].Mul(x[1]) }
	exact := nabla.Rule{
		Name:  "product",
		Value: func(y, x []float64) { y[0] = x[0] * x[1] },
		JVPReal: func(ydot, x, y, xdot []nabla.Real) {
			ydot[0] = xdot[0].Mul(x[1]).Add(x[0].Mul(xdot[1]))
		},
	}
	exp := nabla.Rule{
		Name:    "exp",
		Value:   func(y, x []float64) { y[0] = math.Exp(x[0]) },
		JVPReal: func(ydot, x, y, xdot []nabla.Real) { ydot[0] = y[0].Mul(xdot[0]) },
	}
	pure := exp
	pure.Pure = true
	numeric := nabla.Rule{
		Name:  "numeric product",
		Value: func(y, x []float64) { y[0] = x[0] * x[1] },
		JVP:   func(ydot, x, y, xdot []float64) { ydot[0] = xdot[0]*x[1] + x[0]*xdot[1] },
	}
	type params struct{ Half nabla.Vec }
	for _, f := range []struct {
		name string
		f    any
		tol  float64
	}{
		{"plain", func(x []nabla.Real) nabla.Real { return nabla.Exp(mul(x)) }, 1e-14},
		{"branch", func(x []nabla.Real) nabla.Real {
			if x[0].Less(x[1]) {
				return nabla.Const(0)
			}
			return nabla.Where(nabla.Lt(x[1], x[0]), nabla.Exp(mul(x)), nabla.Log(x[1].Sub(x[0])))
		}, 1e-14},
		{"goroutines", func(x []nabla.Real) nabla.Real {
			var wg sync.WaitGroup
			var y [2]nabla.Real
			for i := range y {
				wg.Go(func() { y[i] = nabla.Exp(mul(x)).Scale(0.5) })
			}
			wg.Wait()
			return y[0].Add(y[1])
		}, 1e-14},
		{"nested", func(x []nabla.Real) nabla.Real {
			g := nabla.GradientFunc(func(z []nabla.Real) nabla.Real { return nabla.Exp(z[0].Mul(x[1])) },
				forwarddiff.Backend{})
			return g([]nabla.Real{x[0]})[0].Div(x[1])
		}, 1e-13},
		{"rule", func(x []nabla.Real) nabla.Real { return nabla.Exp(exact.Func()(x...)[0]) }, 1e-14},
		{"rule of its value", func(x []nabla.Real) nabla.Real { return exp.Func()(mul(x))[0] }, 1e-14},
		{"pure rule", func(x []nabla.Real) nabla.Real { return pure.Func()(mul(x))[0] }, 1e-14},
		{"rule at numbers", func(x []nabla.Real) nabla.Real { return nabla.Exp(numeric.Func()(x...)[0]) }, 1e-6},
		{"linalg", func(x []nabla.Real) nabla.Real {
			a := &linalg.Matrix{Rows: 2, Cols: 2,
				Data: []nabla.Real{x[0], nabla.Const(1), nabla.Const(0), x[1]}}
			return nabla.Exp(linalg.Det(a))
		}, 1e-14},
		{"bound", nabla.Bind(func(x []nabla.Real, p *params) nabla.Real {
			return nabla.Exp(mul(x).Mul(p.Half.At(0)).Scale(2))
		}, &params{nabla.VecOf([]float64{0.5})}), 1e-14},
	} {
		t.Run(f.name, func(t *testing.T) {
			var got []float64
			var err error
			switch f := f.f.(type) {
			case func([]nabla.Real) nabla.Real:
				got, err = nabla.TaylorCoefficients(f, x, v, 3)
			case *nabla.Func:
				got, err = nabla.TaylorCoefficients(f, x, v, 3)
			}
			if err != nil {
				var e *nabla.PanicError
				if errors.As(err, &e) {
					t.Logf("%s", e.Stack)
				}
				t.Fatal(err)
			}
			for k := range want {
				if !near(got[k], want[k], f.tol) {
					t.Errorf("coefficient %d is %v, want %v", k, got[k], want[k])
				}
			}
		})
	}
	box := nabla.DifferentiateWith(func(x []float64) float64 { return x[0] * x[1] }, finitediff.Backend{})
	got, err := nabla.TaylorCoefficients(func(x []nabla.Real) nabla.Real { return nabla.Exp(box(x)) }, x, v, 2)
	if err != nil || !near(got[2], want[2], 1e-4) {
		t.Errorf("order 2 of DifferentiateWith: %v, %v; want %v", got, err, want[2])
	}
	// Beyond order 2 the preparation fails, and from order 5 that of a rule at numbers.
	f := func(x []nabla.Real) nabla.Real { return nabla.Exp(box(x)) }
	if _, err := nabla.PrepareTaylorCoefficients(f, nil, x, 3); !errors.Is(err, nabla.ErrUnsupported) {
		t.Errorf("order 3 of DifferentiateWith: %v", err)
	}
	var order *nabla.OrderError
	r := func(x []nabla.Real) nabla.Real { return numeric.Func()(x...)[0] }
	if _, err := nabla.PrepareTaylorCoefficients(r, nil, x, 5); !errors.As(err, &order) {
		t.Errorf("order 5 of a rule at numbers: %v", err)
	}
}

// TestSingular: at singular points coefficients are those of the convention, and never 0 for what is not known.
func TestSingular(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		name string
		f    func([]nabla.Real) nabla.Real
		x, v []float64
		want []float64
	}{
		{"sqrt at 0", func(x []nabla.Real) nabla.Real { return nabla.Sqrt(x[0]) }, []float64{0}, []float64{1},
			[]float64{0, inf, -inf, inf}},
		{"sqrt of a square", func(x []nabla.Real) nabla.Real { return nabla.Sqrt(x[0].Sq()) }, []float64{0},
			[]float64{1}, []float64{0, nan, nan, nan}},
		{"x³ at 0", func(x []nabla.Real) nabla.Real { return x[0].PowConst(3) }, []float64{0}, []float64{2},
			[]float64{0, 0, 0, 8}},
		{"x^2.5 at 0", func(x []nabla.Real) nabla.Real { return x[0].PowConst(2.5) }, []float64{0}, []float64{1},
			[]float64{0, 0, 0, inf}},
		{"1/x at 0", func(x []nabla.Real) nabla.Real { return nabla.Inv(x[0]) }, []float64{0}, []float64{1},
			[]float64{inf, -inf, inf, -inf}},
		{"abs at 0", func(x []nabla.Real) nabla.Real { return nabla.Abs(x[0]) }, []float64{0}, []float64{1},
			[]float64{0, 0, 0, 0}},
		{"an input that does not move",
			func(x []nabla.Real) nabla.Real { return nabla.Sqrt(x[0]).Add(nabla.Exp(x[1])) }, []float64{0, 0},
			[]float64{0, 1}, []float64{1, 1, 0.5, 1. / 6}},
	} {
		got, err := nabla.TaylorCoefficients(c.f, c.x, c.v, len(c.want)-1)
		if err != nil {
			t.Fatal(err)
		}
		for k, w := range c.want {
			if !near(got[k], w, 1e-15) {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
				break
			}
		}
	}
	// The derivative by an input that reads nothing singular is known although the others are not.
	p, err := nabla.PartialDerivatives(func(x []nabla.Real) nabla.Real {
		return nabla.Sqrt(x[0]).Add(x[1].Sq().Mul(x[1]))
	}, []float64{0, 2}, 3)
	if err != nil {
		t.Fatal(err)
	}
	for by, want := range map[string]float64{"1": 12, "11": 12, "111": 6, "0": inf, "01": 0} {
		var in []int
		for _, c := range by {
			in = append(in, int(c-'0'))
		}
		if got, err := p.By(in...); err != nil || !near(got, want, 1e-15) {
			t.Errorf("derivative by %v is %v, want %v, %v", in, got, want, err)
		}
	}
}

// TestHotCalls: prepared calls with destinations do not allocate, whatever the operations.
func TestHotCalls(t *testing.T) {
	f := func(x []nabla.Real) nabla.Real {
		y := nabla.Exp(nabla.Sin(x[0].Mul(x[1]))).Add(nabla.Atan2(x[0], x[1])).Add(x[0].PowConst(2.5))
		return y.Add(nabla.Jn(2, x[0])).Div(nabla.Hypot(x[0], x[1]))
	}
	x, v := []float64{0.5, 0.75}, []float64{1, 2}
	ok := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	taylorPrep, err := nabla.PrepareTaylorCoefficients(f, nil, x, 8)
	ok(err)
	partials, err := nabla.PreparePartialDerivatives(f, nil, x, 4, nil)
	ok(err)
	derivatives, err := nabla.PrepareDerivatives(expSin, nil, 0.5, 8)
	ok(err)
	dst, batch, dirs := make([]float64, 9), mat.NewDense(9, 3, nil), mat.NewDense(2, 3, []float64{1, 0, 1, 0, 1, 2})
	curve := mat.NewDense(2, 4, []float64{0.5, 1, 0.5, 0, 0.75, 2, 0, 1})
	p, err := partials.Partials(nil, x)
	ok(err)
	for name, call := range map[string]func() error{
		"Coefficients":      func() error { _, err := taylorPrep.Coefficients(dst, x, v); return err },
		"CoefficientsBatch": func() error { _, err := taylorPrep.CoefficientsBatch(batch, x, dirs); return err },
		"Along":             func() error { _, err := taylorPrep.Along(dst[:4], curve); return err },
		"Derivatives":       func() error { _, err := derivatives.Derivatives(dst, 0.5); return err },
		"Partials":          func() error { _, err := partials.Partials(p, x); return err },
	} {
		ok(call())
		if n := testing.AllocsPerRun(50, func() { ok(call()) }); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	for l, want := range []func() ([]float64, error){
		func() ([]float64, error) { return taylorPrep.Coefficients(nil, x, []float64{1, 0}) },
		func() ([]float64, error) { return taylorPrep.Coefficients(nil, x, []float64{0, 1}) },
		func() ([]float64, error) { return taylorPrep.Coefficients(nil, x, []float64{1, 2}) },
	} {
		w, err := want()
		ok(err)
		for k := range w {
			if !near(batch.At(k, l), w[k], 1e-13) {
				t.Errorf("direction %d: coefficient %d is %v, alone %v", l, k, batch.At(k, l), w[k])
			}
		}
	}
}

// TestClone: clones compute in other goroutines, and objects follow Rebind and Resize.
func TestClone(t *testing.T) {
	f := func(x []nabla.Real) nabla.Real { return nabla.Exp(nabla.Dot(x, x)) }
	prep, err := nabla.PrepareTaylorCoefficients(f, nil, []float64{0.5}, 6)
	if err != nil {
		t.Fatal(err)
	}
	want, err := prep.Coefficients(nil, []float64{0.5}, []float64{1})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		c := prep.Clone()
		wg.Go(func() {
			got, err := c.Coefficients(nil, []float64{0.5}, []float64{1})
			if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("clone: %v, %v; want %v", got, err, want)
			}
		})
	}
	wg.Wait()
	if err := prep.Resize([]float64{1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	got, err := prep.Coefficients(nil, []float64{0.5, 0, 0}, []float64{1, 0, 0})
	if err != nil || !near(got[6], want[6], 1e-14) {
		t.Errorf("after Resize: %v, %v; want %v", got, err, want)
	}
	if s := prep.Explain().String(); !strings.Contains(s, "taylor") {
		t.Errorf("Explain: %s", s)
	}
}
