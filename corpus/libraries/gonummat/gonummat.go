// Package gonummat has functions that use gonum.org/v1/gonum/mat: products, factorisations and solutions.
package gonummat

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Quadratic is xᵀ A x with a fixed matrix.
//
//corpus:at 1 -0.5 2
func Quadratic(x []float64) float64 {
	a := mat.NewDense(3, 3, []float64{2, 1, 0, -1, 3, 0.5, 0.2, 0, 1})
	v := mat.NewVecDense(3, x)
	return mat.Inner(v, a, v)
}

// Determinant is that of the matrix x.
//
//corpus:at 2 1 0.3 0.5 3 0.1 0.2 0.4 1.5
func Determinant(x []float64) float64 {
	return mat.Det(mat.NewDense(3, 3, x))
}

// LogDeterminant is that of A + xI.
//
//corpus:at 0.7
func LogDeterminant(x float64) float64 {
	a := mat.NewDense(2, 2, []float64{2, 0.3, 0.1, 1})
	for i := 0; i < 2; i++ {
		a.Set(i, i, a.At(i, i)+x)
	}
	v, sign := mat.LogDet(a)
	return v * sign
}

// Solve solves a linear system with a matrix that depends on x.
//
//corpus:at 0.3 0.8
func Solve(x []float64) ([]float64, error) {
	a := mat.NewDense(2, 2, []float64{2 + x[0], 1, x[1], 3})
	b := mat.NewVecDense(2, []float64{1, x[0]})
	var s mat.VecDense
	if err := s.SolveVec(a, b); err != nil {
		return nil, err
	}
	return s.RawVector().Data, nil
}

// LeastSquares is the residual of a fit by QR.
//
//corpus:at 1.1 1.9 3.2 4.4 4.9
func LeastSquares(y []float64) (float64, error) {
	a := mat.NewDense(5, 2, nil)
	for i := range y {
		a.SetRow(i, []float64{1, float64(i)})
	}
	var qr mat.QR
	qr.Factorize(a)
	var c mat.VecDense
	if err := qr.SolveVecTo(&c, false, mat.NewVecDense(5, y)); err != nil {
		return 0, err
	}
	var r mat.VecDense
	r.MulVec(a, &c)
	r.SubVec(&r, mat.NewVecDense(5, y))
	return mat.Norm(&r, 2), nil
}

