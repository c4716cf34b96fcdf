package difftest

import (
	"fmt"
	"math"
	"strings"
)

// difference describes how got differs from want; "" if it does not. The tolerance of a component is tol times the sum
// of its size and a share of that of the largest finite one, at least least: 1/1000, or 1/100 if tol allows for
// truncation errors, which small components share with large ones. If all are zero, it is tol.
func difference(got, want []float64, tol, least float64) string {
	if len(got) != len(want) {
		return fmt.Sprintf("got %d numbers, want %d\n\tgot  %s\n\twant %s", len(got), len(want), show(got), show(want))
	}
	largest := least
	for _, w := range want {
		if a := math.Abs(w); a > largest && !math.IsInf(a, 1) { // nor a NaN
			largest = a
		}
	}
	share := 1000.0
	if tol > exactTol {
		share = 100
	}
	if largest == 0 {
		largest = share
	}
	for i, w := range want {
		// Written so that a NaN does not pass.
		if d := math.Abs(got[i] - w); !(d <= tol*(math.Abs(w)+largest/share)) &&
			!(math.IsNaN(w) && math.IsNaN(got[i])) && got[i] != w {
			return fmt.Sprintf("number %d is %v, want %v (tolerance %.2g)\n\tgot  %s\n\twant %s", i, got[i], w, tol,
				show(got), show(want))
		}
	}
	return ""
}

// show formats v, of which it prints the first components.
func show(v []float64) string {
	const most = 24
	if len(v) <= most {
		return fmt.Sprint(v)
	}
	return strings.TrimSuffix(fmt.Sprint(v[:most]), "]") + fmt.Sprintf(" … %d more]", len(v)-most)
}

// identical reports whether a and b are equal bit for bit.
func identical(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if math.Float64bits(a[i]) != math.Float64bits(b[i]) {
			return false
		}
	}
	return true
}

// scaled returns c·v, nil for nil.
func scaled(c float64, v []float64) []float64 {
	if v == nil {
		return nil
	}
	w := make([]float64, len(v))
	for i, x := range v {
		w[i] = c * x
	}
	return w
}

// columns returns the matrix with the columns scales[k]·v, row by row.
func columns(v, scales []float64) []float64 {
	w := make([]float64, 0, len(v)*len(scales))
	for _, x := range v {
		for _, s := range scales {
			w = append(w, s*x)
		}
	}
	return w
}

// transposed returns the matrix whose columns are the k vectors that v holds one after the other, row by row.
func transposed(v []float64, k int) []float64 {
	if v == nil {
		return nil
	}
	n := len(v) / k
	w := make([]float64, 0, len(v))
	for i := range n {
		for j := range k {
			w = append(w, v[j*n+i])
		}
	}
	return w
}
