package quadad_test

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/nabla-ad/nabla/gen/library/quadad"
)

// result returns the value of f or the text of its panic.
func result(f func() float64) (out string) {
	defer func() {
		if r := recover(); r != nil {
			out = fmt.Sprint("panic: ", r)
		}
	}()
	return fmt.Sprint(f())
}

// TestFixed compares values and panics with those of quad.
func TestFixed(t *testing.T) {
	f := func(x float64) float64 { return math.Exp(-x*x) * (1 + x) }
	inf := math.Inf(1)
	for _, rule := range []quad.FixedLocationer{nil, quad.Legendre{}, quad.Hermite{}} {
		for _, b := range [][2]float64{
			{0, 2}, {-1, 3}, {1, 1}, {2, 1}, {-inf, inf}, {-inf, 2}, {1, inf}, {math.NaN(), 1},
		} {
			for _, n := range []int{-1, 1, 2, 7, 30, 120} {
				want := result(func() float64 { return quad.Fixed(f, b[0], b[1], n, rule, 0) })
				if got := result(func() float64 { return quadad.Fixed(f, b[0], b[1], n, rule, 0) }); got != want {
					t.Errorf("%T, %v, n = %d: %s, want %s", rule, b, n, got, want)
				}
			}
		}
	}
}
