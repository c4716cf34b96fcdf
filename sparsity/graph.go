package sparsity

import (
	"fmt"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/rules"
)

// A graph is the dependency graph of the derivatives of a function. Numbers 1 to n
// are the inputs, number 0 has no derivative, and the others are nodes, which come
// after their operands. Operations that pass on the derivative of one operand, as a
// sum with a constant does, leave no node.
type graph struct {
	n       int
	nodes   []node // number n+1+k is nodes[k]
	outs    []int32
	classes *[rules.NumOps]class
	task    *core.Task // that it is made for, or nil
}

// bytesPerEntry is the memory that an entry of a pattern takes, with the matrix over it,
// its transpose, a colouring and a decompressor.
const bytesPerEntry = 64

// step tells the task that the inputs or outputs before done are settled, and asks whether
// the entries that were found fit.
func (g *graph) step(done, total, entries int) {
	g.task.Step("detection", min(done, total), total)
	g.task.Fits(fmt.Sprintf("a sparse matrix, of which %d entries were found,", entries), bytesPerEntry*int64(entries))
}

func newGraph(n, nodes int) *graph {
	return &graph{n: n, nodes: make([]node, 0, nodes), classes: classes()}
}

// A node is an operation on one or two numbers. An operand without a derivative in the class is 0.
type node struct {
	a, b int32
	class
}

// size is one more than the highest number.
func (g *graph) size() int { return g.n + 1 + len(g.nodes) }

// node returns the node of number v, an input's being empty.
func (g *graph) node(v int32) node {
	if k := int(v) - g.n - 1; k >= 0 {
		return g.nodes[k]
	}
	return node{}
}

// apply returns a number that depends on a and b according to class c, adding a node if needed.
func (g *graph) apply(c class, a, b int32) int32 {
	if a == 0 {
		c &= first2 | second22
	}
	if b == 0 {
		c &= first1 | second11
	}
	if a == b { // one operand
		u := class(0)
		if c&firsts != 0 {
			u |= first1
		}
		if c&seconds != 0 {
			u |= second11
		}
		c, b = u, 0
	}
	switch c {
	case 0:
		return 0
	case first1:
		return a
	case first2:
		return b
	}
	if c&(first1|second11|second12) == 0 {
		a = 0
	}
	if c&(first2|second22|second12) == 0 {
		b = 0
	}
	g.nodes = append(g.nodes, node{a, b, c})
	return int32(g.size() - 1)
}

// join is the number that depends linearly on all of vs.
func (g *graph) join(vs []int32) int32 {
	sum := int32(0)
	for _, v := range vs {
		sum = g.apply(linear, sum, v)
	}
	return sum
}

// An operand is a number of the graph with its value, where values count.
type operand struct {
	id int32
	v  float64
}

// operation is the number that op gives. With local, values say more about it.
func (g *graph) operation(op rules.Op, local bool, x, y, z operand) int32 {
	switch op {
	case rules.Select:
		switch {
		case !local:
			return g.apply(linear, y.id, z.id)
		case x.v != 0:
			return y.id
		}
		return z.id
	case rules.FMA:
		return g.apply(linear, g.operation(rules.Mul, local, x, y, operand{}), z.id)
	}
	c := g.classes[op]
	if local {
		c = c.at(op, x.v, y.v)
	}
	return g.apply(c, x.id, y.id)
}

// call writes to outs the numbers that rule c makes of args.
func (g *graph) call(c core.Custom, outs, args []int32) {
	kind := class(curved)
	var rows [][]int
	if s, ok := c.(core.Structured); ok {
		var isLinear bool
		if rows, isLinear = s.Structure(len(args)); isLinear {
			kind = first1
		}
	}
	if rows == nil {
		all := g.apply(kind, g.join(args), 0)
		for i := range outs {
			outs[i] = all
		}
		return
	}
	var some []int32
	for i := range outs {
		some = some[:0]
		for _, j := range rows[i] {
			some = append(some, args[j])
		}
		outs[i] = g.apply(kind, g.join(some), 0)
	}
}
