package tracker_test

import (
	"fmt"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/tracker"
)

// The tape is new at every call, so that loops may depend on the data.
func Example() {
	collatz := func(x []nabla.Real) nabla.Real {
		y := x[0]
		for n := int(x[1].Value()); n != 1; {
			if n%2 == 0 {
				n, y = n/2, y.Scale(0.5)
			} else {
				n, y = 3*n+1, y.Scale(3).AddConst(1)
			}
		}
		return y
	}
	for _, start := range []float64{6, 7} {
		y, g, err := nabla.ValueAndGradient(collatz, tracker.Backend{}, []float64{start, start})
		fmt.Println(y, g, err)
	}
	// Output:
	// 1 [0.140625 0] <nil>
	// 1 [0.11865234375 0] <nil>
}
