package floatsad_test

import (
	"fmt"

	"github.com/nabla-ad/nabla/gen/library/floatsad"
)

// dst += alpha·s, with tangents.
func ExampleAddScaledTangent() {
	dst, dstDot := []float64{1, 1}, []float64{0, 0}
	floatsad.AddScaledTangent(dst, 2, []float64{3, 4}, dstDot, 1, []float64{0, 1})
	fmt.Println(dst, dstDot)
	// Output:
	// [7 9] [3 6]
}
