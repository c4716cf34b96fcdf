package linalg_test

import (
	"errors"
	"math"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/internal/page"
	"github.com/nabla-ad/nabla/linalg"
)

// all are the engines of the tests and finite differences.
var all = append([]nabla.Backend{finitediff.Backend{}}, list...)

// TestErrors: an operation that is not defined is the same typed error in every engine.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		f    func(a *linalg.Matrix) real
		x    []float64 // 2×2
		want error
		text string
	}{
		{"Cholesky of an indefinite matrix",
			func(a *linalg.Matrix) real { return linalg.NewCholesky(a).LogDet() }, []float64{1, 2, 2, 1},
			linalg.ErrNotPositiveDefinite, "nabla: linalg.Cholesky: matrix is not positive definite: 2×2"},
		{"LogDet of a singular matrix",
			func(a *linalg.Matrix) real { log, _ := linalg.LogDet(a); return log }, []float64{1, 2, 2, 4},
			linalg.ErrSingular, "nabla: linalg.LogDet: matrix is singular: pivot 1 of the 2×2 matrix is 0"},
		{"Solve with a singular matrix",
			func(a *linalg.Matrix) real { return linalg.SolveVec(a, a.Row(0))[0] }, []float64{1, 2, 2, 4},
			linalg.ErrSingular, "nabla: linalg.Solve: matrix is singular: pivot 1 of the 2×2 matrix is 0"},
		{"Inverse of a singular matrix",
			func(a *linalg.Matrix) real { return linalg.Inverse(a).At(0, 0) }, []float64{1, 2, 2, 4},
			linalg.ErrSingular, "nabla: linalg.Inverse: matrix is singular: pivot 1 of the 2×2 matrix is 0"},
		{"SolveLower with a zero on the diagonal",
			func(a *linalg.Matrix) real { return linalg.SolveLowerVec(a, a.Row(0))[1] }, []float64{1, 2, 2, 0},
			linalg.ErrSingular,
			"nabla: linalg.SolveTriangular: matrix is singular: element (1, 1) of the 2×2 matrix is 0"},
		{"least squares without full rank",
			func(a *linalg.Matrix) real { return linalg.LeastSquaresVec(a, a.Row(0))[0] }, []float64{1, 1. / 3, 3, 1},
			linalg.ErrRank, "nabla: linalg.QR: matrix does not have full rank: column 1 of the 2×2 matrix depends on " +
				"those before it"},
		{"QR of a wide matrix",
			func(a *linalg.Matrix) real {
				return linalg.NewQR(&linalg.Matrix{Rows: 1, Cols: 4, Data: a.Data}).R().At(0, 0)
			}, []float64{1, 2, 2, 0},
			linalg.ErrShape, "nabla: linalg.NewQR: shapes do not fit: the 1×4 matrix has more columns than rows"},
		{"least squares with a right-hand side of the wrong length",
			func(a *linalg.Matrix) real { return linalg.LeastSquaresVec(a, a.Data)[0] }, []float64{1, 0, 0, 1},
			linalg.ErrShape,
			"nabla: linalg.LeastSquares: shapes do not fit: 2×2 and a right-hand side of 4×1"},
		{"a product of the wrong shape",
			func(a *linalg.Matrix) real { return linalg.MatMul(a, linalg.Identity(3)).At(0, 0) }, []float64{1, 2, 2, 0},
			linalg.ErrShape, "nabla: linalg.MatMul: shapes do not fit: 2×2 and 3×3"},
		{"a matrix that is not square",
			func(a *linalg.Matrix) real {
				return linalg.Det(&linalg.Matrix{Rows: 1, Cols: 4, Data: a.Data})
			}, []float64{1, 2, 2, 0},
			linalg.ErrShape, "nabla: linalg.NewLU: shapes do not fit: the 1×4 matrix is not square"},
		{"a right-hand side of the wrong length",
			func(a *linalg.Matrix) real { return linalg.NewCholesky(a).SolveVec(a.Data)[0] }, []float64{1, 0, 0, 1},
			linalg.ErrShape, "nabla: linalg.Cholesky.Solve: shapes do not fit: 2×2 and a right-hand side of 4×1"},
		{"elements that are missing",
			func(a *linalg.Matrix) real { a.Data = a.Data[:3]; return linalg.MatMul(a, a).At(0, 0) },
			[]float64{1, 0, 0, 1},
			linalg.ErrShape, "nabla: linalg.MatMul: shapes do not fit: a 2×2 matrix has 3 elements"},
	} {
		f := func(x []real) real { return c.f(matrices(x, [][2]int{{2, 2}})[0]) }
		for _, b := range all {
			_, err := nabla.Gradient(f, b, c.x)
			var e *linalg.Error
			if !errors.As(err, &e) || !errors.Is(err, c.want) || unnamed(e) != c.text {
				t.Errorf("%s, %s: error %v, want %s", c.name, name(b), err, c.text)
			}
		}
	}
}

