package sparsity

import (
	"math/bits"
	"slices"
)

// Costs in nanoseconds, about, to choose between walks and sweeps.
const (
	walkCost  = 15 // a node of a walk
	entryCost = 6  // an entry that a walk finds
	sweepCost = 2  // a node of a sweep in one direction
)

// sweepsCost returns the cost of one sweep for every 64 inputs.
func (g *graph) sweepsCost() int64 {
	return sweepCost * int64(g.size()) * int64((g.n+63)/64)
}

// rows are sets of inputs, numbered from 0 and ascending, one after the other.
type rows struct{ ptr, idx []int }

// A walker goes from numbers of a graph down to the inputs that they depend on.
type walker struct {
	g     *graph
	seen  []bool
	word  []uint64 // which targets depend on a number
	stack []int32
	order []int32 // every number before its operands, read backwards
}

// walk finds the inputs that each target depends on, 64 targets at a time, so that nodes they have in common are
// visited once. It reports false if it has given up because the cost exceeds budget.
func (g *graph) walk(targets []int32, budget int64) (r rows, ok bool) {
	w := &walker{g: g, seen: make([]bool, g.size()), word: make([]uint64, g.size())}
	r.ptr = make([]int, 1, len(targets)+1)
	var inputs []int32
	for len(targets) > 0 {
		k := min(64, len(targets))
		w.visit(targets[:k])
		inputs = w.pass(inputs[:0])
		found := w.take(&r, k, inputs)
		budget -= walkCost*int64(len(w.order)) + entryCost*int64(found)
		if budget < 0 {
			return r, false
		}
		targets = targets[k:]
		g.step(len(r.ptr)-1, cap(r.ptr)-1, len(r.idx))
	}
	return r, true
}

// visit fills order with the targets and the nodes that they depend on, operands first.
func (w *walker) visit(targets []int32) {
	w.order = w.order[:0]
	for k, t := range targets {
		if t == 0 {
			continue
		}
		w.word[t] |= 1 << k
		if !w.seen[t] {
			w.descend(t)
		}
	}
}

// descend appends t and the nodes that it depends on to order, operands first.
func (w *walker) descend(t int32) {
	w.seen[t] = true
	stack := append(w.stack[:0], t)
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		n := w.g.node(v)
		switch {
		case n.class&first1 != 0 && !w.seen[n.a]:
			w.seen[n.a] = true
			stack = append(stack, n.a)
		case n.class&first2 != 0 && !w.seen[n.b]:
			w.seen[n.b] = true
			stack = append(stack, n.b)
		default:
			w.order = append(w.order, v)
			stack = stack[:len(stack)-1]
		}
	}
	w.stack = stack
}

// pass hands the words down to the inputs and appends those, ascending. The words
// of the inputs stay; all else is reset.
func (w *walker) pass(inputs []int32) []int32 {
	for _, v := range slices.Backward(w.order) {
		w.seen[v] = false
		if int(v) <= w.g.n {
			inputs = append(inputs, v)
			continue
		}
		n := w.g.node(v)
		word := w.word[v]
		w.word[v] = 0
		if n.class&first1 != 0 {
			w.word[n.a] |= word
		}
		if n.class&first2 != 0 {
			w.word[n.b] |= word
		}
	}
	slices.Sort(inputs)
	return inputs
}

// take appends the sets of k targets to r and resets the words of inputs.
func (w *walker) take(r *rows, k int, inputs []int32) (found int) {
	var at [64]int
	for _, v := range inputs {
		for word := w.word[v]; word != 0; word &= word - 1 {
			at[bits.TrailingZeros64(word)]++
			found++
		}
	}
	end := len(r.idx)
	r.idx = slices.Grow(r.idx, found)[:end+found]
	for i := range k {
		n := at[i]
		at[i] = end
		end += n
		r.ptr = append(r.ptr, end)
	}
	for _, v := range inputs {
		for word := w.word[v]; word != 0; word &= word - 1 {
			i := bits.TrailingZeros64(word)
			r.idx[at[i]] = int(v) - 1
			at[i]++
		}
		w.word[v] = 0
	}
	return found
}
