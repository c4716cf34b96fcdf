package program

import "slices"

// components returns the strongly connected components of a graph whose nodes have the given successors, by Tarjan's
// algorithm. A component comes after those that it leads to, and its nodes ascend.
func components(successors [][]int32) [][]int32 {
	n := len(successors)
	c := &connected{successors: successors, number: make([]int32, n), low: make([]int32, n), on: make([]bool, n)}
	for i := range n {
		if c.number[i] == 0 {
			c.visit(int32(i))
		}
	}
	return c.found
}

// connected is the state of the search.
type connected struct {
	successors  [][]int32
	visited     int32
	number, low []int32 // node → when it was visited, from 1, and the earliest node that its successors lead back to
	stack       []int32
	on          []bool // the stack has the node
	found       [][]int32
}

// visit searches from node i.
func (c *connected) visit(i int32) {
	c.visited++
	c.number[i], c.low[i] = c.visited, c.visited
	c.stack = append(c.stack, i)
	c.on[i] = true
	for _, j := range c.successors[i] {
		switch {
		case c.number[j] == 0:
			c.visit(j)
			c.low[i] = min(c.low[i], c.low[j])
		case c.on[j]:
			c.low[i] = min(c.low[i], c.number[j])
		}
	}
	if c.low[i] != c.number[i] {
		return
	}
	at := len(c.stack) - 1
	for ; c.stack[at] != i; at-- {
		c.on[c.stack[at]] = false
	}
	c.on[i] = false
	found := slices.Clone(c.stack[at:])
	c.stack = c.stack[:at]
	slices.Sort(found)
	c.found = append(c.found, found)
}
