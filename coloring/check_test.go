package coloring

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/sparsity"
)

// TestChecksRefuse gives every check colours that fail, and looks for the place.
func TestChecksRefuse(t *testing.T) {
	path := sparsity.Banded(4, 4, 1, 1)
	noDiag := rows("0 1 0 1", "1 0 1 0", "0 1 0 1", "1 0 1 0") // a cycle
	zeros := make([]int, path.NNZ())
	for _, c := range []struct {
		name       string
		err        error
		rows, cols []int
		text       string
	}{
		{"columns", StructurallyOrthogonalColumns(path, []int{1, 2, 1, 3}), []int{1}, []int{0, 2}, "colour 1"},
		{"column without colour", StructurallyOrthogonalColumns(path, []int{1, 2, 3, 0}), []int{2}, []int{3},
			"no colour"},
		{"rows", StructurallyOrthogonalRows(path, []int{1, 2, 1, 3}), []int{0, 2}, []int{1}, "colour 1"},
		{"row without colour", StructurallyOrthogonalRows(path, []int{0, 2, 1, 3}), []int{0}, []int{0}, "no colour"},
		{"star", SymmetricallyOrthogonalColumns(path, []int{1, 2, 1, 2}), []int{2}, []int{1}, "columns 1 and 3"},
		{"neighbours", SymmetricallyOrthogonalColumns(path, []int{1, 1, 2, 3}), []int{0}, []int{0}, "columns 0 and 1"},
		{"biorthogonal", StructurallyBiorthogonal(path, []int{1, 1, 1, 1}, []int{1, 1, 1, 1}), []int{0}, []int{0},
			"rows 0 and 1"},
		{"neutral", StructurallyBiorthogonal(path, []int{0, 1, 2, 3}, []int{0, 1, 2, 3}), []int{0}, []int{0}, "-1"},
		{"direct", DirectlyRecoverableColumns(path, []int{1, 2, 1, 2}, true), []int{2}, []int{1}, "alone"},
		{"direct, not symmetric", DirectlyRecoverableColumns(path, []int{1, 2, 1, 3}, false), []int{1}, []int{0},
			"alone"},
		{"substitution", SubstitutableColumns(path, zeros, []int{1, 2, 1, 2}), []int{2}, []int{1}, "before it"},
		{"cycle", SubstitutableColumns(noDiag, []int{1, 2, 1, 3, 3, 4, 2, 4}, []int{1, 2, 1, 2}), []int{1}, []int{0},
			"before it"},
		{"substitution, bidirectional", SubstitutableBidirectional(path, zeros, []int{1, 1, 1, 1}, []int{1, 1, 1, 1}),
			[]int{0}, []int{0}, "before it"},
	} {
		var e *InvalidColoringError
		if !errors.As(c.err, &e) {
			t.Errorf("%s: %v", c.name, c.err)
			continue
		}
		if !slices.Equal(e.Rows, c.rows) || !slices.Equal(e.Columns, c.cols) || !strings.Contains(e.Error(), c.text) {
			t.Errorf("%s: %v", c.name, e)
		}
	}
	wrong := []error{
		StructurallyOrthogonalColumns(path, nil), StructurallyOrthogonalRows(path, nil),
		SymmetricallyOrthogonalColumns(path, nil),
		StructurallyBiorthogonal(path, nil, make([]int, 4)), StructurallyBiorthogonal(path, make([]int, 4), nil),
		DirectlyRecoverableColumns(path, nil, false), SubstitutableColumns(path, nil, make([]int, 4)),
		SubstitutableColumns(path, zeros, nil),
		SubstitutableBidirectional(path, nil, make([]int, 4), make([]int, 4)),
	}
	for k, err := range wrong {
		var e *LengthError
		if !errors.As(err, &e) {
			t.Errorf("length %d: %v", k, err)
		}
	}
}

