package expression

import (
	"cmp"
	"container/heap"
	"encoding/binary"
	"slices"
)

// This file factorises derivative graphs, the algorithm D* of Guenter, "Efficient symbolic differentiation for graphics
// applications", ACM Transactions on Graphics 26 (2007), article 108.
//
// The derivative graph has an arc from each node to each of its arguments, with the partial derivative. The derivative
// of a root with respect to a leaf is the sum over all paths between them of the products of the arcs. Where all paths
// from the root to a node b pass a node a (a dominates b), or all paths from a to the leaf pass b (b postdominates a),
// the part of the graph between a and b can be replaced by one arc with the sum of its paths. Each pair of a root and a
// leaf has such parts of its own, and the same part often occurs in many of them: the one that occurs most often is
// factorised first, at once in all its pairs. In the end a single path remains for each pair, and products of arcs that
// follow each other in several of these paths are computed once.

// An arc is an edge of a derivative graph.
type arc struct {
	from, to int32 // nodes: from is computed from to
	p        partial
}

// A pair is a root and a leaf, and the arcs on the paths between them that remain.
type pair struct {
	root, leaf int32
	arcs       []int32 // in descending order of their nodes from; nil for a derivative that is zero
	parts      []string
}

// A part is a piece of the graph between two nodes that all arcs into b, or all arcs out of a, belong to.
type part struct {
	a, b  int32
	arcs  []int32
	pairs []int32 // that have it, ascending
	into  []bool  // for each of pairs: a dominates b; otherwise b postdominates a
}

// A factoriser holds the derivative graph of some roots.
type factoriser struct {
	g     *graph
	arcs  []arc
	known map[arcKey]int32 // arcs that factorisation has made
	pairs []pair
	parts map[string]*part
	queue parts
	// Scratch memory by node.
	in, out           []int32 // number of arcs
	firstIn, firstOut []int32 // index of the first of them in upward and in downward
	dom               []int32 // dominator, or postdominator
	seen              []int32 // the stamp of the search that visited it last
	stamp             int32
	stack             []int32
	upward, downward  []int32 // the arcs of the pair that find looks at; see there
	work              int     // arcs visited
	workLeft          int     // the limit of work
}

// arcKey identifies an arc whose partial is a number.
type arcKey struct {
	from, to int32
	v        number
}

// derivatives returns the derivatives of roots[k] with respect to leaves[k] for each k, by D*. ok is false for those
// that are structurally zero. done is false if more than limit arcs would have to be visited.
func (g *graph) derivatives(roots, leaves []int32, limit int) (v []number, ok []bool, done bool) {
	f := &factoriser{g: g, known: map[arcKey]int32{}, parts: map[string]*part{}, workLeft: limit}
	if !f.open(roots, leaves) || !f.factorise() {
		return nil, nil, false
	}
	v, ok = f.products()
	return v, ok, true
}

// open makes the arcs and the pairs.
func (f *factoriser) open(roots, leaves []int32) bool {
	g := f.g
	size := len(g.nodes)
	need, on := g.reach(roots), g.varied(leaves)
	below := make([][]int32, size) // arcs out of each node
	for id := range int32(size) {
		if !need[id] || !on[id] {
			continue
		}
		for i, a := range g.args(id) {
			if !on[a] {
				continue
			}
			if p, ok := g.partial(id, i); ok {
				below[id] = append(below[id], int32(len(f.arcs)))
				f.arcs = append(f.arcs, arc{id, a, p})
			}
		}
	}
	f.in, f.out = make([]int32, size), make([]int32, size)
	f.dom, f.seen = make([]int32, size), make([]int32, size)
	f.firstIn, f.firstOut = make([]int32, size), make([]int32, size)
	// The arcs on paths to each leaf are found once, and those from each root are followed among them.
	leads := map[int32][]bool{}
	for k, leaf := range leaves {
		to := leads[leaf]
		if to == nil {
			to = make([]bool, size)
			to[leaf] = true
			for id := int(leaf) + 1; id < size; id++ {
				for _, e := range below[id] {
					to[id] = to[id] || to[f.arcs[e].to]
				}
			}
			leads[leaf] = to
			f.work += size
		}
		p := pair{root: roots[k], leaf: leaf}
		if to[p.root] && p.root != leaf {
			seen := map[int32]bool{p.root: true}
			for queue := []int32{p.root}; len(queue) > 0; {
				id := queue[len(queue)-1]
				queue = queue[:len(queue)-1]
				for _, e := range below[id] {
					next := f.arcs[e].to
					if !to[next] {
						continue
					}
					p.arcs = append(p.arcs, e)
					if !seen[next] {
						seen[next] = true
						queue = append(queue, next)
					}
				}
			}
			f.sort(p.arcs)
		}
		f.pairs = append(f.pairs, p)
		if f.work += len(p.arcs); f.work > f.workLeft {
			return false
		}
	}
	for k := range f.pairs {
		f.find(int32(k))
		if f.work > f.workLeft {
			return false
		}
	}
	return true
}

