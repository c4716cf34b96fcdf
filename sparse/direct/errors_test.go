package direct_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparse/direct"
	"github.com/nabla-ad/nabla/sparsity"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"
)

// TestSingular: if a column is a combination of others, or the pattern has no perfect matching, Factorize says so. The
// structural rank is the rank of a matrix with random entries.
func TestSingular(t *testing.T) {
	structural, numerical := 0, 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 8))
		n := 2 + r.IntN(30)
		p := randomPattern(r, n, 1+r.IntN(3))
		a := general(r, p)
		var svd mat.SVD
		svd.Factorize(a, mat.SVDNone)
		rank := svd.Rank(1e-10)
		lu := direct.LU{Ordering: orderings[seed%4]}
		err := lu.Factorize(a)
		var singular *direct.SingularError
		switch {
		case rank == n:
			if err != nil {
				t.Fatalf("seed %d: a matrix of full rank: %v", seed, err)
			}
		case !errors.As(err, &singular):
			t.Fatalf("seed %d: rank %d of %d: %v", seed, rank, n, err)
		default:
			structural++
			if singular.StructuralRank != rank {
				t.Fatalf("seed %d: structural rank %d, want %d", seed, singular.StructuralRank, rank)
			}
			if !strings.Contains(err.Error(), "pattern allows rank") {
				t.Fatal(err)
			}
		}

		// The last column becomes a combination of two others: the pattern has full rank, the matrix has not.
		full := diagonal(p)
		i, j := r.IntN(n), r.IntN(n)
		for _, k := range [2]int{i, j} {
			var rows, cols []int
			for _, row := range full.Col(k) {
				rows, cols = append(rows, row), append(cols, n-1)
			}
			more, err := sparsity.FromEntries(n, n, rows, cols)
			if err == nil {
				full, err = full.Union(more)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if i == n-1 || j == n-1 {
			continue
		}
		b := general(r, full)
		for row := range n {
			if full.Has(row, n-1) {
				b.Set(row, n-1, 3*b.At(row, i)+b.At(row, j))
			}
		}
		switch err := lu.Factorize(b); {
		case err == nil: // rounding errors of earlier columns can be larger than those of the last one
			if cond := lu.Cond(); cond < 1e13 {
				t.Fatalf("seed %d: column %d depends on %d and %d: condition %.3g", seed, n-1, i, j, cond)
			}
			continue
		case !errors.As(err, &singular) || singular.StructuralRank != n:
			t.Fatalf("seed %d: column %d depends on %d and %d: %v", seed, n-1, i, j, err)
		}
		numerical++
		if err := lu.Solve(make([]float64, n), make([]float64, n)); !errors.As(err, new(*direct.NotFactorizedError)) {
			t.Fatalf("after an error: %v", err)
		}
	}
	if structural < 20 || numerical < 100 {
		t.Errorf("only %d patterns of deficient rank, %d matrices", structural, numerical)
	}
}

// TestScaling: rows and columns may have any scale. The error of the solution is proportional to its own scale.
func TestScaling(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 9))
		n := 1 + r.IntN(40)
		p := diagonal(randomPattern(r, n, 2))
		a := general(r, p)
		row, col := make([]float64, n), make([]float64, n)
		for i := range n {
			row[i], col[i] = math.Ldexp(1, r.IntN(400)-200), math.Ldexp(1, r.IntN(400)-200)
			a.Set(i, i, a.At(i, i)+10)
		}
		scaled := a.Clone()
		for j := range n {
			for _, i := range p.Col(j) {
				scaled.Set(i, j, a.At(i, j)*row[i]*col[j])
			}
		}
		var lu direct.LU
		if err := lu.Factorize(scaled); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		b := vector(r, n)
		want := gonumSolution(t, a, false, b)
		for i := range b {
			b[i] *= row[i]
		}
		if _, err := lu.SolveRefined(b, false, scaled, b); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for i := range b {
			b[i] *= col[i]
		}
		closeTo(t, "solution", b, want, 1e-11)

		s := symmetric(r, p, parts[seed%3], 10*float64(n))
		for j := range n {
			for i := range j + 1 {
				if v := s.At(i, j); v != 0 {
					s.SetSym(i, j, v*col[i]*col[j])
				}
			}
		}
		var l direct.LDL
		if err := l.FactorizeDefinite(s); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if positive, _, _ := l.Inertia(); positive != n {
			t.Fatalf("%d positive pivots of %d", positive, n)
		}
	}
}

