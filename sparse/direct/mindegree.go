package direct

import "math"

// A quotient is a graph under elimination, as a quotient graph: an eliminated variable becomes an element, which stands
// for the clique of its neighbours, so that no fill is stored. Nodes 0 to n-1 are variables, those from n on are
// elements present from the beginning.
//
// The list of a variable has its elements first and then its adjacent variables that no element makes adjacent; the
// list of an element has its variables. A node that is dead is not removed from the lists of others: they skip it.
type quotient struct {
	n      int
	list   []int32 // memory of all lists
	free   int     // start of the unused part of list
	start  []int   // node → start of its list
	size   []int32 // node → length of its list
	elems  []int32 // variable → number of elements at the front of its list
	weight []int32 // variable → variables it represents; 0 if dead, negated if in the current element
	degree []int32 // variable → bound of its external degree; element → weight of its list
	parent []int32 // dead variable or element → the node that absorbed it; -1 if none
	mark   []int   // element → 0 if dead; else below flag, or flag plus the weight outside the current element
	flag   int
	widest int // the largest weight of an element

	head       []int32 // degree → first variable of that degree, -1 if none
	next, last []int32 // variable → its neighbours in the list of its degree; in next, of its hash
	bucket     []int32 // hash → first variable
	least      int     // no variable has a smaller degree
	eliminated int     // weight of eliminated variables
}

// denseDegree is the degree above which a row or column counts as dense, that of Davis's AMD: it would only slow down
// the ordering, and its place among the last changes the fill little.
func denseDegree(n int) int { return max(16, int(10*math.Sqrt(float64(n)))) }

// newQuotient returns the graph with n variables and m elements whose lists have the given sizes, of nnz in all; the
// caller fills the lists in the order of the nodes with push.
func newQuotient(n, m, nnz int) *quotient {
	q := &quotient{
		n: n, list: make([]int32, nnz+nnz/5+n+1),
		start: make([]int, n+m), size: make([]int32, n+m), elems: make([]int32, n), weight: make([]int32, n),
		degree: make([]int32, n+m), parent: make([]int32, n+m), mark: make([]int, n+m), flag: 2,
		head: make([]int32, n), next: make([]int32, n), last: make([]int32, n), bucket: make([]int32, n),
	}
	for i := range n {
		q.weight[i], q.head[i], q.bucket[i] = 1, -1, -1
	}
	for i := range n + m {
		q.parent[i], q.mark[i] = -1, 1
	}
	return q
}

// push appends a node to the list of the last node begun.
func (q *quotient) push(node, to int) {
	q.list[q.free] = int32(to)
	q.free++
	q.size[node]++
}

// minimumDegree returns the variables in an order of elimination by approximate minimum degree (Amestoy, Davis & Duff,
// SIAM J. Matrix Anal. Appl. 17, 1996): in each step a variable of least approximate external degree is eliminated,
// with those that are then adjacent to nothing else (mass elimination). Variables with the same adjacency are merged,
// and an element whose variables are all in the new one is absorbed even if it is not adjacent to the pivot (aggressive
// absorption). The assembly tree is postordered. The degrees of the variables must be set.
func (q *quotient) minimumDegree() []int {
	dense := denseDegree(q.n)
	var last []int32 // dense variables
	for i := range q.n {
		if int(q.degree[i]) > dense {
			q.weight[i], q.size[i] = 0, 0
			last = append(last, int32(i))
		} else {
			q.enlist(int32(i))
		}
	}
	if len(last) > 0 { // they do not count in the elements that are there
		for e := q.n; e < len(q.start); e++ {
			weight := int32(0)
			for _, i := range q.list[q.start[e] : q.start[e]+int(q.size[e])] {
				weight += q.weight[i]
			}
			q.degree[e] = weight
		}
	}
	q.eliminated = len(last)
	pivot := make([]bool, q.n)
	for q.eliminated < q.n {
		me := q.pick()
		pivot[me] = true
		q.eliminate(me)
	}
	return q.order(pivot, last)
}

// enlist puts variable i into the list of its degree.
func (q *quotient) enlist(i int32) {
	d := q.degree[i]
	first := q.head[d]
	q.next[i], q.last[i] = first, -1
	if first >= 0 {
		q.last[first] = i
	}
	q.head[d] = i
	q.least = min(q.least, int(d))
}

// delist removes variable i from the list of its degree.
func (q *quotient) delist(i int32) {
	next, last := q.next[i], q.last[i]
	if next >= 0 {
		q.last[next] = last
	}
	if last >= 0 {
		q.next[last] = next
	} else {
		q.head[q.degree[i]] = next
	}
}

// pick removes a variable of least degree from its list and returns it.
func (q *quotient) pick() int32 {
	for q.head[q.least] < 0 {
		q.least++
	}
	me := q.head[q.least]
	q.delist(me)
	return me
}

