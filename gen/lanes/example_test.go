package lanes_test

import (
	"fmt"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lanes"
)

// A function of a value and a tangent, for two tangents.
func Example() {
	funcs, err := ir.Parse(`
func AreaTangent(a, b, aDot, bDot float64) (sDot float64) exit {
	sDot = aDot*b + a*bDot
}
`, nil)
	if err != nil {
		panic(err)
	}
	p := lanes.New(lanes.NewTypes(2), new(lanes.Workspace))
	both, err := p.Build(funcs[0], activity.Bits(0b1100), activity.Bits(1))
	if err != nil {
		panic(err)
	}
	fmt.Print(both)
	// Output:
	// func AreaTangent_lanes2(a float64, b float64, aDot0 float64, aDot1 float64, bDot0 float64, bDot1 float64) (sDot0 float64, sDot1 float64) exit {
	// 	sDot0 = aDot0 * b + a * bDot0
	// 	sDot1 = aDot1 * b + a * bDot1
	// }
}
