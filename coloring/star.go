package coloring

// star is the first-fit star colouring of a graph in the given order, -1 where a
// vertex needs no colour: neighbours differ, and every path of four vertices has
// at least three colours. So the edges of every two colours form stars, and
// reading a symmetric matrix at the hubs of these stars is unambiguous.
//
// This is Algorithm 4.1 of Gebremedhin, Tarafdar, Manne and Pothen, "New acyclic
// and star coloring algorithms with application to computing Hessians", SIAM J.
// Sci. Comput. 29 (2007). The cost is, over all edges (v, w), the number of
// neighbours of w, or of their colours if w has many. It is nil where watch ends it.
func star(g *graph, order []int32, watch *watch) []int32 {
	s := &starSearch{
		neighborColors: newNeighborColors(g),
		starOf:         make([]int32, len(g.ends)),
		hub:            make([]int32, 0, len(g.ends)),
		forbidden:      make([]int32, g.n+3),
		first:          make([][2]int32, g.n+3),
		treated:        make([]int32, g.n),
	}
	for _, v := range order {
		if g.idle(v) {
			continue
		}
		s.forbid(v)
		s.color[v] = s.smallest(v)
		if watch.ends(s.color[v] / s.kinds()) {
			return nil
		}
		s.grow(v)
		s.record(v)
	}
	return s.color
}

type starSearch struct {
	*neighborColors
	starOf    []int32      // the star of a coloured edge
	hub       []int32      // the hub of a star, -1-e while it has the one edge e
	forbidden []int32      // forbidden[c] == v+1: v may not get colour c
	first     [][2]int32   // first[c] = {v+1, edge}: v's first neighbour of colour c is over that edge
	treated   []int32      // treated[w] == v+1: the colours around w are forbidden to v
	tables    []*tabulated // the colours in these and
	hubs      []*taken     // in these, by number in the palette, are forbidden to v, too
}

// forbid marks the colours that v may not get.
func (s *starSearch) forbid(v int32) {
	s.growTables(&s.forbidden, &s.first)
	s.tables, s.hubs = s.tables[:0], s.hubs[:0]
	for k := s.ptr[v]; k < s.ptr[v+1]; k++ {
		w := s.adj[k]
		c := s.color[w]
		if c < 0 {
			continue
		}
		s.forbidden[c] = v + 1
		if s.first[c][0] != v+1 {
			s.first[c] = [2]int32{v + 1, s.edge[k]}
			s.forbidHubs(v, w)
			continue
		}
		// v will be the hub of a star with q and w: neither may have another
		// neighbour of v's colour.
		if q := s.other(s.first[c][1], v); s.treated[q] != v+1 {
			s.forbidNeighbors(v, q)
		}
		s.forbidNeighbors(v, w)
	}
}

// forbidHubs forbids v the colours of the hubs that w is a spoke of.
func (s *starSearch) forbidHubs(v, w int32) {
	if t := s.table[w]; t != nil {
		s.hubs = append(s.hubs, &t.hubs)
		return
	}
	for k := s.ptr[w]; k < s.ptr[w+1]; k++ {
		if x := s.adj[k]; s.color[x] >= 0 && x != v && s.hub[s.starOf[s.edge[k]]] == x {
			s.forbidden[s.color[x]] = v + 1
		}
	}
}

// forbidNeighbors forbids v the colours around w.
func (s *starSearch) forbidNeighbors(v, w int32) {
	s.treated[w] = v + 1
	if t := s.table[w]; t != nil {
		s.tables = append(s.tables, t)
		return
	}
	for k := s.ptr[w]; k < s.ptr[w+1]; k++ {
		if c := s.color[s.adj[k]]; c >= 0 {
			s.forbidden[c] = v + 1
		}
	}
}

// smallest returns the first colour that is not forbidden to v.
func (s *starSearch) smallest(v int32) int32 {
	first, step := s.palette(v)
	c := first
	for _, t := range s.tables {
		c = max(c, t.free)
	}
	for _, t := range s.hubs {
		c = max(c, first+(t.free-1)*step)
	}
search:
	for ; ; c += step {
		if int(c) < len(s.forbidden) && s.forbidden[c] == v+1 {
			continue
		}
		for _, t := range s.tables {
			if t.has(c) {
				continue search
			}
		}
		for _, t := range s.hubs {
			if t.has((c-first)/step + 1) {
				continue search
			}
		}
		return c
	}
}

// grow puts the edges from v to coloured neighbours into stars.
func (s *starSearch) grow(v int32) {
	for k := s.ptr[v]; k < s.ptr[v+1]; k++ {
		w, e := s.adj[k], s.edge[k]
		c := s.color[w]
		if c < 0 {
			continue
		}
		if sibling := s.find(w, s.color[v], v); sibling >= 0 {
			s.join(e, s.starOf[sibling], w)
		} else if f := s.first[c]; f[0] == v+1 && f[1] != e {
			s.join(e, s.starOf[f[1]], v)
		} else {
			s.starOf[e] = int32(len(s.hub))
			s.hub = append(s.hub, -1-e)
		}
	}
}

// join adds edge e to a star, of which hub is the hub.
func (s *starSearch) join(e, star, hub int32) {
	s.starOf[e] = star
	if h := s.hub[star]; h < 0 {
		s.hub[star] = hub
		s.spoke(s.other(-1-h, hub), hub)
	}
	s.spoke(s.other(e, hub), hub)
}

func (s *starSearch) spoke(x, hub int32) {
	if t := s.table[x]; t != nil {
		first, step := s.palette(hub)
		t.hubs.add((s.color[hub]-first)/step + 1)
	}
}
