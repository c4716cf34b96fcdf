package coloring

import "fmt"

// A recovery says where entries are read from products: it holds, for each edge {s, h} of the graph, its hub h. The
// value of the edge is read from component s of the product of colour color[h], which is the sum over all neighbours of
// s of that colour. In direct recovery the edge belongs to a two-coloured star with hub h, and the sum has one term.
// With substitution it belongs to a two-coloured tree, and the other terms, the edges from s to its children, are
// recovered before and subtracted.
type recovery struct {
	hub  []int32 // edge → its end whose colour is read
	free []int32 // edges whose ends are both possible hubs: stars or trees of one edge

	// Substitution only.
	order   []int32 // the edges from the leaves to the roots
	termPtr []int32 // of the t-th edge in order, the edges to subtract are
	terms   []int32 // terms[termPtr[t]:termPtr[t+1]]
}

// newRecovery returns the recovery of coloured vertices; 0 is the neutral colour, of which
// there is no product. The error is an *InvalidColoringError.
func newRecovery(g *graph, color []int32, colors int, d Decompression) (*recovery, error) {
	for v := range g.diag {
		if g.diag[v] && color[v] == 0 {
			return nil, invalid([]int{v}, []int{v}, "column %d is neutral, so nothing gives its diagonal entry", v)
		}
	}
	if d == Substitution {
		return treeRecovery(g, color, colors)
	}
	return starRecovery(g, color, colors)
}

// starRecovery finds the hubs of all edges in linear time.
func starRecovery(g *graph, color []int32, colors int) (*recovery, error) {
	count := make([]int32, colors+1) // the entries of a colour in the row of v
	alone := make([]uint8, len(g.ends))
	for v := range int32(g.n) {
		near := g.neighbors(v, nil)
		for _, w := range near {
			count[color[w]]++
		}
		if g.diag != nil && g.diag[v] {
			if c := color[v]; count[c] > 0 {
				return nil, invalid([]int{int(v)}, []int{int(v)}, "column %d has a neighbour of its own colour %d", v,
					c)
			}
		}
		for k := g.ptr[v]; k < g.ptr[v+1]; k++ {
			if w, e := g.adj[k], g.edge[k]; color[w] != 0 && count[color[w]] == 1 {
				if g.ends[e][0] == w {
					alone[e] |= 1
				} else {
					alone[e] |= 2
				}
			}
		}
		for _, w := range near {
			count[color[w]] = 0
		}
	}
	r := &recovery{hub: make([]int32, len(g.ends))}
	for e, a := range alone {
		switch a {
		case 0:
			return nil, g.entangled(int32(e), color)
		case 1:
			r.hub[e] = g.ends[e][0]
		case 2:
			r.hub[e] = g.ends[e][1]
		case 3:
			r.hub[e] = g.ends[e][1]
			r.free = append(r.free, int32(e))
		}
	}
	return r, nil
}

// entangled returns the error for an edge whose value no product determines.
func (g *graph) entangled(e int32, color []int32) error {
	row, col := g.entry(e)
	at := func(s, h int32) string {
		if color[h] == 0 {
			return fmt.Sprintf("%s is neutral", g.title(h))
		}
		for _, x := range append([]int32{s}, g.neighbors(s, nil)...) {
			if x != h && color[x] == color[h] {
				return fmt.Sprintf("%s and %s have one colour and meet in %s", g.title(h), g.title(x),
					g.title(g.across(s)))
			}
		}
		return "" // not reached: s has another entry of that colour
	}
	a, b := g.ends[e][0], g.ends[e][1]
	return invalid([]int{row}, []int{col}, "no product gives it: %s, and %s", at(b, a), at(a, b))
}

// across returns v as the vertex of a row (symmetric: the same number).
func (g *graph) across(v int32) int32 {
	if g.cols == g.n {
		return -1 - v
	}
	return v
}

// title names a vertex; those below zero are rows of a symmetric matrix.
func (g *graph) title(v int32) string {
	switch {
	case v < 0:
		return fmt.Sprintf("row %d", -1-v)
	case int(v) < g.cols:
		return fmt.Sprintf("column %d", v)
	}
	return fmt.Sprintf("row %d", int(v)-g.cols)
}