// TestErrorAfterPreparation: a matrix that becomes indefinite is an error of that call, and the object works again at
// the next.
func TestErrorAfterPreparation(t *testing.T) {
	f := func(x []real) real { return linalg.NewCholesky(&linalg.Matrix{Rows: 1, Cols: 1, Data: x}).LogDet() }
	for _, b := range list {
		p, err := nabla.PrepareGradient(f, b, []float64{1})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Gradient(nil, []float64{-1}); !errors.Is(err, linalg.ErrNotPositiveDefinite) {
			t.Errorf("%s: error %v", name(b), err)
		}
		g, err := p.Gradient(nil, []float64{4})
		if err != nil {
			t.Errorf("%s: %v after an error", name(b), err)
		}
		near(t, name(b), g, []float64{0.25}, 1e-15)
	}
}

// TestDetOfSingular: the value is 0 and the gradient an error.
func TestDetOfSingular(t *testing.T) {
	f := func(x []real) real { return linalg.Det(&linalg.Matrix{Rows: 2, Cols: 2, Data: x}) }
	x := []float64{1, 2, 2, 4}
	if y := f([]real{nabla.Const(1), nabla.Const(2), nabla.Const(2), nabla.Const(4)}).Value(); y != 0 {
		t.Errorf("value %v, want 0", y)
	}
	if _, err := nabla.Gradient(f, reversediff.Backend{Compile: true}, x); !errors.Is(err, linalg.ErrSingular) {
		t.Errorf("gradient: error %v, want %v", err, linalg.ErrSingular)
	}
}

// TestQOfDependentColumns: Q has a value and no derivative.
func TestQOfDependentColumns(t *testing.T) {
	f := func(x []real) real { return linalg.NewQR(&linalg.Matrix{Rows: 2, Cols: 2, Data: x}).Q().At(1, 0) }
	for _, b := range list {
		if _, err := nabla.Gradient(f, b, []float64{0, 1, 0, 2}); !errors.Is(err, linalg.ErrRank) {
			t.Errorf("%s: error %v", name(b), err)
		}
	}
}

// unnamed returns the text of err without the name at its end.
func unnamed(err error) string {
	text, _ := page.Split(err, "")
	return text
}

// TestPanicOutsideOfDerivative: without an engine an error is a panic whose value is an error.
func TestPanicOutsideOfDerivative(t *testing.T) {
	defer func() {
		if err, ok := recover().(error); !ok || unnamed(err) !=
			"nabla: linalg.New: shapes do not fit: -1×2" {
			t.Errorf("panic with %v", err)
		}
	}()
	linalg.New(-1, 2)
}

// TestNaN: a NaN in a matrix is no error, and results are NaN.
func TestNaN(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name string
		f    func(a *linalg.Matrix) real
	}{
		{"Cholesky", func(a *linalg.Matrix) real { return linalg.NewCholesky(a).LogDet() }},
		{"LU", func(a *linalg.Matrix) real { return linalg.Det(a) }},
		{"Inverse", func(a *linalg.Matrix) real { return linalg.Inverse(a).At(0, 0) }},
		{"QR", func(a *linalg.Matrix) real { return linalg.LeastSquaresVec(a, a.Row(0))[0] }},
		{"SVD", func(a *linalg.Matrix) real { return linalg.NewSVD(a).Values()[0] }},
		{"Eigen", func(a *linalg.Matrix) real { return linalg.NewEigen(a).Values()[0] }},
	} {
		for i := range 4 {
			if i == 1 && (c.name == "Cholesky" || c.name == "Eigen") {
				continue // above the diagonal
			}
			a := linalg.Identity(2)
			a.Data[i] = nabla.Const(nan)
			if y := c.f(a); !y.IsNaN() {
				t.Errorf("%s with NaN at %d: %v", c.name, i, y)
			}
		}
		f := func(x []real) real { return c.f(&linalg.Matrix{Rows: 2, Cols: 2, Data: x}) }
		for _, b := range list {
			if y, _, err := nabla.ValueAndGradient(f, b, []float64{nan, 0, 0, 1}); err != nil || y == y {
				t.Errorf("%s, %s: value %v, error %v", c.name, name(b), y, err)
			}
		}
	}
}