// Gaussian is the negative log likelihood of a Gaussian process with two parameters.
//
//corpus:at 0.8 0.3
func Gaussian(p []float64) (float64, error) {
	xs := []float64{0, 0.5, 1.1, 1.8, 2.6}
	ys := []float64{0.1, 0.6, 0.9, 0.7, -0.2}
	n := len(xs)
	k := mat.NewSymDense(n, nil)
	for i := 0; i < n; i++ {
		for j := i; j < n; j++ {
			d := (xs[i] - xs[j]) / p[0]
			v := math.Exp(-d * d / 2)
			if i == j {
				v += p[1] * p[1]
			}
			k.SetSym(i, j, v)
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(k) {
		return 0, errors.New("not positive definite")
	}
	var alpha mat.VecDense
	y := mat.NewVecDense(n, ys)
	if err := chol.SolveVecTo(&alpha, y); err != nil {
		return 0, err
	}
	return mat.Dot(y, &alpha)/2 + chol.LogDet()/2, nil
}

// Ridge is the norm of ridge regression coefficients with respect to the penalty.
//
//corpus:at 0.4
func Ridge(lambda float64) float64 {
	x := mat.NewDense(4, 2, []float64{1, 0.5, 1, 1.5, 1, 2.2, 1, 3.1})
	y := mat.NewDense(4, 1, []float64{1, 2, 2.5, 4})
	var xtx, xty, beta mat.Dense
	xtx.Mul(x.T(), x)
	for i := 0; i < 2; i++ {
		xtx.Set(i, i, xtx.At(i, i)+lambda)
	}
	xty.Mul(x.T(), y)
	if err := beta.Solve(&xtx, &xty); err != nil {
		return math.NaN()
	}
	return mat.Norm(&beta, 2)
}

// Kalman is the covariance after three steps of a Kalman filter, with respect to its noise.
//
//corpus:at 0.1 0.5
func Kalman(q, r float64) float64 {
	f := mat.NewDense(2, 2, []float64{1, 0.1, 0, 1})
	h := mat.NewDense(1, 2, []float64{1, 0})
	p := mat.NewDense(2, 2, []float64{1, 0, 0, 1})
	noise := mat.NewDense(2, 2, []float64{q * 0.01, 0, 0, q})
	for range 3 {
		var fp, hp, s, k, kh mat.Dense
		fp.Product(f, p, f.T())
		p.Add(&fp, noise)
		hp.Product(h, p, h.T())
		s.Apply(func(_, _ int, v float64) float64 { return 1 / (v + r) }, &hp)
		k.Product(p, h.T(), &s)
		kh.Mul(&k, h)
		kh.Mul(&kh, p)
		p.Sub(p, &kh)
	}
	return mat.Trace(p)
}

// Eigenvalue is the largest eigenvalue of a symmetric matrix.
//
//corpus:at 1 0.4 2
func Eigenvalue(x []float64) float64 {
	s := mat.NewSymDense(2, []float64{x[0], x[1], x[1], x[2]})
	var e mat.EigenSym
	if !e.Factorize(s, false) {
		return math.NaN()
	}
	return floats.Max(e.Values(nil))
}

// SingularValues is the nuclear norm of a matrix.
//
//corpus:at 1 0.4 2 -0.3 0.8 1.5
func SingularValues(x []float64) float64 {
	var svd mat.SVD
	if !svd.Factorize(mat.NewDense(3, 2, x), mat.SVDNone) {
		return math.NaN()
	}
	return floats.Sum(svd.Values(nil))
}

// Rotation is the trace of the exponential of a matrix.
//
//corpus:at 0.3 -0.5
func Rotation(x []float64) float64 {
	a := mat.NewDense(2, 2, []float64{x[0], x[1], -x[1], 0.2})
	var e mat.Dense
	e.Exp(a)
	return e.At(0, 0) + e.At(1, 0)
}

// PageRank is the rank of a page after twenty power iterations.
//
//corpus:at 0.85
func PageRank(damping float64) float64 {
	links := mat.NewDense(3, 3, []float64{0, 0.5, 1, 0.5, 0, 0, 0.5, 0.5, 0})
	rank := mat.NewVecDense(3, []float64{1. / 3, 1. / 3, 1. / 3})
	for range 20 {
		next := mat.NewVecDense(3, nil)
		next.MulVec(links, rank)
		next.ScaleVec(damping, next)
		for i := 0; i < 3; i++ {
			next.SetVec(i, next.AtVec(i)+(1-damping)/3)
		}
		rank = next
	}
	return rank.AtVec(1)
}

// Whitened is a norm after multiplication with a triangular matrix, in blas64.
//
//corpus:at 1 2 3
func Whitened(x []float64) float64 {
	t := blas64.Triangular{N: 3, Stride: 3, Uplo: 'U', Diag: 'N', Data: []float64{1, 2, 0.5, 0, 1, 0.3, 0, 0, 2}}
	v := blas64.Vector{N: 3, Inc: 1, Data: make([]float64, 3)}
	copy(v.Data, x)
	blas64.Trmv('N', t, v)
	return blas64.Nrm2(v)
}

// Inverse is an entry of an inverse.
//
//corpus:at 2 1 0.3 3
func Inverse(x []float64) (float64, error) {
	var inv mat.Dense
	if err := inv.Inverse(mat.NewDense(2, 2, x)); err != nil {
		return 0, err
	}
	return inv.At(0, 1), nil
}

// Apply maps the elements of a matrix and sums them up.
//
//corpus:at 0.2 0.4 -0.6 0.8
func Apply(x []float64) float64 {
	var m mat.Dense
	m.Apply(func(i, j int, v float64) float64 { return math.Tanh(v) * float64(i+2*j+1) }, mat.NewDense(2, 2, x))
	return mat.Sum(&m)
}
