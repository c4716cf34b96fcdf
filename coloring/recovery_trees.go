package coloring

// This file derives from an acyclic colouring the order of substitution, and verifies the colouring on the way: the
// edges of two colours form a forest of two-coloured trees, which are recovered from the leaves to the roots, as by
// Gebremedhin, Manne and Pothen, SIAM Review 47 (2005). A cycle of two colours, or a vertex of the neutral colour that
// would have to be a parent, is an error.

// treeRecovery returns the parents and the order of the edges of all two-coloured trees, in time linear in the edges
// and colours. It sorts the edges by the pair of their colours and, for each pair, repeatedly removes a leaf. A vertex
// stores the exclusive or of its remaining edges, which is the edge itself when one is left. Leaves are removed in the
// order in which they arise, so chains of substitutions are as short as possible.
func treeRecovery(g *graph, color []int32, colors int) (*recovery, error) {
	m := len(g.ends)
	p := &peeler{graph: g, color: color,
		recovery: &recovery{hub: make([]int32, m), order: make([]int32, 0, m),
			termPtr: make([]int32, 1, m+1), terms: make([]int32, 0, m)},
		left: make([]int32, g.n), xor: make([]int32, g.n),
		child: make([]int32, g.n), sibling: make([]int32, m)}
	for v := range p.child {
		p.child[v] = -1
	}
	// pair returns the two colours of an edge in ascending order.
	pair := func(e int32) (low, high int32) {
		a, b := color[g.ends[e][0]], color[g.ends[e][1]]
		return min(a, b), max(a, b)
	}
	all := make([]int32, m)
	for e := range all {
		all[e] = int32(e)
	}
	all = countingSort(all, colors+1, func(e int32) int32 { _, high := pair(e); return high })
	all = countingSort(all, colors+1, func(e int32) int32 { low, _ := pair(e); return low })
	for len(all) > 0 {
		low, high := pair(all[0])
		n := 1
		for n < len(all) {
			if l, h := pair(all[n]); l != low || h != high {
				break
			}
			n++
		}
		group := all[:n]
		all = all[n:]
		if low == high {
			row, col := g.entry(group[0])
			return nil, invalid([]int{row}, []int{col}, "%s and %s are neighbours of one colour",
				g.title(g.ends[group[0]][0]), g.title(g.ends[group[0]][1]))
		}
		if stuck := p.peel(group); stuck >= 0 {
			row, col := g.entry(stuck)
			if low == 0 {
				return nil, invalid([]int{row}, []int{col}, "it needs the product of a neutral row or column")
			}
			return nil, invalid([]int{row}, []int{col}, "it is on a cycle of the two colours of %s and %s",
				g.title(g.ends[stuck][0]), g.title(g.ends[stuck][1]))
		}
	}
	return p.recovery, nil
}

// countingSort returns the elements of edges sorted stably by a key from 0 to keys-1.
func countingSort(edges []int32, keys int, key func(int32) int32) []int32 {
	at := make([]int32, keys+1)
	for _, e := range edges {
		at[key(e)+1]++
	}
	for k := range keys {
		at[k+1] += at[k]
	}
	sorted := make([]int32, len(edges))
	for _, e := range edges {
		k := key(e)
		sorted[at[k]] = e
		at[k]++
	}
	return sorted
}

// A peeler is the state of treeRecovery; the slices left, xor and child are reset between two groups of edges.
type peeler struct {
	*graph
	*recovery
	color   []int32
	left    []int32 // vertex → number of its remaining edges in the group
	xor     []int32 // vertex → exclusive or of its remaining edges
	child   []int32 // vertex → the last removed edge to a child, -1 if there is none
	sibling []int32 // edge → the edge to the previous child of the same parent, or -1
	queue   []int32 // worklist of vertices that were leaves when they were appended
}

// peel appends the edges of one pair of colours to order, children before parents. It returns -1, or an edge that
// cannot be substituted because it lies on a cycle or between vertices that only a neutral parent could recover.
func (p *peeler) peel(group []int32) (stuck int32) {
	for _, e := range group {
		for _, v := range p.ends[e] {
			p.left[v]++
			p.xor[v] ^= e
		}
	}
	p.queue = p.queue[:0]
	for _, e := range group {
		a, b := p.ends[e][0], p.ends[e][1]
		if p.left[a] == 1 && p.left[b] == 1 && p.color[a] != 0 && p.color[b] != 0 {
			p.free = append(p.free, e)
		}
		for _, v := range p.ends[e] {
			if p.left[v] == 1 {
				p.queue = append(p.queue, v)
			}
		}
	}
	for head := 0; head < len(p.queue); head++ {
		v := p.queue[head]
		if p.left[v] != 1 {
			continue // its last edge was removed with the other end
		}
		e := p.xor[v]
		parent := p.other(e, v)
		if p.color[parent] == 0 {
			continue
		}
		p.hub[e] = parent
		p.order = append(p.order, e)
		for c := p.child[v]; c >= 0; c = p.sibling[c] {
			p.terms = append(p.terms, c)
		}
		p.termPtr = append(p.termPtr, int32(len(p.terms)))
		p.sibling[e], p.child[parent] = p.child[parent], e
		p.left[v] = 0
		p.xor[v] = 0
		p.xor[parent] ^= e
		if p.left[parent]--; p.left[parent] == 1 {
			p.queue = append(p.queue, parent)
		}
	}
	stuck = -1
	for _, e := range group {
		a, b := p.ends[e][0], p.ends[e][1]
		p.child[a], p.child[b] = -1, -1
		if stuck < 0 && p.left[a] > 0 && p.left[b] > 0 { // one end of a removed edge has no edges left
			stuck = e
		}
	}
	return stuck
}
