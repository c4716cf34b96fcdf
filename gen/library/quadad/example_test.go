package quadad_test

import (
	"fmt"
	"math"

	"github.com/nabla-ad/nabla/gen/library/quadad"
	"gonum.org/v1/gonum/integrate/quad"
)

// The plain form of a quadrature.
func ExampleFixed() {
	fmt.Printf("%.6f\n", quadad.Fixed(math.Sin, 0, math.Pi, 20, quad.Legendre{}, 0))
	// Output:
	// 2.000000
}
