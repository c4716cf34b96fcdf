package rt

import (
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
)

// TestOrder compares the order of equal elements with that of packages sort and slices.
func TestOrder(t *testing.T) {
	type element struct{ key, at int }
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 11, 12, 13, 49, 50, 51, 100, 1000} {
		for _, keys := range []int{1, 2, 5, 1000} {
			s := make([]element, n)
			for i := range s {
				s[i] = element{rng.IntN(keys), i}
				if rng.IntN(3) > 0 && i > 0 { // runs
					s[i].key = s[i-1].key + rng.IntN(2)
				}
			}
			at := func(s []element) []int {
				out := make([]int, n)
				for i, e := range s {
					out[i] = e.at
				}
				return out
			}
			byKey := func(a, b element) int { return a.key - b.key }
			compare := func(i, j int) int { return byKey(s[i], s[j]) }
			check := func(name string, got []int, sort func(s []element)) {
				u := slices.Clone(s)
				sort(u)
				if !slices.Equal(got, at(u)) {
					t.Errorf("%s of %d elements and %d keys: order %v, want %v", name, n, keys, got, at(u))
				}
			}
			check("SortFunc", Order(n, compare), func(u []element) { slices.SortFunc(u, byKey) })
			check("SortStableFunc", OrderStable(n, compare), func(u []element) { slices.SortStableFunc(u, byKey) })
			u := slices.Clone(s)
			less := func(i, j int) bool { return u[i].key < u[j].key }
			order := SortSlice(u, less)
			check("Slice", order, func(u []element) {
				sort.Slice(u, func(i, j int) bool { return u[i].key < u[j].key })
			})
			if !slices.Equal(order, at(u)) {
				t.Error("the slice is not in that order")
			}
			u = slices.Clone(s)
			check("SliceStable", SortSliceStable(u, less), func(u []element) {
				sort.SliceStable(u, func(i, j int) bool { return u[i].key < u[j].key })
			})
		}
	}
}
