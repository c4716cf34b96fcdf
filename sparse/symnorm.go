package sparse

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"
)

// Norm returns a norm of the whole matrix, like [CSC.Norm]; 1 and math.Inf(1) are equal for a symmetric matrix.
func (s *SymCSC) Norm(norm float64) float64 {
	n := s.SymmetricDim()
	if n == 0 {
		panic(mat.ErrZeroLength)
	}
	var f frobenius
	var sums []float64
	switch norm {
	case 2:
	case 1, math.Inf(1):
		sums = make([]float64, n)
	default:
		panic(mat.ErrNormOrder)
	}
	ptr, idx := s.ColPtr(), s.RowIndex()
	for j := range n {
		for k := ptr[j]; k < ptr[j+1]; k++ {
			i, v := idx[k], s.data[k]
			mirrored := i != j && s.uplo != blas.All
			if sums == nil {
				f.add(v)
				if mirrored {
					f.add(v)
				}
				continue
			}
			sums[j] += math.Abs(v)
			if mirrored {
				sums[i] += math.Abs(v)
			}
		}
	}
	if sums == nil {
		return f.norm()
	}
	return largest(sums)
}

// Trace returns the sum of the diagonal, and is called by mat.Trace. It panics with mat.ErrZeroLength if the matrix is
// 0×0.
func (s *SymCSC) Trace() float64 {
	if s.SymmetricDim() == 0 {
		panic(mat.ErrZeroLength)
	}
	return trace(s)
}
