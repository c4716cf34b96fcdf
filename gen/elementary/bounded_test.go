package elementary

import (
	"math"
	"testing"

	"github.com/nabla-ad/nabla/rules"
)

// TestBounded evaluates the partial derivatives of the operations that are Bounded at extreme arguments; they must be
// finite.
func TestBounded(t *testing.T) {
	var points []float64
	for _, x := range []float64{0, 5e-324, 1e-300, 1e-8, 0.5, 1, 1.5, math.Pi / 2, 2, 3, 7, 20, 710, 1e4, 1e16, 1e77,
		1e155, 1e300, math.MaxFloat64} {
		points = append(points, x, -x)
	}
	for op := range bounded {
		if op.Arity() == 1 {
			for _, x := range points {
				if d := rules.Partial1(op, x, rules.Value1(op, x)); math.IsInf(d, 0) || math.IsNaN(d) {
					t.Errorf("the derivative of %v at %v is %v", op, x, d)
				}
			}
			continue
		}
		for _, x := range points {
			for _, y := range points {
				if op.Arity() != 2 {
					continue // fma, whose partials are its arguments
				}
				dx, dy := rules.Partials2(op, x, y, rules.Value2(op, x, y))
				if d := math.Abs(dx) + math.Abs(dy); !(d <= 2) {
					t.Errorf("the derivatives of %v at %v, %v are %v and %v", op, x, y, dx, dy)
				}
			}
		}
	}
}
