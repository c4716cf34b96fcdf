package forwarddiff_test

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
)

// One run of the function gives value, gradient and Hessian.
func ExampleHyper() {
	f := func(x []nabla.Real) nabla.Real { return x[0].Sq().Mul(x[1]).Add(nabla.Sin(x[2])) }
	y, grad, hess, err := nabla.ValueGradientAndHessian(f, forwarddiff.Hyper{}, []float64{1, 2, 0})
	if err != nil {
		panic(err)
	}
	fmt.Println(y, grad)
	fmt.Println(mat.Formatted(hess))
	// Output:
	// 2 [4 1 1]
	// ⎡4  2  0⎤
	// ⎢2  0  0⎥
	// ⎣0  0  0⎦
}
