package source_test

import (
	"fmt"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/source"
	"github.com/nabla-ad/nabla/internal/problems"
)

// The package of the function has the comment
//
//	//go:generate go tool nabla gen
//
// and go generate has written the derivatives of the functions that it passes to operators. The engine finds them.
func Example() {
	x := []float64{-1.2, 1}
	y, g, err := nabla.ValueAndGradient(problems.RosenbrockPlain, source.Reverse{}, x)
	fmt.Printf("%.4f %.4f %v\n", y, g, err)

	hv, err := nabla.HVP(problems.RosenbrockPlain, source.Reverse{}, x, []float64{1, 0})
	fmt.Printf("%.4f %v\n", hv, err)

	yDot, err := nabla.Pushforward(problems.RosenbrockPlain, source.Forward{}, x, []float64{0, 1})
	fmt.Printf("%.4f %v\n", yDot, err)
	// Output:
	// 24.2000 [-215.6000 -88.0000] <nil>
	// [1330.0000 480.0000] <nil>
	// [-88.0000] <nil>
}
