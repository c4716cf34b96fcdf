package coloring

import (
	"fmt"
	"math/rand/v2"

	"github.com/nabla-ad/nabla/sparsity"
)

// An Order determines in which order a greedy colouring visits the columns, the rows, or, for a bidirectional problem,
// both. The degree of a vertex is its number of neighbours: for column and row problems the columns (rows) that share a
// row (column) with it, for symmetric and bidirectional problems its neighbours in the adjacency or bipartite graph.
type Order interface {
	String() string
	// permute returns the vertices of g in this order.
	permute(g vertices) []int32
}

// vertices is the view of a graph that orders use. neighbors returns the distinct neighbours of v, either appended to
// buf or as a slice of the graph, which the caller must not modify.
type vertices interface {
	size() int
	neighbors(v int32, buf []int32) []int32
}

// Permutation returns the numbers of the columns in the order in which a greedy colouring visits them; for a row
// problem those of the rows; for a bidirectional problem those of the columns, and those of the rows plus the number of
// columns. The error is that of a pattern that does not fit the problem.
func Permutation(p *sparsity.Pattern, problem Problem, order Order) ([]int, error) {
	problem, err := problem.checked(p)
	if err != nil {
		return nil, err
	}
	perm := order.permute(verticesOf(p, problem))
	out := make([]int, len(perm))
	for k, v := range perm {
		out[k] = int(v)
	}
	return out, nil
}

// verticesOf returns the graph in which the problem counts degrees.
func verticesOf(p *sparsity.Pattern, problem Problem) vertices {
	switch {
	case problem.graphical():
		return newGraph(p, problem)
	case problem.Partition == Row:
		return newColumns(p.Transpose())
	}
	return newColumns(p)
}

// Natural is the order of the matrix.
type Natural struct{}

func (Natural) String() string { return "Natural" }

func (Natural) permute(g vertices) []int32 {
	perm := make([]int32, g.size())
	for v := range perm {
		perm[v] = int32(v)
	}
	return perm
}

// Random is a pseudo-random order, determined by the seed.
type Random struct{ Seed uint64 }

func (r Random) String() string { return fmt.Sprintf("Random(%d)", r.Seed) }

func (r Random) permute(g vertices) []int32 {
	perm := Natural{}.permute(g)
	rand.New(rand.NewPCG(r.Seed, 0)).Shuffle(len(perm), func(i, j int) { perm[i], perm[j] = perm[j], perm[i] })
	return perm
}

// LargestFirst is the order of decreasing degree; ties keep the natural order.
type LargestFirst struct{}

func (LargestFirst) String() string { return "LargestFirst" }

func (LargestFirst) permute(g vertices) []int32 {
	degree, largest := degrees(g)
	return countingSort(Natural{}.permute(g), int(largest)+1, func(v int32) int32 { return largest - degree[v] })
}

// SmallestFirst is the order of increasing degree; ties keep the natural order. It suits bidirectional problems with
// few dense rows and columns: these are visited last, after the columns and rows they cross, and get colours of their
// own.
type SmallestFirst struct{}

func (SmallestFirst) String() string { return "SmallestFirst" }

func (SmallestFirst) permute(g vertices) []int32 {
	degree, largest := degrees(g)
	return countingSort(Natural{}.permute(g), int(largest)+1, func(v int32) int32 { return degree[v] })
}

// degrees returns the degree of every vertex and the largest degree.
func degrees(g vertices) (degree []int32, largest int32) {
	degree = make([]int32, g.size())
	var buf []int32
	for v := range degree {
		near := g.neighbors(int32(v), buf[:0])
		degree[v] = int32(len(near))
		largest = max(largest, degree[v])
		buf = keep(g, buf, near)
	}
	return degree, largest
}

// keep returns the buffer for the next call of neighbors: near, which may have grown, or buf if near is a slice of the
// graph.
func keep(g vertices, buf, near []int32) []int32 {
	if _, inPlace := g.(*graph); inPlace {
		return buf
	}
	return near
}

// PerfectElimination visits the vertices of a chordal graph in the reverse of an elimination order without fill, found
// by maximum cardinality search (Tarjan and Yannakakis, SIAM J. Comput. 13 (1984)). The visited neighbours of each
// vertex are then pairwise adjacent, and a greedy colouring is optimal: of the columns if the column intersection graph
// is chordal, and of a symmetric problem with Substitution if the matrix has a Cholesky factor without fill. On other
// graphs it has no special property.
type PerfectElimination struct{}

func (PerfectElimination) String() string { return "PerfectElimination" }

func (PerfectElimination) permute(g vertices) []int32 { return IncidenceDegree.permute(g) }
