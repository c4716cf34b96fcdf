package tangent_test

import (
	"fmt"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/tangent"
)

// The tangent of a product, with its value.
func Example() {
	funcs, err := ir.Parse(`
func Area(a, b float64) (s float64) exit {
	s = a * b
}
`, nil)
	if err != nil {
		panic(err)
	}
	dot, _, err := tangent.New().Build(funcs[0], activity.Bits(3))
	if err != nil {
		panic(err)
	}
	fmt.Print(dot)
	// Output:
	// func Area_tangent_11(a float64, b float64, aDot float64, bDot float64) (s float64, sDot float64) exit {
	// 	sDot = aDot * b + a * bDot
	// 	s = a * b
	// }
}
