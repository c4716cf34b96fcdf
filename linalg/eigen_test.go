package linalg_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/diff/fd"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/linalg"
)

// TestEigen compares functions of eigenvalues and eigenvectors that have another form: Σ λ³ is the trace of A³, and
// V·diag(λ)²·Vᵀ is A².
func TestEigen(t *testing.T) {
	longtest.Serial(t)
	for _, c := range []operation{
		{"values", square, func(a []*linalg.Matrix) []real {
			sum := nabla.Const(0)
			for _, l := range linalg.NewEigen(a[0]).Values() {
				sum = sum.Add(l.PowConst(3))
			}
			return []real{sum}
		}, func(a []*linalg.Matrix) []real {
			s := symmetric(a[0])
			cube, sum := plainMul(s, plainMul(s, s)), nabla.Const(0)
			for i := range s.Rows {
				sum = sum.Add(cube.At(i, i))
			}
			return []real{sum}
		}},
		{"vectors", square, func(a []*linalg.Matrix) []real {
			e := linalg.NewEigen(a[0])
			v, l := e.Vectors(), e.Values()
			vl := v.Clone()
			for i := range v.Rows {
				for j := range v.Cols {
					vl.Set(i, j, v.At(i, j).Mul(l[j].Sq()))
				}
			}
			return linalg.MatMul(vl, v.T()).Data
		}, func(a []*linalg.Matrix) []real {
			s := symmetric(a[0])
			return plainMul(s, s).Data
		}},
	} {
		for n := range 5 {
			shapes := [][2]int{{n, n}}
			r := rand.New(rand.NewPCG(3, uint64(n)))
			x, v := point(r, shapes), point(r, shapes)
			for i := range n {
				x[i*n+i] += 2 * float64(i*i) // eigenvalues that are well apart
			}
			c.compare(t, shapes, x, v, closeness{1e-10, 1e-10, 1e-9, 1e-9})
		}
	}
}

// TestEigenVectors compares derivatives of single elements, which a symmetric function of the eigenvectors would not
// tell from others, with differences.
func TestEigenVectors(t *testing.T) {
	const n = 3
	f := func(x []real) real {
		v := linalg.NewEigen(&linalg.Matrix{Rows: n, Cols: n, Data: x}).Vectors()
		return v.At(0, 1).Mul(v.At(2, 2)).Add(v.At(1, 0))
	}
	x := []float64{2, 0, 0, 0.3, 1, 0, -0.2, 0.4, -1}
	value := func(x []float64) float64 {
		c := make([]real, len(x))
		for i, v := range x {
			c[i] = nabla.Const(v)
		}
		return f(c).Value()
	}
	want := fd.Gradient(nil, value, x, &fd.Settings{Formula: fd.Central})
	for _, b := range all {
		g, err := nabla.Gradient(f, b, x)
		if err != nil {
			t.Fatal(err)
		}
		near(t, name(b), g, want, 1e-7)
	}
}

// TestEqualEigenvalues: the sum of equal eigenvalues has the derivative of the trace, and derivatives of eigenvectors
// and second derivatives are errors.
func TestEqualEigenvalues(t *testing.T) {
	x := []float64{2, 0, 0, 2}
	sum := func(x []real) real {
		l := linalg.NewEigen(&linalg.Matrix{Rows: 2, Cols: 2, Data: x}).Values()
		return l[0].Add(l[1])
	}
	element := func(x []real) real {
		return linalg.NewEigen(&linalg.Matrix{Rows: 2, Cols: 2, Data: x}).Vectors().At(0, 0)
	}
	for _, b := range list {
		g, err := nabla.Gradient(sum, b, x)
		if err != nil {
			t.Fatal(err)
		}
		near(t, name(b), g, []float64{1, 0, 0, 1}, 1e-15)
		if _, err = nabla.Gradient(element, b, x); !errors.Is(err, linalg.ErrEqualEigenvalues) {
			t.Errorf("%s: eigenvectors: error %v", name(b), err)
		}
		if _, err = nabla.Hessian(sum, b, x); !errors.Is(err, linalg.ErrEqualEigenvalues) {
			t.Errorf("%s: second derivatives: error %v", name(b), err)
		}
	}
}
