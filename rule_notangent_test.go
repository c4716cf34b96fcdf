package nabla_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/internal/engines"
)

// power is x1 to the power of the integer x0, in every form that a rule may have.
func power(forms string) nabla.Rule {
	r := nabla.Rule{Name: "power", NoTangent: []int{0}, Pure: true,
		Value: func(y, x []float64) { y[0] = math.Pow(x[1], x[0]) }}
	d := func(x []float64) float64 { return x[0] * math.Pow(x[1], x[0]-1) }
	// What is added for input 0 is dropped.
	if strings.Contains(forms, "JVP ") {
		r.JVP = func(ydot, x, y, xdot []float64) { ydot[0] = d(x)*xdot[1] + 1e9*xdot[0] }
	}
	if strings.Contains(forms, "VJP ") {
		r.VJP = func(xbar, x, y, ybar []float64) { xbar[1] += d(x) * ybar[0]; xbar[0] += math.Inf(1) }
	}
	if strings.Contains(forms, "ValueVJP ") {
		r.ValueVJP = func(y, x []float64) func(xbar, ybar []float64) {
			y[0] = math.Pow(x[1], x[0])
			return func(xbar, ybar []float64) { xbar[1] += d(x) * ybar[0]; xbar[0] += math.Inf(1) }
		}
	}
	over := func(x []nabla.Real) nabla.Real { return x[0].Mul(nabla.Pow(x[1], x[0].AddConst(-1))) }
	if strings.Contains(forms, "JVPReal ") {
		r.JVPReal = func(ydot, x, y, xdot []nabla.Real) { ydot[0] = over(x).Mul(xdot[1]) }
	}
	if strings.Contains(forms, "VJPReal ") {
		r.VJPReal = func(xbar, x, y, ybar []nabla.Real) {
			xbar[1] = xbar[1].Add(over(x).Mul(ybar[0]))
			xbar[0] = xbar[0].Add(x[1])
		}
	}
	return r
}

// TestNoTangent compares derivatives of x³·y with closed forms, where the degree is a constant or a number whose
// derivative is stopped.
func TestNoTangent(t *testing.T) {
	x := []float64{1.5, 3}
	for _, forms := range []string{"JVP ", "VJP ", "JVP VJP ", "ValueVJP ", "JVPReal ", "VJPReal ", "VJP VJPReal "} {
		f := power(forms).Func()
		for name, degree := range map[string]func(x nabla.Real) nabla.Real{
			"constant": func(nabla.Real) nabla.Real { return nabla.Const(3) }, "stopped": nabla.StopGradient,
			"rounded": func(x nabla.Real) nabla.Real { return nabla.Round(x).AddConst(1).Sub(nabla.Const(1)) },
		} {
			fn := func(x []nabla.Real) nabla.Real { return f(degree(x[1]), x[0])[0].Mul(x[1]) }
			for _, b := range engines.Exact() {
				g, err := nabla.Gradient(fn, b, x)
				if err != nil {
					t.Fatalf("%s%s: %s: %v", forms, name, b.Name(), err)
				}
				h, err := nabla.Hessian(fn, b, x)
				if err != nil {
					t.Fatalf("%s%s: %s: %v", forms, name, b.Name(), err)
				}
				a := x[0]
				got := []float64{g[0], g[1], h.At(0, 0), h.At(0, 1), h.At(1, 1)}
				for i, want := range []float64{9 * a * a, a * a * a, 18 * a, 3 * a * a, 0} {
					if !(math.Abs(got[i]-want) <= 1e-8*(1+want)) {
						t.Errorf("%s%s: %s: derivative %d is %v, want %v", forms, name, b.Name(), i, got[i], want)
					}
				}
			}
		}
	}
}

// TestNoTangentRefuses: a degree that carries a derivative is refused by every engine, and so is an index that does not
// exist.
func TestNoTangentRefuses(t *testing.T) {
	f, wrong := power("VJP ").Func(), power("VJP ")
	wrong.NoTangent = []int{2}
	for _, b := range engines.Exact() {
		for what, fn := range map[string]func(x []nabla.Real) nabla.Real{
			"input 0 has no derivative":  func(x []nabla.Real) nabla.Real { return f(x...)[0] },
			"input 0 has no derivative ": func(x []nabla.Real) nabla.Real { return f(x[0].Scale(2), x[1])[0] },
			"NoTangent lists input 2": func(x []nabla.Real) nabla.Real {
				return wrong.Func()(nabla.Const(3), x[1])[0]
			},
		} {
			_, err := nabla.Gradient(fn, b, []float64{3, 2})
			var is *nabla.FuncError
			if !errors.As(err, &is) || !strings.Contains(err.Error(), what) {
				t.Errorf("%s: error %v, want a FuncError with %q", b.Name(), err, what)
			}
		}
	}
}