// TestWhereColorsMeet: the message about an entry that no product gives names rows and
// columns by their numbers in the matrix.
func TestWhereColorsMeet(t *testing.T) {
	p := rows("1 1", "0 1", "1 1")
	a := Constant{Columns: []int{1, 1}, Rows: []int{1, 2, 1}}
	_, err := a.Color(p, Problem{Partition: Bidirectional})
	const want = "column 0 and column 1 have one colour and meet in row 0, and row 0 and row 2 have one colour and " +
		"meet in column 0"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

func TestConstant(t *testing.T) {
	path := sparsity.Banded(4, 4, 1, 1)
	bi := func(rows, cols []int) Constant { return Constant{Columns: cols, Rows: rows} }
	cycle := rows("1 1 0 1", "1 1 1 0", "0 1 1 1", "1 0 1 1")
	for _, c := range []struct {
		name    string
		p       *sparsity.Pattern
		problem Problem
		a       Constant
		rows    []int // of the error; nil: the colours are accepted
		cols    []int
	}{
		{"columns", path, Problem{}, Constant{Columns: []int{1, 2, 3, 1}}, nil, nil},
		{"columns that meet", path, Problem{}, Constant{Columns: []int{1, 2, 1, 3}}, []int{1}, []int{0, 2}},
		{"a neutral column", path, Problem{}, Constant{Columns: []int{1, 2, 3, 0}}, []int{2}, []int{3}},
		{"rows", path, Problem{Partition: Row}, Constant{Rows: []int{1, 2, 3, 1}}, nil, nil},
		{"rows that meet", path, Problem{Partition: Row}, Constant{Rows: []int{1, 2, 1, 3}}, []int{0, 2}, []int{1}},
		{"negative", path, Problem{}, Constant{Columns: []int{1, -1, 1, 3}}, []int{}, []int{1}},
		{"too large", path, Problem{Partition: Row}, Constant{Rows: []int{1, 2, 3, 5}}, []int{3}, []int{}},
		{"star", path, Problem{Structure: Symmetric}, Constant{Columns: []int{1, 2, 1, 3}}, nil, nil},
		{"path", path, Problem{Structure: Symmetric}, Constant{Columns: []int{1, 2, 1, 2}}, []int{2}, []int{1}},
		{"neighbours", path, Problem{Structure: Symmetric}, Constant{Columns: []int{1, 1, 2, 3}}, []int{0}, []int{0}},
		{"neutral with diagonal", path, Problem{Structure: Symmetric}, Constant{Columns: []int{0, 1, 2, 3}}, []int{0},
			[]int{0}},
		{"tree", path, Problem{Structure: Symmetric, Decompression: Substitution}, Constant{Columns: []int{1, 2, 1, 2}},
			nil, nil},
		{"a cycle", cycle, Problem{Structure: Symmetric, Decompression: Substitution},
			Constant{Columns: []int{1, 2, 1, 2}}, []int{1}, []int{0}},
		{"neighbours in trees", path, Problem{Structure: Symmetric, Decompression: Substitution},
			Constant{Columns: []int{1, 2, 2, 1}}, []int{2}, []int{1}},
		{"only columns", path, Problem{Partition: Bidirectional}, bi([]int{0, 0, 0, 0}, []int{1, 2, 3, 1}), nil, nil},
		{"all neutral", path, Problem{Partition: Bidirectional}, bi([]int{0, 0, 0, 0}, []int{0, 0, 0, 0}), []int{0},
			[]int{0}},
		{"all neutral, trees", path, Problem{Nonsymmetric, Bidirectional, Substitution, nil},
			bi([]int{0, 0, 0, 0}, []int{0, 0, 0, 0}), []int{0}, []int{0}},
		{"neutral rows, trees", path, Problem{Nonsymmetric, Bidirectional, Substitution, nil},
			bi([]int{0, 0, 0, 0}, []int{1, 2, 1, 3}), []int{1}, []int{0}},
	} {
		got, err := c.a.Color(c.p, c.problem)
		if c.rows == nil {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			} else if err := verify(got); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		var e *InvalidColoringError
		if !errors.As(err, &e) || !slices.Equal(e.Rows, c.rows) || !slices.Equal(e.Columns, c.cols) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for _, c := range []struct {
		problem Problem
		a       Constant
	}{
		{Problem{}, Constant{Columns: []int{1}}}, {Problem{}, Constant{}},
		{Problem{}, bi([]int{1, 2, 3, 4}, []int{1, 2, 3, 4})},
		{Problem{Partition: Row}, Constant{Rows: []int{1}}},
		{Problem{Partition: Bidirectional}, Constant{Columns: []int{1, 2, 3, 4}}},
	} {
		var e *LengthError
		if _, err := c.a.Color(path, c.problem); !errors.As(err, &e) || !strings.Contains(err.Error(), "want") {
			t.Error(err)
		}
	}
}

// TestConstantTakesGreedy checks that Constant accepts the colourings of Greedy, and that equal colours lead to the
// same decompression.
func TestConstantTakesGreedy(t *testing.T) {
	for _, problem := range problems {
		for _, post := range []bool{false, true} {
			c := color(t, brusselator(4), problem, Greedy{Orders: []Order{Random{2}}, Postprocess: post})
			given := color(t, c.Pattern(), problem, Constant{c.ColumnColors(), c.RowColors()})
			if given.Forward() != c.Forward() || given.Reverse() != c.Reverse() {
				t.Errorf("%v became %v", c, given)
			}
			if err := verify(given); err != nil {
				t.Errorf("%v: %v", c, err)
			}
		}
	}
}
