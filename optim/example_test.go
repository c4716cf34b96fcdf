package optim_test

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/optim"
)

// The parameters of a decay, with their standard errors.
func ExampleLeastSquares() {
	times := []float64{0, 1, 2, 3, 4, 5}
	counts := []float64{10.1, 6.0, 3.8, 2.1, 1.4, 0.8}
	residuals := func(x []nabla.Real) []nabla.Real {
		r := make([]nabla.Real, len(times))
		for i, t := range times {
			r[i] = x[0].Mul(nabla.Exp(x[1].Scale(-t))).AddConst(-counts[i])
		}
		return r
	}
	res, err := optim.LeastSquares(residuals, nil, []float64{1, 1}, &optim.LeastSquaresSettings{Covariance: true})
	if err != nil {
		panic(err)
	}
	variance := 2 * res.Cost / float64(len(times)-len(res.X))
	for i, v := range res.X {
		fmt.Printf("%.3f ± %.3f\n", v, math.Sqrt(variance*res.Covariance.At(i, i)))
	}
	fmt.Println(res.Status)
	// Output:
	// 10.080 ± 0.095
	// 0.505 ± 0.009
	// the cost converged
}

// A bound that holds with equality at the solution.
func ExampleLeastSquares_bounds() {
	residuals := func(x []nabla.Real) []nabla.Real {
		return []nabla.Real{x[1].Sub(x[0].Sq()).Scale(10), x[0].AddConst(-1)}
	}
	res, err := optim.LeastSquares(residuals, nil, []float64{-1.2, 1}, &optim.LeastSquaresSettings{
		Upper: []float64{0.5, math.Inf(1)}})
	fmt.Printf("%.4f %.4f %v\n", res.X, res.Cost, err)
	// Output:
	// [0.5000 0.2500] 0.1250 <nil>
}

// A run that a context ends has the best point so far.
func ExampleLeastSquares_context() {
	ctx, cancel := context.WithCancel(context.Background())
	residuals := func(x []nabla.Real) []nabla.Real {
		return []nabla.Real{x[1].Sub(x[0].Sq()).Scale(10), x[0].AddConst(-1)}
	}
	res, err := optim.LeastSquares(residuals, nil, []float64{-1.2, 1}, &optim.LeastSquaresSettings{Context: ctx,
		Progress: func(it optim.Iteration) error {
			if it.Cost < 0.5 {
				cancel()
			}
			return nil
		}})
	fmt.Println(errors.Is(err, context.Canceled), res.Status, res.Cost < 0.5)
	// Output:
	// true stopped by an error true
}

// Many unknowns, from products with the Hessian.
func ExampleNewtonCG() {
	x0 := make([]float64, 500)
	energy := func(x []nabla.Real) nabla.Real { // of a chain with ends at 0 under load
		s := nabla.Const(0)
		for i, v := range x {
			d := v
			if i > 0 {
				d = v.Sub(x[i-1])
			}
			s = s.Add(nabla.Sqrt(d.Sq().AddConst(1))).Add(v.Sq().Scale(0.01)).Sub(v.Scale(0.001))
		}
		return s
	}
	res, err := optim.NewtonCG(energy, reversediff.Backend{Compile: true}, x0, nil)
	fmt.Printf("%.4f %v %v\n", res.X[250], res.Status, err)
	// Output:
	// 0.0500 the gradient converged <nil>
}

func ExampleBounded() {
	f := func(x []nabla.Real) nabla.Real {
		return x[0].AddConst(-2).Sq().Add(x[1].AddConst(1).Sq()).Add(x[0].Mul(x[1]))
	}
	res, err := optim.Bounded(f, nil, []float64{0.5, 0.5}, []float64{0, 0}, []float64{1, 1}, nil)
	fmt.Println(res.X, res.Value, res.Status, err)
	// Output:
	// [1 0] 2 the gradient converged <nil>
}

// Problem 71 of Hock and Schittkowski: an inequality, an equation and bounds.
func ExampleConstrained() {
	f := func(x []nabla.Real) []nabla.Real {
		return []nabla.Real{
			x[0].Mul(x[3]).Mul(x[0].Add(x[1]).Add(x[2])).Add(x[2]), // the objective
			x[0].Mul(x[1]).Mul(x[2]).Mul(x[3]),                     // at least 25
			nabla.Dot(x, x),                                        // equal to 40
		}
	}
	res, err := optim.Constrained(f, nil, []float64{1, 5, 5, 1}, &optim.ConstrainedSettings{
		Lower:           []float64{1, 1, 1, 1},
		Upper:           []float64{5, 5, 5, 5},
		ConstraintLower: []float64{25, 40},
		ConstraintUpper: []float64{math.Inf(1), 40},
	})
	fmt.Printf("%.4f at %.4f, multipliers %.4f, %v\n", res.Value, res.X, res.Multipliers, err)
	// Output:
	// 17.0140 at [1.0000 4.7430 3.8211 1.3794], multipliers [0.5523 -0.1615], <nil>
}

// A step of the Gauss–Newton method from products with the Jacobian alone.
func ExampleLSMR() {
	f := func(x []nabla.Real) []nabla.Real {
		return []nabla.Real{x[0].Mul(x[1]).AddConst(-2), x[0].Sub(x[1]), x[0].Add(x[1]).AddConst(-3)}
	}
	j, err := nabla.Linearize(f, nil, []float64{1, 1})
	if err != nil {
		panic(err)
	}
	r, _ := j.Value(nil)
	res, err := optim.LSMR(j, r, nil)
	fmt.Printf("%.4f %v %v\n", res.X, res.Status, err)
	// Output:
	// [-0.5000 -0.5000] solved <nil>
}
