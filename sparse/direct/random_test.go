package direct_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparsity"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"
)

var parts = []blas.Uplo{blas.Upper, blas.Lower, blas.All}

// randomPattern returns an n×n pattern with about perRow entries in a row, and sometimes a dense row or column.
func randomPattern(r *rand.Rand, n, perRow int) *sparsity.Pattern {
	var i, j []int
	for range n * perRow {
		i, j = append(i, r.IntN(n)), append(j, r.IntN(n))
	}
	if n > 0 && r.IntN(4) == 0 {
		line := r.IntN(n)
		for k := range n {
			if r.IntN(2) == 0 {
				i, j = append(i, line), append(j, k)
			} else {
				i, j = append(i, k), append(j, line)
			}
		}
	}
	p, err := sparsity.FromEntries(n, n, i, j)
	if err != nil {
		panic(err)
	}
	return p
}

// diagonal adds the diagonal to a pattern.
func diagonal(p *sparsity.Pattern) *sparsity.Pattern {
	n, _ := p.Dims()
	p, err := p.Union(sparsity.Banded(n, n, 0, 0))
	if err != nil {
		panic(err)
	}
	return p
}

// symmetric returns a symmetric matrix over p, pᵀ and the diagonal that stores a part, with random entries. Those of
// the diagonal are increased by shift.
func symmetric(r *rand.Rand, p *sparsity.Pattern, uplo blas.Uplo, shift float64) *sparse.SymCSC {
	p, err := diagonal(p).Union(p.Transpose())
	if err != nil {
		panic(err)
	}
	s, err := sparse.NewSymCSC(p.Triangle(uplo), uplo, nil)
	if err != nil {
		panic(err)
	}
	n := s.SymmetricDim()
	for j := range n {
		for _, i := range p.Col(j) {
			if i < j {
				s.SetSym(i, j, r.NormFloat64())
			} else if i == j {
				s.SetSym(i, j, r.NormFloat64()+shift)
			}
		}
	}
	return s
}

// general returns a matrix over p with random entries.
func general(r *rand.Rand, p *sparsity.Pattern) *sparse.CSC {
	a := sparse.NewCSC(p, nil)
	for k := range a.Data() {
		a.Data()[k] = r.NormFloat64()
	}
	return a
}

func vector(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return x
}

// closeTo compares two vectors relative to the largest element of the second.
func closeTo(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	largest, apart := 0.0, 0.0
	for i := range got {
		largest = math.Max(largest, math.Abs(want[i]))
		apart = math.Max(apart, math.Abs(got[i]-want[i]))
	}
	if !(apart <= tol*math.Max(largest, 1e-300)) {
		t.Fatalf("%s: differs by %.3g, where the largest number is %.3g", what, apart, largest)
	}
}

// gonumSolution returns the solution by gonum's dense LU.
func gonumSolution(t *testing.T, a mat.Matrix, trans bool, b []float64) []float64 {
	t.Helper()
	var lu mat.LU
	lu.Factorize(mat.DenseCopyOf(a))
	var x mat.VecDense
	if err := lu.SolveVecTo(&x, trans, mat.NewVecDense(len(b), b)); err != nil {
		t.Fatal(err)
	}
	return x.RawVector().Data
}

// laplacian returns the matrix of the 5-point formula for -Δ on a grid of m×m points, with c added to the diagonal.
func laplacian(m int, uplo blas.Uplo, c float64) *sparse.SymCSC {
	var i, j []int
	for x := range m {
		for y := range m {
			k := x*m + y
			i, j = append(i, k), append(j, k)
			if x+1 < m {
				i, j = append(i, k, k+m), append(j, k+m, k)
			}
			if y+1 < m {
				i, j = append(i, k, k+1), append(j, k+1, k)
			}
		}
	}
	p, err := sparsity.FromEntries(m*m, m*m, i, j)
	if err != nil {
		panic(err)
	}
	s, err := sparse.NewSymCSC(p.Triangle(uplo), uplo, nil)
	if err != nil {
		panic(err)
	}
	for j := range m * m {
		for k := s.ColPtr()[j]; k < s.ColPtr()[j+1]; k++ {
			s.Data()[k] = -1
			if s.RowIndex()[k] == j {
				s.Data()[k] = 4 + c
			}
		}
	}
	return s
}
