package coloring

// neighborColors is a partly coloured graph that answers which colours there are around a
// vertex without walking over all neighbours of vertices that have many.
type neighborColors struct {
	*graph
	color []int32 // -1: not yet
	table []*tabulated
	top   int32 // no colour beyond it has been given
}

// A tabulated holds the colours around a vertex with many neighbours.
type tabulated struct {
	edge []int32 // one of the edges to neighbours of a colour, plus one; 0: there is none
	used []int32 // the colours that occur
	free int32   // all colours before it, of the palette of the neighbours, occur
	hubs taken   // star colouring only: the colours of the hubs it is a spoke of, from 1
}

func (t *tabulated) has(c int32) bool { return int(c) < len(t.edge) && t.edge[c] != 0 }

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

// growTables lets the tables by colours hold every colour given so far and a margin.
func (a *neighborColors) growTables(forbidden *[]int32, first *[][2]int32) {
	for int(a.top) >= len(*forbidden) {
		*forbidden = append(*forbidden, make([]int32, len(*forbidden))...)
		*first = append(*first, make([][2]int32, len(*forbidden)-len(*first))...)
	}
}

// record tells the tables the colour of v.
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

// find returns an edge from w to a vertex of colour c other than v, or -1. The
// colour of v must not be recorded yet.
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
