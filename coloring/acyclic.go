package coloring

// acyclic is the first-fit acyclic colouring of a graph in the given order, -1
// where a vertex needs no colour: neighbours differ, and every cycle has at least
// three colours. So the edges of every two colours form trees, and a symmetric
// matrix can be substituted from their leaves to their roots.
//
// This is Algorithm 3.1 of Gebremedhin, Tarafdar, Manne and Pothen, "New acyclic
// and star coloring algorithms with application to computing Hessians", SIAM J.
// Sci. Comput. 29 (2007), the trees in disjoint sets. The cost is nearly as for
// [star]. It is nil where watch ends it.
func acyclic(g *graph, order []int32, watch *watch) []int32 {
	s := &acyclicSearch{
		neighborColors: newNeighborColors(g),
		trees:          newForest(len(g.ends)),
		forbidden:      make([]int32, g.n+3),
		first:          make([][2]int32, g.n+3),
		visit:          make([][2]int32, len(g.ends)),
	}
	for _, v := range order {
		if g.idle(v) {
			continue
		}
		s.forbid(v)
		c, step := g.palette(v)
		for int(c) < len(s.forbidden) && s.forbidden[c] == v+1 {
			c += step
		}
		s.color[v] = c
		if watch.ends(c / s.kinds()) {
			return nil
		}
		s.grow(v)
		s.record(v)
	}
	return s.color
}

type acyclicSearch struct {
	*neighborColors
	trees     forest     // sets of edges
	forbidden []int32    // forbidden[c] == v+1: v may not get colour c
	first     [][2]int32 // first[c] = {v+1, edge}: v's first neighbour of colour c
	visit     [][2]int32 // visit[tree] = {v+1, w}: v met the tree first at its neighbour w
}

// forbid marks the colours that v may not get: those of its neighbours and those
// that would close a cycle, of trees that v touches at two of its neighbours.
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
			// All edges from w to one colour are in one tree.
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

// touch notes that v's neighbour w is in the tree of edge e, whose other colour is c.
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

// grow adds the edges from v to coloured neighbours to the trees and joins the
// trees they connect.
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

// A forest is a family of disjoint sets, with union by rank and path halving.
type forest struct{ parent, rank []int32 }

func newForest(n int) forest {
	f := forest{make([]int32, n), make([]int32, n)}
	for i := range f.parent {
		f.parent[i] = int32(i)
	}
	return f
}

func (f *forest) find(x int32) int32 {
	for f.parent[x] != x {
		f.parent[x] = f.parent[f.parent[x]]
		x = f.parent[x]
	}
	return x
}

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
