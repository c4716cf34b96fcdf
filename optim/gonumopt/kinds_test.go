package gonumopt_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/optimize"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/optim"
	"github.com/nabla-ad/nabla/optim/gonumopt"
)

// TestKindsOfFunctions solves one problem with every kind of function: over Reals with and without an error, in place,
// with a bound struct, recorded, and over plain numbers.
func TestKindsOfFunctions(t *testing.T) {
	type data struct {
		Target nabla.Real
		Weight float64
	}
	d := &data{Target: nabla.Const(4), Weight: 2}
	residual := func(x reals, d *data) reals {
		return reals{x[0].Sq().Sub(d.Target).Scale(d.Weight), x[1].Sub(x[0])}
	}
	bound := nabla.Bind(residual, d)
	recorded, err := nabla.Record(bound, []float64{1, 1})
	if err != nil {
		t.Fatal(err)
	}
	solved := func(name string, res *optim.LeastSquaresResult, err error) {
		t.Helper()
		if err != nil || math.Abs(res.X[0]-2) > 1e-7 || math.Abs(res.X[1]-2) > 1e-7 {
			t.Errorf("%s: %+v, %v", name, res, err)
		}
	}
	x0 := []float64{1, 1}
	res, err := optim.LeastSquares(func(x reals) reals { return residual(x, d) }, nil, x0, nil)
	solved("over Reals", res, err)
	res, err = optim.LeastSquares(func(x reals) (reals, error) { return residual(x, d), nil }, nil, x0, nil)
	solved("with an error", res, err)
	res, err = optim.LeastSquares(bound, nil, x0, nil)
	solved("with a bound struct", res, err)
	res, err = optim.LeastSquares(nabla.InPlace(2, func(y, x reals) { copy(y, residual(x, d)) }), nil, x0, nil)
	solved("in place", res, err)
	res, err = optim.LeastSquares(recorded, nil, x0, nil)
	solved("recorded", res, err)
	res, err = optim.LeastSquares(func(x []float64) []float64 {
		return []float64{2 * (x[0]*x[0] - 4), x[1] - x[0]}
	}, finitediff.Backend{}, x0, nil)
	solved("over plain numbers", res, err)

	// A parameter of the bound struct that changes between runs is seen by a new Problem.
	sum := nabla.Bind(func(x reals, d *data) nabla.Real {
		r := residual(x, d)
		return nabla.Dot(r, r)
	}, d)
	for _, target := range []float64{4, 9} {
		d.Target = nabla.Const(target)
		p, err := gonumopt.Problem(sum, nil, x0)
		if err != nil {
			t.Fatal(err)
		}
		m, err := optimize.Minimize(p, x0, nil, &optimize.Newton{})
		if err != nil || math.Abs(m.X[0]*m.X[0]-target) > 1e-5 {
			t.Errorf("target %v: %v, %v", target, m, err)
		}
		n, err := optim.NewtonCG(sum, nil, x0, nil)
		if err != nil || math.Abs(n.X[0]*n.X[0]-target) > 1e-6 {
			t.Errorf("target %v: %+v, %v", target, n, err)
		}
	}
}
