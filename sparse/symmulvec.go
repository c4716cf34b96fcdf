package sparse

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"
)

// This file has the products of a SymCSC matrix with a vector. If a triangle is stored, each entry off the diagonal
// contributes to two components of the result in one pass over the columns. The cost is linear in the stored entries.

// MulVec stores s·x in dst and returns it, for the whole matrix; a nil dst is allocated. Only entries of the pattern
// and their mirror images are multiplied: off the pattern 0·Inf is 0. It panics with a *[ShapeError] if a length is
// wrong, and with an *[OverlapError] if dst and x share memory. It does not allocate unless dst is nil.
func (s *SymCSC) MulVec(dst, x []float64) []float64 {
	n := s.SymmetricDim()
	dst = product("SymCSC.MulVec", dst, x, n, n)
	s.mulVec(dst, 1, x, 1)
	return dst
}

// MulVecTo stores s·x in dst, with the rules of [CSC.MulVecTo]; the flag for the transpose has no effect.
func (s *SymCSC) MulVecTo(dst *mat.VecDense, _ bool, x mat.Vector) {
	n := s.SymmetricDim()
	mulVecTo(dst, x, n, n, s.mulVec)
}

// mulVec stores s·x in dst, with increments dinc and xinc.
func (s *SymCSC) mulVec(dst []float64, dinc int, x []float64, xinc int) {
	if s.Uplo() == blas.All {
		// sᵀ is s, and mulVecTrans writes each element of dst once.
		(&CSC{s.pattern, s.data}).mulVecTrans(dst, dinc, x, xinc)
		return
	}
	n := s.SymmetricDim()
	m := CSC{s.pattern, s.data}
	for i := range n {
		dst[i*dinc] = 0
	}
	for j := range n {
		xj, sum := x[j*xinc], 0.0
		idx, data := m.col(j)
		for k, i := range idx {
			sum += data[k] * x[i*xinc]
			if i != j {
				dst[i*dinc] += data[k] * xj
			}
		}
		dst[j*dinc] += sum
	}
}
