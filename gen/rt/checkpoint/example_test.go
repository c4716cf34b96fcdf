package checkpoint_test

import (
	"fmt"

	"github.com/nabla-ad/nabla/gen/rt/checkpoint"
)

// The reach of three snapshots with up to two repetitions of each step: ten steps.
func ExampleReach() {
	fmt.Println(checkpoint.Reach(3, 2))
	// Output:
	// 10
}