// sort puts arcs in descending order of the nodes they come from.
func (f *factoriser) sort(arcs []int32) {
	slices.SortFunc(arcs, func(x, y int32) int {
		a, b := &f.arcs[x], &f.arcs[y]
		return cmp.Or(cmp.Compare(b.from, a.from), cmp.Compare(b.to, a.to), cmp.Compare(x, y))
	})
}

// find computes the parts of pair k, which had none.
func (f *factoriser) find(k int32) {
	p := &f.pairs[k]
	p.parts = p.parts[:0]
	f.work += 2 * len(p.arcs)
	// Arcs are in an order in which all arcs into a node precede those out of it; those out of it are together. In
	// f.upward those into a node are together, and all arcs out of a node precede those into it.
	f.downward = p.arcs
	f.upward = append(f.upward[:0], p.arcs...)
	slices.SortFunc(f.upward, func(x, y int32) int {
		return cmp.Or(cmp.Compare(f.arcs[x].to, f.arcs[y].to), cmp.Compare(x, y))
	})
	for i := len(p.arcs) - 1; i >= 0; i-- {
		from, to := f.arcs[f.downward[i]].from, f.arcs[f.upward[i]].to
		f.out[from]++
		f.in[to]++
		f.firstOut[from], f.firstIn[to] = int32(i), int32(i)
	}
	const unknown = -1
	for _, e := range f.downward {
		f.dom[f.arcs[e].to] = unknown
	}
	f.dom[p.root] = p.root
	for _, e := range f.downward {
		a := &f.arcs[e]
		f.join(a.to, a.from, func(x, y int32) bool { return x > y })
	}
	for i := 0; i < len(f.upward); {
		b := f.arcs[f.upward[i]].to
		if i += int(f.in[b]); f.in[b] > 1 {
			f.note(k, f.dom[b], b, true)
		}
	}
	// Postdominators, the same from below.
	for _, e := range f.upward {
		f.dom[f.arcs[e].from] = unknown
	}
	f.dom[p.leaf] = p.leaf
	for _, e := range f.upward {
		a := &f.arcs[e]
		f.join(a.from, a.to, func(x, y int32) bool { return x < y })
	}
	for i := 0; i < len(f.downward); {
		a := f.arcs[f.downward[i]].from
		if i += int(f.out[a]); f.out[a] > 1 {
			f.note(k, a, f.dom[a], false)
		}
	}
	for _, e := range p.arcs {
		a := &f.arcs[e]
		f.in[a.to], f.out[a.from] = 0, 0
	}
}

// join makes the dominator of node the nearest common one of those so far and of next.
func (f *factoriser) join(node, next int32, nearer func(x, y int32) bool) {
	d := f.dom[node]
	if d < 0 {
		f.dom[node] = next
		return
	}
	for d != next { // the one that is farther from the start moves towards it
		if nearer(next, d) {
			d = f.dom[d]
		} else {
			next = f.dom[next]
		}
		f.work++
	}
	f.dom[node] = d
}

// note adds the part of pair k between a and b.
func (f *factoriser) note(k, a, b int32, dominated bool) {
	arcs := f.between(a, b, dominated)
	text := make([]byte, 0, 4*len(arcs)+8)
	text = binary.LittleEndian.AppendUint32(text, uint32(a))
	text = binary.LittleEndian.AppendUint32(text, uint32(b))
	for _, e := range arcs {
		text = binary.LittleEndian.AppendUint32(text, uint32(e))
	}
	key := string(text)
	t := f.parts[key]
	if t == nil {
		t = &part{a: a, b: b, arcs: arcs}
		f.parts[key] = t
	}
	at, known := slices.BinarySearch(t.pairs, k)
	if !known {
		t.pairs = slices.Insert(t.pairs, at, k)
		t.into = slices.Insert(t.into, at, false)
		f.pairs[k].parts = append(f.pairs[k].parts, key)
	}
	t.into[at] = t.into[at] || dominated
	if !known {
		heap.Push(&f.queue, queued{t, len(t.pairs)})
	}
}

// between returns the arcs on the paths from a to b in the pair that find looks at, in their order: those that lead
// to b from a that dominates it, or those that come from a that b postdominates.
func (f *factoriser) between(a, b int32, dominated bool) []int32 {
	start, stop := a, b
	if dominated {
		start, stop = b, a
	}
	f.stamp++
	f.seen[start] = f.stamp
	var found []int32
	for f.stack = append(f.stack[:0], start); len(f.stack) > 0; {
		id := f.stack[len(f.stack)-1]
		f.stack = f.stack[:len(f.stack)-1]
		var arcs []int32
		if dominated {
			arcs = f.upward[f.firstIn[id]:][:f.in[id]]
		} else {
			arcs = f.downward[f.firstOut[id]:][:f.out[id]]
		}
		found = append(found, arcs...)
		for _, e := range arcs {
			next := f.arcs[e].to
			if dominated {
				next = f.arcs[e].from
			}
			if next != stop && f.seen[next] != f.stamp {
				f.seen[next] = f.stamp
				f.stack = append(f.stack, next)
			}
		}
	}
	f.work += 2 * len(found)
	f.sort(found)
	return found
}

