package sparsity

import (
	"math/bits"
	"slices"
)

// This file finds the inputs that given numbers of the graph depend on, 64 targets at a time: a depth-first search
// orders the nodes that the targets depend on, then one pass over these nodes propagates a 64-bit set of targets from
// each to its operands. Nodes that no target depends on are not visited.

// Estimated costs in nanoseconds, by which hessian and jacobian choose between searches and sweeps.
const (
	walkCost  = 15 // a node of a search
	entryCost = 6  // an entry that a search finds
	sweepCost = 2  // a node of one forward or backward sweep
)

// sweepsCost returns the estimated cost, in nanoseconds, of one sweep for every 64 inputs.
func (g *graph) sweepsCost() int64 {
	return sweepCost * int64(g.size()) * int64((g.n+63)/64)
}

// rows is a sequence of sets of inputs: set k is idx[ptr[k]:ptr[k+1]], ascending, with inputs counted from 0.
type rows struct{ ptr, idx []int }

// A walker is the state of a downward search from at most 64 targets. Its tables are indexed by the number of the
// graph; between two searches seen and word are zero.
type walker struct {
	g     *graph
	seen  []bool   // whether the number is in order or on the stack
	word  []uint64 // number → set of the targets that depend on it
	stack []int32  // of descend
	order []int32  // the numbers visited, operands before the nodes that use them
}

// walk returns the inputs that each target depends on. It takes 64 targets at a time, so that nodes which they have in
// common are visited once. It returns false, and an incomplete result, if the estimated cost exceeds budget, in
// nanoseconds.
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

// visit stores the targets' bits in word and fills order with the targets and the nodes that they depend on, operands
// first.
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

// descend appends t and the numbers that it depends on and that are not yet seen to order, operands first, in an
// iterative depth-first search.
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

// pass propagates the sets from the nodes in order to their operands, and returns the inputs reached, ascending,
// appended to inputs. The words of the inputs keep their sets; those of the nodes, and seen, are cleared.
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

// take appends the sets of k targets to r, clears the words of inputs, and returns the number of elements appended.
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
