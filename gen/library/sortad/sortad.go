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

// less reports whether a is sorted before b: a is smaller, or a is NaN and b is not.
func less(a, b float64) bool { return a < b || a != a && b == b }

// arrange permutes x, so that x[i] becomes the former x[of[i]].
func arrange(x []float64, of []int) {
	old := make([]float64, len(x))
	copy(old, x)
	for i, k := range of {
		x[i] = old[k]
	}
}

// Float64sTangent sorts x and moves each element of xDot to the index to which its element of x moves. It allocates.
func Float64sTangent(x, xDot []float64) {
	at := order(x)
	if xDot != nil {
		arrange(xDot, at)
	}
	arrange(x, at)
}

// Float64sPullback moves each element of xBar back to the index that its element of x has before sorting, which is how
// x must be passed. It allocates.
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

// SortTangent is [Float64sTangent]: slices.Sort for float64 orders as sort.Float64s does.
func SortTangent(x, xDot []float64) { Float64sTangent(x, xDot) }

// SortPullback is [Float64sPullback].
func SortPullback(x, xBar []float64) { Float64sPullback(x, xBar) }

// Float64sPlain sorts x, as sort.Float64s does. It allocates.
func Float64sPlain(x []float64) { arrange(x, order(x)) }

// SortPlain is [Float64sPlain].
func SortPlain(x []float64) { Float64sPlain(x) }
