package rt

import (
	"slices"
	"sort"
)

// Orders of sorting. Each function sorts as one of package sort or slices does, with the same comparisons, so that
// equal elements come into the same order, and returns where the elements came from: element i of the result is the
// index that element i had before.

// Order returns the order in which slices.SortFunc brings n elements; compare is called with their indices.
func Order(n int, compare func(i, j int) int) []int {
	order := indices(n)
	slices.SortFunc(order, compare)
	return order
}

// OrderStable is Order for slices.SortStableFunc.
func OrderStable(n int, compare func(i, j int) int) []int {
	order := indices(n)
	slices.SortStableFunc(order, compare)
	return order
}

// SortSlice sorts s as sort.Slice does and returns the order; less compares elements that have been moved.
func SortSlice[S ~[]T, T any](s S, less func(i, j int) bool) []int {
	m := &moves[T]{s, indices(len(s)), less}
	sort.Sort(m)
	return m.order
}

// SortSliceStable is SortSlice for sort.SliceStable.
func SortSliceStable[S ~[]T, T any](s S, less func(i, j int) bool) []int {
	m := &moves[T]{s, indices(len(s)), less}
	sort.Stable(m)
	return m.order
}

// indices returns 0, …, n-1.
func indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// A moves sorts a slice and the order. sort.Sort and sort.Slice have one algorithm, generated for two types.
type moves[T any] struct {
	s     []T
	order []int
	less  func(i, j int) bool
}

func (m *moves[T]) Len() int           { return len(m.s) }
func (m *moves[T]) Less(i, j int) bool { return m.less(i, j) }
func (m *moves[T]) Swap(i, j int) {
	m.s[i], m.s[j] = m.s[j], m.s[i]
	m.order[i], m.order[j] = m.order[j], m.order[i]
}
