package sparsity

import "math/bits"

// A sweep goes once through all nodes with one word for each, a bit for each of 64
// inputs. Its cost does not depend on the pattern.

// ahead writes to t the subset of the inputs first+1 to first+64 that each number depends on, one bit each.
func (g *graph) ahead(t []uint64, first int) {
	clear(t[:g.n+1])
	for k := range min(64, g.n-first) {
		t[first+1+k] = 1 << k
	}
	for i := range g.nodes {
		n := &g.nodes[i]
		t[g.n+1+i] = t[n.a]&n.mask(first1) | t[n.b]&n.mask(first2)
	}
}

// mask is all ones where bit is set in c.
func (c class) mask(bit class) uint64 {
	if c&bit != 0 {
		return ^uint64(0)
	}
	return 0
}

// sweepJacobian is the pattern of the outputs by sweeps.
func (g *graph) sweepJacobian() *Pattern {
	t, out := make([]uint64, g.size()), make([]uint64, len(g.outs))
	p := Empty(len(g.outs), g.n)
	for first := 0; first < g.n; first += 64 {
		g.ahead(t, first)
		for i, v := range g.outs {
			out[i] = t[v]
		}
		p.columns(first, out)
		g.step(first+64, g.n, len(p.idx))
	}
	return p
}

// sweepHessian is the pattern of the second derivatives by sweeps ahead and back: h
// is with respect to which inputs the derivative of the outputs with respect to a
// number varies.
func (g *graph) sweepHessian() *Pattern {
	t, h := make([]uint64, g.size()), make([]uint64, g.size())
	p := Empty(g.n, g.n)
	for first := 0; first < g.n; first += 64 {
		g.ahead(t, first)
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

// columns sets up to 64 columns of p from first on, the next ones: bit k of word i
// is entry (i, first+k).
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
