package sparsity

// smallBlocks is how many sweeps are made without thinking of anything else.
const smallBlocks = 4

// linearCost is what walks may cost for each number before cones are tried.
const linearCost = 300

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
	r, _, ok := g.walk(g.outs, budget)
	if !ok {
		return nil, false
	}
	t := &Pattern{rows: g.n, cols: len(g.outs), ptr: r.ptr, idx: r.idx}
	return t.Transpose(), true
}

// hessian is the pattern of all second derivatives of all outputs.
//
// A node adds the products of the derivatives of its operands where its class has a
// second derivative and an output depends on it: then, and only then, do operations
// in between pass the second derivative on. Walks find the sets of inputs to
// multiply, which is best while they are small; cones need no sets.
func (g *graph) hessian() *Pattern {
	operands := g.settle()
	if g.n > 64*smallBlocks {
		if p, ok := g.walkHessian(operands, min(linearCost*int64(g.size()), 2*g.sweepsCost())); ok {
			return p
		}
		if p, ok := g.coneHessian(2 * g.sweepsCost()); ok {
			return p
		}
	}
	return g.sweepHessian()
}

func (g *graph) walkHessian(operands []int32, budget int64) (*Pattern, bool) {
	r, left, ok := g.walk(operands, budget)
	if !ok {
		return nil, false
	}
	return g.products(operands, &r, left)
}

// settle takes the second derivatives from the nodes on which no output depends and
// returns the numbers whose sets of inputs the others multiply.
func (g *graph) settle() (operands []int32) {
	live, wanted := make([]bool, g.size()), make([]bool, g.size())
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
	want := func(v int32) {
		if !wanted[v] {
			wanted[v] = true
			operands = append(operands, v)
		}
	}
	for i := range g.nodes {
		n := &g.nodes[i]
		if n.class&(second11|second12) != 0 {
			want(n.a)
		}
		if n.class&(second22|second12) != 0 {
			want(n.b)
		}
	}
	return operands
}

// products is the union of the products of the operands' sets r.
func (g *graph) products(operands []int32, r *rows, budget int64) (*Pattern, bool) {
	at := make([]int32, g.size()) // by number
	for i, v := range operands {
		at[v] = int32(i)
	}
	u := upper{n: g.n, list: make([]uint64, 0, 2*len(r.idx))}
	for i := range g.nodes {
		n := &g.nodes[i]
		if n.class&seconds == 0 {
			continue
		}
		a, b := r.row(int(at[n.a])), r.row(int(at[n.b]))
		if n.class&second11 != 0 {
			budget -= pairCost * int64(len(a)) * int64(len(a)) / 2
			u.square(a)
		}
		if n.class&second22 != 0 {
			budget -= pairCost * int64(len(b)) * int64(len(b)) / 2
			u.square(b)
		}
		if n.class&second12 != 0 {
			budget -= pairCost * int64(len(a)) * int64(len(b))
			u.product(a, b)
		}
		if budget < 0 {
			return nil, false
		}
	}
	return u.pattern(), true
}
