package sparsity

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/nabla-ad/nabla/internal/page"
)

// A Pattern is the set of the entries of a rows×cols matrix that may differ from zero, in compressed sparse column form
// (CSC): the row indices of column j, ascending, are RowIndex()[ColPtr()[j]:ColPtr()[j+1]].
//
// A Pattern is immutable, so it may be shared by any number of matrices, prepared objects and goroutines. Two matrices
// with the same *Pattern have their values in the same order; use [Pattern.Equal], which is linear in the entries, for
// patterns that were built independently.
type Pattern struct {
	rows, cols int
	ptr        []int                   // length cols+1; column j is idx[ptr[j]:ptr[j+1]]
	idx        []int                   // row indices, column by column, ascending in each
	transposed atomic.Pointer[Pattern] // computed by the first call of Transpose
}

// A FormatError says why slices or a file do not represent a pattern.
type FormatError struct {
	Reason string
	Line   int // line of the file, from 1; 0 for slices
}

func (e *FormatError) Error() string {
	if e.Line > 0 {
		return page.Namef("sparsity.FormatError", "sparsity: no pattern: line %d: %s", e.Line, e.Reason)
	}
	return page.Named("sparsity.FormatError", "sparsity: no pattern: "+e.Reason)
}

// malformed returns a *FormatError with a formatted reason.
func malformed(format string, args ...any) error {
	return &FormatError{Reason: fmt.Sprintf(format, args...)}
}

// New returns the pattern with the given compressed columns, which it copies: ptr has cols+1 elements, ascending from 0
// to len(idx), and the row indices of a column ascend strictly. Anything else is a *FormatError. The cost is linear.
func New(rows, cols int, ptr, idx []int) (*Pattern, error) {
	switch {
	case rows < 0 || cols < 0:
		return nil, malformed("%d×%d is no shape", rows, cols)
	case len(ptr) != cols+1:
		return nil, malformed("%d columns need %d pointers, got %d", cols, cols+1, len(ptr))
	case ptr[0] != 0 || ptr[cols] != len(idx):
		return nil, malformed("the pointers run from %d to %d, not from 0 to the %d entries", ptr[0], ptr[cols],
			len(idx))
	}
	for j := range cols {
		if ptr[j] > ptr[j+1] || ptr[j+1] > len(idx) {
			return nil, malformed("the pointers of column %d run from %d to %d", j, ptr[j], ptr[j+1])
		}
		last := -1
		for _, i := range idx[ptr[j]:ptr[j+1]] {
			if i <= last || i >= rows {
				return nil, malformed("row %d of column %d: the rows of a column ascend, from 0 to %d", i, j, rows-1)
			}
			last = i
		}
	}
	return &Pattern{rows: rows, cols: cols, ptr: slices.Clone(ptr), idx: slices.Clone(idx)}, nil
}

// FromEntries returns the pattern of the entries (i[k], j[k]), in any order; one that occurs twice counts once. The
// cost is linear in the entries and the shape. An entry outside the shape, or lists of different lengths, are a
// *FormatError.
func FromEntries(rows, cols int, i, j []int) (*Pattern, error) {
	if rows < 0 || cols < 0 {
		return nil, malformed("%d×%d is no shape", rows, cols)
	}
	if len(i) != len(j) {
		return nil, malformed("%d row indices and %d column indices", len(i), len(j))
	}
	for k := range i {
		if i[k] < 0 || i[k] >= rows || j[k] < 0 || j[k] >= cols {
			return nil, malformed("entry (%d, %d) lies outside %d×%d", i[k], j[k], rows, cols)
		}
	}
	// Two stable counting sorts: by row, then by column.
	_, order := bucket(rows, i)
	byRow := make([]int, len(j))
	rowOf := make([]int, len(j))
	for k, e := range order {
		byRow[k], rowOf[k] = j[e], i[e]
	}
	ptr, order := bucket(cols, byRow)
	idx := make([]int, 0, len(order))
	start := 0
	for c := range cols {
		end := ptr[c+1]
		ptr[c] = len(idx)
		for _, e := range order[start:end] {
			if r := rowOf[e]; len(idx) == ptr[c] || idx[len(idx)-1] != r {
				idx = append(idx, r)
			}
		}
		start = end
	}
	ptr[cols] = len(idx)
	return &Pattern{rows: rows, cols: cols, ptr: ptr, idx: slices.Clip(idx)}, nil
}

// bucket sorts the positions of keys by key, from 0 to n-1, with a stable counting sort: those with key k are
// order[ptr[k]:ptr[k+1]].
func bucket(n int, keys []int) (ptr, order []int) {
	ptr = make([]int, n+1)
	for _, k := range keys {
		ptr[k+1]++
	}
	for k := range n {
		ptr[k+1] += ptr[k]
	}
	next := slices.Clone(ptr)
	order = make([]int, len(keys))
	for e, k := range keys {
		order[next[k]] = e
		next[k]++
	}
	return ptr, order
}

