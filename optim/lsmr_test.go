package optim_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/optim"
)

// A matrix is a dense matrix as an operator.
type matrix struct{ *mat.Dense }

func (m matrix) MulVecTo(dst *mat.VecDense, trans bool, x mat.Vector) {
	if trans {
		dst.MulVec(m.T(), x)
	} else {
		dst.MulVec(m.Dense, x)
	}
}

// TestLSMRAgainstFactorisations solves random problems of all shapes and ranks, and compares the solution of least norm
// and the estimates of norms with those from a singular value decomposition.
func TestLSMRAgainstFactorisations(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 60 {
		m, n, damp := 1+rng.IntN(12), 1+rng.IntN(12), []float64{0, 0, 0.7}[rng.IntN(3)]
		rank := 1 + rng.IntN(min(m, n))
		a, left, right := mat.NewDense(m, n, nil), mat.NewDense(m, rank, nil), mat.NewDense(rank, n, nil)
		normal := func(_, _ int, _ float64) float64 { return rng.NormFloat64() }
		left.Apply(normal, left)
		right.Apply(normal, right)
		a.Mul(left, right)
		b := make([]float64, m)
		for i := range b {
			b[i] = rng.NormFloat64()
		}
		res, err := optim.LSMR(matrix{a}, b, &optim.LSMRSettings{Damp: damp, ATol: 1e-13, BTol: 1e-13,
			ConditionLimit: -1, MaxIterations: 400})
		if err != nil {
			t.Errorf("%d×%d of rank %d: %v", m, n, rank, err)
			continue
		}
		var svd mat.SVD
		svd.Factorize(a, mat.SVDThin)
		var u, v mat.Dense
		svd.UTo(&u)
		svd.VTo(&v)
		want := make([]float64, n)
		for k, s := range svd.Values(nil)[:rank] {
			c := 0.0
			for i := range b {
				c += u.At(i, k) * b[i]
			}
			for j := range want {
				want[j] += c * s / (s*s + damp*damp) * v.At(j, k)
			}
		}
		if !floats.EqualApprox(res.X, want, 1e-7*max(1, floats.Norm(want, 2))) {
			t.Errorf("%d×%d of rank %d, damped by %v: %v, want %v; %v", m, n, rank, damp, res.X, want, res.Status)
		}
		r := mat.NewVecDense(m, nil)
		r.MulVec(a, mat.NewVecDense(n, res.X))
		r.SubVec(mat.NewVecDense(m, b), r)
		norm := math.Hypot(mat.Norm(r, 2), damp*floats.Norm(res.X, 2))
		if math.Abs(res.Residual-norm) > 1e-8*max(1, norm) {
			t.Errorf("%d×%d: the norm of the residual is %v, estimated as %v", m, n, norm, res.Residual)
		}
		g := mat.NewVecDense(n, nil)
		g.MulVec(a.T(), r)
		g.AddScaledVec(g, -damp*damp, mat.NewVecDense(n, res.X))
		if norm := mat.Norm(g, 2); math.Abs(res.GradientNorm-norm) > 1e-9*(1+norm) {
			t.Errorf("%d×%d: the norm of the gradient is %v, estimated as %v", m, n, norm, res.GradientNorm)
		}
	}
}

// TestLSMRStops for each of its reasons.
func TestLSMRStops(t *testing.T) {
	hilbert := mat.NewDense(12, 12, nil)
	hilbert.Apply(func(i, j int, _ float64) float64 { return 1 / float64(i+j+1) }, hilbert)
	b := same(12, 1)
	for _, c := range []struct {
		a    *mat.Dense
		b    []float64
		set  optim.LSMRSettings
		want optim.LSMRStatus
	}{
		{hilbert, b, optim.LSMRSettings{ConditionLimit: 100}, optim.LSMRCondition},
		{hilbert, same(12, 0), optim.LSMRSettings{}, optim.LSMRZero},
		{hilbert, b, optim.LSMRSettings{MaxIterations: 2, ConditionLimit: -1}, optim.LSMRLimit},
		{mat.NewDense(2, 2, []float64{2, 0, 0, 4}), []float64{1, 1}, optim.LSMRSettings{}, optim.LSMRSolved},
		{mat.NewDense(2, 1, []float64{1, 1}), []float64{1, 2}, optim.LSMRSettings{}, optim.LSMRLeastSquares},
		{mat.NewDense(2, 1, []float64{1, 0}), []float64{0, 2}, optim.LSMRSettings{}, optim.LSMRZero},
	} {
		res, err := optim.LSMR(matrix{c.a}, c.b, &c.set)
		var limit *optim.ConvergenceError
		if res == nil || res.Status != c.want || errors.As(err, &limit) != (c.want == optim.LSMRLimit) {
			t.Errorf("want %v, got %+v, %v", c.want, res, err)
		}
	}
	var setting *optim.SettingError
	one := matrix{mat.NewDense(1, 1, []float64{1})}
	for _, set := range []optim.LSMRSettings{{Damp: -1}, {Damp: math.NaN()}, {MaxIterations: -1}, {ATol: math.NaN()},
		{BTol: math.Inf(1)}, {ConditionLimit: math.NaN()}} {
		if _, err := optim.LSMR(one, []float64{1}, &set); !errors.As(err, &setting) {
			t.Errorf("%+v: %v", set, err)
		}
	}
	if _, err := optim.LSMR(one, []float64{1, 2}, nil); !errors.As(err, &setting) {
		t.Error(err)
	}
	var bad *optim.NonFiniteError
	if _, err := optim.LSMR(one, []float64{math.NaN()}, nil); !errors.As(err, &bad) {
		t.Error(err)
	}
}

// TestOperators: the operators of package nabla are operators of LSMR. A step of Newton's method from x is the solution
// with the Hessian there.
func TestOperators(t *testing.T) {
	x := []float64{-1.2, 1}
	jac, err := nabla.Linearize(rosenbrock, compiled, x)
	if err != nil {
		t.Fatal(err)
	}
	r, err := jac.Value(nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := optim.LSMR(jac, r, nil) // J·p = r: the unknowns of the Gauss–Newton step are (1, (-1.2)²-…)
	if err != nil || math.Abs(x[0]-res.X[0]-1) > 1e-9 {
		t.Errorf("%+v, %v", res, err)
	}
	prep, err := nabla.PrepareHVP(objective(rosenbrock), compiled, x)
	if err != nil {
		t.Fatal(err)
	}
	hess, err := prep.At(x)
	if err != nil {
		t.Fatal(err)
	}
	_, g, h := rosenbrockAt(x)
	res, err = optim.LSMR(hess, g, nil)
	det := h[0]*h[2] - h[1]*h[1]
	if err != nil || math.Abs(res.X[0]-(h[2]*g[0]-h[1]*g[1])/det) > 1e-8 {
		t.Errorf("%+v, %v", res, err)
	}
}

// The Rosenbrock function and its derivatives in closed form.
func rosenbrockAt(x []float64) (y float64, g []float64, h [3]float64) {
	a, b := x[1]-x[0]*x[0], 1-x[0]
	return 100*a*a + b*b, []float64{-400*a*x[0] - 2*b, 200 * a},
		[3]float64{1200*x[0]*x[0] - 400*x[1] + 2, -400 * x[0], 200}
}
