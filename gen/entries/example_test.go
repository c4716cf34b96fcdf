package entries_test

import (
	"fmt"
	"strings"

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
	fmt.Print(strings.ReplaceAll(e.Values.String(), " || ", " ||\n\t\t"))
	// Output:
	// func F_tangent_11_entries(y []float64, x []float64, a float64, entries []float64, plan []int32) (changed bool) done {
	// 	if len(plan) < 4 ||
	// 		plan[0] != int32(len(x)) ||
	// 		plan[1] != int32(int64(len(x)) >> 32) ||
	// 		plan[2] != int32(len(y)) ||
	// 		plan[3] != int32(int64(len(y)) >> 32) {
	// 		changed = true
	// 	} else {
	// 		plan = plan[4:]
	// 		for loop, next i int = 0; i < len(y); i += 1 {
	// 			if len(plan) < 2 {
	// 				changed = true
	// 				leave done
	// 			} else {
	// 				entries[plan[0]] = a
	// 				entries[plan[1]] = -a
	// 				y[i] = a * (x[i + 1] - x[i])
	// 				plan = plan[2:]
	// 			}
	// 		}
	// 		changed = len(plan) != 0
	// 	}
	// }
}
