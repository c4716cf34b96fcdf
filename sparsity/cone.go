package sparsity

import "slices"

// This file computes the pattern of a Hessian from the dependency graph, 64 inputs at a time: an upward search (rise)
// finds the nodes that depend on these inputs, and a downward search (fall, pass) finds the inputs that share a
// nonlinear operation with them. Only nodes on such paths are visited, so the cost is small if each input interacts
// with few others, however many operations there are. The interaction sets are those of Walther,
// "Computing sparse Hessians with automatic differentiation", ACM Trans. Math. Softw. 34 (2008).

// A cone is the state of the search for the rows of a Hessian pattern that belong to 64 inputs. Its tables are indexed
// by the number of the graph. Between two blocks, t, word, seen and met are zero.
type cone struct {
	walker
	needed    []bool   // whether an operand of a node with second derivatives depends on the number
	ptr       []int32  // the nodes with number v as an operand are
	users     []int32  // users[ptr[v]:ptr[v+1]]
	t         []uint64 // number → set of the inputs of the block that it depends on
	up        []int32  // needed numbers that depend on the block, each after its dependents
	rising    []int32  // stack of climb; ^v marks a number whose dependents are all pushed
	nonlinear []int32  // nodes with second derivatives and an operand in up
	met       []bool   // whether a node is in nonlinear
}

// coneHessian returns the pattern of the second derivatives. It returns false, and no pattern, if its estimated cost
// exceeds budget, in nanoseconds.
func (g *graph) coneHessian(budget int64) (*Pattern, bool) {
	c := g.newCone()
	r := rows{ptr: make([]int, 1, g.n+1)}
	var inputs []int32
	for first := 0; first < g.n; first += 64 {
		k := min(64, g.n-first)
		c.rise(first, k)
		c.fall()
		inputs = c.pass(inputs[:0])
		found := c.take(&r, k, inputs)
		budget -= walkCost*int64(len(c.up)+len(c.nonlinear)+len(c.order)) + entryCost*int64(found)
		g.step(first+64, g.n, len(r.idx))
		if budget < 0 {
			return nil, false
		}
	}
	return &Pattern{rows: g.n, cols: g.n, ptr: r.ptr, idx: r.idx}, true
}

// newCone returns the search state for g, with the table of users of each number (a counting sort) and, by one backward
// sweep over the nodes, the needed numbers.
func (g *graph) newCone() *cone {
	size := g.size()
	c := &cone{
		walker: walker{g: g, seen: make([]bool, size), word: make([]uint64, size)},
		needed: make([]bool, size), ptr: make([]int32, size+1),
		t: make([]uint64, size), met: make([]bool, size),
	}
	for i := len(g.nodes) - 1; i >= 0; i-- {
		n := &g.nodes[i]
		needed := c.needed[g.n+1+i]
		if n.class&(second11|second12) != 0 || needed && n.class&first1 != 0 {
			c.needed[n.a] = true
		}
		if n.class&(second22|second12) != 0 || needed && n.class&first2 != 0 {
			c.needed[n.b] = true
		}
	}
	// Number 0 gets a list of users like any other; no search starts from it.
	for i := range g.nodes {
		c.ptr[g.nodes[i].a+1]++
		c.ptr[g.nodes[i].b+1]++
	}
	for v := range size {
		c.ptr[v+1] += c.ptr[v]
	}
	next := slices.Clone(c.ptr)
	c.users = make([]int32, c.ptr[size])
	for i := range g.nodes {
		for _, v := range [2]int32{g.nodes[i].a, g.nodes[i].b} {
			c.users[next[v]] = int32(g.n + 1 + i)
			next[v]++
		}
	}
	return c
}

// rise searches upward from the k inputs after number first: it collects in up the needed numbers that depend on them,
// and stores in t, for each of these, the set of the inputs (bit i is input first+1+i) that it depends on.
func (c *cone) rise(first, k int) {
	c.up = c.up[:0]
	for i := range k {
		if v := int32(first + 1 + i); c.needed[v] {
			c.t[v] = 1 << i
			if !c.seen[v] {
				c.climb(v)
			}
		}
	}
	for _, v := range slices.Backward(c.up) {
		c.seen[v] = false
		if n := c.g.node(v); n.class != 0 {
			c.t[v] = c.t[n.a]&n.mask(first1) | c.t[n.b]&n.mask(first2)
		}
	}
}

// climb appends v and the needed nodes that depend on it to up, dependents first, in an iterative depth-first search.
// Users are pushed in ascending order: all numbers that wait below v on the stack are then smaller than v, so they do
// not depend on v, and the order is topological although seen is set when a number is pushed.
func (c *cone) climb(v int32) {
	c.seen[v] = true
	stack := append(c.rising[:0], v)
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		if v < 0 { // all its dependents have been appended
			c.up = append(c.up, ^v)
			stack = stack[:len(stack)-1]
			continue
		}
		stack[len(stack)-1] = ^v
		for _, w := range c.users[c.ptr[v]:c.ptr[v+1]] {
			n := c.g.node(w)
			if c.needed[w] && !c.seen[w] && (n.a == v && n.class&first1 != 0 || n.b == v && n.class&first2 != 0) {
				c.seen[w] = true
				stack = append(stack, w)
			}
		}
	}
	c.rising = stack
}

// fall seeds the downward search: for each node with second derivatives that depends on the block, it adds to the words
// of the operands the inputs of the block that they interact with there, and appends these operands and the numbers
// that they depend on to order. It clears t.
func (c *cone) fall() {
	c.nonlinear, c.order = c.nonlinear[:0], c.order[:0]
	for _, v := range c.up {
		for _, w := range c.users[c.ptr[v]:c.ptr[v+1]] {
			if !c.met[w] && c.g.node(w).class&seconds != 0 {
				c.met[w] = true
				c.nonlinear = append(c.nonlinear, w)
			}
		}
	}
	for _, w := range c.nonlinear {
		c.met[w] = false
		n := c.g.node(w)
		ta, tb := c.t[n.a], c.t[n.b]
		cross := n.mask(second12)
		c.push(n.a, ta&n.mask(second11)|tb&cross)
		c.push(n.b, tb&n.mask(second22)|ta&cross)
	}
	for _, v := range c.up {
		c.t[v] = 0
	}
}

// push adds word to the set of v, and v with all that it depends on to order if it is not there yet.
func (c *cone) push(v int32, word uint64) {
	if word == 0 {
		return
	}
	c.word[v] |= word
	if !c.seen[v] {
		c.descend(v)
	}
}
