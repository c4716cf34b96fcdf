package gonumopt_test

import (
	"fmt"

	"gonum.org/v1/gonum/optimize"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/optim/gonumopt"
)

// Newton's method of gonum, with exact Hessians.
func ExampleProblem() {
	rosenbrock := func(x []nabla.Real) nabla.Real {
		return x[1].Sub(x[0].Sq()).Sq().Scale(100).Add(x[0].AddConst(-1).Sq())
	}
	x0 := []float64{-1.2, 1}
	p, err := gonumopt.Problem(rosenbrock, nil, x0)
	if err != nil {
		panic(err)
	}
	result, err := optimize.Minimize(p, x0, nil, &optimize.Newton{})
	fmt.Printf("%.6f %v %v\n", result.X, result.Status, err)
	// Output:
	// [1.000000 1.000000] GradientThreshold <nil>
}
