package iterative_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparse/iterative"
	"github.com/nabla-ad/nabla/sparsity"
	"gonum.org/v1/gonum/blas"
)

func ExampleCG() {
	const n = 1000
	a, err := sparse.NewSymCSC(sparsity.Banded(n, n, 1, 0), blas.Lower, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range n {
		a.SetSym(i, i, 2.5)
		if i > 0 {
			a.SetSym(i, i-1, -1)
		}
	}
	ones := make([]float64, n)
	for i := range ones {
		ones[i] = 1
	}
	b := a.MulVec(nil, ones)
	var ic iterative.IC0
	if err := ic.Factorize(a); err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range []iterative.Preconditioner{nil, &ic} {
		cg := iterative.CG{Settings: iterative.Settings{Preconditioner: p}}
		x := make([]float64, n) // the initial guess
		result, err := cg.Solve(context.Background(), x, a, b)
		fmt.Printf("%d iterations, x[500] = %.6f, %v\n", result.Iterations, x[500], err)
	}
	// Output:
	// 25 iterations, x[500] = 1.000000, <nil>
	// 1 iterations, x[500] = 1.000000, <nil>
}

// A matrix may be given by a function. If the method stops early, the solution is the best one so far.
func ExampleGMRES() {
	differences := iterative.Func(func(dst, x []float64) error {
		for i, v := range x {
			dst[i] = 2 * v
			if i > 0 {
				dst[i] -= 1.5 * x[i-1]
			}
			if i+1 < len(x) {
				dst[i] -= 0.5 * x[i+1]
			}
		}
		return nil
	})
	b := make([]float64, 30)
	b[0] = 1
	x := make([]float64, 30)
	m := iterative.GMRES{Settings: iterative.Settings{MaxIterations: 10}}
	_, err := m.Solve(context.Background(), x, differences, b)
	var failed *iterative.NotConvergedError
	fmt.Println(errors.As(err, &failed), failed.Result.Iterations)
	m.MaxIterations = 0 // the default
	_, err = m.Solve(context.Background(), x, differences, b)
	fmt.Printf("%.4f, %v\n", x[0], err)
	// Output:
	// true 10
	// 0.6667, <nil>
}
