package optim

import (
	"fmt"
	"math"
	"slices"
)

// A box has bounds of the unknowns; a nil slice has none.
type box struct{ lower, upper []float64 }

// newBox checks bounds for n unknowns.
func newBox(op string, lower, upper []float64, n int) (b box, err error) {
	for _, side := range []struct {
		name string
		v    []float64
	}{{"Lower", lower}, {"Upper", upper}} {
		if side.v != nil && len(side.v) != n {
			return b, &SettingError{op, "len(" + side.name + ")", fmt.Sprint(len(side.v)),
				fmt.Sprintf("%d, the number of unknowns, or no bounds", n)}
		}
	}
	b = box{slices.Clone(lower), slices.Clone(upper)}
	for i := range n {
		l, u := b.at(i)
		if !(l < u) || math.IsInf(l, 1) || math.IsInf(u, -1) {
			return b, &SettingError{op, fmt.Sprintf("bounds %d", i), fmt.Sprintf("[%v, %v]", l, u),
				"a lower bound below the upper one; an unknown that is fixed belongs into the function"}
		}
	}
	return b, nil
}

func (b box) bounded() bool { return b.lower != nil || b.upper != nil }

// at returns the bounds of unknown i.
func (b box) at(i int) (lower, upper float64) {
	lower, upper = math.Inf(-1), math.Inf(1)
	if b.lower != nil {
		lower = b.lower[i]
	}
	if b.upper != nil {
		upper = b.upper[i]
	}
	return lower, upper
}

// project moves x to the nearest point within the bounds.
func (b box) project(x []float64) {
	if !b.bounded() {
		return
	}
	for i, v := range x {
		l, u := b.at(i)
		x[i] = min(max(v, l), u)
	}
}

// active stores in free which unknowns are free at x with the gradient g: all but those that are within width of a
// bound beyond which -g points. It returns how many there are.
func (b box) active(free []bool, x, g []float64, width float64) (count int) {
	for i, v := range x {
		l, u := b.at(i)
		free[i] = !(v <= l+width && g[i] > 0 || v >= u-width && g[i] < 0)
		if free[i] {
			count++
		}
	}
	return count
}

// gradient returns component i of the projected gradient: 0 if x is at the bound beyond which -g points.
func (b box) gradient(i int, x, g []float64) float64 {
	if l, u := b.at(i); x[i] <= l && g[i] > 0 || x[i] >= u && g[i] < 0 {
		return 0
	}
	return g[i]
}
