package linalg_test

import (
	"fmt"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/linalg"
)

// A Kalman filter estimates position and velocity of a body from measured positions. The likelihood of the
// measurements, up to a constant, is differentiated with respect to the logarithms of the variances of acceleration and
// measurement.
func Example() {
	measured := []float64{0.1, 1.2, 1.8, 3.3, 3.9, 5.2, 5.7, 7.1}
	logLikelihood := func(theta []nabla.Real) nabla.Real {
		q, r := nabla.Exp(theta[0]), nabla.Exp(theta[1])
		f := linalg.Identity(2) // the state of the next step
		f.Set(0, 1, nabla.Const(1))
		h := linalg.New(1, 2) // the measured part of the state
		h.Set(0, 0, nabla.Const(1))
		noise := linalg.New(2, 2)
		noise.Set(0, 0, q.Scale(0.25))
		noise.Set(0, 1, q.Scale(0.5))
		noise.Set(1, 0, q.Scale(0.5))
		noise.Set(1, 1, q)

		x, p := linalg.New(2, 1), linalg.Scale(nabla.Const(10), linalg.Identity(2))
		var sum nabla.Real
		for _, z := range measured {
			x = linalg.MatMul(f, x)
			p = linalg.Add(linalg.MatMul(f, linalg.MatMul(p, f.T())), noise)

			s := linalg.MatMul(h, linalg.MatMul(p, h.T()))
			s.Set(0, 0, s.At(0, 0).Add(r))
			innovation := linalg.MatMul(h, x)
			innovation.Set(0, 0, nabla.Const(z).Sub(innovation.At(0, 0)))
			c := linalg.NewCholesky(s)
			sum = sum.Sub(nabla.Dot(innovation.Data, c.SolveVec(innovation.Data))).Sub(c.LogDet())

			gain := c.Solve(linalg.MatMul(h, p)).T()
			x = linalg.Add(x, linalg.MatMul(gain, innovation))
			p = linalg.Sub(p, linalg.MatMul(gain, linalg.MatMul(h, p)))
		}
		return sum.Scale(0.5)
	}
	y, g, err := nabla.ValueAndGradient(logLikelihood, reversediff.Backend{Compile: true}, []float64{-2, -2})
	fmt.Printf("%.4f %.4f %v\n", y, g, err)
	h, err := nabla.Hessian(logLikelihood, reversediff.Backend{Compile: true}, []float64{-2, -2})
	fmt.Printf("%.4f %.4f %.4f %v\n", h.At(0, 0), h.At(0, 1), h.At(1, 1), err)
	// Output:
	// -1.9441 [-0.7947 -1.1493] <nil>
	// -0.2757 0.2339 -1.3021 <nil>
}
