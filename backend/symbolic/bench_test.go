package symbolic_test

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/symbolic"
	"github.com/nabla-ad/nabla/internal/timing/timingtest"
)

// waist has four inputs and four outputs, and between them one number that goes through a long chain.
func waist(x []nabla.Real) []nabla.Real {
	s := nabla.Dot(x, x)
	for range 20 {
		s = s.Mul(s.AddConst(1)).Scale(0.5)
	}
	y := make([]nabla.Real, 4)
	for i := range y {
		y[i] = s.Scale(float64(i + 1)).Sq()
	}
	return y
}

// mixed is a function of six inputs that all meet.
func mixed(x []nabla.Real) nabla.Real {
	s, p := nabla.Const(0), nabla.Const(1)
	for i, v := range x {
		w := x[(i+1)%len(x)]
		s = s.Add(v.Sq().Mul(w))
		p = p.Mul(v.Add(w))
	}
	return s.Mul(p).Add(s.Div(p.Sq().AddConst(1)))
}

// BenchmarkDerivatives reports the times of prepared Jacobians and Hessians of functions of few inputs, and their ratio
// to those of other engines.
func BenchmarkDerivatives(b *testing.B) {
	for _, other := range []nabla.Backend{reversediff.Backend{Compile: true}, forwarddiff.Backend{}} {
		b.Run("jacobian/over:"+other.Name(), func(b *testing.B) {
			x, j := []float64{0.1, 0.2, 0.3, 0.4}, mat.NewDense(4, 4, nil)
			var calls [2]func()
			for i, e := range []nabla.Backend{symbolic.Backend{}, other} {
				p, err := nabla.PrepareJacobian(waist, nabla.Policy{Backend: e, FixedCaptures: true}, x)
				if err != nil {
					b.Fatal(err)
				}
				calls[i] = func() {
					if _, err := p.Dense(j, x); err != nil {
						b.Fatal(err)
					}
				}
			}
			timingtest.Ratio(b, calls[0], calls[1])
		})
		b.Run("hessian/over:"+other.Name(), func(b *testing.B) {
			x, h := []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6}, mat.NewSymDense(6, nil)
			var calls [2]func()
			for i, e := range []nabla.Backend{symbolic.Backend{}, other} {
				p, err := nabla.PrepareHessian(mixed, nabla.Policy{Backend: e, FixedCaptures: true}, x)
				if err != nil {
					b.Fatal(err)
				}
				calls[i] = func() {
					if _, err := p.Dense(h, x); err != nil {
						b.Fatal(err)
					}
				}
			}
			timingtest.Ratio(b, calls[0], calls[1])
		})
	}
}
