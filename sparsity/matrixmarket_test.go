package sparsity_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/sparsity"
)

// entries returns the pattern with the given places, two numbers each.
func entries(t *testing.T, rows, cols int, at ...int) *sparsity.Pattern {
	t.Helper()
	var i, j []int
	for k := 0; k < len(at); k += 2 {
		i, j = append(i, at[k]), append(j, at[k+1])
	}
	p, err := sparsity.FromEntries(rows, cols, i, j)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestReadMatrixMarket(t *testing.T) {
	for file, want := range map[string]*sparsity.Pattern{
		"coordinate real general\n2 3 2\n1 3 0\n2 1 5\n":       entries(t, 2, 3, 0, 2, 1, 0),
		"coordinate pattern general\n2 3 3\n1 3\n1 3\n2 1\n":   entries(t, 2, 3, 0, 2, 1, 0),
		"coordinate pattern symmetric\n2 2 2\n2 1\n2 2\n":      entries(t, 2, 2, 1, 0, 0, 1, 1, 1),
		"coordinate integer skew-symmetric\n2 2 1\n2 1 4\n":    entries(t, 2, 2, 1, 0, 0, 1),
		"coordinate complex hermitian\n2 2 1\n2 1 0 1\n":       entries(t, 2, 2, 1, 0, 0, 1),
		"array real general\n2 2\n0\n1\nNaN\n0\n":              entries(t, 2, 2, 1, 0, 0, 1),
		"array complex general\n1 3\n0 0\n0 1\n-0 0\n":         entries(t, 1, 3, 0, 1),
		"coordinate pattern general\n0 3 0\n":                  sparsity.Empty(0, 3),
		"coordinate pattern general\n% none\n\n3 0 0\n% end\n": sparsity.Empty(3, 0),
	} {
		p, err := sparsity.ReadMatrixMarket(strings.NewReader("%%MatrixMarket matrix " + file))
		if err != nil || !p.Equal(want) {
			t.Errorf("%s%v, %v; want %v", file, p, err, want)
		}
	}
	_, err := sparsity.ReadMatrixMarket(strings.NewReader("%%MatrixMarket matrix coordinate real general\n1 1 1\n" +
		"1 2 3\n"))
	var e *sparsity.FormatError
	if !errors.As(err, &e) || e.Line != 3 {
		t.Errorf("%v", err)
	}
	want := "sparsity: no pattern: line 3: entry (1, 2) lies outside 1×1; rows and columns count from 1 " +
		"(sparsity.FormatError)"
	if err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// full is a writer without space.
type full struct{}

var errFull = errors.New("full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriteMatrixMarket(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		rows, cols := r.IntN(9), r.IntN(9)
		i, j, _ := random(r, rows, cols)
		p, _ := sparsity.FromEntries(rows, cols, i, j)
		var b bytes.Buffer
		if err := p.WriteMatrixMarket(&b); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		if q, err := sparsity.ReadMatrixMarket(&b); err != nil || !q.Equal(p) {
			t.Fatalf("%v\nwas written as\n%s\nand read as %v, %v", p, text, q, err)
		}
	}
	if err := sparsity.Full(2, 2).WriteMatrixMarket(full{}); !errors.Is(err, errFull) {
		t.Errorf("%v", err)
	}
}

// FuzzReadMatrixMarket reads arbitrary bytes: no panic, no memory out of proportion, typed errors, and a written copy
// reads as the same pattern.
func FuzzReadMatrixMarket(f *testing.F) {
	const mm = "%%MatrixMarket matrix "
	for _, file := range []string{
		"", mm,
		mm + "coordinate real general\n2 3 2\n1 3 1.5\n2 1 -2e-3\n",
		mm + "coordinate pattern symmetric\n% c\n3 3 2\n3 1\n2 2\n",
		mm + "coordinate complex hermitian\n2 2 1\n2 1 2 3\n",
		mm + "array integer skew-symmetric\n3 3\n1\n0\n3\n",
		mm + "array real general\n1000000000 0\n",
		mm + "coordinate real general\n1000000000 1000000000 1000000000\n1 1 1\n",
	} {
		f.Add([]byte(file))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		p, err := sparsity.ReadMatrixMarket(bytes.NewReader(file))
		if err != nil {
			if e, ok := errors.AsType[*sparsity.FormatError](err); !ok || e.Line < 1 {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		rows, cols := p.Dims()
		if _, err := sparsity.New(rows, cols, p.ColPtr(), p.RowIndex()); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := p.WriteMatrixMarket(&b); err != nil {
			t.Fatal(err)
		}
		// An empty copy of a large shape may be refused where the original, with
		// more lines than entries, was not.
		if q, err := sparsity.ReadMatrixMarket(&b); err == nil && !q.Equal(p) ||
			err != nil && max(rows, cols) <= 1<<20 {
			t.Fatalf("%v, %v; want %v", q, err, p)
		}
	})
}
