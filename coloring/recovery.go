package coloring

import "fmt"

// This file derives from a star colouring the product that each entry is read from, and verifies the colouring on the
// way: direct recovery of Gebremedhin, Manne and Pothen, SIAM Review 47 (2005), for symmetric and bidirectional
// problems. The recovery by substitution is in recovery_trees.go.

// A recovery holds, for each edge {s, h} of the graph, the end h, its hub, from whose product the value of the edge is
// recovered: component s of the product of colour color[h], which is the sum of the edges from s to its neighbours of
// that colour. In direct recovery the edge belongs to a two-coloured star with hub h and spoke s, and the sum has one
// term. With substitution it belongs to a two-coloured tree, h is the parent of s, and the other terms, the edges from
// s to its children, are recovered before and subtracted.
type recovery struct {
	hub  []int32 // edge → its hub (parent)
	free []int32 // edges whose ends are both possible hubs: stars or trees of one edge

	// Substitution only.
	order   []int32 // the edges, each after those that it subtracts
	termPtr []int32 // order[t] subtracts the edges
	terms   []int32 // terms[termPtr[t]:termPtr[t+1]]
}

// newRecovery returns the recovery for the colours of the vertices, from 1 to colors; 0 is the neutral colour, which
// has no product. The error is an *InvalidColoringError that names an entry which cannot be recovered.
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

// starRecovery returns the hubs for direct recovery, in linear time: an end h of an edge {s, h} can be the hub if no
// other neighbour of s, nor s itself if it has a diagonal entry, has the colour of h.
func starRecovery(g *graph, color []int32, colors int) (*recovery, error) {
	count := make([]int32, colors+1) // colour → number of neighbours of v that have it
	// alone maps an edge to the ends that can be its hub: bit 0 for ends[e][0], bit 1 for ends[e][1].
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
			return nil, g.unrecoverable(int32(e), color)
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

// unrecoverable returns the *InvalidColoringError for an edge whose value no product determines.
func (g *graph) unrecoverable(e int32, color []int32) error {
	row, col := g.entry(e)
	// at says why the edge cannot be read in component s of the product of h.
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

// across returns v as the vertex of a row, for title: in a symmetric matrix -1-v, otherwise v.
func (g *graph) across(v int32) int32 {
	if g.cols == g.n {
		return -1 - v
	}
	return v
}

// title returns the name of a vertex for messages; negative ones are rows of a symmetric matrix.
func (g *graph) title(v int32) string {
	switch {
	case v < 0:
		return fmt.Sprintf("row %d", -1-v)
	case int(v) < g.cols:
		return fmt.Sprintf("column %d", v)
	}
	return fmt.Sprintf("row %d", int(v)-g.cols)
}
