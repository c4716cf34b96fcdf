package realrule_test

import (
	"fmt"

	"github.com/nabla-ad/nabla/gen/rt/realrule"
)

// A comparison as a number.
func ExampleNumber() {
	fmt.Println(realrule.Number(2 > 1), realrule.Number(2 < 1))
	// Output:
	// 1 0
}
