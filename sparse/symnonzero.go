package sparse

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"
)

// DoNonZero calls fn for every nonzero entry of the whole matrix, column by column: for an entry off the diagonal and
// for its mirror image. Stored zeros are left out.
func (s *SymCSC) DoNonZero(fn func(i, j int, v float64)) {
	for j := range s.SymmetricDim() {
		s.do(j, false, fn)
	}
}

// DoColNonZero calls fn for the nonzero entries of column j of the whole matrix, by ascending row. It panics with
// mat.ErrColAccess if there is no column j. If a triangle is stored, the first call for a pattern transposes it; then
// each mirrored entry costs a binary search.
func (s *SymCSC) DoColNonZero(j int, fn func(i, j int, v float64)) {
	checkIndex(j, s.SymmetricDim(), mat.ErrColAccess)
	s.do(j, false, fn)
}

// DoRowNonZero calls fn for the nonzero entries of row i of the whole matrix, by ascending column, at the cost of
// [SymCSC.DoColNonZero]. It panics with mat.ErrRowAccess if there is no row i.
func (s *SymCSC) DoRowNonZero(i int, fn func(i, j int, v float64)) {
	checkIndex(i, s.SymmetricDim(), mat.ErrRowAccess)
	s.do(i, true, fn)
}

// do visits the entries of column j of the whole matrix in ascending order, or if asRow is set those of row j.
func (s *SymCSC) do(j int, asRow bool, fn func(i, j int, v float64)) {
	switch s.uplo {
	case blas.All:
		s.stored(j, asRow, fn)
	case blas.Upper: // rows to the diagonal are stored in column j, the others in row j
		s.stored(j, asRow, fn)
		s.mirrored(j, asRow, fn)
	case blas.Lower:
		s.mirrored(j, asRow, fn)
		s.stored(j, asRow, fn)
	}
}

// stored visits the entries that are stored in column j.
func (s *SymCSC) stored(j int, asRow bool, fn func(i, j int, v float64)) {
	ptr, idx := s.ColPtr(), s.RowIndex()
	for k := ptr[j]; k < ptr[j+1]; k++ {
		visit(idx[k], j, s.data[k], asRow, fn)
	}
}

// mirrored visits the entries of column j off the diagonal whose mirror images are stored in row j.
func (s *SymCSC) mirrored(j int, asRow bool, fn func(i, j int, v float64)) {
	for _, i := range s.pattern.Transpose().Col(j) {
		if i == j {
			continue
		}
		k, _ := s.pattern.Index(j, i)
		visit(i, j, s.data[k], asRow, fn)
	}
}

// visit calls fn for entry (i, j), or if mirrored is set for (j, i), unless v is 0.
func visit(i, j int, v float64, mirrored bool, fn func(i, j int, v float64)) {
	switch {
	case v == 0:
	case mirrored:
		fn(j, i, v)
	default:
		fn(i, j, v)
	}
}
