package sparsity

import "slices"

// A cone is a sweep that goes only where it finds something: up from 64 inputs to
// the numbers that depend on them, and from the second derivatives met there down
// to the inputs again. That is little where inputs act near themselves, however
// many steps a function takes.
type cone struct {
	walker
	needed []bool  // numbers whose dependencies matter to a second derivative
	ptr    []int32 // the nodes that have number v as an operand are
	users  []int32 // users[ptr[v]:ptr[v+1]]
	t      []uint64
	up     []int32 // the numbers met, every one after those that depend on it
	rising []int32 // stack
	bends  []int32 // the nodes with second derivatives met
	met    []bool  // by number
}

// coneHessian is the pattern of the second derivatives by cones. It gives up, with
// false, when it has cost more than budget.
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
		budget -= walkCost*int64(len(c.up)+len(c.bends)+len(c.order)) + entryCost*int64(found)
		g.step(first+64, g.n, len(r.idx))
		if budget < 0 {
			return nil, false
		}
	}
	return &Pattern{rows: g.n, cols: g.n, ptr: r.ptr, idx: r.idx}, true
}

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
	// Operand 0 is a user's as any other; nothing rises from it.
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

// rise collects the nodes that depend on the k inputs from first+1 on in up, and writes to t the set of those inputs,
// one bit each, for every node.
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

// climb appends v and the nodes that depend on it to up, dependents first. Users are visited in ascending order, so
// that nodes waiting on the stack below a number do not depend on it.
func (c *cone) climb(v int32) {
	c.seen[v] = true
	stack := append(c.rising[:0], v)
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		if v < 0 { // all that depends on it is there
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

// fall propagates the second derivatives of the nodes that depend on the current inputs: it writes the sets of their
// operands to word, and the nodes that these depend on to order. It resets t.
func (c *cone) fall() {
	c.bends, c.order = c.bends[:0], c.order[:0]
	for _, v := range c.up {
		for _, w := range c.users[c.ptr[v]:c.ptr[v+1]] {
			if !c.met[w] && c.g.node(w).class&seconds != 0 {
				c.met[w] = true
				c.bends = append(c.bends, w)
			}
		}
	}
	for _, w := range c.bends {
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

func (c *cone) push(v int32, word uint64) {
	if word == 0 {
		return
	}
	c.word[v] |= word
	if !c.seen[v] {
		c.descend(v)
	}
}
