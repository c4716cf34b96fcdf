package activity_test

import (
	"fmt"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// The variables that carry derivatives with respect to the first parameter of two.
func Example() {
	funcs, err := ir.Parse(`
func Scaled(x, scale float64) (y float64) exit {
	let t float64 = scale * scale
	y = x * t
}
`, nil)
	if err != nil {
		panic(err)
	}
	facts, err := activity.New().Analyze(funcs[0], activity.Bits(1))
	if err != nil {
		panic(err)
	}
	fmt.Println(facts.Params, facts.Results)
	fmt.Println(facts.Active(funcs[0].Params[0]), facts.Active(funcs[0].Params[1]))
	// Output:
	// 1 1
	// true false
}
