package matad

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// TestAdjugate compares the derivative of determinants with cofactors: of a matrix of full rank, of matrices with one
// and two zero pivots, and of a zero of one row.
func TestAdjugate(t *testing.T) {
	for name, data := range map[string][]float64{
		"regular": {2, 1, -1, 0, 3, 4, 1, -2, 5},
		"rank 2":  {1, 2, 3, 2, 4, 6, 1, 0, 1},
		"columns": {0, 2, 1, 0, 1, 3, 0, 5, 7},
		"rank 1":  {1, 2, 3, 2, 4, 6, -1, -2, -3},
		"swapped": {0, 1, 2, 1, 0, 3, 1, 1, 5},
		"number":  {0},
	} {
		n := int(math.Sqrt(float64(len(data))))
		a := mat.NewDense(n, n, data)
		g := copyOf(a.RawMatrix())
		swaps := make([]int, n)
		FactorLU(g, swaps)
		bar := newGeneral(n, n)
		DetLUPullback(g, swaps, bar, 1)
		for i := range n {
			for j := range n {
				want := 1.0
				if n > 1 {
					m := mat.NewDense(n-1, n-1, nil)
					for k := range n - 1 {
						for l := range n - 1 {
							p, q := k, l
							if k >= i {
								p++
							}
							if l >= j {
								q++
							}
							m.Set(k, l, a.At(p, q))
						}
					}
					want = mat.Det(m) * float64(1-2*((i+j)%2))
				}
				if got := bar.Data[i*n+j]; math.Abs(got-want) > 1e-12 {
					t.Errorf("%s: cofactor %d, %d is %v, want %v", name, i, j, got, want)
				}
			}
		}
		dot := newGeneral(n, n)
		dot.Data[n-1] = 1
		if _, d := DetLUTangent(g, swaps, dot); d != bar.Data[n-1] {
			t.Errorf("%s: the tangent is %v, want %v", name, d, bar.Data[n-1])
		}
	}
}

// TestShadows requires that operations take nil for a shadow that is not needed.
func TestShadows(t *testing.T) {
	a := mat.NewSymDense(3, []float64{4, 1, 2, 0, 5, 3, 0, 0, 6})
	u := newTriangle(3, a.RawSymmetric().Uplo)
	FactorCholesky(asTriangle(a.RawSymmetric()), u)
	b := mat.NewDense(3, 2, []float64{1, 2, 3, 4, 5, 6}).RawMatrix()
	x, xBar, none := newGeneral(3, 2), newGeneral(3, 2), blas64.General{}
	for i := range xBar.Data {
		xBar.Data[i] = float64(i)
	}
	bBar := newGeneral(3, 2)
	SolveCholeskyPullback(u, b, x, blas64.Triangular{}, bBar, copyOf(xBar))
	uBar := newTriangle(3, u.Uplo)
	SolveCholeskyPullback(u, b, x, uBar, none, copyOf(xBar))
	both, uBoth := newGeneral(3, 2), newTriangle(3, u.Uplo)
	SolveCholeskyPullback(u, b, x, uBoth, both, xBar)
	for i := range both.Data {
		if both.Data[i] != bBar.Data[i] || xBar.Data[i] != 0 {
			t.Errorf("cotangent %d is %v and %v, that of the result %v", i, both.Data[i], bBar.Data[i], xBar.Data[i])
		}
	}
	for i := range uBoth.Data {
		if uBoth.Data[i] != uBar.Data[i] {
			t.Errorf("cotangent %d of the matrix is %v and %v", i, uBoth.Data[i], uBar.Data[i])
		}
	}
}