// eliminate makes the variable me an element and updates the variables around it.
func (q *quotient) eliminate(me int32) {
	own := q.weight[me]
	q.eliminated += int(own)
	q.weight[me] = -own // so that it is not in its own list
	weight, fresh := q.gather(me)
	q.outside(me)
	weight, own = q.shrink(me, weight, own)
	q.widest = max(q.widest, weight)
	q.flag += q.widest
	if q.flag > math.MaxInt32/2 {
		q.restart()
	}
	q.merge(me)

	// The remaining variables return to the lists of degrees.
	at := q.start[me]
	for _, i := range q.list[at : at+int(q.size[me])] {
		w := -q.weight[i]
		if w <= 0 {
			continue
		}
		q.weight[i] = w
		q.degree[i] = int32(min(int(q.degree[i])+weight-int(w), q.n-q.eliminated-int(w)))
		q.enlist(i)
		q.list[at] = i
		at++
	}
	q.weight[me] = own
	q.size[me] = int32(at - q.start[me])
	q.degree[me] = int32(weight)
	q.mark[me] = 1
	if q.size[me] == 0 {
		q.mark[me] = 0 // a root of the assembly tree
	}
	if fresh {
		q.free = at
	}
}

// gather makes the list of the new element me: the variables adjacent to it, whose weights are negated and which leave
// the lists of degrees. It absorbs the elements of me. It returns the weight of the list, and whether the list is the
// last one in memory.
func (q *quotient) gather(me int32) (weight int, fresh bool) {
	if q.elems[me] == 0 { // the list shrinks in its place
		at := q.start[me]
		to := q.take(at, at, int(q.size[me]), &weight)
		q.size[me] = int32(to - at)
		return weight, false
	}
	start, size, elems := q.start[me], int(q.size[me]), int(q.elems[me])
	need := size - elems
	for _, e := range q.list[start : start+elems] {
		if q.mark[e] != 0 {
			need += int(q.size[e])
		}
	}
	q.reserve(need)
	start = q.start[me]
	to := q.free
	for _, e := range q.list[start : start+elems] {
		if q.mark[e] == 0 {
			continue
		}
		to = q.take(to, q.start[e], int(q.size[e]), &weight)
		q.parent[e], q.mark[e], q.size[e] = me, 0, 0
	}
	to = q.take(to, start+elems, size-elems, &weight)
	q.start[me], q.size[me] = q.free, int32(to-q.free)
	q.free = to
	return weight, true
}

// take appends to the list that ends before to the variables of another list, from its start on, that are alive and not
// taken yet, and returns the new end. It adds their weight.
func (q *quotient) take(to, start, size int, weight *int) int {
	for p := start; p < start+size; p++ {
		i := q.list[p]
		if w := q.weight[i]; w > 0 {
			*weight += int(w)
			q.weight[i] = -w
			q.delist(i)
			q.list[to] = i
			to++
		}
	}
	return to
}

// reserve makes room for need nodes at the end of the lists, by compaction first.
func (q *quotient) reserve(need int) {
	if q.free+need <= len(q.list) {
		return
	}
	q.compact()
	if q.free+need > len(q.list) {
		q.list = append(q.list, make([]int32, q.free+need-len(q.list))...)
	}
}

// compact moves the lists of nodes that are alive to the front. The first node of a list is exchanged for the name of
// its owner, so that one pass over the memory finds the lists.
func (q *quotient) compact() {
	for node := range q.start {
		if q.size[node] == 0 {
			continue // dead, or without neighbours
		}
		at := q.start[node]
		q.start[node] = int(q.list[at])
		q.list[at] = -int32(node) - 1
	}
	to := 0
	for from := 0; from < q.free; {
		owner := q.list[from]
		if owner >= 0 {
			from++
			continue
		}
		node := -owner - 1
		first := int32(q.start[node])
		size := int(q.size[node])
		q.start[node] = to
		q.list[to] = first
		copy(q.list[to+1:to+size], q.list[from+1:from+size])
		to += size
		from += size
	}
	q.free = to
}

// outside sets the marks of all elements adjacent to variables of the new element me to flag plus the weight of their
// variables that are not in it.
func (q *quotient) outside(me int32) {
	for _, i := range q.list[q.start[me] : q.start[me]+int(q.size[me])] {
		w := int(q.weight[i]) // negated
		for _, e := range q.list[q.start[i] : q.start[i]+int(q.elems[i])] {
			switch m := q.mark[e]; {
			case m >= q.flag:
				q.mark[e] = m + w
			case m != 0:
				q.mark[e] = int(q.degree[e]) + q.flag + w
			}
		}
	}
}

