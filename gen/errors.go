package gen

import (
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// errorsLast moves the errors among the results of generated functions behind the other results, as the tangent of a
// result follows its value, and the error with it.
func (u *unit) errorsLast() {
	primal, orders := map[*ir.Func]bool{}, map[*ir.Func][]int{}
	for _, t := range u.targets {
		for _, f := range reached(t.f) {
			primal[f] = true
		}
	}
	var all []*ir.Func
	for _, t := range u.targets {
		for _, b := range t.built {
			for _, f := range reached(b.fn) {
				if _, done := orders[f]; done || primal[f] {
					continue
				}
				orders[f] = errorsBehind(f)
				f.Results = permuted(f.Results, orders[f])
				all = append(all, f)
			}
			b.results = permuted(b.results, orders[b.fn])
		}
	}
	for _, f := range all {
		ir.Walk(f.Body, func(s ir.Stmt) bool {
			if c, ok := s.(*ir.Call); ok && c.Callee.Rule == nil {
				c.Results = permuted(c.Results, orders[c.Callee.Func])
			}
			return true
		})
	}
}

// errorsBehind returns the indices of the results of f, errors last, or nil if they are in this order.
func errorsBehind(f *ir.Func) (order []int) {
	isError := func(i int) bool { return types.Identical(f.Results[i].Type, errorType) }
	for i := range f.Results {
		if !isError(i) {
			order = append(order, i)
		}
	}
	for i := range f.Results {
		if isError(i) {
			order = append(order, i)
		}
	}
	if slices.IsSorted(order) {
		return nil
	}
	return order
}

// permuted returns the elements of list at the indices in order, and list itself if order is nil.
func permuted[T any](list []T, order []int) []T {
	if order == nil {
		return list
	}
	out := make([]T, len(list))
	for i, k := range order {
		out[i] = list[k]
	}
	return out
}
