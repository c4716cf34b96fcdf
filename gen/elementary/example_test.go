package elementary_test

import (
	"fmt"

	"github.com/nabla-ad/nabla/gen/elementary"
	"github.com/nabla-ad/nabla/rules"
)

// Functions of package math and the operations of the table of rules.
func ExampleOp() {
	op, ok := elementary.Op("math.Atan2")
	fmt.Println(op, ok, elementary.Name(rules.Exp))
	// Output:
	// atan2 true math.Exp
}
