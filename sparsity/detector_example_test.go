package sparsity_test

import (
	"fmt"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/sparsity"
)

func Example() {
	// Differences of neighbours: each output depends on two inputs.
	f := func(x []nabla.Real) []nabla.Real {
		y := make([]nabla.Real, len(x)-1)
		for i := range y {
			y[i] = x[i+1].Sub(x[i]).Sq()
		}
		return y
	}
	p, err := nabla.JacobianSparsity(f, sparsity.Global{}, make([]float64, 4))
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 3 {
		for j := range 4 {
			fmt.Print(" ", p.Has(i, j))
		}
		fmt.Println()
	}
	// Output:
	//  true true false false
	//  false true true false
	//  false false true true
}

// huber is x² near 0 and linear elsewhere.
func huber(x []nabla.Real) nabla.Real {
	if x[0].Abs().Less(nabla.Const(1)) {
		return x[0].Sq()
	}
	return x[0].Abs().Scale(2).AddConst(-1)
}

func ExampleGlobal() {
	x := []float64{0.5}
	_, err := nabla.HessianSparsity(huber, sparsity.Global{}, x)
	fmt.Println(err)

	// With Where the function has one pattern for all x.
	smooth := func(x []nabla.Real) nabla.Real {
		a := x[0].Abs()
		return nabla.Where(nabla.Lt(a, nabla.Const(1)), x[0].Sq(), a.Scale(2).AddConst(-1))
	}
	p, err := nabla.HessianSparsity(smooth, sparsity.Global{}, x)
	fmt.Println(p.NNZ(), err)
	// Output:
	// nabla: function sparsity_test.huber: Real.Less at detector_example_test.go:38 reads a value that depends on the inputs, so that no pattern holds for all of them; keep both branches with nabla.Where, or take the pattern at a point with sparsity.Local{} (sparsity.BranchError)
	// 1 <nil>
}

func ExampleLocal() {
	for _, x := range []float64{0.5, 3} {
		p, err := nabla.HessianSparsity(huber, sparsity.Local{}, []float64{x})
		fmt.Println(p.NNZ(), err)
	}
	// Output:
	// 1 <nil>
	// 0 <nil>
}

func ExampleRecorded() {
	d := sparsity.Recorded{Points: [][]float64{{0.5}, {-3}}}
	p, err := nabla.HessianSparsity(huber, d, []float64{3})
	fmt.Println(p.NNZ(), err)
	// Output:
	// 1 <nil>
}
