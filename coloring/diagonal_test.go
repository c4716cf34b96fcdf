package coloring_test

import (
	"math/rand/v2"
	"testing"

	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/sparsity"
)

// TestDiagonal: in no row are there two entries of one colour, one of them on the
// diagonal.
func TestDiagonal(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		n := r.IntN(12)
		var is, js []int
		for range r.IntN(4*n + 1) {
			i, j := r.IntN(n), r.IntN(n)
			is, js = append(is, i, j), append(js, j, i)
		}
		p, err := sparsity.FromEntries(n, n, is, js)
		if err != nil {
			t.Fatal(err)
		}
		colors, count, err := coloring.Diagonal(p)
		if err != nil {
			t.Fatal(err)
		}
		for j := range n {
			if (colors[j] > 0) != p.Has(j, j) || colors[j] > count {
				t.Errorf("column %d has colour %d of %d", j, colors[j], count)
			}
			for _, i := range p.Col(j) {
				if i != j && colors[i] > 0 && colors[i] == colors[j] {
					t.Errorf("columns %d and %d have entries in row %d and colour %d", i, j, i, colors[i])
				}
			}
		}
	}
	if _, k, _ := coloring.Diagonal(sparsity.Banded(1000, 1000, 1, 1)); k != 2 {
		t.Errorf("a tridiagonal matrix takes %d colours, want 2", k)
	}
	if _, k, _ := coloring.Diagonal(sparsity.Full(9, 9)); k != 9 {
		t.Errorf("a full matrix takes %d colours, want 9", k)
	}
	if _, _, err := coloring.Diagonal(sparsity.Banded(4, 4, 0, 1)); err == nil {
		t.Error("a triangular pattern has no error")
	}
}
