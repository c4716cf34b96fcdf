package taylor_test

import (
	"fmt"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/taylor"
	"github.com/nabla-ad/nabla/internal/timing/timingtest"
)

func expSin(x nabla.Real) nabla.Real { return nabla.Exp(nabla.Sin(x)) }

// BenchmarkDerivatives prints how many evaluations over untraced Reals the derivatives of exp(sin x), and of functions
// with longer recurrences, take at several orders.
func BenchmarkDerivatives(b *testing.B) {
	for _, f := range []struct {
		name string
		f    func(nabla.Real) nabla.Real
	}{
		{"expsin", expSin},
		{"pow", func(x nabla.Real) nabla.Real { return x.Sq().AddConst(1).PowConst(1.5) }},
		{"atan2", func(x nabla.Real) nabla.Real { return nabla.Atan2(nabla.Sin(x), nabla.Exp(x)) }},
		{"lgamma", func(x nabla.Real) nabla.Real { g, _ := nabla.Lgamma(nabla.Exp(x)); return g }},
	} {
		for _, order := range []int{1, 5, 10, 20, 40} {
			b.Run(fmt.Sprintf("%s/order=%d", f.name, order), func(b *testing.B) {
				prep, err := nabla.PrepareDerivatives(f.f, nil, 0.5, order)
				if err != nil {
					b.Fatal(err)
				}
				dst := make([]float64, order+1)
				timingtest.Ratio(b, func() {
					if _, err := prep.Derivatives(dst, 0.5); err != nil {
						b.Fatal(err)
					}
				}, func() { sink = f.f(nabla.Const(0.5)).Value() })
			})
		}
	}
}

var sink float64

// BenchmarkNested prints the ratio of nested derivatives by dual numbers to those of Taylor arithmetic.
func BenchmarkNested(b *testing.B) {
	f := expSin
	for order := 1; order <= 6; order++ {
		b.Run(fmt.Sprintf("order=%d", order), func(b *testing.B) {
			prep, err := nabla.PrepareDerivatives(expSin, nil, 0.5, order)
			if err != nil {
				b.Fatal(err)
			}
			nested, err := nabla.PrepareDerivative(f, forwarddiff.Backend{}, 0.5)
			if err != nil {
				b.Fatal(err)
			}
			dst := make([]float64, order+1)
			timingtest.Ratio(b, func() {
				if _, err := nested.Derivative(0.5); err != nil {
					b.Fatal(err)
				}
			}, func() {
				if _, err := prep.Derivatives(dst, 0.5); err != nil {
					b.Fatal(err)
				}
			})
		})
		f = nabla.DerivativeFunc(f, forwarddiff.Backend{})
	}
}

// mixed is a function of n inputs with products, quotients and elementary functions.
func mixed(x []nabla.Real) nabla.Real {
	y := nabla.Const(0)
	for i, v := range x {
		w := x[(i+1)%len(x)]
		y = y.Add(nabla.Exp(nabla.Sin(v.Mul(w)))).Add(v.Div(w.Sq().AddConst(1))).Mul(nabla.Cos(v))
	}
	return y
}

// BenchmarkHessian prints the ratio of the Hessian of taylor to that of tangents of the reverse of a recording.
func BenchmarkHessian(b *testing.B) {
	for _, n := range []int{1, 2, 4, 6, 8, 12, 16} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			x := point(n)
			partials, err := nabla.PreparePartialDerivatives(mixed, nil, x, 2, nil)
			if err != nil {
				b.Fatal(err)
			}
			hess, err := nabla.PrepareHessian(mixed,
				nabla.SecondOrder{Outer: taylor.Backend{}, Inner: reversediff.Backend{Compile: true}}, x)
			if err != nil {
				b.Fatal(err)
			}
			h := mat.NewSymDense(n, nil)
			p, err := partials.Partials(nil, x)
			if err != nil {
				b.Fatal(err)
			}
			timingtest.Ratio(b, func() {
				if _, err := partials.Partials(p, x); err != nil {
					b.Fatal(err)
				}
			}, func() {
				if _, err := hess.Dense(h, x); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}

// point returns a point of n inputs.
func point(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 0.3 + 0.1*float64(i%7)
	}
	return x
}

// BenchmarkPartials prints the ratio of series along as many directions as interpolation takes, C(n+d-1, d), to
// polynomials in n variables, for all partial derivatives to order d. The interpolation itself is left out.
func BenchmarkPartials(b *testing.B) {
	for _, c := range []struct{ n, d int }{{2, 2}, {2, 4}, {2, 8}, {3, 3}, {4, 4}, {6, 2}, {6, 3}, {6, 4}, {10, 3}} {
		b.Run(fmt.Sprintf("n=%d/d=%d", c.n, c.d), func(b *testing.B) {
			x := point(c.n)
			prep, err := nabla.PreparePartialDerivatives(mixed, nil, x, c.d, nil)
			if err != nil {
				b.Fatal(err)
			}
			p, err := prep.Partials(nil, x)
			if err != nil {
				b.Fatal(err)
			}
			directions := 1
			for i := 1; i <= c.d; i++ {
				directions = directions * (c.n - 1 + i) / i
			}
			lines, err := nabla.PrepareTaylorCoefficients(mixed, nil, x, c.d)
			if err != nil {
				b.Fatal(err)
			}
			v := mat.NewDense(c.n, directions, nil)
			for i := range c.n {
				for j := range directions {
					v.Set(i, j, float64((3*i+j)%5)-2)
				}
			}
			out := mat.NewDense(c.d+1, directions, nil)
			timingtest.Ratio(b, func() {
				if _, err := lines.CoefficientsBatch(out, x, v); err != nil {
					b.Fatal(err)
				}
			}, func() {
				if _, err := prep.Partials(p, x); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}

// BenchmarkGradient prints the ratio of gradients of taylor to those of dual numbers.
func BenchmarkGradient(b *testing.B) {
	for _, n := range []int{1, 4, 12, 48} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			x, g := point(n), make([]float64, n)
			calls := [2]func(){}
			for i, e := range []nabla.Backend{taylor.Backend{}, forwarddiff.Backend{}} {
				prep, err := nabla.PrepareGradient(mixed, e, x)
				if err != nil {
					b.Fatal(err)
				}
				calls[i] = func() {
					if _, err := prep.Gradient(g, x); err != nil {
						b.Fatal(err)
					}
				}
			}
			timingtest.Ratio(b, calls[0], calls[1])
		})
	}
}
