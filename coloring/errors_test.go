package coloring

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/sparsity"
)

func TestProblemErrors(t *testing.T) {
	p := sparsity.Banded(3, 3, 1, 1)
	for _, problem := range []Problem{{Structure: Symmetric, Partition: Row},
		{Structure: Symmetric, Partition: Bidirectional}, {Structure: 7}, {Partition: 7}, {Decompression: 7}} {
		for _, a := range []Algorithm{Greedy{}, Constant{}, Optimal{}} {
			var e *ProblemError
			if _, err := a.Color(p, problem); !errors.As(err, &e) {
				t.Errorf("%v by %v: %v", problem, a, err)
			}
		}
	}
	for _, c := range []struct {
		p    *sparsity.Pattern
		text string
	}{
		{sparsity.Full(2, 3), "2×3"},
		{rows("1 1 0", "0 1 0", "0 0 1"), "entry (0, 1) and not (1, 0)"},
	} {
		var e *PatternError
		if _, err := (Greedy{}).Color(c.p, Problem{Structure: Symmetric}); !errors.As(err, &e) ||
			!strings.Contains(err.Error(), c.text) {
			t.Error(err)
		}
	}
	if c := color(t, p, Problem{Decompression: Substitution}, Greedy{}); c.Problem().Decompression != Direct {
		t.Error("a column problem kept its substitution")
	}
	if _, err := Permutation(sparsity.Full(2, 3), Problem{Structure: Symmetric}, Natural{}); err == nil {
		t.Error("no error")
	}
}

func TestTooLarge(t *testing.T) {
	var e *PatternError
	if _, err := (Greedy{}).Color(sparsity.Empty(math.MaxInt32, 1), Problem{}); !errors.As(err, &e) {
		t.Error(err)
	}
}

func TestDecompressorErrors(t *testing.T) {
	c := color(t, sparsity.Banded(4, 4, 1, 1), Problem{}, Greedy{})
	var u *UnsupportedError
	if _, err := c.Decompressor(Upper); !errors.As(err, &u) {
		t.Error(err)
	}
	if _, err := c.Decompressor(9); !errors.As(err, &u) {
		t.Error(err)
	}
	if _, err := RankNonzeros(c); !errors.As(err, &u) {
		t.Error(err)
	}
	d := must(c.Decompressor(Full))
	nnz := c.Pattern().NNZ()
	for name, call := range map[string]func(){
		"short data":     func() { d.Decompress(make([]float64, nnz-1), make([]float64, 12), 3, nil, 0) },
		"short block":    func() { d.Decompress(make([]float64, nnz), make([]float64, 11), 3, nil, 0) },
		"short stride":   func() { d.Decompress(make([]float64, nnz), make([]float64, 12), 2, nil, 0) },
		"func":           func() { d.DecompressFunc(nil, nil) },
		"single, data":   func() { _ = d.DecompressColumn(nil, make([]float64, 4), 1) },
		"single, column": func() { _ = d.DecompressColumn(make([]float64, nnz), make([]float64, 3), 1) },
		"colour 0":       func() { _ = d.DecompressColumn(make([]float64, nnz), make([]float64, 4), 0) },
		"colour 4":       func() { _ = d.DecompressColumn(make([]float64, nnz), make([]float64, 4), 4) },
		"a row":          func() { _ = d.DecompressRow(make([]float64, nnz), make([]float64, 4), 1) },
		"compress":       func() { c.Compress(nil) },
		"seed":           func() { c.ColumnSeed(make([]float64, 3), 1) },
	} {
		func() {
			defer func() {
				if _, ok := recover().(*LengthError); !ok {
					t.Errorf("%s: no LengthError", name)
				}
			}()
			call()
		}()
	}
	tree := color(t, sparsity.Banded(4, 4, 1, 1), Problem{Structure: Symmetric, Decompression: Substitution}, Greedy{})
	d = must(tree.Decompressor(Full))
	if err := d.DecompressColumn(make([]float64, nnz), make([]float64, 4), 1); !errors.As(err, &u) {
		t.Error(err)
	}
	if d.Sources() != nil {
		t.Error("substitution has sources")
	}
}
