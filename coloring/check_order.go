package coloring

import (
	"fmt"

	"github.com/nabla-ad/nabla/internal/page"
	"github.com/nabla-ad/nabla/sparsity"
)

// An OrderError is a position at which a permutation violates the rule of a dynamic order.
type OrderError struct {
	Order    Dynamic
	Position int // index in the permutation
	Reason   string
}

func (e *OrderError) Error() string {
	return page.Namef("coloring.OrderError", "coloring: no %v order at position %d: %s", e.Order, e.Position, e.Reason)
}

// ValidDynamicOrder returns nil if perm, numbered as by [Permutation], is an order that d may produce for the problem:
// every vertex was a best choice when it was chosen. Ties may be broken in any way. Otherwise the error is an
// *OrderError, or a *LengthError if perm has the wrong length. Degrees are computed from scratch for every choice, so
// the cost is cubic and this is meant for tests.
func ValidDynamicOrder(p *sparsity.Pattern, problem Problem, d Dynamic, perm []int) error {
	problem, err := problem.checked(p)
	if err != nil {
		return err
	}
	near := competitors(p, problem)
	n := len(near)
	if len(perm) != n {
		return &LengthError{"ValidDynamicOrder", "len(perm)", len(perm), n}
	}
	at := make([]int, n)
	for v := range at {
		at[v] = -1
	}
	for t, v := range perm {
		if v < 0 || v >= n || at[v] >= 0 {
			return &OrderError{d, t, fmt.Sprintf("%d is no vertex or occurs twice", v)}
		}
		at[v] = t
	}
	for t, v := range perm {
		// placed reports whether w is placed before the choice of position t: the order is built from its beginning, or
		// from its end if Descending is set.
		placed := func(w int) bool { return at[w] < t }
		if d.Descending {
			placed = func(w int) bool { return at[w] > t }
		}
		degree := func(v int) int {
			k := 0
			for w := range n {
				// Unplaced neighbours count if exactly one of Forward and Descending is set, otherwise placed ones.
				if w != v && near[v][w] && placed(w) == (d.Forward == d.Descending) {
					k++
				}
			}
			return k
		}
		mine := degree(v)
		for w := range n {
			if placed(w) {
				continue
			}
			if o := degree(w); d.Descending && o < mine || !d.Descending && o > mine {
				return &OrderError{d, t, fmt.Sprintf("vertex %d has degree %d, but %d has %d", v, mine, w, o)}
			}
		}
	}
	return nil
}

// competitors returns the adjacency matrix of the graph that is coloured for a problem, computed from its definition.
func competitors(p *sparsity.Pattern, problem Problem) [][]bool {
	m, n := p.Dims()
	size, joined := n, func(a, b int) bool { return p.Has(a, b) }
	switch {
	case problem.Structure == Symmetric:
	case problem.Partition == Bidirectional:
		size = m + n
		joined = func(a, b int) bool { return a < n && b >= n && p.Has(b-n, a) || b < n && a >= n && p.Has(a-n, b) }
	case problem.Partition == Row:
		size = m
		joined = func(a, b int) bool {
			for j := range n {
				if p.Has(a, j) && p.Has(b, j) {
					return true
				}
			}
			return false
		}
	default:
		joined = func(a, b int) bool {
			for i := range m {
				if p.Has(i, a) && p.Has(i, b) {
					return true
				}
			}
			return false
		}
	}
	near := make([][]bool, size)
	for a := range near {
		near[a] = make([]bool, size)
		for b := range near[a] {
			near[a][b] = a != b && joined(a, b)
		}
	}
	return near
}
