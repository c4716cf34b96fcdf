package sparse

import (
	"slices"

	"github.com/nabla-ad/nabla/sparsity"
	"gonum.org/v1/gonum/mat"
)

// CSC is a matrix of float64 compressed by columns: a pattern, and a value for each
// of its entries. The zero value is empty, of 0×0, and can be made into a matrix by
// [CSC.ReuseAs].
type CSC struct {
	pattern *sparsity.Pattern // nil if empty
	data    []float64         // in the order of pattern.RowIndex()
}

var (
	_ mat.Mutable        = (*CSC)(nil)
	_ mat.NonZeroDoer    = (*CSC)(nil)
	_ mat.RowNonZeroDoer = (*CSC)(nil)
	_ mat.ColNonZeroDoer = (*CSC)(nil)
	_ mat.Reseter        = (*CSC)(nil)
	_ mat.Normer         = (*CSC)(nil)
	_ mat.Tracer         = (*CSC)(nil)
)

// empty is the pattern of a matrix that has none.
var empty = sparsity.Empty(0, 0)

// NewCSC returns the matrix with the pattern p and the values data, column by column
// in the order of p.RowIndex(). It keeps data: a later write to it changes the
// matrix. Nil data are zeros. Any other length than p.NNZ() panics with a
// *[ShapeError], a nil pattern with a *[PatternError].
func NewCSC(p *sparsity.Pattern, data []float64) *CSC {
	if p == nil {
		panic(noPattern("NewCSC"))
	}
	if data == nil {
		data = make([]float64, p.NNZ())
	}
	checkLen("NewCSC", "data", len(data), p.NNZ())
	return &CSC{p, data}
}

func noPattern(op string) *PatternError {
	return patternErrorf(op, "the pattern is nil; make one with sparsity.New, FromEntries or Full")
}

// Pattern returns the entries which m stores.
func (m *CSC) Pattern() *sparsity.Pattern {
	if m.pattern == nil {
		return empty
	}
	return m.pattern
}

// Data returns the values, in the order of RowIndex. It is the matrix's own slice:
// writing to it changes the matrix.
func (m *CSC) Data() []float64 { return m.data }

// ColPtr returns where the columns begin in RowIndex and Data, and where the last one
// ends. It is the pattern's own slice: read it, do not write it.
func (m *CSC) ColPtr() []int { return m.Pattern().ColPtr() }

// RowIndex returns the rows of the entries, column by column. It is the pattern's own
// slice: read it, do not write it.
func (m *CSC) RowIndex() []int { return m.Pattern().RowIndex() }

// Dims returns the numbers of rows and columns.
func (m *CSC) Dims() (rows, cols int) {
	if m.pattern == nil {
		return 0, 0
	}
	return m.pattern.Dims()
}

// NNZ returns the number of entries which m stores, zeros among them.
func (m *CSC) NNZ() int { return len(m.data) }

// At returns entry (i, j), 0 off the pattern, in logarithmic time. It panics with
// mat.ErrRowAccess or mat.ErrColAccess outside the shape.
func (m *CSC) At(i, j int) float64 {
	m.check(i, j)
	if k, ok := m.pattern.Index(i, j); ok {
		return m.data[k]
	}
	return 0
}

// Set gives entry (i, j) the value v. It panics with mat.ErrRowAccess or
// mat.ErrColAccess outside the shape, and with a *[PatternError] off the pattern, even
// if v is 0.
func (m *CSC) Set(i, j int, v float64) {
	m.check(i, j)
	k, ok := m.pattern.Index(i, j)
	if !ok {
		panic(offPattern("CSC.Set", i, j))
	}
	m.data[k] = v
}

func offPattern(op string, i, j int) *PatternError {
	return patternErrorf(op,
		"entry (%d, %d) is not in the pattern, which is fixed; make a matrix over a pattern with that entry", i, j)
}

// check panics if there is no entry (i, j).
func (m *CSC) check(i, j int) {
	rows, cols := m.Dims()
	checkIndex(i, rows, mat.ErrRowAccess)
	checkIndex(j, cols, mat.ErrColAccess)
}

// checkIndex panics with err if i is not from 0 to n-1.
func checkIndex(i, n int, err mat.Error) {
	if uint(i) >= uint(n) {
		panic(err)
	}
}

// col returns the rows and the values of column j, which are equally many. m must not
// be empty.
func (m *CSC) col(j int) (idx []int, data []float64) {
	ptr := m.pattern.ColPtr()
	start, end := ptr[j], ptr[j+1]
	return m.pattern.RowIndex()[start:end], m.data[start:end]
}

// T returns a view of m as its transpose: a mat.Transpose, which gonum knows, without
// a copy, so that changes of m are seen through it. [CSC.Transpose] returns a matrix.
func (m *CSC) T() mat.Matrix { return mat.Transpose{Matrix: m} }

// Transpose returns the transposed matrix, a copy over Pattern().Transpose(). The
// cost is linear in the entries and the shape.
func (m *CSC) Transpose() *CSC {
	t := NewCSC(m.Pattern().Transpose(), nil)
	next := slices.Clone(t.ColPtr())
	for k, i := range m.RowIndex() {
		t.data[next[i]] = m.data[k]
		next[i]++
	}
	return t
}

// Clone returns a copy of m over the same pattern.
func (m *CSC) Clone() *CSC { return &CSC{m.pattern, slices.Clone(m.data)} }

// Zero sets the values to 0. The pattern stays.
func (m *CSC) Zero() { clear(m.data) }

// IsEmpty reports whether m has no pattern, so that [CSC.ReuseAs] may give it one. A
// matrix of 0×3 over a pattern is not empty in this sense.
func (m *CSC) IsEmpty() bool { return m.pattern == nil }

// Reset makes m empty. Its memory is used by the next [CSC.ReuseAs]; do not call it
// while the slice that Data returned is in use.
func (m *CSC) Reset() { m.pattern, m.data = nil, m.data[:0] }

// ReuseAs makes m, which must be empty, the zero matrix over p. It panics with
// mat.ErrReuseNonEmpty if m is not empty, and with a *[PatternError] for a nil p.
func (m *CSC) ReuseAs(p *sparsity.Pattern) {
	if !m.IsEmpty() {
		panic(mat.ErrReuseNonEmpty)
	}
	if p == nil {
		panic(noPattern("CSC.ReuseAs"))
	}
	m.pattern, m.data = p, zeros(m.data, p.NNZ())
}

// zeros returns n zeros, in the memory of s if it suffices.
func zeros(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	s = s[:n]
	clear(s)
	return s
}
