package ir_test

import (
	"fmt"

	"github.com/nabla-ad/nabla/gen/ir"
)

// The sum of the positive elements up to the first zero, as written and in normal form, in which an
// iteration is a path through a tree: skipped, left, or to the end.
func ExampleNormalize() {
	funcs, err := ir.Parse(`
func Sum(x []float64) (s float64) exit {
	for l, next i int = 0; i < len(x); i += 1 {
		if x[i] < 0 {
			leave next
		}
		if x[i] == 0 {
			leave exit
		}
		s += x[i]
	}
}
`, nil)
	if err != nil {
		panic(err)
	}
	sum := funcs[0]
	if err := ir.Check(sum); err != nil {
		panic(err)
	}
	ir.Normalize(sum)
	fmt.Print(sum)
	out, err := ir.Eval(sum, ir.ValuesOf([]float64{1, -2, 3, 0, 5}))
	fmt.Println(ir.As[float64](out[0]), err)
	// Output:
	// func Sum(x []float64) (s float64) exit {
	// 	for l, next i int = 0; i < len(x); i += 1 {
	// 		if x[i] < 0 {
	// 		} else {
	// 			if x[i] == 0 {
	// 				leave l
	// 			} else {
	// 				s += x[i]
	// 			}
	// 		}
	// 	}
	// }
	// 4 <nil>
}