func sym(t *testing.T, n int, upper ...float64) *sparse.SymCSC {
	t.Helper()
	s, err := sparse.NewSymCSC(sparsity.Full(n, n).Triangle(blas.Upper), blas.Upper, upper)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLDLErrors(t *testing.T) {
	var l direct.LDL
	var pivot *direct.PivotError
	if err := l.Factorize(sym(t, 2, 0, 1, 0)); !errors.As(err, &pivot) || pivot.Pivot != 0 {
		t.Errorf("[0 1; 1 0]: %v", err)
	}
	var indefinite *direct.IndefiniteError
	if err := l.FactorizeDefinite(sym(t, 2, 1, 2, 1)); !errors.As(err, &indefinite) || indefinite.Pivot != -3 {
		t.Errorf("[1 2; 2 1]: %v", err)
	}
	if err := l.Factorize(sym(t, 2, 1, 2, 1)); err != nil {
		t.Error(err)
	}
	if p, m, z := l.Inertia(); p != 1 || m != 1 || z != 0 {
		t.Errorf("[1 2; 2 1] has inertia %d, %d, %d", p, m, z)
	}
	if det := l.Det(); math.Abs(det+3) > 1e-15 {
		t.Errorf("[1 2; 2 1] has determinant %g", det)
	}
	// With a small pivot the entry -1 is lost; refinement finds it again.
	small := sym(t, 2, 1e-12, 1, -1)
	natural := direct.LDL{Ordering: direct.NaturalOrder}
	var inaccurate *direct.InaccurateError
	if err := natural.Factorize(small); !errors.As(err, &inaccurate) || inaccurate.Backward < 1e-6 {
		t.Errorf("a small pivot: %v", err)
	}
	x := make([]float64, 2)
	if backward, err := natural.SolveRefined(x, small, []float64{1, 2}); err != nil || backward > 1e-15 ||
		math.Abs(x[0]-3) > 1e-11 || math.Abs(x[1]-1) > 1e-11 {
		t.Errorf("refined: %v, %.3g, %v", x, backward, err)
	}
	if err := l.FactorizeDefinite(sym(t, 2, 1, 1, 1)); !errors.As(err, &indefinite) {
		t.Errorf("[1 1; 1 1]: %v", err)
	}
	if err := l.Factorize(sym(t, 2, math.MaxFloat64, 1e300, math.MaxFloat64/1e10)); err != nil {
		t.Error(err)
	}
	var nonFinite *direct.NonFiniteError
	if err := l.Factorize(sym(t, 2, 1e-300, 1e100, 1)); !errors.As(err, &nonFinite) || nonFinite.Row >= 0 {
		t.Errorf("overflow: %v", err)
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		err := l.Factorize(sym(t, 2, 1, v, 1))
		if !errors.As(err, &nonFinite) || nonFinite.Row != 0 || nonFinite.Col != 1 {
			t.Errorf("%g: %v", v, err)
		}
	}
	if err := l.Solve(make([]float64, 2), make([]float64, 2)); !errors.As(err, new(*direct.NotFactorizedError)) {
		t.Errorf("after an error: %v", err)
	}
	if !math.IsNaN(l.Cond()) || !math.IsNaN(l.Det()) {
		t.Error("numbers without a factorisation")
	}
}

// TestGraphLaplacian: the Laplacian of a graph has as many zero eigenvalues as the graph has components.
func TestGraphLaplacian(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 10))
		const n, parts = 60, 4 // components are residues modulo 4
		var i, j []int
		for k := parts; k < n; k++ {
			i, j = append(i, k), append(j, k%parts+parts*r.IntN(k/parts)) // an edge to an earlier vertex
			other := k%parts + parts*r.IntN(n/parts)
			if other != k {
				i, j = append(i, k), append(j, other)
			}
		}
		p, err := sparsity.FromEntries(n, n, i, j)
		if err != nil {
			t.Fatal(err)
		}
		s := symmetric(r, p, blas.Upper, 0)
		s.Zero()
		for a := range n {
			for b := range a {
				if p.Has(a, b) || p.Has(b, a) {
					w := 0.1 + r.Float64()
					s.SetSym(a, b, -w)
					s.SetSym(a, a, s.At(a, a)+w)
					s.SetSym(b, b, s.At(b, b)+w)
				}
			}
		}
		var l direct.LDL
		var singular *direct.SingularError
		if err := l.Factorize(s); !errors.As(err, &singular) {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if p, m, z := l.Inertia(); p != n-parts || m != 0 || z != parts {
			t.Fatalf("seed %d: inertia %d, %d, %d, want %d, 0, %d", seed, p, m, z, n-parts, parts)
		}
	}
}

