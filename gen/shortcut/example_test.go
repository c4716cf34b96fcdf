package shortcut_test

import (
	"fmt"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/shortcut"
)

// A branch that tests whether a number is zero returns 0 there: a constant, though the other branch has a derivative.
// It is completed.
func Example() {
	funcs, err := ir.Parse(`
func Gated(x, y float64) (s float64) exit {
	if x == 0 {
		s = 0
	} else {
		s = x * y
	}
}
`, nil)
	if err != nil {
		panic(err)
	}
	full, err := shortcut.New(nil, func(string) bool { return false }).Complete(funcs[0], activity.Bits(3))
	if err != nil {
		panic(err)
	}
	fmt.Print(full)
	// Output:
	// func Gated(x float64, y float64) (s float64) exit {
	// 	if x == 0 {
	// 		s = graft(float64(0), x * y)
	// 		s = graft(float64(0), s)
	// 	} else {
	// 		s = x * y
	// 	}
	// }
}
