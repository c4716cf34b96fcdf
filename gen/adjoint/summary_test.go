package adjoint_test

import (
	"testing"

	"github.com/nabla-ad/nabla/gen/activity"
)

// TestMutualRecursion checks that a function is not taken to be pure because a function that it calls in mutual
// recursion was assumed to be while it was examined.
func TestMutualRecursion(t *testing.T) {
	f := function(t, load(t, inspectedPath), inspectedPath, "Mutual")
	for name, o := range variants {
		t.Run(name, func(t *testing.T) {
			check(t, f, activity.Bits(1), o, []float64{0.5, 1.25}, []float64{0.75})
		})
	}
}
