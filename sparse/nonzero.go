package sparse

import "gonum.org/v1/gonum/mat"

// DoNonZero calls fn for every nonzero entry, column by column. Stored zeros are left out, as by gonum's matrices; use
// ColPtr, RowIndex and Data to visit them too.
func (m *CSC) DoNonZero(fn func(i, j int, v float64)) {
	_, cols := m.Dims()
	for j := range cols {
		m.DoColNonZero(j, fn)
	}
}

// DoColNonZero calls fn for the nonzero entries of column j, by ascending row. It panics with mat.ErrColAccess if there
// is no column j.
func (m *CSC) DoColNonZero(j int, fn func(i, j int, v float64)) {
	_, cols := m.Dims()
	checkIndex(j, cols, mat.ErrColAccess)
	ptr, idx := m.ColPtr(), m.RowIndex()
	for k := ptr[j]; k < ptr[j+1]; k++ {
		if m.data[k] != 0 {
			fn(idx[k], j, m.data[k])
		}
	}
}

// DoRowNonZero calls fn for the nonzero entries of row i, by ascending column. It panics with mat.ErrRowAccess if there
// is no row i. The first call for a pattern transposes it; then each entry costs a binary search.
func (m *CSC) DoRowNonZero(i int, fn func(i, j int, v float64)) {
	rows, _ := m.Dims()
	checkIndex(i, rows, mat.ErrRowAccess)
	for _, j := range m.pattern.Transpose().Col(i) {
		if k, _ := m.pattern.Index(i, j); m.data[k] != 0 {
			fn(i, j, m.data[k])
		}
	}
}
