package taylor_test

import (
	"fmt"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/taylor"
)

// One sweep over power series gives derivatives of any order; the engine has all other operators too.
func Example() {
	f := func(t nabla.Real) nabla.Real { return nabla.Exp(t).Mul(t) }
	d, err := nabla.Derivatives(f, 0, 4)
	fmt.Println(d, err)

	g := func(x []nabla.Real) nabla.Real { return x[0].Sq().Mul(x[1]) }
	fmt.Println(nabla.Gradient(g, taylor.Backend{}, []float64{3, 2}))
	// Output:
	// [0 1 2 3 4] <nil>
	// [12 9] <nil>
}
