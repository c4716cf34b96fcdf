package reversediff_test

import (
	"fmt"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/reversediff"
)

// A compiled recording is replayed at other points, and made again where the function takes another branch.
func Example() {
	f := func(x []nabla.Real) nabla.Real {
		if x[0].Less(nabla.Const(0)) {
			return x[0].Neg().Mul(x[1])
		}
		return x[0].Sq().Mul(x[1])
	}
	prep, err := nabla.PrepareGradient(f, reversediff.Backend{Compile: true}, []float64{1, 1})
	if err != nil {
		panic(err)
	}
	for _, x := range [][]float64{{2, 3}, {4, 5}, {-1, 2}} {
		g, err := prep.Gradient(nil, x)
		fmt.Println(g, err, "recordings:", prep.Recordings())
	}
	// Output:
	// [12 4] <nil> recordings: 1
	// [40 16] <nil> recordings: 1
	// [-2 1] <nil> recordings: 2
}
