package coloring

import (
	"slices"

	"github.com/nabla-ad/nabla/sparsity"
)

// A graph is the input of star and acyclic colouring.
//
// For a symmetric matrix it is the adjacency graph: a vertex per column, an edge
// per entry below the diagonal, numbered in the order of the pattern.
//
// For a bidirectional problem it is the bipartite graph of A, the adjacency graph
// of [0 Aᵀ; A 0]: the columns 0…cols-1, then the rows, and an edge per entry, with
// the number of the entry.
type graph struct {
	pattern *sparsity.Pattern
	n, cols int // vertices; those from cols on are rows
	ptr     []int32
	adj     []int32    // the neighbours of v are adj[ptr[v]:ptr[v+1]], ascending
	edge    []int32    // the edge to each of them
	ends    [][2]int32 // of an edge: the column of its entry and the row
	diag    []bool     // whether a vertex has an entry on the diagonal; nil if bipartite
}

func newGraph(p *sparsity.Pattern, problem Problem) *graph {
	if problem.Structure == Symmetric {
		return adjacency(p)
	}
	return bipartite(p)
}

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
	// The entries above the diagonal of column i meet their mirror images in the
	// order of the columns j < i, which is the order in which j runs.
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

func (g *graph) degree(v int32) int32 { return g.ptr[v+1] - g.ptr[v] }

// neighbors implements [vertices].
func (g *graph) neighbors(v int32, _ []int32) []int32 { return g.adj[g.ptr[v]:g.ptr[v+1]] }

func (g *graph) size() int { return g.n }

// other returns the end of edge e that is not v.
func (g *graph) other(e, v int32) int32 { return g.ends[e][0] ^ g.ends[e][1] ^ v }

// palette returns the first colour a vertex may get and the distance to the next.
// Rows and columns draw from palettes of their own: a row and a column of the same
// colour would still cost two products, and apart they do not get into each
// other's way.
func (g *graph) palette(v int32) (first, step int32) {
	switch {
	case g.cols == g.n:
		return 0, 1
	case int(v) < g.cols:
		return 0, 2
	}
	return 1, 2
}

// kinds is the number of palettes.
func (g *graph) kinds() int32 {
	if g.cols == g.n {
		return 1
	}
	return 2
}

// fewest is a number of products below which no colouring gives all entries. The edges
// between two of k groups are a forest, so there are less than n·(k-1) edges. Beside the
// colours there is a neutral group, or one of columns and one of rows.
func (g *graph) fewest() int {
	n := 0
	for v := range int32(g.n) {
		if g.degree(v) > 0 {
			n++
		}
	}
	switch {
	case n > 0:
		return max(1, (len(g.ends)+n-1)/n+1-int(g.kinds()))
	case slices.Contains(g.diag, true):
		return 1
	}
	return 0
}

// idle reports whether a vertex has no entries, so that it needs no colour.
func (g *graph) idle(v int32) bool { return g.degree(v) == 0 && (g.diag == nil || !g.diag[v]) }

// entry returns the row and column of an edge's entry.
func (g *graph) entry(e int32) (row, col int) {
	row, col = int(g.ends[e][1]), int(g.ends[e][0])
	if g.cols < g.n {
		row -= g.cols
	}
	return row, col
}

// compact turns colours of palettes, -1 for none, into the colours 1, 2, … of
// columns, followed by those of rows, and returns how many there are.
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