// factorise replaces parts by arcs until each pair has a single path. It returns false at the limit of work.
func (f *factoriser) factorise() bool {
	for f.queue.Len() > 0 {
		next := heap.Pop(&f.queue).(queued)
		best := next.part
		if len(best.pairs) != next.n { // it has changed since, and is in the queue again unless it is in no pair
			continue
		}
		if f.work > f.workLeft {
			return false
		}
		e, zero := f.collapse(best)
		pairs, into := slices.Clone(best.pairs), slices.Clone(best.into)
		for i, k := range pairs {
			f.replace(k, best, e, zero, into[i])
		}
	}
	return true
}

// A queued is a part and the number of its pairs when that last changed.
type queued struct {
	*part
	n int
}

// parts is a heap of parts, the next to be factorised first: the part of more pairs, among those the one with fewer
// arcs, which may lie within the other.
type parts []queued

func (q parts) Len() int      { return len(q) }
func (q parts) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q parts) Less(i, j int) bool {
	a, b := &q[i], &q[j]
	return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(len(a.arcs), len(b.arcs)), cmp.Compare(a.b, b.b),
		cmp.Compare(a.a, b.a), slices.Compare(a.arcs, b.arcs)) < 0
}
func (q *parts) Push(v any) { *q = append(*q, v.(queued)) }
func (q *parts) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// collapse returns the arc with the sum of the paths of t, and whether that is zero.
func (f *factoriser) collapse(t *part) (e int32, zero bool) {
	g := f.g
	terms := map[int32][]number{t.a: {one}}
	sums := map[int32]number{}
	f.work += 4 * len(t.arcs)
	for _, i := range t.arcs { // all arcs into a node come before those out of it
		a := &f.arcs[i]
		v, known := sums[a.from]
		if !known {
			list := terms[a.from]
			if len(list) == 0 { // it has cancelled
				continue
			}
			v = g.sum(list)
			sums[a.from] = v
		}
		if w := g.times(v, a.p); !g.zero(w) {
			terms[a.to] = append(terms[a.to], w)
		}
	}
	if len(terms[t.b]) == 0 {
		return 0, true
	}
	v := g.sum(terms[t.b])
	return f.arcOf(t.a, t.b, v), g.zero(v)
}

// arcOf returns the arc between two nodes whose partial is v.
func (f *factoriser) arcOf(from, to int32, v number) int32 {
	key := arcKey{from, to, v}
	if e, ok := f.known[key]; ok {
		return e
	}
	p := partial{neg: v.neg}
	if v.id != none {
		p.steps = []step{{times, v.id}}
	}
	f.arcs = append(f.arcs, arc{from, to, p})
	f.known[key] = int32(len(f.arcs) - 1)
	return f.known[key]
}

// replace replaces the part t of pair k by the arc e, or by nothing if that is zero. into says that a dominates b.
func (f *factoriser) replace(k int32, t *part, e int32, zero, into bool) {
	p := &f.pairs[k]
	for _, key := range p.parts {
		u := f.parts[key]
		if u == nil {
			continue
		}
		if at, ok := slices.BinarySearch(u.pairs, k); ok {
			u.pairs, u.into = slices.Delete(u.pairs, at, at+1), slices.Delete(u.into, at, at+1)
		}
		if len(u.pairs) == 0 {
			delete(f.parts, key)
		} else {
			heap.Push(&f.queue, queued{u, len(u.pairs)})
		}
	}
	f.work += 3 * len(p.arcs)
	var rest []int32
	for _, i := range p.arcs {
		a := &f.arcs[i]
		if into && a.to == t.b || !into && a.from == t.a {
			continue
		}
		rest = append(rest, i)
	}
	if !zero {
		rest = append(rest, e)
		f.sort(rest)
	}
	p.arcs = f.prune(rest, p.root, p.leaf)
	f.find(k)
}

// prune returns the arcs that are on a path from root to leaf.
func (f *factoriser) prune(arcs []int32, root, leaf int32) []int32 {
	down, up := map[int32]bool{root: true}, map[int32]bool{leaf: true}
	for _, i := range arcs {
		if a := &f.arcs[i]; down[a.from] {
			down[a.to] = true
		}
	}
	for j := len(arcs) - 1; j >= 0; j-- {
		if a := &f.arcs[arcs[j]]; up[a.to] {
			up[a.from] = true
		}
	}
	return slices.DeleteFunc(arcs, func(i int32) bool {
		a := &f.arcs[i]
		return !down[a.from] || !up[a.to]
	})
}
