package sortad_test

import (
	"fmt"

	"github.com/nabla-ad/nabla/gen/library/sortad"
)

// Tangents are sorted as their numbers.
func ExampleFloat64sTangent() {
	x, xDot := []float64{3, 1, 2}, []float64{30, 10, 20}
	sortad.Float64sTangent(x, xDot)
	fmt.Println(x, xDot)
	// Output:
	// [1 2 3] [10 20 30]
}
