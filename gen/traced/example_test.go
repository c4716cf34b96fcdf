package traced_test

import (
	"fmt"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/traced"
)

// The form of a product over nabla.Real. The package of the generated code is not needed for printing.
func Example() {
	funcs, err := ir.Parse(`
func Area(a, b float64) (s float64) exit {
	s = a * b
}
`, nil)
	if err != nil {
		panic(err)
	}
	real, _, err := traced.New(nil).Build(funcs[0], activity.Bits(3))
	if err != nil {
		panic(err)
	}
	fmt.Print(real)
	// Output:
	// func Area_traced_11(a nabla.Real, b nabla.Real) (s nabla.Real) exit {
	// 	s = a * b
	// }
}
