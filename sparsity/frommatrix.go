package sparsity

import "gonum.org/v1/gonum/mat"

// FromMatrix returns the pattern of the entries that a holds:
//
//   - a matrix with a method Pattern() *Pattern, as those of package sparse, has that
//     pattern, stored zeros included; that of a symmetric matrix which stores one
//     triangle is mirrored;
//   - the pattern of a mat.Transpose, or of another Untransposer, is the transposed one;
//   - a mat.NonZeroDoer has the entries which it visits: those of gonum's banded and
//     triangular matrices are other than zero;
//   - any other matrix has the entries that are not zero; NaN is not zero. This reads
//     every entry.
//
// In the cases that read values, entries that are zero by chance are missing: the pattern of a Jacobian is not that of
// its value at some x.
func FromMatrix(a mat.Matrix) *Pattern {
	switch a := a.(type) {
	case interface{ Pattern() *Pattern }:
		p := a.Pattern()
		if _, ok := a.(mat.Symmetric); ok && !p.Symmetric() {
			p, _ = p.Union(p.Transpose()) // no error: both are square
		}
		return p
	case mat.Untransposer:
		return FromMatrix(a.Untranspose()).Transpose()
	case mat.NonZeroDoer:
		var i, j []int
		a.DoNonZero(func(r, c int, _ float64) { i, j = append(i, r), append(j, c) })
		rows, cols := a.(mat.Matrix).Dims()
		p, err := FromEntries(rows, cols, i, j)
		if err != nil {
			panic(err) // DoNonZero visited an entry outside the shape
		}
		return p
	}
	rows, cols := a.Dims()
	p := Empty(rows, cols)
	for j := range cols {
		for i := range rows {
			if a.At(i, j) != 0 {
				p.idx = append(p.idx, i)
			}
		}
		p.ptr[j+1] = len(p.idx)
	}
	return p
}
