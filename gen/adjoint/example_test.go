package adjoint_test

import (
	"fmt"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/adjoint"
	"github.com/nabla-ad/nabla/gen/ir"
)

// The adjoint of a product, with its value.
func Example() {
	funcs, err := ir.Parse(`
func Area(a, b float64) (s float64) exit {
	s = a * b
}
`, nil)
	if err != nil {
		panic(err)
	}
	a, err := adjoint.New(nil, "AdjointWork", adjoint.Options{}).Of(funcs[0], activity.Bits(3))
	if err != nil {
		panic(err)
	}
	fmt.Print(a.Func)
	// Output:
	// func Area_adjoint(a float64, b float64, sBar float64, ws *AdjointWork) (s1 float64, aBar float64, bBar float64) exit1 {
	// 	s1 = a * b
	// 	aBar += sBar * b
	// 	bBar += sBar * a
	// }
}
