package sparse

import (
	"slices"

	"github.com/nabla-ad/nabla/sparsity"
	"gonum.org/v1/gonum/mat"
)

// CSC is a matrix of float64 in compressed sparse column form: a pattern, and a value for each of its entries. The zero
// value is empty, of shape 0×0, and can be given a pattern by [CSC.ReuseAs].
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

// empty is the pattern of matrices whose pattern field is nil.
var empty = sparsity.Empty(0, 0)

// NewCSC returns the matrix with pattern p and the values data, column by column in the order of p.RowIndex(). It
// retains data: a later write to it changes the matrix. Nil data are zeros. Any other length than p.NNZ() panics with a
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

// noPattern returns the error for a nil pattern passed to op.
func noPattern(op string) *PatternError {
	return patternErrorf(op, "the pattern is nil; make one with sparsity.New, FromEntries or Full")
}

// Pattern returns the pattern of the entries that m stores. The pattern of an empty matrix is 0×0.
func (m *CSC) Pattern() *sparsity.Pattern {
	if m.pattern == nil {
		return empty
	}
	return m.pattern
}

// Data returns the values, in the order of RowIndex. The slice belongs to the matrix: writing to it changes the matrix.
func (m *CSC) Data() []float64 { return m.data }

// ColPtr returns the column pointers: column j begins at ColPtr()[j] in RowIndex and Data, and ends before
// ColPtr()[j+1]. The slice belongs to the pattern: do not write to it.
func (m *CSC) ColPtr() []int { return m.Pattern().ColPtr() }

// RowIndex returns the row indices of the entries, column by column. The slice belongs to the pattern: do not write to
// it.
func (m *CSC) RowIndex() []int { return m.Pattern().RowIndex() }

// Dims returns the numbers of rows and columns.
func (m *CSC) Dims() (rows, cols int) {
	if m.pattern == nil {
		return 0, 0
	}
	return m.pattern.Dims()
}

// NNZ returns the number of entries that m stores, including zeros.
func (m *CSC) NNZ() int { return len(m.data) }

// At returns entry (i, j), which is 0 off the pattern, by binary search in column j. It panics with mat.ErrRowAccess or
// mat.ErrColAccess outside the shape.
func (m *CSC) At(i, j int) float64 {
	m.check(i, j)
	if k, ok := m.pattern.Index(i, j); ok {
		return m.data[k]
	}
	return 0
}

// Set sets entry (i, j) to v. It panics with mat.ErrRowAccess or mat.ErrColAccess outside the shape, and with a
// *[PatternError] off the pattern, even if v is 0.
func (m *CSC) Set(i, j int, v float64) {
	m.check(i, j)
	k, ok := m.pattern.Index(i, j)
	if !ok {
		panic(offPattern("CSC.Set", i, j))
	}
	m.data[k] = v
}

// offPattern returns the error for writing an entry that is not in the pattern.
func offPattern(op string, i, j int) *PatternError {
	return patternErrorf(op,
		"entry (%d, %d) is not in the pattern, which is fixed; make a matrix over a pattern with that entry", i, j)
}

// check panics with gonum's error if (i, j) is outside the shape.
func (m *CSC) check(i, j int) {
	rows, cols := m.Dims()
	checkIndex(i, rows, mat.ErrRowAccess)
	checkIndex(j, cols, mat.ErrColAccess)
}

// checkIndex panics with err unless 0 ≤ i < n.
func checkIndex(i, n int, err mat.Error) {
	if uint(i) >= uint(n) {
		panic(err)
	}
}

// col returns the row indices and the values of column j, slices of equal length. m must have a pattern.
func (m *CSC) col(j int) (idx []int, data []float64) {
	ptr := m.pattern.ColPtr()
	start, end := ptr[j], ptr[j+1]
	return m.pattern.RowIndex()[start:end], m.data[start:end]
}

// T returns a view of m as its transpose, a mat.Transpose, without a copy: later changes of m are visible through it.
// [CSC.Transpose] returns a matrix.
func (m *CSC) T() mat.Matrix { return mat.Transpose{Matrix: m} }

// Transpose returns the transposed matrix, a copy over Pattern().Transpose(). The cost is linear in the entries and the
// shape.
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

// Zero sets the values to 0. The pattern does not change.
func (m *CSC) Zero() { clear(m.data) }

// IsEmpty reports whether m has no pattern, so that [CSC.ReuseAs] may give it one. A 0×3 matrix over a pattern is not
// empty in this sense.
func (m *CSC) IsEmpty() bool { return m.pattern == nil }

// Reset makes m empty. The next [CSC.ReuseAs] reuses its memory, so do not call Reset while the slice that Data
// returned is in use.
func (m *CSC) Reset() { m.pattern, m.data = nil, m.data[:0] }

// ReuseAs makes m, which must be empty, the zero matrix over p. It panics with mat.ErrReuseNonEmpty if m is not empty,
// and with a *[PatternError] if p is nil.
func (m *CSC) ReuseAs(p *sparsity.Pattern) {
	if !m.IsEmpty() {
		panic(mat.ErrReuseNonEmpty)
	}
	if p == nil {
		panic(noPattern("CSC.ReuseAs"))
	}
	m.pattern, m.data = p, zeros(m.data, p.NNZ())
}

// zeros returns a slice of n zeros, in the memory of s if its capacity suffices.
func zeros(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	s = s[:n]
	clear(s)
	return s
}