// Full returns the pattern that has all rows·cols entries.
func Full(rows, cols int) *Pattern {
	p := &Pattern{rows: rows, cols: cols, ptr: make([]int, cols+1), idx: make([]int, rows*cols)}
	for j := range cols {
		p.ptr[j+1] = (j + 1) * rows
		for i := range rows {
			p.idx[j*rows+i] = i
		}
	}
	return p
}

// Empty returns the pattern without entries.
func Empty(rows, cols int) *Pattern {
	return &Pattern{rows: rows, cols: cols, ptr: make([]int, cols+1)}
}

// Banded returns the rows×cols pattern of the entries with -below ≤ column-row ≤ above.
func Banded(rows, cols, below, above int) *Pattern {
	p := Empty(rows, cols)
	for j := range cols {
		for i := max(0, j-above); i < min(rows, j+below+1); i++ {
			p.idx = append(p.idx, i)
		}
		p.ptr[j+1] = len(p.idx)
	}
	return p
}

// Dims returns the numbers of rows and columns.
func (p *Pattern) Dims() (rows, cols int) { return p.rows, p.cols }

// NNZ returns the number of entries.
func (p *Pattern) NNZ() int { return len(p.idx) }

// ColPtr returns the column pointers: column j begins at ColPtr()[j] in RowIndex and ends before ColPtr()[j+1]. The
// length is the number of columns plus one. The slice belongs to the pattern: do not write to it.
func (p *Pattern) ColPtr() []int { return p.ptr }

// RowIndex returns the row indices of all entries, column by column. The slice belongs to the pattern: do not write to
// it.
func (p *Pattern) RowIndex() []int { return p.idx }

// Col returns the row indices of column j, ascending. The slice is a part of RowIndex: do not write to it.
func (p *Pattern) Col(j int) []int { return p.idx[p.ptr[j]:p.ptr[j+1]] }

// Index returns the position of entry (i, j) in RowIndex and reports whether the pattern has it, by binary search.
func (p *Pattern) Index(i, j int) (int, bool) {
	k, ok := slices.BinarySearch(p.Col(j), i)
	return p.ptr[j] + k, ok
}

// Has reports whether the pattern has entry (i, j), by binary search.
func (p *Pattern) Has(i, j int) bool { _, ok := p.Index(i, j); return ok }

// Equal reports whether p and q have the same shape and entries. The cost is constant if p and q are the same pointer
// and linear in the entries otherwise.
func (p *Pattern) Equal(q *Pattern) bool {
	if p == q {
		return true
	}
	return p != nil && q != nil && p.rows == q.rows && p.cols == q.cols &&
		slices.Equal(p.ptr, q.ptr) && slices.Equal(p.idx, q.idx)
}

// Transpose returns the transposed pattern: its columns are the rows of p. It is computed once, in linear time, and
// stored; the transpose of the transpose is p itself. Concurrent calls return the same pointer.
func (p *Pattern) Transpose() *Pattern {
	if t := p.transposed.Load(); t != nil {
		return t
	}
	t := &Pattern{rows: p.cols, cols: p.rows}
	t.ptr, t.idx = bucket(p.rows, p.idx)
	j := 0
	col := make([]int, len(p.idx))
	for k := range p.idx {
		for k >= p.ptr[j+1] {
			j++
		}
		col[k] = j
	}
	for k, e := range t.idx {
		t.idx[k] = col[e]
	}
	t.transposed.Store(p)
	if !p.transposed.CompareAndSwap(nil, t) {
		return p.transposed.Load()
	}
	return t
}

// Symmetric reports whether the pattern is square and equals its transpose, in linear time.
func (p *Pattern) Symmetric() bool {
	return p.rows == p.cols && p.Equal(p.Transpose())
}

// Union returns the pattern of the entries that p or q has, in linear time. If their shapes differ the error is a
// *FormatError.
func (p *Pattern) Union(q *Pattern) (*Pattern, error) {
	if p.rows != q.rows || p.cols != q.cols {
		return nil, malformed("a union of %d×%d and %d×%d", p.rows, p.cols, q.rows, q.cols)
	}
	u := Empty(p.rows, p.cols)
	for j := range p.cols {
		a, b := p.Col(j), q.Col(j)
		for len(a) > 0 && len(b) > 0 {
			v := min(a[0], b[0])
			if a[0] == v {
				a = a[1:]
			}
			if b[0] == v {
				b = b[1:]
			}
			u.idx = append(u.idx, v)
		}
		u.idx = append(append(u.idx, a...), b...)
		u.ptr[j+1] = len(u.idx)
	}
	return u, nil
}
