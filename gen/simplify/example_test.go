package simplify_test

import (
	"fmt"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/simplify"
)

// Statements without effect on the result are removed.
func ExampleDead() {
	funcs, err := ir.Parse(`
func Square(x float64) (y float64) exit {
	let t float64 = x + 1
	let u float64 = t * t
	y = x * x
}
`, nil)
	if err != nil {
		panic(err)
	}
	for simplify.Dead(funcs[0]) {
	}
	fmt.Print(funcs[0])
	// Output:
	// func Square(x float64) (y float64) exit {
	// 	y = x * x
	// }
}
