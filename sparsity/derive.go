package sparsity

// This file chooses between the two ways to compute a pattern from a dependency graph: searches along the dependencies
// that exist (walk.go, cone.go), whose cost depends on the pattern, and bit-parallel sweeps over all nodes (sweep.go),
// whose cost does not. A search has the estimated cost of the sweeps as its budget, so the total is at most about twice
// the smaller cost.

// smallBlocks is the number of blocks of 64 inputs up to which sweeps are used without trying a search: they cost too
// little for a search to save time.
const smallBlocks = 4

// jacobian returns the pattern of the first derivatives of the outputs, outputs by inputs: by downward searches from
// the outputs, or by sweeps if the searches exceed the cost of sweeps.
func (g *graph) jacobian() *Pattern {
	if g.n > 64*smallBlocks {
		if p, ok := g.walkJacobian(g.sweepsCost()); ok {
			return p
		}
	}
	return g.sweepJacobian()
}

// walkJacobian returns the pattern of the Jacobian by downward searches, and false if their cost exceeds budget, in
// nanoseconds.
func (g *graph) walkJacobian(budget int64) (*Pattern, bool) {
	r, ok := g.walk(g.outs, budget)
	if !ok {
		return nil, false
	}
	t := &Pattern{rows: g.n, cols: len(g.outs), ptr: r.ptr, idx: r.idx}
	return t.Transpose(), true
}

// hessian returns the union of the patterns of the second derivatives of all outputs: by cones, or by sweeps if cones
// exceed the cost of sweeps.
//
// A node contributes the products of the sets of its operands if its class has a second derivative and an output
// depends on it; exactly in this case the operations in between pass the second derivative on to an output. hessian
// modifies the classes of the nodes.
func (g *graph) hessian() *Pattern {
	g.clearDead()
	if g.n > 64*smallBlocks {
		if p, ok := g.coneHessian(2 * g.sweepsCost()); ok {
			return p
		}
	}
	return g.sweepHessian()
}

// clearDead removes the second derivatives from the classes of the nodes on which no output depends: a backward sweep
// for liveness.
func (g *graph) clearDead() {
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
