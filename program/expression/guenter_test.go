package expression_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/program/expression"
)

// harmonics returns the real spherical harmonics of all orders below n, as functions of a direction (x, y, z): the
// example of Guenter 2007, section 5, with its recurrences.
func harmonics(n int) func(v []nabla.Real) []nabla.Real {
	return func(v []nabla.Real) []nabla.Real {
		x, y, z := v[0], v[1], v[2]
		var legendre func(l, m int) nabla.Real
		memo := map[[2]int]nabla.Real{}
		legendre = func(l, m int) nabla.Real {
			if p, ok := memo[[2]int{l, m}]; ok {
				return p
			}
			var p nabla.Real
			switch {
			case l == 0:
				p = nabla.Const(1)
			case l == m:
				p = legendre(m-1, m-1).Scale(float64(1 - 2*m))
			case l == m+1:
				p = legendre(m, m).Scale(float64(2*m + 1)).Mul(z)
			default:
				p = z.Scale(float64(2*l - 1)).Mul(legendre(l-1, m)).Sub(legendre(l-2, m).Scale(float64(l + m - 1))).
					Scale(1 / float64(l-m))
			}
			memo[[2]int{l, m}] = p
			return p
		}
		c, s := []nabla.Real{nabla.Const(1)}, []nabla.Real{nabla.Const(0)}
		for m := 1; m < n; m++ {
			c = append(c, x.Mul(c[m-1]).Sub(y.Mul(s[m-1])))
			s = append(s, x.Mul(s[m-1]).Add(y.Mul(c[m-1])))
		}
		var out []nabla.Real
		for l := range n {
			for m := -l; m <= l; m++ {
				k := max(m, -m)
				ratio := math.Gamma(float64(l-k+1)) / math.Gamma(float64(l+k+1))
				norm := math.Sqrt(float64(2*l+1) / (4 * math.Pi) * ratio)
				h := legendre(l, k).Scale(norm)
				switch {
				case m < 0:
					h = h.Mul(s[k]).Scale(math.Sqrt2)
				case m > 0:
					h = h.Mul(c[k]).Scale(math.Sqrt2)
				}
				out = append(out, h)
			}
		}
		return out
	}
}

// waist has four inputs and four outputs, and between them one number that goes through a long chain.
func waist(x []nabla.Real) []nabla.Real {
	s := nabla.Dot(x, x)
	for range 20 {
		s = nabla.Sin(s).Mul(s)
	}
	y := make([]nabla.Real, 4)
	for i := range y {
		y[i] = nabla.Exp(s.Scale(float64(i + 1)))
	}
	return y
}

// products has the products of all inputs, and of all but the last.
func products(x []nabla.Real) []nabla.Real {
	p := x[0]
	for _, v := range x[1 : len(x)-1] {
		p = p.Mul(v)
	}
	return []nabla.Real{p, p.Mul(x[len(x)-1])}
}

// TestGuenter counts operations on functions of the kind that the algorithm D* is made for, and compares the values of
// the derivatives with those of dual numbers. The counts of the sweeps are after the same simplification.
func TestGuenter(t *testing.T) {
	for _, c := range []struct {
		name  string
		f     func(x []nabla.Real) []nabla.Real
		x     []float64
		ratio float64 // operations for the derivatives, at most, relative to those of the better sweep
	}{
		{"harmonics of order 3", harmonics(3), []float64{0.6, 0, 0.8}, 1},
		{"harmonics of order 6", harmonics(6), []float64{0.48, 0.6, 0.64}, 0.86},
		{"harmonics of order 10", harmonics(10), []float64{0.48, 0.6, 0.64}, 0.84},
		{"waist", waist, []float64{0.1, 0.2, 0.3, 0.4}, 0.29},
		{"products", products, []float64{2, 3, 4, 5, 6, 7, 8, 9}, 1},
	} {
		r, err := nabla.Record(c.f, c.x)
		if err != nil {
			t.Fatal(err)
		}
		p := r.Program()
		m, err := expression.Differentiate(p, expression.Options{})
		if err != nil || m == nil {
			t.Fatal(m, err)
		}
		ops := m.Operations
		t.Logf("%s: the function takes %d operations; with the Jacobian %d factorised, %d forward, %d reverse", c.name,
			p.Operations(), ops[expression.Factorised], ops[expression.Forward], ops[expression.Reverse])
		best := min(ops[expression.Forward], ops[expression.Reverse]) - p.Operations()
		if d := ops[m.Method] - p.Operations(); float64(d) > c.ratio*float64(best) {
			t.Errorf("%s: %d operations for the derivatives, want at most %v of %d", c.name, d, c.ratio, best)
		}
		again, err := expression.Differentiate(p, expression.Options{})
		if err != nil || again.Dense().String() != m.Dense().String() {
			t.Errorf("%s: a second time the program is another, %v", c.name, err)
		}
		machine := program.NewMachine(program.Schedule(m.Dense()))
		copy(machine.Input(0), c.x)
		if !machine.Run() {
			t.Fatal("a guard failed")
		}
		rows, cols := m.Dims()
		got := mat.NewDense(rows, cols, nil)
		machine.Output(1, got.RawMatrix().Data)
		want, err := nabla.Jacobian(c.f, forwarddiff.Backend{}, c.x)
		if err != nil || !mat.EqualApprox(got, want, 1e-12*mat.Norm(want, 1)) {
			t.Errorf("%s:\n%v\nwant\n%v", c.name, mat.Formatted(got), mat.Formatted(want))
		}
	}
}
