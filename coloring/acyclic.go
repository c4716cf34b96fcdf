package coloring

// acyclic returns the first-fit acyclic colouring of a graph in the given order, with colours from 0, and -1 for a
// vertex that needs no colour: adjacent vertices differ, and every cycle has at least three colours. So the edges of
// every two colours form a forest of two-coloured trees, and a symmetric matrix can be recovered by substitution from
// their leaves to their roots.
//
// This is Algorithm 3.1 of Gebremedhin, Tarafdar, Manne and Pothen, "New acyclic and star coloring algorithms with
// application to computing Hessians", SIAM J. Sci. Comput. 29 (2007), with the trees as disjoint sets of edges. The
// cost is nearly that of [star]. acyclic returns nil if watch ends the search.
func acyclic(g *graph, order []int32, watch *watch) []int32 {
	s := &acyclicSearch{
		neighborColors: newNeighborColors(g),
		trees:          newForest(len(g.ends)),
		forbidden:      make([]int32, g.n+3),
		first:          make([][2]int32, g.n+3),
		visit:          make([][2]int32, len(g.ends)),
	}
	for _, v := range order {
		if g.isolated(v) {
			continue
		}
		s.forbid(v)
		c, step := g.palette(v)
		for int(c) < len(s.forbidden) && s.forbidden[c] == v+1 {
			c += step
		}
		s.color[v] = c
		if watch.ends(c / s.palettes()) {
			return nil
		}
		s.grow(v)
		s.record(v)
	}
	return s.color
}

// An acyclicSearch is the state of an acyclic colouring. Marks hold v+1, for the vertex v that set them, so they need
// no clearing between vertices.
type acyclicSearch struct {
	*neighborColors
	trees     forest     // disjoint sets of edges, one per two-coloured tree
	forbidden []int32    // colour c → v+1 if v must not get c
	first     [][2]int32 // colour c → {v+1, edge to v's first neighbour of colour c}
	visit     [][2]int32 // tree → {v+1, v's first neighbour in the tree}
}

// forbid marks the colours that v must not get: those of its neighbours, and those that would close a two-coloured
// cycle, through a tree that contains two neighbours of v.
func (s *acyclicSearch) forbid(v int32) {
	s.growTables(&s.forbidden, &s.first)
	for _, w := range s.neighbors(v, nil) {
		if c := s.color[w]; c >= 0 {
			s.forbidden[c] = v + 1
		}
	}
	for _, w := range s.neighbors(v, nil) {
		if s.color[w] < 0 {
			continue
		}
		if t := s.table[w]; t != nil {
			// All edges from w to vertices of one colour are in one tree, so one of them suffices.
			for _, c := range t.used {
				s.touch(v, w, t.edge[c]-1, c)
			}
			continue
		}
		for k := s.ptr[w]; k < s.ptr[w+1]; k++ {
			if c := s.color[s.adj[k]]; c >= 0 {
				s.touch(v, w, s.edge[k], c)
			}
		}
	}
}

// touch records that v's neighbour w belongs to the tree of edge e, whose other colour is c, and forbids v colour c if
// another neighbour of v belongs to the tree.
func (s *acyclicSearch) touch(v, w, e, c int32) {
	if s.forbidden[c] == v+1 {
		return
	}
	tree := s.trees.find(e)
	switch at := s.visit[tree]; {
	case at[0] != v+1:
		s.visit[tree] = [2]int32{v + 1, w}
	case at[1] != w:
		s.forbidden[c] = v + 1
	}
}

// grow adds the edges from v to coloured neighbours to the trees, and unites trees that v connects: those of v's
// neighbours of one colour, and that of an edge v–w with the tree at w of the same two colours.
func (s *acyclicSearch) grow(v int32) {
	for k := s.ptr[v]; k < s.ptr[v+1]; k++ {
		w, e := s.adj[k], s.edge[k]
		c := s.color[w]
		if c < 0 {
			continue
		}
		if f := &s.first[c]; f[0] != v+1 {
			*f = [2]int32{v + 1, e}
		} else {
			s.trees.union(e, f[1])
		}
		if sibling := s.find(w, s.color[v], v); sibling >= 0 {
			s.trees.union(e, sibling)
		}
	}
}

// A forest is a family of disjoint sets of the elements 0 to n-1, with union by rank and path halving (Tarjan and van
// Leeuwen, J. ACM 31, 1984).
type forest struct{ parent, rank []int32 }

// newForest returns n sets of one element.
func newForest(n int) forest {
	f := forest{make([]int32, n), make([]int32, n)}
	for i := range f.parent {
		f.parent[i] = int32(i)
	}
	return f
}

// find returns the representative of the set of x.
func (f *forest) find(x int32) int32 {
	for f.parent[x] != x {
		f.parent[x] = f.parent[f.parent[x]]
		x = f.parent[x]
	}
	return x
}

// union unites the sets of x and y.
func (f *forest) union(x, y int32) {
	x, y = f.find(x), f.find(y)
	if x == y {
		return
	}
	if f.rank[x] < f.rank[y] {
		x, y = y, x
	}
	f.parent[y] = x
	if f.rank[x] == f.rank[y] {
		f.rank[x]++
	}
}
