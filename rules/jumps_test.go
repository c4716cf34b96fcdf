package rules

import (
	"math"
	"strings"
	"testing"
)

// TestJumps looks for jumps: numbers between which the value changes, however near they come.
func TestJumps(t *testing.T) {
	points := []float64{-4, -2.5, -2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 2.5, 4}
	for o := Invalid + 1; o < NumOps; o++ {
		jump := 0.0
		args := [3]float64{}
		for _, x := range points {
			for _, y := range points {
				for i := range o.Arity() {
					args = [3]float64{x, y, -4}
					at := valueOf(o, args)
					for _, side := range []float64{-1e-13, 1e-13} {
						near := args
						near[i] += side
						v := valueOf(o, near)
						if d := math.Abs(v - at); d > jump && !math.IsInf(d, 0) && math.Abs(v)+math.Abs(at) < 1e5 {
							jump = d
						}
					}
				}
			}
		}
		// The order of these is a whole number.
		whole := o == Jn || o == Yn || o == Polygamma
		if got := jump > 1e-3; got && !o.Jumps() && !whole {
			t.Errorf("%s jumps by %g", o, jump)
		} else if o.Jumps() && !got && o != Nextafter && o != Finite && o != Stop && o != PowScale &&
			!strings.HasPrefix(o.String(), "gamma") {
			t.Errorf("%s is said to jump", o)
		}
		if zero := len(table[o].Partials) > 0 && table[o].Partials[0] == "0"; zero && !o.Jumps() && !whole {
			t.Errorf("%s has a derivative of zero, and is said not to jump", o)
		}
	}
}

func valueOf(o Op, a [3]float64) float64 {
	switch o.Arity() {
	case 1:
		return Value1(o, a[0])
	case 2:
		return Value2(o, a[0], a[1])
	}
	return Value3(o, a[0], a[1], a[2])
}
