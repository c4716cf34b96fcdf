package coloring

import (
	"compress/gzip"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/sparsity"
)

// rows makes a pattern from its rows, spaces between entries: 0 and . are none.
func rows(lines ...string) *sparsity.Pattern {
	var is, js []int
	n := 0
	for i, l := range lines {
		f := strings.Fields(l)
		n = len(f)
		for j, c := range f {
			if c != "0" && c != "." {
				is, js = append(is, i), append(js, j)
			}
		}
	}
	return must(sparsity.FromEntries(len(lines), n, is, js))
}

// lists makes an n×n pattern from the columns of each row, counted from 1.
func lists(of ...[]int) *sparsity.Pattern {
	var is, js []int
	for i, l := range of {
		for _, j := range l {
			is, js = append(is, i), append(js, j-1)
		}
	}
	return must(sparsity.FromEntries(len(of), len(of), is, js))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func random(r *rand.Rand, m, n int, density float64) *sparsity.Pattern {
	var is, js []int
	for i := range m {
		for j := range n {
			if r.Float64() < density {
				is, js = append(is, i), append(js, j)
			}
		}
	}
	return must(sparsity.FromEntries(m, n, is, js))
}

func randomSymmetric(r *rand.Rand, n int, density float64) *sparsity.Pattern {
	p := random(r, n, n, density)
	return must(p.Union(p.Transpose()))
}

// permuted applies one random permutation to rows and columns.
func permuted(r *rand.Rand, p *sparsity.Pattern) *sparsity.Pattern {
	_, n := p.Dims()
	perm := r.Perm(n)
	var is, js []int
	for j := range n {
		for _, i := range p.Col(j) {
			is, js = append(is, perm[i]), append(js, perm[j])
		}
	}
	return must(sparsity.FromEntries(n, n, is, js))
}

// arrowhead has the first row, the first column and the diagonal.
func arrowhead(n int) *sparsity.Pattern {
	var is, js []int
	for k := range n {
		is, js = append(is, 0, k, k), append(js, k, 0, k)
	}
	return must(sparsity.FromEntries(n, n, is, js))
}

// grid is the pattern of the five-point Laplacian on a k×k grid.
func grid(k int) *sparsity.Pattern {
	var is, js []int
	at := func(x, y int) int { return x*k + y }
	for x := range k {
		for y := range k {
			for _, d := range [][2]int{{0, 0}, {1, 0}, {-1, 0}, {0, 1}, {0, -1}} {
				if u, v := x+d[0], y+d[1]; u >= 0 && v >= 0 && u < k && v < k {
					is, js = append(is, at(x, y)), append(js, at(u, v))
				}
			}
		}
	}
	return must(sparsity.FromEntries(k*k, k*k, is, js))
}

// brusselator is the Jacobian pattern of the Brusselator on a periodic k×k grid:
// two species, five points and the other species at the same point.
func brusselator(k int) *sparsity.Pattern {
	var is, js []int
	at := func(x, y, s int) int { return s*k*k + (x+k)%k*k + (y+k)%k }
	for x := range k {
		for y := range k {
			for s := range 2 {
				for _, d := range [][2]int{{0, 0}, {1, 0}, {-1, 0}, {0, 1}, {0, -1}} {
					is, js = append(is, at(x, y, s)), append(js, at(x+d[0], y+d[1], s))
				}
				is, js = append(is, at(x, y, s)), append(js, at(x, y, 1-s))
			}
		}
	}
	return must(sparsity.FromEntries(2*k*k, 2*k*k, is, js))
}

func readPattern(t testing.TB, name string) *sparsity.Pattern {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	p, err := sparsity.ReadMatrixMarket(z)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func color(t testing.TB, p *sparsity.Pattern, problem Problem, a Algorithm) *Coloring {
	t.Helper()
	c, err := a.Color(p, problem)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var problems = []Problem{
	{Nonsymmetric, Column, Direct, nil},
	{Nonsymmetric, Row, Direct, nil},
	{Nonsymmetric, Bidirectional, Direct, nil},
	{Nonsymmetric, Bidirectional, Substitution, nil},
	{Symmetric, Column, Direct, nil},
	{Symmetric, Column, Substitution, nil},
}

var orders = []Order{Natural{}, Random{1}, LargestFirst{}, SmallestFirst{}, SmallestLast, IncidenceDegree,
	DynamicLargestFirst,
	Dynamic{Forward: true, Descending: true}, PerfectElimination{},
	Dynamic{Descending: true, ColPack: true}, Dynamic{ColPack: true}, Dynamic{Forward: true, ColPack: true},
	Dynamic{Forward: true, Descending: true, ColPack: true}}

// tabulateFrom sets the threshold of long rows until the test is over.
func tabulateFrom(t *testing.T, entries int) {
	old := heavy
	heavy = entries
	t.Cleanup(func() { heavy = old })
}
