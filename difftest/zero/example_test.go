package zero_test

import (
	"fmt"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/difftest/zero"
)

// All derivatives are zero; the value is that of the function.
func Example() {
	f := func(x []nabla.Real) nabla.Real { return nabla.Dot(x, x) }
	fmt.Println(nabla.ValueAndGradient(f, zero.Reverse{}, []float64{1, 2}))
	// Output:
	// 5 [0 0] <nil>
}