// shrink removes dead members and those of the element me from the lists of its variables, and puts me first. It bounds
// their degrees outside me, eliminates those of degree 0, and puts the others into the buckets of a hash of their
// lists. It returns the weights of the element and of the eliminated variables, which were weight and own.
func (q *quotient) shrink(me int32, weight int, own int32) (int, int32) {
	for _, i := range q.list[q.start[me] : q.start[me]+int(q.size[me])] {
		start, vars, end := q.start[i], q.start[i]+int(q.elems[i]), q.start[i]+int(q.size[i])
		to, degree, hash := start, 0, uint32(0)
		for _, e := range q.list[start:vars] {
			if q.mark[e] == 0 {
				continue
			}
			if out := q.mark[e] - q.flag; out > 0 {
				degree += out
				hash += uint32(e)
				q.list[to] = e
				to++
			} else { // all its variables are in me
				q.parent[e], q.mark[e], q.size[e] = me, 0, 0
			}
		}
		elems := to
		for _, j := range q.list[vars:end] {
			if w := q.weight[j]; w > 0 {
				degree += int(w)
				hash += uint32(j)
				q.list[to] = j
				to++
			}
		}
		if degree == 0 {
			w := -q.weight[i]
			weight -= int(w)
			own += w
			q.eliminated += int(w)
			q.parent[i], q.weight[i], q.size[i], q.elems[i] = me, 0, 0, 0
			continue
		}
		q.degree[i] = min(q.degree[i], int32(min(degree, q.n)))
		// At least one node was removed: me, or an element that me absorbed.
		q.list[to] = q.list[elems]
		q.list[elems] = q.list[start]
		q.list[start] = me
		q.elems[i] = int32(elems - start + 1)
		q.size[i] = int32(to - start + 1)
		hash %= uint32(q.n)
		q.next[i], q.last[i] = q.bucket[hash], int32(hash)
		q.bucket[hash] = i
	}
	return weight, own
}

// merge merges variables of the element me that have the same lists. They are in one bucket.
func (q *quotient) merge(me int32) {
	for _, v := range q.list[q.start[me] : q.start[me]+int(q.size[me])] {
		if q.weight[v] == 0 {
			continue
		}
		i := q.bucket[q.last[v]]
		q.bucket[q.last[v]] = -1
		for ; i >= 0 && q.next[i] >= 0; i = q.next[i] {
			for _, node := range q.list[q.start[i]+1 : q.start[i]+int(q.size[i])] {
				q.mark[node] = q.flag
			}
			before := i
			for j := q.next[i]; j >= 0; j = q.next[j] {
				if !q.marked(j, q.size[i], q.elems[i]) {
					before = j
					continue
				}
				q.weight[i] += q.weight[j]
				q.parent[j], q.weight[j], q.size[j], q.elems[j] = i, 0, 0, 0
				q.next[before] = q.next[j]
			}
			q.flag++
		}
	}
}

// marked reports whether variable j has a list of the given size, with elems elements, of marked nodes. The first one
// is the current element.
func (q *quotient) marked(j, size, elems int32) bool {
	if q.size[j] != size || q.elems[j] != elems {
		return false
	}
	for _, node := range q.list[q.start[j]+1 : q.start[j]+int(size)] {
		if q.mark[node] != q.flag {
			return false
		}
	}
	return true
}

// restart resets the marks before flag overflows.
func (q *quotient) restart() {
	for node, m := range q.mark {
		if m != 0 {
			q.mark[node] = 1
		}
	}
	q.flag = 2 + q.widest
}

// order returns the variables in the order of elimination: the pivots in postorder of the assembly tree, each after the
// variables that it represents, and last the dense variables.
func (q *quotient) order(pivot []bool, dense []int32) []int {
	tree := make([]int32, q.n) // pivot → the pivot whose element absorbed its element; other variables have none
	first := make([]int32, q.n)
	next := make([]int32, q.n) // the variables that a pivot represents, linked
	for i := range q.n {
		tree[i], first[i] = -1, -1
	}
	for i := range int32(q.n) {
		if pivot[i] {
			if p := q.parent[i]; p >= 0 {
				tree[i] = p
			}
			continue
		}
		p := q.parent[i]
		if p < 0 {
			continue // dense
		}
		for !pivot[p] {
			p = q.parent[p]
		}
		for j := i; j >= 0 && !pivot[j]; { // the next search from here is short
			j, q.parent[j] = q.parent[j], p
		}
		next[i] = first[p]
		first[p] = i
	}
	order := make([]int, 0, q.n)
	for _, p := range postorder(tree) {
		if !pivot[p] {
			continue
		}
		for i := first[p]; i >= 0; i = next[i] {
			order = append(order, int(i))
		}
		order = append(order, int(p))
	}
	for _, i := range dense {
		order = append(order, int(i))
	}
	return order
}
