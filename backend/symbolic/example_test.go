package symbolic_test

import (
	"fmt"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/symbolic"
)

// The entries of a sparse Hessian are expressions: there is neither a detector nor a colouring.
func Example() {
	f := func(x []nabla.Real) nabla.Real {
		return x[0].Sq().Mul(x[1]).Add(nabla.Exp(x[2]))
	}
	p, err := nabla.PrepareHessian(f, nabla.AutoSparse{Dense: symbolic.Backend{}}, make([]float64, 3))
	if err != nil {
		fmt.Println(err)
		return
	}
	h, err := p.Sparse(nil, []float64{1, 2, 0})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Plan().Detector, p.Plan().Pattern.NNZ(), p.Plan().Products())
	fmt.Println(h.At(0, 0), h.At(0, 1), h.At(2, 2))
	// Output:
	// symbolic 4 0
	// 4 2 1
}
