package rules_test

import (
	"fmt"

	"github.com/nabla-ad/nabla/rules"
)

// The value and the derivative of a function at a point, and the derivative as an expression.
func Example() {
	x := 0.5
	v := rules.Value1(rules.Tanh, x)
	fmt.Printf("%.6f %.6f\n", v, rules.Partial1(rules.Tanh, x, v))
	fmt.Println(rules.Partial(rules.Tanh, 0))
	// Output:
	// 0.462117 0.786448
	// sechsq(x)
}
