package sparsity_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nabla-ad/nabla/sparsity"
)

// random returns entries, some twice, and the matrix they mark.
func random(r *rand.Rand, rows, cols int) (i, j []int, has map[[2]int]bool) {
	has = map[[2]int]bool{}
	if rows*cols == 0 {
		return nil, nil, has
	}
	for range r.IntN(3 * (rows + cols)) {
		a, b := r.IntN(rows), r.IntN(cols)
		i, j = append(i, a), append(j, b)
		has[[2]int{a, b}] = true
	}
	return i, j, has
}

func TestFromEntries(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		rows, cols := r.IntN(9), r.IntN(9)
		i, j, has := random(r, rows, cols)
		p, err := sparsity.FromEntries(rows, cols, i, j)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sparsity.New(rows, cols, p.ColPtr(), p.RowIndex()); err != nil {
			t.Fatal(err)
		}
		if p.NNZ() != len(has) {
			t.Fatalf("%d entries, want %d", p.NNZ(), len(has))
		}
		pt := p.Transpose()
		symmetric := rows == cols
		for a := range rows {
			for b := range cols {
				if p.Has(a, b) != has[[2]int{a, b}] || pt.Has(b, a) != has[[2]int{a, b}] {
					t.Fatalf("entry (%d, %d): %v, transposed %v, want %v", a, b, p.Has(a, b), pt.Has(b, a),
						has[[2]int{a, b}])
				}
				symmetric = symmetric && has[[2]int{a, b}] == has[[2]int{b, a}]
			}
		}
		if pt.Transpose() != p || p.Transpose() != pt {
			t.Error("the transpose of the transpose is another pattern")
		}
		if p.Symmetric() != symmetric {
			t.Errorf("Symmetric() = %v", !symmetric)
		}
		i2, j2, has2 := random(r, rows, cols)
		q, _ := sparsity.FromEntries(rows, cols, i2, j2)
		u, err := p.Union(q)
		want, _ := sparsity.FromEntries(rows, cols, slices.Concat(i, i2), slices.Concat(j, j2))
		if err != nil || !u.Equal(want) {
			t.Errorf("union: %v", err)
		}
		if p.Equal(q) != (len(has) == len(has2) && u.NNZ() == len(has)) {
			t.Errorf("Equal: %v", p.Equal(q))
		}
	}
}

func TestMalformed(t *testing.T) {
	var want *sparsity.FormatError
	for name, f := range map[string]func() (*sparsity.Pattern, error){
		"negative":    func() (*sparsity.Pattern, error) { return sparsity.New(-1, 0, []int{0}, nil) },
		"pointers":    func() (*sparsity.Pattern, error) { return sparsity.New(2, 2, []int{0, 1}, []int{0}) },
		"end":         func() (*sparsity.Pattern, error) { return sparsity.New(2, 1, []int{0, 2}, []int{0}) },
		"descending":  func() (*sparsity.Pattern, error) { return sparsity.New(2, 2, []int{0, 2, 1}, []int{0}) },
		"beyond":      func() (*sparsity.Pattern, error) { return sparsity.New(2, 2, []int{0, 5, 1}, []int{0}) },
		"order":       func() (*sparsity.Pattern, error) { return sparsity.New(2, 1, []int{0, 2}, []int{1, 0}) },
		"twice":       func() (*sparsity.Pattern, error) { return sparsity.New(2, 1, []int{0, 2}, []int{1, 1}) },
		"row":         func() (*sparsity.Pattern, error) { return sparsity.New(2, 1, []int{0, 1}, []int{2}) },
		"outside":     func() (*sparsity.Pattern, error) { return sparsity.FromEntries(2, 2, []int{0}, []int{2}) },
		"lengths":     func() (*sparsity.Pattern, error) { return sparsity.FromEntries(2, 2, []int{0}, nil) },
		"entry shape": func() (*sparsity.Pattern, error) { return sparsity.FromEntries(2, -2, nil, nil) },
		"union":       func() (*sparsity.Pattern, error) { return sparsity.Empty(2, 2).Union(sparsity.Empty(2, 3)) },
	} {
		if p, err := f(); !errors.As(err, &want) || p != nil {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
}

func TestShapes(t *testing.T) {
	for _, n := range []int{0, 1, 4} {
		if p := sparsity.Full(n, 3); p.NNZ() != 3*n || n > 0 && !p.Has(n-1, 2) {
			t.Errorf("full %d×3: %d", n, p.NNZ())
		}
		if p := sparsity.Full(3, n); !p.Transpose().Equal(sparsity.Full(n, 3)) {
			t.Errorf("full 3×%d", n)
		}
		if p := sparsity.Empty(n, 2); p.NNZ() != 0 || p.Transpose().NNZ() != 0 {
			t.Errorf("empty %d×2", n)
		}
	}
	p := sparsity.Banded(4, 5, 1, 2)
	for i := range 4 {
		for j := range 5 {
			if want := j-i >= -1 && j-i <= 2; p.Has(i, j) != want {
				t.Errorf("banded: (%d, %d) is %v", i, j, !want)
			}
		}
	}
}
