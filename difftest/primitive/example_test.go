package primitive_test

import (
	"fmt"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/difftest/primitive"
)

// An engine of the pushforward of one function, written by hand. The gradient follows from it.
func ExampleForward() {
	area := func(x []float64) float64 { return x[0] * x[1] }
	byHand := primitive.Forward{Label: "by hand", Push: func(_ primitive.Func, y, ydot, x, xdot []float64) error {
		y[0] = x[0] * x[1]
		ydot[0] = xdot[0]*x[1] + x[0]*xdot[1]
		return nil
	}}
	fmt.Println(nabla.Gradient(area, byHand, []float64{3, 5}))
	// Output: [5 3] <nil>
}
