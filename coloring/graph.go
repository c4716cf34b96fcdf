package coloring

import (
	"slices"

	"github.com/nabla-ad/nabla/sparsity"
)

// A graph is the undirected graph that star and acyclic colourings are computed for, with numbered edges, in compressed
// adjacency form.
//
// For a symmetric matrix it is the adjacency graph: a vertex per column, and an edge per entry below the diagonal,
// numbered in the order of the pattern.
//
// For a bidirectional problem it is the bipartite graph of A, which is the adjacency graph of [0 Aᵀ; A 0]: the vertices
// are the columns 0…cols-1, then the rows, and there is an edge per entry, with the number of the entry.
type graph struct {
	pattern *sparsity.Pattern
	n, cols int        // number of vertices; those from cols on are rows
	ptr     []int32    // length n+1
	adj     []int32    // the neighbours of v are adj[ptr[v]:ptr[v+1]], ascending
	edge    []int32    // parallel to adj: the number of the edge to this neighbour
	ends    [][2]int32 // edge → the vertices of the column and the row of its entry
	diag    []bool     // vertex → whether its diagonal entry is present; nil if bipartite
}

// newGraph returns the graph to be coloured for a symmetric or bidirectional problem.
func newGraph(p *sparsity.Pattern, problem Problem) *graph {
	if problem.Structure == Symmetric {
		return adjacency(p)
	}
	return bipartite(p)
}

// adjacency returns the adjacency graph of a symmetric pattern in linear time.
func adjacency(p *sparsity.Pattern) *graph {
	_, n := p.Dims()
	g := &graph{pattern: p, n: n, cols: n, ptr: make([]int32, n+1), diag: make([]bool, n)}
	g.adj = make([]int32, 0, p.NNZ())
	for j := range n {
		for _, i := range p.Col(j) {
			if i == j {
				g.diag[j] = true
				continue
			}
			g.adj = append(g.adj, int32(i))
		}
		g.ptr[j+1] = int32(len(g.adj))
	}
	// The entries above the diagonal in column i are the mirror images of those below the diagonal in row i. The loop
	// visits the latter for ascending j, which is the order of the former, so upper[i] is the position of the next one.
	g.edge = make([]int32, len(g.adj))
	g.ends = make([][2]int32, 0, len(g.adj)/2)
	upper := append([]int32(nil), g.ptr[:n]...)
	for j := range int32(n) {
		for s := g.ptr[j]; s < g.ptr[j+1]; s++ {
			i := g.adj[s]
			if i < j {
				continue
			}
			e := int32(len(g.ends))
			g.ends = append(g.ends, [2]int32{j, i})
			g.edge[s], g.edge[upper[i]] = e, e
			upper[i]++
		}
	}
	return g
}

// bipartite returns the bipartite graph of a pattern in linear time.
func bipartite(p *sparsity.Pattern) *graph {
	rows, cols := p.Dims()
	nnz := p.NNZ()
	g := &graph{pattern: p, n: rows + cols, cols: cols, ptr: make([]int32, rows+cols+1),
		adj: make([]int32, 2*nnz), edge: make([]int32, 2*nnz), ends: make([][2]int32, nnz)}
	for _, i := range p.RowIndex() {
		g.ptr[cols+i+1]++
	}
	g.ptr[cols] = int32(nnz)
	for j, k := range p.ColPtr()[:cols] {
		g.ptr[j] = int32(k)
	}
	for v := cols; v < g.n; v++ {
		g.ptr[v+1] += g.ptr[v]
	}
	next := append([]int32(nil), g.ptr[cols:]...)
	for j := range cols {
		for k := p.ColPtr()[j]; k < p.ColPtr()[j+1]; k++ {
			i := p.RowIndex()[k]
			g.ends[k] = [2]int32{int32(j), int32(cols + i)}
			g.adj[k], g.edge[k] = int32(cols+i), int32(k)
			g.adj[next[i]], g.edge[next[i]] = int32(j), int32(k)
			next[i]++
		}
	}
	return g
}

// degree returns the number of neighbours of v.
func (g *graph) degree(v int32) int32 { return g.ptr[v+1] - g.ptr[v] }

// neighbors implements [vertices]; the result is a part of adj.
func (g *graph) neighbors(v int32, _ []int32) []int32 { return g.adj[g.ptr[v]:g.ptr[v+1]] }

// size implements [vertices].
func (g *graph) size() int { return g.n }

// other returns the end of edge e that is not v.
func (g *graph) other(e, v int32) int32 { return g.ends[e][0] ^ g.ends[e][1] ^ v }

// palette returns the first colour that v may get and the distance between its colours. In a bipartite graph columns
// get even and rows odd colours: a row and a column of the same colour would still cost two products, and separate
// palettes leave more colours allowed.
func (g *graph) palette(v int32) (first, step int32) {
	switch {
	case g.cols == g.n:
		return 0, 1
	case int(v) < g.cols:
		return 0, 2
	}
	return 1, 2
}

// palettes returns the number of palettes: 2 for a bipartite graph, otherwise 1.
func (g *graph) palettes() int32 {
	if g.cols == g.n {
		return 1
	}
	return 2
}

// lowerBound returns a lower bound of the number of products from which all entries can be recovered. In a star or
// acyclic colouring the edges between two of k groups form a forest, so n vertices with edges have fewer than n·(k-1)
// edges. One of the groups, or for a bipartite graph two, may be neutral.
func (g *graph) lowerBound() int {
	n := 0
	for v := range int32(g.n) {
		if g.degree(v) > 0 {
			n++
		}
	}
	switch {
	case n > 0:
		return max(1, (len(g.ends)+n-1)/n+1-int(g.palettes()))
	case slices.Contains(g.diag, true):
		return 1
	}
	return 0
}

// isolated reports whether v has no entries, so that it needs no colour.
func (g *graph) isolated(v int32) bool { return g.degree(v) == 0 && (g.diag == nil || !g.diag[v]) }

// entry returns the row and column of the entry of edge e; for a symmetric matrix, of the one below the diagonal.
func (g *graph) entry(e int32) (row, col int) {
	row, col = int(g.ends[e][1]), int(g.ends[e][0])
	if g.cols < g.n {
		row -= g.cols
	}
	return row, col
}

// compact maps colours of palettes, with -1 for none, to the colours 1, 2, … of columns, followed by those of rows, and
// 0 for none. It returns the colour of each vertex and the number of colours.
func (g *graph) compact(raw []int32) (color []int32, colors int) {
	color = make([]int32, g.n)
	top := int32(-1)
	for v := range g.cols {
		top = max(top, raw[v])
	}
	if g.cols == g.n {
		for v, c := range raw {
			color[v] = c + 1
		}
		return color, int(top + 1)
	}
	columns := top/2 + 1
	if top < 0 {
		columns = 0
	}
	last := columns
	for v, c := range raw {
		switch {
		case c < 0:
		case v < g.cols:
			color[v] = c/2 + 1
		default:
			color[v] = c/2 + 1 + columns
			last = max(last, color[v])
		}
	}
	return color, int(last)
}
