package sparsity

import "math/bits"

// This file computes patterns by sweeps: one pass over all nodes with a 64-bit word for each number, a bit for each of
// 64 inputs, repeated for every block of 64 inputs. The cost is the number of nodes times the number of blocks and does
// not depend on the pattern. This is the propagation of bit vectors of Griewank and Walther, "Evaluating Derivatives",
// 2nd ed. (2008), chapter 7.

// forward makes a forward sweep: it stores in t, for each number, the set of the inputs first+1 to first+64 that it
// depends on. Bit k is input first+1+k.
func (g *graph) forward(t []uint64, first int) {
	clear(t[:g.n+1])
	for k := range min(64, g.n-first) {
		t[first+1+k] = 1 << k
	}
	for i := range g.nodes {
		n := &g.nodes[i]
		t[g.n+1+i] = t[n.a]&n.mask(first1) | t[n.b]&n.mask(first2)
	}
}

// mask returns a word of ones if bit is set in c, and 0 otherwise.
func (c class) mask(bit class) uint64 {
	if c&bit != 0 {
		return ^uint64(0)
	}
	return 0
}

// sweepJacobian returns the pattern of the Jacobian by forward sweeps.
func (g *graph) sweepJacobian() *Pattern {
	t, out := make([]uint64, g.size()), make([]uint64, len(g.outs))
	p := Empty(len(g.outs), g.n)
	for first := 0; first < g.n; first += 64 {
		g.forward(t, first)
		for i, v := range g.outs {
			out[i] = t[v]
		}
		p.columns(first, out)
		g.step(first+64, g.n, len(p.idx))
	}
	return p
}

// sweepHessian returns the pattern of the second derivatives by a forward and a backward sweep for each block. For each
// number v, t[v] is the set of the inputs of the block that v depends on, and h[v] the set of those that the derivative
// of the outputs with respect to v varies with.
func (g *graph) sweepHessian() *Pattern {
	t, h := make([]uint64, g.size()), make([]uint64, g.size())
	p := Empty(g.n, g.n)
	for first := 0; first < g.n; first += 64 {
		g.forward(t, first)
		clear(h)
		for i := len(g.nodes) - 1; i >= 0; i-- {
			n := &g.nodes[i]
			w, ta, tb := h[g.n+1+i], t[n.a], t[n.b]
			cross := n.mask(second12)
			h[n.a] |= w&n.mask(first1) | ta&n.mask(second11) | tb&cross
			h[n.b] |= w&n.mask(first2) | tb&n.mask(second22) | ta&cross
		}
		p.columns(first, h[1:g.n+1])
		g.step(first+64, g.n, len(p.idx))
	}
	return p
}

// columns appends the columns of p from first on, at most 64, which must be the next to be filled: bit k of words[i]
// is 1 if p has entry (i, first+k).
func (p *Pattern) columns(first int, words []uint64) {
	var at [64]int
	for _, w := range words {
		for ; w != 0; w &= w - 1 {
			at[bits.TrailingZeros64(w)]++
		}
	}
	end := len(p.idx)
	for k := range min(64, p.cols-first) {
		n := at[k]
		at[k] = end
		end += n
		p.ptr[first+k+1] = end
	}
	p.idx = append(p.idx, make([]int, end-len(p.idx))...)
	for i, w := range words {
		for ; w != 0; w &= w - 1 {
			k := bits.TrailingZeros64(w)
			p.idx[at[k]] = i
			at[k]++
		}
	}
}
