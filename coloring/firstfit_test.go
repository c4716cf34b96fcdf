package coloring

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/sparsity"
)

// TestFirstFit: the greedy algorithms give each vertex the very first colour that
// keeps the definition true, however they find it. The sizes are on both sides of
// the threshold from which colours around a vertex are tabulated.
func TestFirstFit(t *testing.T) {
	longtest.Serial(t)
	if longtest.Long() {
		t.Run("threshold as it is", testFirstFit)
	}
	t.Run("threshold 1", func(t *testing.T) { tabulateFrom(t, 1); testFirstFit(t) })
	t.Run("threshold 4", func(t *testing.T) { tabulateFrom(t, 4); testFirstFit(t) })
}

func testFirstFit(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	patterns := []*sparsity.Pattern{
		random(r, 8, 12, 0.3), random(r, 12, 8, 0.3), randomSymmetric(r, 12, 0.2), randomSymmetric(r, 25, 0.08),
		randomSymmetric(r, 40, 0.05),
		must(permuted(r, arrowhead(heavy+4)).Union(randomSymmetric(r, heavy+4, 0.01))),
		must(permuted(r, arrowhead(heavy+4)).Union(arrowhead(heavy + 4))),
		must(permuted(r, arrowhead(heavy+1)).Union(sparsity.Banded(heavy+1, heavy+1, 2, 2))),
	}
	for _, p := range patterns {
		for _, problem := range problems {
			if problem.Structure == Symmetric && !p.Symmetric() {
				continue
			}
			for _, order := range []Order{Natural{}, Random{1}, Random{2}, LargestFirst{}, SmallestLast} {
				perm := must(Permutation(p, problem, order))
				c := color(t, p, problem, Greedy{Orders: []Order{order}})
				got := slices.Concat(c.ColumnColors(), c.RowColors())
				if want := firstFit(p, problem, perm); !slices.Equal(got, want) {
					t.Fatalf("%v:\ngot  %v\nwant %v", c, got, want)
				}
			}
		}
	}
}

// firstFit tries colours one after the other against the definition.
func firstFit(p *sparsity.Pattern, problem Problem, perm []int) []int {
	near := competitors(p, problem)
	_, n := p.Dims()
	color := make([]int, len(near))
	row := func(v int) bool { return problem.Partition == Bidirectional && v >= n }
	same := func(v, w int) bool { return color[v] == color[w] && row(v) == row(w) }
	for _, v := range perm {
		if idle(p, problem, v) {
			continue
		}
		for color[v] = 1; !fits(near, color, same, problem, v); color[v]++ {
		}
	}
	return color
}

func idle(p *sparsity.Pattern, problem Problem, v int) bool {
	_, n := p.Dims()
	if problem.Partition == Row {
		return len(p.Transpose().Col(v)) == 0
	}
	if v >= n {
		return len(p.Transpose().Col(v-n)) == 0
	}
	return len(p.Col(v)) == 0
}

func fits(near [][]bool, color []int, same func(v, w int) bool, problem Problem, v int) bool {
	for w, joined := range near[v] {
		if joined && color[w] > 0 && same(v, w) {
			return false
		}
	}
	if !problem.graphical() {
		return true
	}
	// Walks from v in the subgraph of v's colour and another one.
	for w, joined := range near[v] {
		if !joined || color[w] == 0 {
			continue
		}
		member := func(x int) bool { return color[x] > 0 && (same(x, v) || same(x, w)) }
		if problem.Decompression == Substitution {
			if cyclic(near, member, v) {
				return false
			}
		} else if hasPath(near, member, v) {
			return false
		}
	}
	return true
}

// hasPath finds a path of four vertices with v at its end or inside.
func hasPath(near [][]bool, member func(int) bool, v int) bool {
	var adjacent = func(x int) (out []int) {
		for y, joined := range near[x] {
			if joined && member(y) {
				out = append(out, y)
			}
		}
		return out
	}
	for _, w := range adjacent(v) {
		for _, x := range adjacent(w) {
			if x == v {
				continue
			}
			for _, y := range adjacent(x) {
				if y != w && y != v {
					return true // v w x y
				}
			}
			for _, u := range adjacent(v) {
				if u != w && u != x {
					return true // u v w x
				}
			}
		}
	}
	return false
}

// cyclic finds a cycle in the component of v: more edges than a tree has.
func cyclic(near [][]bool, member func(int) bool, v int) bool {
	seen := map[int]bool{v: true}
	edges := 0
	for todo := []int{v}; len(todo) > 0; todo = todo[1:] {
		for y, joined := range near[todo[0]] {
			if joined && member(y) {
				edges++
				if !seen[y] {
					seen[y] = true
					todo = append(todo, y)
				}
			}
		}
	}
	return edges/2 != len(seen)-1
}
