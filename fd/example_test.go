package fd_test

import (
	"fmt"
	"math"

	"github.com/nabla-ad/nabla/fd"
)

// Distance is a function of the program. Its gradient has differences until nabla gen has run in its package, and is
// exact from then on, with the same call.
func Distance(x []float64) float64 { return math.Hypot(x[0]-1, x[1]-2) }

func ExampleGradient() {
	g := fd.Gradient(nil, Distance, []float64{4, 6}, nil)
	fmt.Printf("%.4f\n", g)
	// Output: [0.6000 0.8000]
}
