package coloring

// star returns the first-fit star colouring of a graph in the given order, with colours from 0, and -1 for a vertex
// that needs no colour: adjacent vertices differ, and every path of four vertices has at least three colours. So the
// edges of every two colours form a set of two-coloured stars, each a hub and its spokes, and every edge of a symmetric
// matrix can be read from the product of its hub.
//
// This is Algorithm 4.1 of Gebremedhin, Tarafdar, Manne and Pothen, "New acyclic and star coloring algorithms with
// application to computing Hessians", SIAM J. Sci. Comput. 29 (2007). The cost is, summed over all edges (v, w), the
// number of neighbours of w, or of their colours if w is heavy. star returns nil if watch ends the search.
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
		if g.isolated(v) {
			continue
		}
		s.forbid(v)
		s.color[v] = s.smallest(v)
		if watch.ends(s.color[v] / s.palettes()) {
			return nil
		}
		s.grow(v)
		s.record(v)
	}
	return s.color
}

// A starSearch is the state of a star colouring. Marks hold v+1, for the vertex v that set them, so they need no
// clearing between vertices.
type starSearch struct {
	*neighborColors
	starOf    []int32      // edge with two coloured ends → its star
	hub       []int32      // star → its hub, or -1-e while e is its only edge
	forbidden []int32      // colour c → v+1 if v must not get c
	first     [][2]int32   // colour c → {v+1, edge to v's first neighbour of colour c}
	treated   []int32      // w → v+1 if the colours of w's neighbours are forbidden to v
	tables    []*tabulated // v must not get a colour in these tables,
	hubs      []*colorSet  // or in these sets, which count from 1 in v's palette
}

// forbid marks the colours that v must not get: those of its neighbours, and those that would create a two-coloured
// path of four vertices.
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
		// v will be the hub of a star with the spokes q and w, so neither may have another neighbour of v's colour.
		if q := s.other(s.first[c][1], v); s.treated[q] != v+1 {
			s.forbidNeighbors(v, q)
		}
		s.forbidNeighbors(v, w)
	}
}

// forbidHubs forbids v the colours of the hubs whose spoke w is: with such a colour v would extend a path over w and
// the hub.
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

// forbidNeighbors forbids v the colours of w's neighbours.
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

// smallest returns the smallest colour of v's palette that is not forbidden to v.
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

// grow adds the edges from v to coloured neighbours to stars: to the star of another neighbour of w with v's colour,
// whose hub is w; to the star of another neighbour of v with w's colour, whose hub is v; or to a new star.
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

// join adds edge e to a star, whose hub, which may not have been determined before, is hub.
func (s *starSearch) join(e, star, hub int32) {
	s.starOf[e] = star
	if h := s.hub[star]; h < 0 {
		s.hub[star] = hub
		s.spoke(s.other(-1-h, hub), hub)
	}
	s.spoke(s.other(e, hub), hub)
}

// spoke enters the colour of hub into the table of its spoke x, if x is heavy.
func (s *starSearch) spoke(x, hub int32) {
	if t := s.table[x]; t != nil {
		first, step := s.palette(hub)
		t.hubs.add((s.color[hub]-first)/step + 1)
	}
}
