package iterative_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparse/iterative"
	"github.com/nabla-ad/nabla/sparsity"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// preconditioned returns the matrix whose inverse the preconditioner is.
func preconditioned(t *testing.T, p iterative.Preconditioner, n int) *mat.Dense {
	t.Helper()
	inverse, result := mat.NewDense(n, n, nil), new(mat.Dense)
	e, z := make([]float64, n), make([]float64, n)
	for j := range n {
		clear(e)
		e[j] = 1
		if err := p.Solve(z, e); err != nil {
			t.Fatal(err)
		}
		inverse.SetCol(j, z)
	}
	if err := result.Inverse(inverse); err != nil {
		t.Fatal(err)
	}
	return result
}

// TestIncompleteFactors: the product of the incomplete factors agrees with the matrix on its pattern, which defines
// them.
func TestIncompleteFactors(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 6))
		n := 1 + r.IntN(25)
		var i, j []int
		for k := range n {
			i, j = append(i, k, r.IntN(n), r.IntN(n)), append(j, k, r.IntN(n), k)
		}
		p, err := sparsity.FromEntries(n, n, i, j)
		if err != nil {
			t.Fatal(err)
		}
		a := sparse.NewCSC(p, nil)
		for k := range a.Data() {
			a.Data()[k] = r.NormFloat64()
		}
		for k := range n {
			a.Set(k, k, float64(n))
		}
		var ilu iterative.ILU0
		if err := ilu.Factorize(a); err != nil {
			t.Fatal(err)
		}
		product := preconditioned(t, &ilu, n)
		for j := range n {
			for _, i := range p.Col(j) {
				if math.Abs(product.At(i, j)-a.At(i, j)) > 1e-11 {
					t.Fatalf("seed %d: entry (%d, %d) of LU is %g, want %g", seed, i, j, product.At(i, j), a.At(i, j))
				}
			}
		}

		both, err := p.Union(p.Transpose())
		if err != nil {
			t.Fatal(err)
		}
		for _, uplo := range []blas.Uplo{blas.Upper, blas.Lower, blas.All} {
			s, err := sparse.NewSymCSC(both.Triangle(uplo), uplo, nil)
			if err != nil {
				t.Fatal(err)
			}
			for j := range n {
				for _, i := range both.Col(j) {
					s.SetSym(i, j, a.At(min(i, j), max(i, j)))
				}
			}
			var ic iterative.IC0
			if err := ic.Factorize(s); err != nil {
				t.Fatal(err)
			}
			if ic.Shift() != 0 {
				t.Fatalf("seed %d: shift %g for a dominant diagonal", seed, ic.Shift())
			}
			product := preconditioned(t, &ic, n)
			for j := range n {
				for _, i := range both.Col(j) {
					if got, want := product.At(i, j), s.At(i, j); math.Abs(got-want) > 1e-11 {
						t.Fatalf("seed %d: entry (%d, %d) of LLᵀ is %g, want %g", seed, i, j, got, want)
					}
				}
			}
		}
	}
}

// TestShift: Kershaw's matrix (J. Comput. Phys. 26, 1978) is positive definite and has no incomplete Cholesky
// factorisation without a shift.
func TestShift(t *testing.T) {
	d := mat.NewSymDense(4, []float64{
		3, -2, 0, 2,
		-2, 3, -2, 0,
		0, -2, 3, -2,
		2, 0, -2, 3,
	})
	var chol mat.Cholesky
	if !chol.Factorize(d) {
		t.Fatal("not positive definite")
	}
	s := sparse.FromSymmetric(d, blas.Lower)
	var ic iterative.IC0
	if err := ic.Factorize(s); err != nil {
		t.Fatal(err)
	}
	if ic.Shift() <= 0 || ic.Shift() > 1 {
		t.Errorf("shift %g", ic.Shift())
	}
	want := []float64{1, -2, 3, 4}
	b, x := s.MulVec(nil, want), make([]float64, 4)
	cg := iterative.CG{Settings: iterative.Settings{Preconditioner: &ic, Tolerance: 1e-12}}
	if _, err := cg.Solve(t.Context(), x, s, b); err != nil || floats.Distance(x, want, 2) > 1e-9 {
		t.Errorf("%v, %v", x, err)
	}
}

func TestPreconditionerErrors(t *testing.T) {
	var jacobi iterative.Jacobi
	var ilu iterative.ILU0
	var ic iterative.IC0
	var pivot *iterative.PivotError
	var shape *sparse.ShapeError
	var nonFinite *iterative.NonFiniteError
	two := make([]float64, 2)
	for _, p := range []iterative.Preconditioner{&jacobi, &ilu, &ic} {
		if err := p.Solve(two, two); !errors.As(err, new(*iterative.NotFactorizedError)) {
			t.Errorf("%T before Factorize: %v", p, err)
		}
	}
	offDiagonal := sparse.FromMatrix(mat.NewDense(2, 2, []float64{0, 1, 1, 0}))
	zeroPivot := sparse.FromMatrix(mat.NewDense(2, 2, []float64{1, 1, 1, 1}))
	wide := sparse.NewCSC(sparsity.Full(2, 3), nil)
	nan := sparse.NewCSC(sparsity.Full(2, 2), []float64{math.NaN(), 1, 1, 1})
	for _, c := range []struct {
		name   string
		err    error
		target any
	}{
		{"Jacobi, zero", jacobi.Factorize(offDiagonal), &pivot},
		{"ILU0, no diagonal", ilu.Factorize(offDiagonal), &pivot},
		{"ILU0, zero pivot", ilu.Factorize(zeroPivot), &pivot},
		{"Jacobi, 2×3", jacobi.Factorize(wide), &shape},
		{"ILU0, 2×3", ilu.Factorize(wide), &shape},
		{"Jacobi, NaN", jacobi.Factorize(nan), &nonFinite},
		{"ILU0, NaN", ilu.Factorize(nan), &nonFinite},
		{"IC0, NaN", ic.Factorize(sym(t, nan, blas.Upper)), &nonFinite},
		{"IC0, zero", ic.Factorize(sym(t, offDiagonal, blas.Lower)), new(*iterative.IndefiniteError)},
		{"IC0", ic.Factorize(sym(t, grid(2, 0, 0), blas.All)), nil},
		{"IC0, dst", ic.Solve(two, make([]float64, 4)), &shape},
		{"IC0, r", ic.Solve(make([]float64, 4), two), &shape},
	} {
		if c.target == nil && c.err != nil || c.target != nil && !errors.As(c.err, c.target) {
			t.Errorf("%s: %v", c.name, c.err)
		}
	}
}
