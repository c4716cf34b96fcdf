// Package kalman has a Kalman filter over matrices of gonum/mat, of which code is generated, for tests and a benchmark.
package kalman

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

const (
	states       = 6
	observations = 3
	steps        = 200
	parameters   = states*states + observations*states + 2
)

// LogLikelihood returns the logarithm of the likelihood of observations z, up to a constant, in a linear model whose
// transition and observation matrices are in p, followed by the variances of noise: R. E. Kalman, "A new approach to
// linear filtering and prediction problems", Journal of Basic Engineering 82 (1960).
//
//nabla:differentiate
func LogLikelihood(p []float64, z *mat.Dense) (l float64) {
	f := mat.NewDense(states, states, p[:states*states])
	h := mat.NewDense(observations, states, p[states*states:states*states+observations*states])
	q, r := mat.NewDense(states, states, nil), mat.NewDense(observations, observations, nil)
	one, c := mat.NewDense(states, states, nil), mat.NewDense(states, states, nil)
	for i := 0; i < states; i++ {
		q.Set(i, i, p[len(p)-2])
		one.Set(i, i, 1)
		c.Set(i, i, 1)
	}
	for i := 0; i < observations; i++ {
		r.Set(i, i, p[len(p)-1])
	}
	x := mat.NewVecDense(states, nil)
	var fc, ch, s, inv, k, kh mat.Dense
	var fx, y, ky mat.VecDense
	n, _ := z.Dims()
	for t := 0; t < n; t++ {
		// Prediction of the state and its covariance.
		fx.MulVec(f, x)
		fc.Mul(f, c)
		c.Mul(&fc, f.T())
		c.Add(c, q)
		// Update by an observation.
		y.MulVec(h, &fx)
		y.SubVec(z.RowView(t), &y)
		ch.Mul(c, h.T())
		s.Mul(h, &ch)
		s.Add(&s, r)
		if err := inv.Inverse(&s); err != nil {
			return math.NaN()
		}
		k.Mul(&ch, &inv)
		ky.MulVec(&k, &y)
		x.AddVec(&fx, &ky)
		kh.Mul(&k, h)
		kh.Sub(one, &kh)
		c.Mul(&kh, c)
		l -= (mat.Inner(&y, &inv, &y) + math.Log(mat.Det(&s))) / 2
	}
	return l
}
