package linalg_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/linalg"
)

// TestSVD compares functions of singular values and vectors that have another form: Σ s⁴ is the trace of (Aᵀ·A)², and
// U·diag(s)³·Vᵀ is A·Aᵀ·A.
func TestSVD(t *testing.T) {
	longtest.Serial(t)
	for _, c := range []operation{
		{"values", nil, func(a []*linalg.Matrix) []real {
			sum := nabla.Const(0)
			for _, s := range linalg.NewSVD(a[0]).Values() {
				sum = sum.Add(s.PowConst(4))
			}
			return []real{sum}
		}, func(a []*linalg.Matrix) []real {
			gram := plainMul(a[0].T(), a[0])
			sum := nabla.Const(0)
			for _, v := range gram.Data {
				sum = sum.Add(v.Sq())
			}
			return []real{sum}
		}},
		{"vectors", nil, func(a []*linalg.Matrix) []real {
			f := linalg.NewSVD(a[0])
			u, v, s := f.U(), f.V(), f.Values()
			for i := range u.Rows {
				for j := range u.Cols {
					u.Set(i, j, u.At(i, j).Mul(s[j].PowConst(3)))
				}
			}
			return linalg.MatMul(u, v.T()).Data
		}, func(a []*linalg.Matrix) []real {
			return plainMul(a[0], plainMul(a[0].T(), a[0])).Data
		}},
	} {
		for _, shape := range [][2]int{{0, 0}, {0, 2}, {1, 1}, {1, 3}, {3, 1}, {3, 3}, {4, 2}, {2, 4}} {
			shapes := [][2]int{shape}
			r := rand.New(rand.NewPCG(3, uint64(shape[0])))
			x, v := point(r, shapes), point(r, shapes)
			for i := range min(shape[0], shape[1]) {
				x[i*shape[1]+i] += 2 * float64(i*i+1) // singular values that are well apart
			}
			c.compare(t, shapes, x, v, closeness{1e-9, 1e-9, 1e-8, 1e-8})
		}
	}
}

// TestSVDVectors compares values and derivatives of single elements, which a product of both matrices would not tell
// from others, with gonum and with differences.
func TestSVDVectors(t *testing.T) {
	for _, shape := range [][2]int{{3, 3}, {4, 3}, {3, 4}} {
		r := rand.New(rand.NewPCG(8, 8))
		x := point(r, [][2]int{shape})
		for i := range 3 {
			x[i*shape[1]+i] += 2 * float64(i)
		}
		f := func(x []real) real {
			s := linalg.NewSVD(&linalg.Matrix{Rows: shape[0], Cols: shape[1], Data: x})
			u, v := s.U(), s.V()
			return u.At(0, 1).Mul(v.At(2, 2)).Add(u.At(1, 0)).Add(v.At(0, 1).Mul(s.Values()[1]))
		}
		value := func(x []float64) float64 {
			y, _, err := nabla.ValueAndGradient(f, reversediff.Backend{Compile: true}, x)
			if err != nil {
				t.Fatal(err)
			}
			return y
		}
		want := fd.Gradient(nil, value, x, &fd.Settings{Formula: fd.Central})
		for _, b := range all {
			g, err := nabla.Gradient(f, b, x)
			if err != nil {
				t.Fatal(err)
			}
			near(t, name(b), g, want, 1e-7)
		}
		var svd mat.SVD
		svd.Factorize(mat.NewDense(shape[0], shape[1], x), mat.SVDThin)
		var values []float64
		a := linalg.Const(mat.NewDense(shape[0], shape[1], x))
		for _, s := range linalg.NewSVD(a).Values() {
			values = append(values, s.Value())
		}
		near(t, "values", values, svd.Values(nil), 1e-14)
	}
}

// TestEqualSingularValues: the sum of equal singular values has a derivative, and those of singular vectors and second
// derivatives are errors; nearly equal ones have derivatives.
func TestEqualSingularValues(t *testing.T) {
	of := func(x []real) *linalg.SVD { return linalg.NewSVD(&linalg.Matrix{Rows: 2, Cols: 2, Data: x}) }
	x := []float64{2, 0, 0, 2}
	sum := func(x []real) real {
		s := of(x).Values()
		return s[0].Add(s[1])
	}
	for _, b := range list {
		g, err := nabla.Gradient(sum, b, x)
		if err != nil {
			t.Fatal(err)
		}
		near(t, name(b), g, []float64{1, 0, 0, 1}, 1e-15)
		for what, f := range map[string]func(x []real) real{
			"U": func(x []real) real { return of(x).U().At(0, 1) },
			"V": func(x []real) real { return of(x).V().At(1, 0) },
		} {
			if _, err = nabla.Gradient(f, b, x); !errors.Is(err, linalg.ErrEqualSingularValues) {
				t.Errorf("%s: %s: error %v", name(b), what, err)
			}
			// A = diag(2, 2-d) + ε at (0, 1) and (1, 0) turns both by ε/d.
			g, err := nabla.Gradient(f, b, []float64{2, 0, 0, 2 - 0x1p-20})
			if err != nil {
				t.Fatal(err)
			}
			size := g[1] + g[2]
			near(t, name(b)+" "+what, []float64{max(size, -size)}, []float64{0x1p20}, 1e-9)
		}
		if _, err = nabla.Hessian(sum, b, x); !errors.Is(err, linalg.ErrEqualSingularValues) {
			t.Errorf("%s: second derivatives: error %v", name(b), err)
		}
	}
}

// TestSingularValueZero: a column of zeros leaves U of a tall matrix without derivative, and V with one.
func TestSingularValueZero(t *testing.T) {
	x := []float64{2, 0, 0, 0, 1, 0}
	of := func(x []real) *linalg.SVD { return linalg.NewSVD(&linalg.Matrix{Rows: 3, Cols: 2, Data: x}) }
	for _, b := range list {
		if _, err := nabla.Gradient(func(x []real) real { return of(x).U().At(1, 1) }, b, x); !errors.Is(err,
			linalg.ErrRank) {
			t.Errorf("%s: error %v, want %v", name(b), err, linalg.ErrRank)
		}
		if _, err := nabla.Gradient(func(x []real) real { return of(x).V().At(0, 1) }, b, x); err != nil {
			t.Errorf("%s: %v", name(b), err)
		}
	}
}
