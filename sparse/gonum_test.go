package sparse_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparsity"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/spatial"
)

// TestGonum gives gonum a sparse operand where it had a dense one.
func TestGonum(t *testing.T) {
	each(func(r *rand.Rand, rows, cols int) {
		if rows == 0 || cols == 0 {
			return
		}
		m, a := random(r, rows, cols)
		compare(t, m, dense(a), r)
		compare(t, m.T(), dense(a).T(), r)
		for _, uplo := range parts {
			s, a := randomSym(r, rows, uplo)
			compare(t, s, dense(a), r)
			compare(t, s.T(), dense(a), r)
			compareSym(t, s, mat.NewSymDense(rows, dense(a).RawMatrix().Data))
		}
	})
}

// compare checks that gonum's functions return the same for m as for the dense d.
func compare(t *testing.T, m, d mat.Matrix, r *rand.Rand) {
	t.Helper()
	rows, cols := d.Dims()
	if !mat.Equal(m, d) || !mat.Equal(d, m) || !mat.Equal(m, m) || !mat.EqualApprox(m, d, 0) {
		t.Fatalf("not equal: %v, want %v", mat.Formatted(m), mat.Formatted(d))
	}
	if got, want := fmt.Sprint(mat.Formatted(m)), fmt.Sprint(mat.Formatted(d)); got != want {
		t.Errorf("formatted\n%s\nwant\n%s", got, want)
	}
	number := func(name string, got, want float64) {
		t.Helper()
		if !near(got, want) {
			t.Errorf("%s: %g, want %g", name, got, want)
		}
	}
	number("Sum", mat.Sum(m), mat.Sum(d))
	number("Max", mat.Max(m), mat.Max(d))
	number("Min", mat.Min(m), mat.Min(d))
	for _, norm := range []float64{1, 2, math.Inf(1)} {
		number(fmt.Sprint("Norm ", norm), mat.Norm(m, norm), mat.Norm(d, norm))
	}
	if rows == cols {
		number("Trace", mat.Trace(m), mat.Trace(d))
		number("Det", mat.Det(m), mat.Det(d))
	}
	right := mat.NewDense(cols, 3, vector(r, cols*3))
	left := mat.NewDense(2, rows, vector(r, 2*rows))
	same := mat.NewDense(rows, cols, vector(r, rows*cols))
	x := mat.NewVecDense(cols, vector(r, cols))
	for name, f := range map[string]func(m mat.Matrix) mat.Matrix{
		"CloneFrom":   func(m mat.Matrix) mat.Matrix { var c mat.Dense; c.CloneFrom(m); return &c },
		"DenseCopyOf": func(m mat.Matrix) mat.Matrix { return mat.DenseCopyOf(m) },
		"Copy":        func(m mat.Matrix) mat.Matrix { c := mat.NewDense(rows, cols, nil); c.Copy(m); return c },
		"Add":         func(m mat.Matrix) mat.Matrix { var c mat.Dense; c.Add(m, same); return &c },
		"Sub":         func(m mat.Matrix) mat.Matrix { var c mat.Dense; c.Sub(same, m); return &c },
		"MulElem":     func(m mat.Matrix) mat.Matrix { var c mat.Dense; c.MulElem(m, same); return &c },
		"Scale":       func(m mat.Matrix) mat.Matrix { var c mat.Dense; c.Scale(2, m); return &c },
		"Mul right":   func(m mat.Matrix) mat.Matrix { var c mat.Dense; c.Mul(m, right); return &c },
		"Mul left":    func(m mat.Matrix) mat.Matrix { var c mat.Dense; c.Mul(left, m); return &c },
		"Mul both":    func(m mat.Matrix) mat.Matrix { var c mat.Dense; c.Mul(m, m.T()); return &c },
		"Product":     func(m mat.Matrix) mat.Matrix { var c mat.Dense; c.Product(left, m, right); return &c },
		"MulVec":      func(m mat.Matrix) mat.Matrix { var c mat.VecDense; c.MulVec(m, x); return &c },
		"Stack":       func(m mat.Matrix) mat.Matrix { var c mat.Dense; c.Stack(m, same); return &c },
		"Augment":     func(m mat.Matrix) mat.Matrix { var c mat.Dense; c.Augment(m, same); return &c },
		"Row":         func(m mat.Matrix) mat.Matrix { return mat.NewDense(1, cols, mat.Row(nil, rows-1, m)) },
		"Col":         func(m mat.Matrix) mat.Matrix { return mat.NewDense(rows, 1, mat.Col(nil, cols-1, m)) },
		"SVD": func(m mat.Matrix) mat.Matrix {
			var svd mat.SVD
			svd.Factorize(m, mat.SVDNone)
			return mat.NewVecDense(min(rows, cols), svd.Values(nil))
		},
	} {
		if got, want := f(m), f(d); !mat.EqualApprox(got, want, 1e-12) {
			t.Errorf("%s of %T:\n%v\nwant\n%v", name, m, mat.Formatted(got), mat.Formatted(want))
		}
	}
}