func TestLUErrors(t *testing.T) {
	var lu direct.LU
	var shape *sparse.ShapeError
	if err := lu.Solve(nil, nil); !errors.As(err, new(*direct.NotFactorizedError)) {
		t.Errorf("before Factorize: %v", err)
	}
	if err := lu.Factorize(sparse.NewCSC(sparsity.Full(2, 3), nil)); !errors.As(err, &shape) {
		t.Errorf("2×3: %v", err)
	}
	square := sparse.NewCSC(sparsity.Full(2, 2), []float64{1, 2, 3, 4})
	for _, bad := range []*direct.LU{{Threshold: 2}, {Threshold: -1}, {Threshold: math.NaN()}, {Ordering: 9}} {
		if err := bad.Factorize(square); !errors.As(err, &shape) {
			t.Errorf("%g, %v: %v", bad.Threshold, bad.Ordering, err)
		}
	}
	bad := direct.LDL{Ordering: -1}
	if err := bad.Factorize(sym(t, 1, 1)); !errors.As(err, &shape) || !strings.Contains(err.Error(), "Ordering(-1)") {
		t.Errorf("an unknown order: %v", err)
	}
	var nonFinite *direct.NonFiniteError
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, factorize := range []func(*sparse.CSC) error{lu.Factorize, lu.Refactorize} {
			err := factorize(sparse.NewCSC(sparsity.Full(2, 2), []float64{1, v, 2, 1}))
			if !errors.As(err, &nonFinite) || nonFinite.Row != 1 || nonFinite.Col != 0 {
				t.Errorf("%g: %v", v, err)
			}
		}
	}
	if err := lu.Factorize(square); err != nil {
		t.Fatal(err)
	}
	three, two := make([]float64, 3), make([]float64, 2)
	for _, err := range []error{
		lu.Solve(three, two), lu.Solve(two, three), lu.SolveTrans(two, nil),
		lu.SolveVecTo(new(mat.VecDense), false, mat.NewVecDense(3, nil)),
		lu.SolveVecTo(mat.NewVecDense(3, nil), false, mat.NewVecDense(2, nil)),
		lu.SolveTo(new(mat.Dense), false, mat.NewDense(3, 2, nil)),
		lu.SolveTo(mat.NewDense(2, 2, nil), false, mat.NewDense(2, 3, nil)),
	} {
		if !errors.As(err, &shape) {
			t.Errorf("wrong size: %v", err)
		}
	}
	if _, err := lu.SolveRefined(two, false, sparse.NewCSC(sparsity.Full(3, 3), nil), two); !errors.As(err, &shape) {
		t.Errorf("refined with a 3×3 matrix: %v", err)
	}
	var refinement *direct.RefinementError
	other := sparse.NewCSC(sparsity.Full(2, 2), []float64{1, -20, 30, 4})
	if _, err := lu.SolveRefined(two, false, other, []float64{1, 1}); !errors.As(err, &refinement) {
		t.Errorf("refined with another matrix: %v", err)
	}
	if err := panicOf(func() { direct.AMD(sparsity.Full(2, 3)) }); !errors.As(err, &shape) {
		t.Errorf("AMD of 2×3: %v", err)
	}
}

// TestGrowth: with a small Threshold the factors of these matrices grow by a factor of 10 in each column. That is an
// error if the last column suffers, or overflows. Partial pivoting keeps them small.
func TestGrowth(t *testing.T) {
	for _, n := range []int{25, 400} {
		a := sparse.NewCSC(sparsity.Full(n, n), nil)
		for i := range n {
			a.Set(i, n-1, 1)
			a.Set(i, i, 1)
			for j := range i {
				a.Set(i, j, -9)
			}
		}
		lu := direct.LU{Ordering: direct.NaturalOrder}
		err := lu.Factorize(a)
		var nonFinite *direct.NonFiniteError
		var inaccurate *direct.InaccurateError
		switch {
		case n < 100 && errors.As(err, &inaccurate) && strings.Contains(err.Error(), "larger Threshold"):
		case n > 100 && errors.As(err, &nonFinite) && nonFinite.Row < 0 && nonFinite.Col == n-1 &&
			strings.Contains(err.Error(), "overflow"):
		default:
			t.Errorf("%d rows without pivoting: %v", n, err)
		}
		lu.Threshold = 1
		x, b := make([]float64, n), vector(rand.New(rand.NewPCG(1, 18)), n)
		if err := lu.Factorize(a); err != nil {
			t.Fatal(err)
		}
		if backward, err := lu.SolveRefined(x, false, a, b); err != nil || backward > 1e-14 {
			t.Errorf("%d rows with partial pivoting: backward error %.3g, %v", n, backward, err)
		}
	}
}

func panicOf(f func()) (err error) {
	defer func() { err, _ = recover().(error) }()
	f()
	return nil
}

func TestSmall(t *testing.T) {
	for n := range 2 {
		var lu direct.LU
		var l direct.LDL
		a := sparse.NewCSC(sparsity.Full(n, n), nil)
		for i := range a.Data() {
			a.Data()[i] = -4
		}
		s, err := a.Sym(blas.All)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := lu.Refactorize(a); err != nil {
				t.Fatal(err)
			}
			if err := l.Factorize(s); err != nil {
				t.Fatal(err)
			}
		}
		x := make([]float64, n)
		for i := range x {
			x[i] = 8
		}
		if err := errors.Join(lu.Solve(x, x), l.Solve(x, x)); err != nil || n > 0 && x[0] != 0.5 {
			t.Errorf("%v, %v", x, err)
		}
		if want := math.Pow(-4, float64(n)); math.Abs(lu.Det()-want) > 1e-14 || math.Abs(l.Det()-want) > 1e-14 {
			t.Errorf("determinants %g, %g", lu.Det(), l.Det())
		}
		if want := float64(n); lu.Cond() != want || l.Cond() != want {
			t.Errorf("condition numbers %g, %g", lu.Cond(), l.Cond())
		}
		if n == 0 {
			var v mat.VecDense
			if err := errors.Join(lu.SolveVecTo(&v, false, &v), l.SolveVecTo(&v, &v)); err != nil {
				t.Error(err)
			}
		}
	}
}
