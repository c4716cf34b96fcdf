package sparse

import (
	"github.com/nabla-ad/nabla/sparsity"
	"gonum.org/v1/gonum/mat"
)

// FromMatrix returns a copy of a over the pattern of its entries, as [sparsity.FromMatrix] returns it: the nonzero
// entries of a dense matrix, the stored ones of a sparse matrix.
func FromMatrix(a mat.Matrix) *CSC {
	m := NewCSC(sparsity.FromMatrix(a), nil)
	m.gather(a)
	return m
}

// gather stores the values of a at the entries of m's pattern. The shapes must be equal.
func (m *CSC) gather(a mat.Matrix) {
	_, cols := m.Dims()
	ptr, idx := m.ColPtr(), m.RowIndex()
	for j := range cols {
		for k := ptr[j]; k < ptr[j+1]; k++ {
			m.data[k] = a.At(idx[k], j)
		}
	}
}

// CopyFrom copies the entries of a to m, whose pattern does not change. It returns a *[ShapeError] if the shapes
// differ, and a *[PatternError], leaving m unchanged, if a has a nonzero entry, NaN included, off the pattern. It reads
// every entry of a, or only the stored ones if a is a *CSC with an equal pattern. a may be m.T().
func (m *CSC) CopyFrom(a mat.Matrix) error {
	rows, cols := m.Dims()
	if r, c := a.Dims(); r != rows || c != cols {
		return shapeError("CSC.CopyFrom", "a", r, c, rows, cols)
	}
	if b, ok := a.(*CSC); ok && b.Pattern().Equal(m.Pattern()) {
		copy(m.data, b.data)
		return nil
	}
	for j := range cols {
		for i := range rows {
			if a.At(i, j) != 0 && !m.pattern.Has(i, j) {
				return offPattern("CSC.CopyFrom", i, j)
			}
		}
	}
	if u, ok := a.(mat.Untransposer); ok && u.Untranspose() == mat.Matrix(m) {
		a = m.Transpose() // gather would read elements of m that it has overwritten
	}
	m.gather(a)
	return nil
}

// Dense stores m in dst and returns it. A nil dst is allocated and an empty one sized; another shape panics with a
// *[ShapeError]. gonum has no 0×n matrices: for a matrix with no rows or no columns, dst must be nil or empty, and the
// result is empty.
func (m *CSC) Dense(dst *mat.Dense) *mat.Dense {
	rows, cols := m.Dims()
	if dst == nil {
		dst = new(mat.Dense)
	}
	if r, c := dst.Dims(); !dst.IsEmpty() && (r != rows || c != cols) {
		panic(shapeError("CSC.Dense", "dst", r, c, rows, cols))
	}
	if rows == 0 || cols == 0 {
		return dst
	}
	if dst.IsEmpty() {
		dst.ReuseAs(rows, cols)
	} else {
		dst.Zero()
	}
	raw := dst.RawMatrix()
	ptr, idx := m.ColPtr(), m.RowIndex()
	for j := range cols {
		for k := ptr[j]; k < ptr[j+1]; k++ {
			raw.Data[idx[k]*raw.Stride+j] = m.data[k]
		}
	}
	return dst
}
