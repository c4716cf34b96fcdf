package coloring

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/sparsity"
)

// TestReferenceCounts meets the counts of testdata/pattern_colour_counts.json; its
// natural and largest-first counts do not depend on how ties are broken.
func TestReferenceCounts(t *testing.T) {
	longtest.Serial(t)
	var file struct {
		Counts map[string]struct {
			M   int `json:"m"`
			N   int `json:"n"`
			NNZ int `json:"nnz"`

			NaturalColumns int `json:"greedy_natural_columns"`
			NaturalRows    int `json:"greedy_natural_rows"`
			LargestColumns int `json:"greedy_largest_first_columns"`
			LargestRows    int `json:"greedy_largest_first_rows"`
			BoundColumns   int `json:"lower_bound_columns"`
			BoundRows      int `json:"lower_bound_rows"`
		} `json:"counts"`
	}
	text, err := os.ReadFile("testdata/pattern_colour_counts.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Counts) != 3 {
		t.Fatalf("%d patterns, want 3", len(file.Counts))
	}
	for name, want := range file.Counts {
		p := readPattern(t, "pattern_"+name+".mtx.gz")
		if m, n := p.Dims(); m != want.M || n != want.N || p.NNZ() != want.NNZ {
			t.Fatalf("%s is %d×%d with %d entries", name, m, n, p.NNZ())
		}
		for _, c := range []struct {
			partition Partition
			order     Order
			want      int
		}{
			{Column, Natural{}, want.NaturalColumns}, {Row, Natural{}, want.NaturalRows},
			{Column, LargestFirst{}, want.LargestColumns}, {Row, LargestFirst{}, want.LargestRows},
		} {
			got := color(t, p, Problem{Partition: c.partition}, Greedy{Orders: []Order{c.order}})
			if got.Colors() != c.want {
				t.Errorf("%s by %v, %v: %d colours, want %d", name, c.partition, c.order, got.Colors(), c.want)
			}
		}
		for _, order := range orders {
			cols := color(t, p, Problem{}, Greedy{Orders: []Order{order}})
			rows := color(t, p, Problem{Partition: Row}, Greedy{Orders: []Order{order}})
			if cols.Colors() < want.BoundColumns || rows.Colors() < want.BoundRows {
				t.Errorf("%s, %v: %d and %d colours are below the bounds", name, order, cols.Colors(), rows.Colors())
			}
			for _, c := range []*Coloring{cols, rows} {
				given := Constant{Columns: c.ColumnColors(), Rows: c.RowColors()}
				if _, err := given.Color(p, c.Problem()); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// TestPublishedCounts meets the row of lp_cre_a in Tables 6 and 7 of Gebremedhin,
// Nguyen, Patwary and Pothen (2013), in every order.
func TestPublishedCounts(t *testing.T) {
	p := readPattern(t, "pattern_lp_cre_a.mtx.gz")
	for _, c := range []struct {
		order         Order
		columns, rows int
	}{
		{Dynamic{Descending: true, ColPack: true}, 360, 14},
		{Dynamic{ColPack: true}, 360, 14},
		{LargestFirst{}, 360, 14},
		{Dynamic{Forward: true, ColPack: true}, 360, 14},
		{Natural{}, 360, 16},
	} {
		columns := color(t, p, Problem{}, Greedy{Orders: []Order{c.order}}).Colors()
		rows := color(t, p, Problem{Partition: Row}, Greedy{Orders: []Order{c.order}}).Colors()
		if columns != c.columns || rows != c.rows {
			t.Errorf("%v: %d column and %d row colours, want %d and %d", c.order, columns, rows, c.columns, c.rows)
		}
	}
}

// TestBands: a band matrix with b diagonals on either side of the main one takes
// 2b+1 colours directly and b+1 with substitution.
func TestBands(t *testing.T) {
	longtest.Serial(t)
	for _, n := range []int{5000, 10000, 20000} {
		for _, b := range []int{5, 10} {
			p := sparsity.Banded(n, n, b, b)
			if got := color(t, p, Problem{Structure: Symmetric}, Greedy{}).Colors(); got != 2*b+1 {
				t.Errorf("star, n=%d, %d diagonals: %d colours, want %d", n, b, got, 2*b+1)
			}
			if got := color(t, p, Problem{Structure: Symmetric, Decompression: Substitution},
				Greedy{}).Colors(); got != b+1 {
				t.Errorf("acyclic, n=%d, %d diagonals: %d colours, want %d", n, b, got, b+1)
			}
		}
	}
}

// TestPerfectElimination: however a band of m diagonals on either side is
// permuted, its graph stays chordal, and the order finds the m+1 colours.
func TestPerfectElimination(t *testing.T) {
	longtest.Serial(t)
	r := rand.New(rand.NewPCG(7, 8))
	a := Greedy{Orders: []Order{PerfectElimination{}}}
	for _, c := range [][2]int{{800, 80}, {400, 40}, {200, 20}, {100, 10}} {
		n, m := c[0], c[1]
		p := permuted(r, sparsity.Banded(n, n, m, m))
		if got := color(t, p, Problem{Structure: Symmetric, Decompression: Substitution}, a).Colors(); got != m+1 {
			t.Errorf("n=%d: %d colours, want %d", n, got, m+1)
		}
		// The columns of a band that share a row are those at most 2m apart: chordal.
		if got := color(t, p, Problem{}, a).Colors(); got != 2*m+1 {
			t.Errorf("n=%d: %d column colours, want %d", n, got, 2*m+1)
		}
	}
}
