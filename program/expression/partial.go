package expression

import (
	"github.com/nabla-ad/nabla/rules"
)

// A kind is how a step of a partial derivative acts on a number.
type kind uint8

const (
	times kind = iota // multiplies with a node
	over              // divides by a node
	yes               // keeps the number if the node is not 0, and makes it 0 otherwise
	no                // keeps the number if the node is 0, and makes it 0 otherwise
)

// A step is a factor of a partial derivative.
type step struct {
	kind kind
	node int32
}

// A partial is a derivative of a node with respect to an argument, as factors in the order in which a cotangent takes
// them; see rules.Steps.
type partial struct {
	neg   bool
	steps []step
}

// A number is a node, or 1 without a node, with a sign.
type number struct {
	id  int32 // none for 1
	neg bool
}

var one = number{id: none}

// partial returns the derivative of node id with respect to argument i, and false if it is structurally zero.
func (g *graph) partial(id int32, i int) (partial, bool) {
	n := g.nodes[id]
	op := rules.Op(n.op)
	if op.Choice() {
		chosen := n.arg[0]
		if op != rules.Select { // the first argument of max and min if it equals the value
			chosen = g.apply(rules.Eq, id, n.arg[0])
			i++
		}
		switch i {
		case 1:
			return partial{steps: []step{{yes, chosen}}}, true
		case 2:
			return partial{steps: []step{{no, chosen}}}, true
		}
		return partial{}, false
	}
	if rules.Partial(op, i) == nil {
		return partial{}, false
	}
	factors, neg := rules.Steps(op, i)
	p := partial{neg: neg}
	for _, e := range factors {
		s := step{kind: times}
		if e.Kind == rules.Call && e.Op == rules.Inv {
			s.kind, e = over, e.Args[0]
		}
		s.node = g.expression(e, &n, id)
		if v, constant := g.value(s.node); constant && s.kind == times && v == 0 {
			return partial{}, false
		}
		p.steps = append(p.steps, s)
	}
	return p, true
}

// expression returns e over the arguments and the value of node id, which is n.
func (g *graph) expression(e *rules.Expr, n *node, id int32) int32 {
	switch e.Kind {
	case rules.Num:
		return g.constant(e.Num)
	case rules.ArgX:
		return n.arg[0]
	case rules.ArgY:
		return n.arg[1]
	case rules.ArgZ:
		return n.arg[2]
	case rules.ArgV:
		return id
	}
	var a [3]int32
	for i, x := range e.Args {
		a[i] = g.expression(x, n, id)
	}
	return g.make(e.Op, a, g.level)
}

// times returns v times p.
func (g *graph) times(v number, p partial) number {
	v.neg = v.neg != p.neg
	for _, s := range p.steps {
		if v.id == none {
			v.id = g.constant(1)
		}
		switch s.kind {
		case times:
			if x, ok := g.value(v.id); ok && x == 1 {
				v.id = s.node
			} else {
				v.id = g.apply(rules.Mul, v.id, s.node)
			}
		case over:
			v.id = g.apply(rules.Div, v.id, s.node)
		case yes:
			v.id = g.apply(rules.Select, s.node, v.id, g.constant(0))
		case no:
			v.id = g.apply(rules.Select, s.node, g.constant(0), v.id)
		}
	}
	return v
}

// sum returns the sum of numbers, in order. There is at least one.
func (g *graph) sum(terms []number) number {
	total := terms[0]
	for _, t := range terms[1:] {
		a, b := g.bare(total), g.bare(t)
		switch {
		case total.neg == t.neg:
			total.id = g.apply(rules.Add, a, b)
		case t.neg:
			total.id = g.apply(rules.Sub, a, b)
		default:
			total = number{id: g.apply(rules.Sub, b, a)}
		}
	}
	return total
}

// bare returns the node of v without its sign.
func (g *graph) bare(v number) int32 {
	if v.id == none {
		return g.constant(1)
	}
	return v.id
}

// node returns the node of v.
func (g *graph) node(v number) int32 {
	if v.neg {
		return g.apply(rules.Neg, g.bare(v))
	}
	return g.bare(v)
}

// varied reports for each node whether it depends on one of the inputs.
func (g *graph) varied(inputs []int32) []bool {
	on := make([]bool, len(g.nodes))
	for _, id := range inputs {
		on[id] = true
	}
	for i := range g.nodes {
		n := &g.nodes[i]
		if on[i] || !n.op.Elementary() || !rules.Op(n.op).Differentiable() {
			continue
		}
		for _, a := range g.args(int32(i)) {
			on[i] = on[i] || on[a]
		}
	}
	return on
}

// tangent returns the derivative of node root with respect to input node x, and false if it is structurally zero: one
// forward sweep over the nodes between them.
func (g *graph) tangent(root, x int32) (number, bool) {
	if root == x {
		return one, true
	}
	on, need := g.varied([]int32{x}), g.reach([]int32{root})
	tan := make(map[int32]number)
	tan[x] = one
	for id := x + 1; id <= root; id++ {
		if !on[id] || !need[id] {
			continue
		}
		var terms []number
		for i, a := range g.args(id) {
			t, ok := tan[a]
			if !ok {
				continue
			}
			if p, ok := g.partial(id, i); ok {
				if v := g.times(t, p); !g.zero(v) {
					terms = append(terms, v)
				}
			}
		}
		if len(terms) > 0 {
			if v := g.sum(terms); !g.zero(v) {
				tan[id] = v
			}
		}
	}
	v, ok := tan[root]
	return v, ok
}

// zero reports whether v is the constant 0.
func (g *graph) zero(v number) bool {
	if v.id == none {
		return false
	}
	x, ok := g.value(v.id)
	return ok && x == 0
}
