package matad

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/blas"
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

// TestSecondDeterminant compares second derivatives of determinants with differences of cofactors, which are exact for
// 3×3 matrices: of regular and singular matrices, and of one whose determinant is 0 but for rounding.
func TestSecondDeterminant(t *testing.T) {
	for name, data := range map[string][]float64{
		"regular": {2, 1, -1, 0, 3, 4, 1, -2, 5},
		"rank 2":  {1, 2, 3, 2, 4, 6, 1, 0, 1},
		"columns": {0, 2, 1, 0, 1, 3, 0, 5, 7},
		"rank 1":  {1, 2, 3, 2, 4, 6, -1, -2, -3},
		"zero":    {0, 0, 0, 0, 0, 0, 0, 0, 0},
		"rounded": {0.1, 0.7, 0.3, 0.3, 2.1, 0.9, 0.2, 0.4, 0.5},
		"nearly":  {1, 2, 3, 2, 4, 6 + 1e-9, 1, 0, 1},
	} {
		const n = 3
		a := mat.NewDense(n, n, data)
		e := mat.NewDense(n, n, []float64{1, -2, 0.5, 3, 1, -1, 2, 0.25, -0.5})
		adjugate := func(h float64) *mat.Dense {
			var m mat.Dense
			m.Scale(h, e)
			m.Add(a, &m)
			return mat.NewDense(n, n, []float64{
				m.At(1, 1)*m.At(2, 2) - m.At(1, 2)*m.At(2, 1), m.At(0, 2)*m.At(2, 1) - m.At(0, 1)*m.At(2, 2),
				m.At(0, 1)*m.At(1, 2) - m.At(0, 2)*m.At(1, 1), m.At(1, 2)*m.At(2, 0) - m.At(1, 0)*m.At(2, 2),
				m.At(0, 0)*m.At(2, 2) - m.At(0, 2)*m.At(2, 0), m.At(0, 2)*m.At(1, 0) - m.At(0, 0)*m.At(1, 2),
				m.At(1, 0)*m.At(2, 1) - m.At(1, 1)*m.At(2, 0), m.At(0, 1)*m.At(2, 0) - m.At(0, 0)*m.At(2, 1),
				m.At(0, 0)*m.At(1, 1) - m.At(0, 1)*m.At(1, 0)})
		}
		var want mat.Dense
		want.Sub(adjugate(1), adjugate(-1))
		want.Scale(0.5, &want) // the adjugate is quadratic
		g := copyOf(a.RawMatrix())
		swaps := make([]int, n)
		FactorLU(g, swaps)
		x, dot := newGeneral(n, n), newGeneral(n, n)
		AdjugateLUTangent(g, swaps, x, e.RawMatrix(), dot)
		bar, xBar := newGeneral(n, n), newGeneral(n, n)
		copyElements(xBar, e.RawMatrix(), blas.Trans)
		AdjugateLUPullback(g, swaps, x, bar, xBar)
		for i := range n {
			for j := range n {
				got, other := dot.Data[i*n+j], bar.Data[j*n+i]
				if w := want.At(i, j); !(math.Abs(got-w) <= 1e-9) || !(math.Abs(other-w) <= 1e-9) {
					t.Errorf("%s: element %d, %d is %v, and %v by the pullback, want %v", name, i, j, got, other, w)
				}
				if xBar.Data[i*n+j] != 0 {
					t.Errorf("%s: the cotangent of the adjugate is not cleared", name)
				}
			}
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
