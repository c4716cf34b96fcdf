package iterative_test

import (
	"context"
	"fmt"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/sparse/iterative"
	"gonum.org/v1/gonum/floats"
)

// Newton's method without a matrix: GMRES takes products with the derivative, each of which is a run of the function
// over dual numbers.
func ExampleFunc() {
	f := func(y, x []nabla.Real) {
		for i := range x {
			y[i] = x[i].Scale(3).Sub(nabla.Sin(x[(i+1)%len(x)])).AddConst(-float64(i % 3))
		}
	}
	x, y, step := make([]float64, 9), make([]float64, 9), make([]float64, 9)
	prep, err := nabla.PreparePushforward(nabla.InPlace(9, f), forwarddiff.Backend{}, x)
	if err != nil {
		fmt.Println(err)
		return
	}
	m := iterative.GMRES{Settings: iterative.Settings{Tolerance: 1e-12}}
	for k := range 10 {
		op, err := prep.At(x)
		if err != nil {
			fmt.Println(err)
			return
		}
		apply := iterative.Func(func(dst, v []float64) error {
			_, err := op.Apply(dst, v)
			return err
		})
		if _, err := op.Value(y); err != nil {
			fmt.Println(err)
			return
		}
		clear(step)
		if _, err := m.Solve(context.Background(), step, apply, y); err != nil {
			fmt.Println(err)
			return
		}
		floats.Sub(x, step)
		if floats.Norm(step, 2) < 1e-10 {
			fmt.Printf("%d steps, x = %.4f\n", k+1, x[:3])
			return
		}
	}
	// Output:
	// 5 steps, x = [0.1755 0.5543 0.7249]
}
