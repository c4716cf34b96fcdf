package matad_test

import (
	"fmt"

	"github.com/nabla-ad/nabla/gen/library/matad"
	"gonum.org/v1/gonum/mat"
)

// The plain form of a method of gonum, which generated code differentiates.
func ExampleCholeskyLogDet() {
	var c mat.Cholesky
	c.Factorize(mat.NewSymDense(2, []float64{4, 2, 2, 3}))
	fmt.Printf("%.9f %.9f\n", matad.CholeskyLogDet(&c), c.LogDet())
	// Output:
	// 2.079441542 2.079441542
}