// compareSym does so where gonum asks for a mat.Symmetric.
func compareSym(t *testing.T, s *sparse.SymCSC, d *mat.SymDense) {
	t.Helper()
	n := d.SymmetricDim()
	var got, want mat.Cholesky
	if !got.Factorize(s) || !want.Factorize(d) {
		t.Fatal("not positive definite")
	}
	if !near(got.LogDet(), want.LogDet()) {
		t.Errorf("Cholesky: %g, want %g", got.LogDet(), want.LogDet())
	}
	var eig, weig mat.EigenSym
	if !eig.Factorize(s, false) || !weig.Factorize(d, false) {
		t.Fatal("no eigenvalues")
	}
	closeAll(t, "EigenSym", eig.Values(nil), weig.Values(nil))
	var sum, wsum mat.SymDense
	sum.AddSym(s, d)
	wsum.AddSym(d, d)
	copied := mat.NewSymDense(n, nil)
	copied.CopySym(s)
	dirty := mat.NewSymDense(n, vector(rand.New(rand.NewPCG(1, 1)), n*n))
	if !mat.Equal(&sum, &wsum) || !mat.Equal(copied, d) || !mat.Equal(s.SymDense(nil), d) ||
		!mat.Equal(s.SymDense(dirty), d) {
		t.Error("AddSym, CopySym or SymDense differ")
	}
	x := mat.NewVecDense(n, mat.Col(nil, 0, d))
	if got, want := mat.Inner(x, s, x), mat.Inner(x, d, x); !near(got, want) {
		t.Errorf("Inner: %g, want %g", got, want)
	}
}

// TestSpatial has the one function of gonum that visits non-zeros.
func TestSpatial(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	m, a := random(r, 6, 6)
	x := vector(r, 6)
	got, _, _ := spatial.GlobalMoransI(x, nil, m)
	want, _, _ := spatial.GlobalMoransI(x, nil, dense(a))
	if !near(got, want) {
		t.Errorf("Moran's I is %g, want %g", got, want)
	}
}

func TestNormSpecial(t *testing.T) {
	p := sparsity.Full(2, 2)
	for _, data := range [][]float64{
		{1e300, 1e300, 0, 1e300}, {1e-300, 0, 0, 1e-300}, {math.Inf(1), 1, math.Inf(-1), 2},
		{math.NaN(), 1, 2, 3}, {1, 2, 3, math.NaN()}, {0, 0, 0, 0},
	} {
		m := sparse.NewCSC(p, data)
		for _, norm := range []float64{1, 2, math.Inf(1)} {
			got, want := m.Norm(norm), mat.Norm(m.Dense(nil), norm)
			if !(got == want || math.IsNaN(got) && math.IsNaN(want) || math.Abs(got-want) <= 1e-15*want) {
				t.Errorf("norm %g of %g: %g, want %g", norm, data, got, want)
			}
		}
	}
}

func TestDense(t *testing.T) {
	each(func(r *rand.Rand, rows, cols int) {
		m, a := random(r, rows, cols)
		if rows == 0 || cols == 0 {
			if !m.Dense(nil).IsEmpty() || sparse.FromMatrix(m).NNZ() != 0 {
				t.Error("entries from nowhere")
			}
			return
		}
		d := dense(a)
		dirty := mat.NewDense(rows+1, cols+1, nil)
		for i := range rows + 1 {
			for j := range cols + 1 {
				dirty.Set(i, j, 99)
			}
		}
		part := dirty.Slice(0, rows, 0, cols).(*mat.Dense)
		if !mat.Equal(m.Dense(nil), d) || !mat.Equal(m.Dense(new(mat.Dense)), d) || m.Dense(part) != part ||
			!mat.Equal(part, d) {
			t.Error("Dense is not what it was made of")
		}
		if dirty.At(rows, 0) != 99 || dirty.At(0, cols) != 99 {
			t.Error("Dense wrote outside its part")
		}
		from := sparse.FromMatrix(d)
		if !mat.Equal(from, d) || !from.Pattern().Equal(sparsity.FromMatrix(d)) {
			t.Error("FromMatrix of a dense one")
		}
		if c := sparse.FromMatrix(m); c.Pattern() != m.Pattern() || !mat.Equal(c, d) {
			t.Error("FromMatrix of a sparse one has another pattern")
		}
		if c := sparse.FromMatrix(m.T()); c.Pattern() != m.Pattern().Transpose() || !mat.Equal(c, d.T()) {
			t.Error("FromMatrix of a transposed one has another pattern")
		}
	})
}

func TestCopyFrom(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	m, a := random(r, 5, 5)
	to := sparse.NewCSC(m.Pattern(), nil)
	for name, from := range map[string]mat.Matrix{"dense": dense(a), "sparse": m, "transposed": m.Transpose().T()} {
		to.Zero()
		if err := to.CopyFrom(from); err != nil || !mat.Equal(to, m) {
			t.Errorf("%s: %v", name, err)
		}
	}
	square := sparse.NewCSC(sparsity.Full(2, 2), []float64{1, 2, 3, 4})
	if err := square.CopyFrom(square.T()); err != nil || square.At(0, 1) != 2 || square.At(1, 0) != 3 {
		t.Errorf("its own transpose: %v, %v", square.Data(), err)
	}
	diag := sparse.NewCSC(sparsity.Banded(2, 2, 0, 0), []float64{5, 6})
	var pattern *sparse.PatternError
	if err := diag.CopyFrom(mat.NewDense(2, 2, []float64{1, math.NaN(), 0, 1})); !errors.As(err, &pattern) ||
		diag.At(0, 0) != 5 {
		t.Errorf("off the pattern: %v", err)
	}
	var shape *sparse.ShapeError
	if err := diag.CopyFrom(square.Dense(nil).Slice(0, 1, 0, 2)); !errors.As(err, &shape) {
		t.Errorf("shape: %v", err)
	}
}
