package entries_test

import (
	"fmt"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/entries"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/simplify"
	"github.com/nabla-ad/nabla/gen/tangent"
)

// The entries of differences of neighbours, which may be multiplied by a number.
func Example() {
	funcs, err := ir.Parse(`
func F(y, x []float64, a float64) exit {
	for loop, next i int = 0; i < len(y); i += 1 {
		y[i] = a * (x[i + 1] - x[i])
	}
}
`, nil)
	if err != nil {
		panic(err)
	}
	dot, _, err := tangent.New().Build(funcs[0], activity.Bits(3))
	if err != nil {
		panic(err)
	}
	y, x, in, out := dot.Params[0], dot.Params[1], dot.Params[4], dot.Params[3]
	e, err := entries.Build(entries.Linear{F: dot, In: in, InLike: x, Out: out, OutLike: y})
	if err != nil {
		panic(err)
	}
	simplify.DeadCode(e.Values, nil)
	fmt.Print(e.Values)
	// Output:
	// func F_tangent_11_entries(y []float64, x []float64, a float64, entries []float64, plan []int32) (changed bool) done {
	// 	for loop, next i int = 0; i < len(y); i += 1 {
	// 		let k int = i + 1
	// 		if len(plan) < 5 || plan[0] != -1 - int32(i) || plan[1] != int32(k) || plan[3] != int32(i) {
	// 			changed = true
	// 			leave done
	// 		} else {
	// 			entries[plan[2]] = a
	// 			entries[plan[4]] = -a
	// 			y[i] = a * (x[i + 1] - x[i])
	// 			plan = plan[5:]
	// 		}
	// 	}
	// 	changed = len(plan) != 0
	// }
}
