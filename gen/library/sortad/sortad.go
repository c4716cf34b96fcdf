// Package sortad has the derivatives of functions that sort: tangents and cotangents are permuted as the elements are.
// Equal elements keep their order.
package sortad

// order returns the permutation that sorts x: element i of the result is the index in x of the i-th smallest element.
// Like package sort it puts NaNs first.
func order(x []float64) []int {
	at, next := make([]int, len(x)), make([]int, len(x))
	for i := range at {
		at[i] = i
	}
	for run := 1; run < len(x); run *= 2 {
		for lo := 0; lo < len(x); lo += 2 * run {
			mid, hi := min(lo+run, len(x)), min(lo+2*run, len(x))
			i, j := lo, mid
			for k := lo; k < hi; k++ {
				if j >= hi || i < mid && !less(x[at[j]], x[at[i]]) {
					next[k] = at[i]
					i++
				} else {
					next[k] = at[j]
					j++
				}
			}
		}
		copy(at, next)
	}
	return at
}

func less(a, b float64) bool { return a < b || a != a && b == b }

// arrange permutes x: element i becomes the former element of[i].
func arrange(x []float64, of []int) {
	old := make([]float64, len(x))
	copy(old, x)
	for i, k := range of {
		x[i] = old[k]
	}
}

// Float64sTangent is the tangent of sort.Float64s.
func Float64sTangent(x, xDot []float64) {
	at := order(x)
	if xDot != nil {
		arrange(xDot, at)
	}
	arrange(x, at)
}

// Float64sPullback is the pullback of sort.Float64s.
func Float64sPullback(x, xBar []float64) {
	if xBar == nil {
		return
	}
	old := make([]float64, len(x))
	copy(old, xBar)
	for i, k := range order(x) {
		xBar[k] = old[i]
	}
}

// SortTangent is the tangent of slices.Sort for float64.
func SortTangent(x, xDot []float64) { Float64sTangent(x, xDot) }

// SortPullback is the pullback of slices.Sort for float64.
func SortPullback(x, xBar []float64) { Float64sPullback(x, xBar) }

// Float64sPlain is the plain form of sort.Float64s.
func Float64sPlain(x []float64) { arrange(x, order(x)) }

// SortPlain is the plain form of slices.Sort for float64.
func SortPlain(x []float64) { Float64sPlain(x) }
