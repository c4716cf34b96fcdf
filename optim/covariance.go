package optim

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparse/direct"
	"github.com/nabla-ad/nabla/sparsity"
)

// StandardErrors returns the estimates of the standard deviations of the unknowns, for residuals of equal variance: the
// square roots of the diagonal of the covariance times 2·Cost/(m-n), for m residuals and n unknowns. They are NaN if m
// is n, and nil if no covariance was asked for.
func (r *LeastSquaresResult) StandardErrors() []float64 {
	if r.Covariance == nil {
		return nil
	}
	s := make([]float64, len(r.X))
	variance := 2 * r.Cost / float64(len(r.Residuals)-len(r.X))
	if len(r.Residuals) == len(r.X) {
		variance = math.NaN()
	}
	for i := range s {
		s[i] = math.Sqrt(variance * r.Covariance.At(i, i))
	}
	return s
}

// normal is the matrix D⁻¹JᵀJD⁻¹ of a sparse Jacobian J, with D the norms of its columns: its diagonal is 1.
func (s *sparseModel) normal(scale []float64) *sparse.SymCSC {
	p, rows := s.jac.Pattern(), s.jac.Pattern().Transpose()
	ptr, idx := make([]int, s.n+1), []int(nil)
	seen := make([]int, s.n) // i → the last column in which i is
	for j := range s.n {
		start := len(idx)
		for _, r := range p.Col(j) {
			for _, i := range rows.Col(r) {
				if i <= j && seen[i] <= j {
					seen[i] = j + 1
					idx = append(idx, i)
				}
			}
		}
		slices.Sort(idx[start:])
		ptr[j+1] = len(idx)
	}
	upper, err := sparsity.New(s.n, s.n, ptr, idx)
	if err != nil {
		panic(err) // the columns are sorted
	}
	a, err := sparse.NewSymCSC(upper, blas.Upper, nil)
	if err != nil {
		panic(err)
	}
	column, at, data := make([]float64, s.m), s.jac.ColPtr(), s.jac.Data()
	for j := range s.n {
		for k := at[j]; k < at[j+1]; k++ {
			column[s.jac.RowIndex()[k]] = data[k] / scale[j]
		}
		for k := ptr[j]; k < ptr[j+1]; k++ {
			sum, i := 0.0, idx[k]
			for l := at[i]; l < at[i+1]; l++ {
				sum += column[s.jac.RowIndex()[l]] * (data[l] / scale[i])
			}
			a.Data()[k] = sum
		}
		for _, r := range p.Col(j) {
			column[r] = 0
		}
	}
	return a
}

// covariance returns the elements of (JᵀJ)⁻¹ at the entries of JᵀJ, from a factorisation of JᵀJ scaled.
func (s *sparseModel) covariance() (mat.Symmetric, error) {
	scale := make([]float64, s.n)
	s.norms(scale)
	for j, v := range scale {
		if v == 0 {
			scale[j] = 1
		}
	}
	a := s.normal(scale)
	var l direct.LDL
	err := l.Factorize(a)
	if rank, _, _ := l.Inertia(); err != nil || rank < s.n {
		return nil, &RankError{min(rank, s.n-1), s.n}
	}
	if l.Cond() > 1/(eps*float64(max(s.m, s.n))) {
		return nil, &RankError{s.n - 1, s.n}
	}
	if err := l.InverseEntries(a); err != nil {
		panic(err) // there is a factorisation, of this shape
	}
	ptr, idx, data := a.ColPtr(), a.RowIndex(), a.Data()
	for j := range s.n {
		for k := ptr[j]; k < ptr[j+1]; k++ {
			data[k] /= scale[j] * scale[idx[k]]
		}
	}
	return a, nil
}
