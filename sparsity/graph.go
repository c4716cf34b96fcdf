package sparsity

import (
	"fmt"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/rules"
)

// This file has the dependency graph that detectors build, from a recording or a program, and compute patterns from: a
// directed acyclic graph with one node per operation, labelled with the class of the operation. Operations that only
// pass on the derivative of one operand, such as adding a constant, are elided when the graph is built.

// A graph is the dependency graph of the derivatives of a function. Its vertices are numbers: 1 to n are the inputs,
// number 0 stands for all values without a derivative, and the numbers from n+1 on are nodes, each after its operands.
type graph struct {
	n       int
	nodes   []node               // nodes[k] is number n+1+k
	outs    []int32              // the numbers of the outputs
	classes *[rules.NumOps]class // operation → class
	task    *core.Task           // receives progress and checks limits; may be nil
}

// bytesPerEntry estimates the memory in bytes that an entry of a pattern takes, with its value in a matrix, its share
// of the transpose, of a colouring and of a decompressor.
const bytesPerEntry = 64

// step reports to the task that the inputs or outputs before done are processed, and checks that the entries found so
// far fit into the memory limit. It panics with a core.Abort if the task is cancelled or the limit exceeded.
func (g *graph) step(done, total, entries int) {
	g.task.Step("detection", min(done, total), total)
	g.task.Fits(fmt.Sprintf("a sparse matrix, of which %d entries were found,", entries), bytesPerEntry*int64(entries))
}

// newGraph returns a graph of n inputs without nodes, with capacity for the given number of them.
func newGraph(n, nodes int) *graph {
	return &graph{n: n, nodes: make([]node, 0, nodes), classes: classes()}
}

// A node is an operation of the given class on the numbers a and b. An operand with respect to which the class has no
// derivative is 0.
type node struct {
	a, b int32
	class
}

// size returns the number of vertices, number 0 included.
func (g *graph) size() int { return g.n + 1 + len(g.nodes) }

// node returns the node of number v; that of an input is the zero node.
func (g *graph) node(v int32) node {
	if k := int(v) - g.n - 1; k >= 0 {
		return g.nodes[k]
	}
	return node{}
}

// apply returns the number of an operation of class c on a and b. It appends a node unless an existing number has the
// same dependencies: a linear operation on one operand returns the operand, one without derivatives returns 0.
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

// linearIn returns a number that depends linearly on all of vs.
func (g *graph) linearIn(vs []int32) int32 {
	sum := int32(0)
	for _, v := range vs {
		sum = g.apply(linear, sum, v)
	}
	return sum
}

// An operand is a number of the graph with its value; the value is set only for Local.
type operand struct {
	id int32
	v  float64
}

// operation returns the number of op applied to x, y and z, of which it reads as many as op has arguments. If local is
// set, the values of the operands narrow the class down, and Select takes only the selected branch.
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

// call stores in outs the numbers of the outputs of custom rule c for the arguments args: each depends on the arguments
// that its Structure or Groups name, otherwise on all; the dependence is nonlinear unless they say that it is linear.
func (g *graph) call(c core.Custom, outs, args []int32) {
	if core.IsPassive(c) {
		clear(outs)
		return
	}
	if b, ok := c.(core.Grouped); ok {
		g.grouped(b, outs, args)
		return
	}
	kind := class(curved)
	var rows [][]int
	if s, ok := c.(core.Structured); ok {
		var isLinear bool
		if rows, isLinear = s.Structure(len(args)); isLinear {
			kind = first1
		}
	}
	if rows == nil {
		all := g.apply(kind, g.linearIn(args), 0)
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
		outs[i] = g.apply(kind, g.linearIn(some), 0)
	}
}

// grouped is call for a rule whose outputs depend on groups of inputs. A group is one number, however many outputs
// depend on it.
func (g *graph) grouped(c core.Grouped, outs, args []int32) {
	groups, pairs, isCurved := c.Groups(len(args))
	number := make([]int32, len(groups))
	var some []int32
	for i, group := range groups {
		some = some[:0]
		for _, j := range group {
			some = append(some, args[j])
		}
		number[i] = g.linearIn(some)
	}
	kind := linear | second12
	if isCurved {
		kind |= second11
	}
	for i, f := range pairs {
		outs[i] = g.apply(kind, number[f[0]], number[f[1]])
	}
}
