package difftest

import (
	"fmt"
	"math"
	"strings"
)

// difference says how got differs from want, "" where it does not. A component may
// be off by tol times its size and by tol/1000 times the size of the largest, or
// tol/100 if tol is for truncation errors, which small components share with large
// ones; where all are zero by tol. least is a bound from below for the size of the largest.
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

// show prints v, shortened.
func show(v []float64) string {
	const most = 24
	if len(v) <= most {
		return fmt.Sprint(v)
	}
	return strings.TrimSuffix(fmt.Sprint(v[:most]), "]") + fmt.Sprintf(" … %d more]", len(v)-most)
}

// identical reports whether a and b are the same bit for bit.
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

// scaled is c·v, nil where v is.
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

// columns are multiples of v side by side, row by row.
func columns(v, scales []float64) []float64 {
	w := make([]float64, 0, len(v)*len(scales))
	for _, x := range v {
		for _, s := range scales {
			w = append(w, s*x)
		}
	}
	return w
}

// transposed is k vectors, one after the other, side by side.
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
