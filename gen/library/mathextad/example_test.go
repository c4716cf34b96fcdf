package mathextad_test

import (
	"fmt"

	"github.com/nabla-ad/nabla/gen/library/mathextad"
)

// The derivatives of the beta function at (2, 3), which is 1/12.
func ExampleBetaPullback() {
	a, b := mathextad.BetaPullback(2, 3, 1)
	fmt.Printf("%.6f %.6f\n", a, b)
	// Output:
	// -0.090278 -0.048611
}
