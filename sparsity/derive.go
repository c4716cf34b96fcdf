package sparsity

// smallBlocks is how many sweeps are made without thinking of anything else.
const smallBlocks = 4

// jacobian is the pattern of the first derivatives of the outputs. Walks are made
// where each output depends on little, sweeps where walks turn out to cost more.
func (g *graph) jacobian() *Pattern {
	if g.n > 64*smallBlocks {
		if p, ok := g.walkJacobian(g.sweepsCost()); ok {
			return p
		}
	}
	return g.sweepJacobian()
}

func (g *graph) walkJacobian(budget int64) (*Pattern, bool) {
	r, ok := g.walk(g.outs, budget)
	if !ok {
		return nil, false
	}
	t := &Pattern{rows: g.n, cols: len(g.outs), ptr: r.ptr, idx: r.idx}
	return t.Transpose(), true
}

// hessian is the pattern of all second derivatives of all outputs, by cones or, where
// these turn out to cost more, by sweeps.
//
// A node adds the products of the derivatives of its operands where its class has a
// second derivative and an output depends on it: then, and only then, do operations
// in between pass the second derivative on.
func (g *graph) hessian() *Pattern {
	g.settle()
	if g.n > 64*smallBlocks {
		if p, ok := g.coneHessian(2 * g.sweepsCost()); ok {
			return p
		}
	}
	return g.sweepHessian()
}

// settle takes the second derivatives from the nodes on which no output depends.
func (g *graph) settle() {
	live := make([]bool, g.size())
	for _, v := range g.outs {
		live[v] = true
	}
	for i := len(g.nodes) - 1; i >= 0; i-- {
		n := &g.nodes[i]
		if !live[g.n+1+i] {
			n.class &= firsts
			continue
		}
		if n.class&first1 != 0 {
			live[n.a] = true
		}
		if n.class&first2 != 0 {
			live[n.b] = true
		}
	}
}
