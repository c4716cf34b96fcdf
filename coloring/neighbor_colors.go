package coloring

// This file has the table of colours around vertices that star and acyclic colouring share. Vertices with at least
// heavy neighbours have explicit tables of the colours of their neighbours, so a search does not scan their neighbours
// again for each of them, which would cost the square of the degree.

// A neighborColors is a partly coloured graph with tables of the colours of the neighbours of heavy vertices.
type neighborColors struct {
	*graph
	color []int32      // vertex → its colour, -1 if it has none yet
	table []*tabulated // vertex → its table; nil unless heavy
	top   int32        // the largest colour given so far, at least 1
}

// A tabulated holds the colours of the neighbours of a heavy vertex.
type tabulated struct {
	edge []int32  // colour → an edge to a neighbour of this colour, plus one; 0 for none
	used []int32  // the colours that occur, in the order of their first use
	free int32    // all smaller colours of the neighbours' palette occur
	hubs colorSet // star colouring only: the hubs whose spoke the vertex is, by colour in their palette, from 1
}

// has reports whether a neighbour has colour c.
func (t *tabulated) has(c int32) bool { return int(c) < len(t.edge) && t.edge[c] != 0 }

// newNeighborColors returns g without colours, and with empty tables for heavy vertices.
func newNeighborColors(g *graph) *neighborColors {
	a := &neighborColors{graph: g, color: make([]int32, g.n), table: make([]*tabulated, g.n), top: 1}
	for v := range a.color {
		a.color[v] = -1
		if int(g.degree(int32(v))) >= heavy {
			a.table[v] = new(tabulated)
		}
	}
	return a
}

// growTables doubles the two tables, which are indexed by colour, until they hold every colour given so far.
func (a *neighborColors) growTables(forbidden *[]int32, first *[][2]int32) {
	for int(a.top) >= len(*forbidden) {
		*forbidden = append(*forbidden, make([]int32, len(*forbidden))...)
		*first = append(*first, make([][2]int32, len(*forbidden)-len(*first))...)
	}
}

// record enters the colour of v into the tables of its neighbours.
func (a *neighborColors) record(v int32) {
	c := a.color[v]
	a.top = max(a.top, c)
	first, step := a.palette(v)
	for k := a.ptr[v]; k < a.ptr[v+1]; k++ {
		t := a.table[a.adj[k]]
		if t == nil {
			continue
		}
		if int(c) >= len(t.edge) {
			t.edge = append(t.edge, make([]int32, int(c)+1-len(t.edge))...)
		}
		if t.edge[c] == 0 {
			t.edge[c] = a.edge[k] + 1
			t.used = append(t.used, c)
		}
		t.free = max(t.free, first)
		for t.has(t.free) {
			t.free += step
		}
	}
}

// find returns an edge from w to a vertex of colour c other than v, or -1. The colour of v must not be recorded yet, so
// that the table of w does not contain v.
func (a *neighborColors) find(w, c, v int32) int32 {
	if t := a.table[w]; t != nil {
		if int(c) < len(t.edge) {
			return t.edge[c] - 1
		}
		return -1
	}
	for k := a.ptr[w]; k < a.ptr[w+1]; k++ {
		if x := a.adj[k]; a.color[x] == c && x != v {
			return a.edge[k]
		}
	}
	return -1
}
