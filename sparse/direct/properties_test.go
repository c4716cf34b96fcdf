package direct_test

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparse/direct"
	"github.com/nabla-ad/nabla/sparsity"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"
)

// TestRefactorizeIsFactorize: with the same pivots the factors are the same numbers up to the order of summation, and
// with pivots that have become small they are chosen again.
func TestRefactorizeIsFactorize(t *testing.T) {
	again := 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 11))
		n := 1 + r.IntN(80)
		p := diagonal(randomPattern(r, n, 2))
		a := general(r, p)
		for i := range n {
			a.Set(i, i, a.At(i, i)+20)
		}
		var once, twice direct.LU
		if err := errors.Join(once.Factorize(a), twice.Factorize(a), twice.Refactorize(a)); err != nil {
			t.Fatal(err)
		}
		if twice.Pivotings() != 1 {
			t.Fatalf("seed %d: pivots are chosen again for the same matrix", seed)
		}
		b := vector(r, n)
		x, y := make([]float64, n), make([]float64, n)
		if err := errors.Join(once.Solve(x, b), twice.Solve(y, b)); err != nil {
			t.Fatal(err)
		}
		closeTo(t, "refactorised", y, x, 1e-13)

		i := r.IntN(n)
		a.Set(i, i, 1e-9)
		if err := twice.Refactorize(a); err != nil {
			continue // a row may have the diagonal only
		}
		again += twice.Pivotings() - 1
		if backward, err := twice.SolveRefined(x, false, a, b); err != nil || backward > 1e-14 {
			t.Fatalf("seed %d: backward error %.3g, %v", seed, backward, err)
		}
	}
	if again < 20 {
		t.Errorf("new pivots in %d cases", again)
	}
}

// TestRefactorizeFindsGrowth: no pivot is too small for its column, but together they make the numbers grow.
func TestRefactorizeFindsGrowth(t *testing.T) {
	const n = 12
	a := sparse.NewCSC(sparsity.Full(n, n), nil)
	fill := func(diagonal, below float64) {
		for i := range n {
			for j := range i {
				a.Set(i, j, below)
			}
			a.Set(i, n-1, 1)
			a.Set(i, i, diagonal)
		}
	}
	lu := direct.LU{Ordering: direct.NaturalOrder}
	fill(100, -1)
	if err := errors.Join(lu.Factorize(a), lu.Refactorize(a)); err != nil || lu.Pivotings() != 1 {
		t.Fatalf("pivots chosen %d times, %v", lu.Pivotings(), err)
	}
	fill(1, -99)
	if err := lu.Refactorize(a); err != nil || lu.Pivotings() != 2 {
		t.Fatalf("pivots chosen %d times, %v", lu.Pivotings(), err)
	}
	x, b := make([]float64, n), vector(rand.New(rand.NewPCG(1, 19)), n)
	if err := lu.Solve(x, b); err != nil {
		t.Fatal(err)
	}
	closeTo(t, "solution", x, gonumSolution(t, a, false, b), 1e-12)
}

// TestPatternsMayChange: an object takes any sequence of patterns and sizes.
func TestPatternsMayChange(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 12))
	var lu direct.LU
	var l direct.LDL
	for range 30 {
		n := 1 + r.IntN(30)
		p := randomPattern(r, n, 2)
		s := symmetric(r, p, parts[r.IntN(3)], 30)
		a := s.CSC()
		b, x := vector(r, n), make([]float64, n)
		want := gonumSolution(t, a, false, b)
		if err := errors.Join(lu.Refactorize(a), lu.Solve(x, b)); err != nil {
			t.Fatal(err)
		}
		closeTo(t, "LU", x, want, 1e-10)
		if err := errors.Join(l.Factorize(s), l.Solve(x, b)); err != nil {
			t.Fatal(err)
		}
		closeTo(t, "LDL", x, want, 1e-10)
	}
}

// TestQuasiDefinite: a matrix [H Jᵀ; J -C] has an LDLᵀ in every order, with the signs of the blocks.
func TestQuasiDefinite(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 13))
		n := 2 + r.IntN(60)
		s := symmetric(r, randomPattern(r, n, 2), blas.Upper, 0)
		negative := 0
		for i := range n {
			d := 0.5 + r.Float64()
			for j := range n {
				d += math.Abs(s.At(i, j)) // diagonally dominant blocks
			}
			if i >= n/2 {
				d = -d
				negative++
			}
			s.SetSym(i, i, d)
		}
		for _, o := range []direct.Ordering{direct.AMDOrder, direct.NaturalOrder} {
			l := direct.LDL{Ordering: o}
			if err := l.Factorize(s); err != nil {
				t.Fatal(err)
			}
			if p, m, z := l.Inertia(); p != n-negative || m != negative || z != 0 {
				t.Fatalf("inertia %d, %d, %d, want %d, %d, 0", p, m, z, n-negative, negative)
			}
			b := vector(r, n)
			x := make([]float64, n)
			if backward, err := l.SolveRefined(x, s, b); err != nil || backward > 1e-14 {
				t.Fatalf("backward error %.3g, %v", backward, err)
			}
			closeTo(t, "solution", x, gonumSolution(t, s, false, b), 1e-10)
			var inverse mat.Dense
			if err := inverse.Inverse(s); err != nil {
				t.Fatal(err)
			}
			if got, want := l.Cond(), mat.Norm(s, 1)*mat.Norm(&inverse, 1); got > 1.0001*want || got < want/10 {
				t.Fatalf("condition number %.3g, want %.3g", got, want)
			}
		}
	}
}

// TestRightHandSides: all methods solve the same systems, whatever memory the arguments share.
func TestRightHandSides(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 14))
	const n, cols = 12, 4
	s := symmetric(r, randomPattern(r, n, 2), blas.Lower, 20)
	a := s.CSC()
	for k := range a.Data() {
		a.Data()[k] += 0.1 * r.NormFloat64()
	}
	var lu direct.LU
	var l direct.LDL
	if err := errors.Join(lu.Factorize(a), l.Factorize(s)); err != nil {
		t.Fatal(err)
	}
	type solver struct {
		name   string
		matrix mat.Matrix
		vec    func(dst *mat.VecDense, b mat.Vector) error
		to     func(dst *mat.Dense, b mat.Matrix) error
	}
	for _, f := range []solver{
		{"LDL", s, l.SolveVecTo, l.SolveTo},
		{"LU", a, func(dst *mat.VecDense, b mat.Vector) error { return lu.SolveVecTo(dst, false, b) },
			func(dst *mat.Dense, b mat.Matrix) error { return lu.SolveTo(dst, false, b) }},
		{"LU of the transpose", a.T(),
			func(dst *mat.VecDense, b mat.Vector) error { return lu.SolveVecTo(dst, true, b) },
			func(dst *mat.Dense, b mat.Matrix) error { return lu.SolveTo(dst, true, b) }},
	} {
		b := mat.NewDense(n, cols, vector(r, n*cols))
		var want mat.Dense
		if err := want.Solve(f.matrix, b); err != nil {
			t.Fatal(err)
		}
		check := func(what string, got mat.Matrix, want mat.Matrix, err error) {
			t.Helper()
			if err != nil || !mat.EqualApprox(got, want, 1e-12) {
				t.Errorf("%s, %s: %v", f.name, what, err)
			}
		}
		var x mat.Dense
		check("an empty destination", &x, &want, f.to(&x, b))
		check("a used destination", &x, &want, f.to(&x, b))
		check("a transposed argument", &x, &want, f.to(&x, mat.DenseCopyOf(b.T()).T()))
		same := mat.DenseCopyOf(b)
		check("dst = b", same, &want, f.to(same, same))
		wide := mat.NewDense(n, 2*cols, nil)
		part := wide.Slice(0, n, 1, 1+cols).(*mat.Dense)
		wide.Slice(0, n, 0, cols).(*mat.Dense).Copy(b)
		check("dst overlaps b", part, &want, f.to(part, wide.Slice(0, n, 0, cols)))
		square := mat.NewDense(n, n, nil)
		square.Slice(0, n, 0, cols).(*mat.Dense).Copy(b)
		var inverse mat.Dense
		if err := inverse.Solve(f.matrix, square.T()); err != nil {
			t.Fatal(err)
		}
		check("dst is b transposed", square, &inverse, f.to(square, square.T()))

		var v mat.VecDense
		check("a column", &v, want.ColView(2), f.vec(&v, b.ColView(2)))
		row := mat.NewDense(n, n, nil)
		row.SetRow(3, mat.Col(nil, 2, b))
		check("a transposed row", &v, want.ColView(2), f.vec(&v, row.RowView(3)))
		col := mat.DenseCopyOf(b)
		view := col.ColView(2).(*mat.VecDense)
		check("dst = b, a column", view, want.ColView(2), f.vec(view, view))
		if !mat.Equal(col.ColView(1), b.ColView(1)) {
			t.Error("another column was written")
		}
	}
}

// TestNoAllocation: factorisations of one pattern, and solutions, allocate nothing.
func TestNoAllocation(t *testing.T) {
	s := laplacian(12, blas.Lower, 1)
	a := s.CSC()
	n := s.SymmetricDim()
	var lu direct.LU
	var l direct.LDL
	x, b := make([]float64, n), make([]float64, n)
	v, w := mat.NewVecDense(n, nil), mat.NewVecDense(n, x)
	d, e := mat.NewDense(n, 3, nil), mat.NewDense(n, 3, nil)
	for i := range b {
		b[i] = float64(i)
	}
	for _, c := range []struct {
		name string
		f    func() error
	}{
		{"LDL.Factorize", func() error { return l.Factorize(s) }},
		{"LDL.FactorizeDefinite", func() error { return l.FactorizeDefinite(s) }},
		{"LDL.Solve", func() error { return l.Solve(x, b) }},
		{"LDL.SolveVecTo", func() error { return l.SolveVecTo(v, w) }},
		{"LDL.SolveTo", func() error { return l.SolveTo(d, e) }},
		{"LDL.SolveRefined", func() error { _, err := l.SolveRefined(x, s, b); return err }},
		{"LDL.Cond", func() error { l.Cond(); return nil }},
		{"LU.Factorize", func() error { return lu.Factorize(a) }},
		{"LU.Refactorize", func() error { return lu.Refactorize(a) }},
		{"LU.Solve", func() error { return lu.Solve(x, b) }},
		{"LU.SolveTrans", func() error { return lu.SolveTrans(x, b) }},
		{"LU.SolveVecTo", func() error { return lu.SolveVecTo(v, true, w) }},
		{"LU.SolveTo", func() error { return lu.SolveTo(d, false, e) }},
		{"LU.SolveRefined", func() error { _, err := lu.SolveRefined(x, false, a, b); return err }},
		{"LU.Cond", func() error { lu.Cond(); return nil }},
	} {
		if allocs := testing.AllocsPerRun(5, func() {
			if err := c.f(); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
		}); allocs != 0 {
			t.Errorf("%s: %g allocations", c.name, allocs)
		}
	}
}

// FuzzFactorize decodes an integer matrix of at most 8 rows, and compares with exact arithmetic: LU fails if and only
// if the determinant is 0, and solutions are exact up to rounding errors. LDL of its symmetric part either fails or
// agrees.
func FuzzFactorize(f *testing.F) {
	f.Add([]byte{3, 0x1f, 0x23, 0x81, 0x10, 0, 0x77})
	f.Add([]byte{8, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 0xf1, 0x3f})
	f.Add([]byte{0})
	f.Add([]byte("20000008880000011111100")) // a pivot of LDL is a rounding error
	f.Add([]byte("0000220"))                 // singular, with a rounding error in the last pivot of LDL
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 {
			return
		}
		n := int(data[0] % 9)
		var i, j []int
		var v []float64
		for k, c := range data[1:] {
			if n > 0 && c != 0 && k < n*n {
				i, j, v = append(i, k/n), append(j, k%n), append(v, float64(c%16)-8)
			}
		}
		a, err := sparse.FromTriplets(n, n, i, j, v)
		if err != nil {
			t.Fatal(err)
		}
		checkPermutation(t, direct.AMD(a.Pattern()), n)
		checkPermutation(t, direct.ColAMD(a.Pattern()), n)
		det := exactDet(a)
		b := make([]float64, n)
		for i := range b {
			b[i] = float64(i + 1)
		}
		x := make([]float64, n)
		for _, o := range orderings {
			lu := direct.LU{Ordering: o}
			err := lu.Factorize(a)
			switch singular := errors.As(err, new(*direct.SingularError)); {
			case singular && det == 0 || err == nil && det == 0 && lu.Cond() > 1e13:
				continue
			case err != nil || det == 0:
				t.Fatalf("%v: %v, and the determinant is %g, the condition number %.3g", o, err, det, lu.Cond())
			}
			if got := lu.Det(); math.Abs(got-det) > 1e-7*math.Abs(det) {
				t.Fatalf("determinant %g, want %g", got, det)
			}
			if backward, err := lu.SolveRefined(x, false, a, b); err != nil || backward > 1e-14 {
				t.Fatalf("%v: backward error %.3g, %v", o, backward, err)
			}
		}
		p, err := a.Pattern().Union(a.Pattern().Transpose())
		if err != nil {
			t.Fatal(err)
		}
		sum := sparse.NewCSC(p, nil)
		for j := range n {
			for _, i := range p.Col(j) {
				sum.Set(i, j, a.At(i, j)+a.At(j, i))
			}
		}
		for _, uplo := range parts {
			s, err := sum.Sym(uplo)
			if err != nil {
				t.Fatal(err)
			}
			var l direct.LDL
			err = l.Factorize(s)
			det := exactDet(sum)
			switch {
			case errors.As(err, new(*direct.PivotError)), errors.As(err, new(*direct.InaccurateError)):
			case errors.As(err, new(*direct.SingularError)):
				if det != 0 {
					t.Fatalf("%v, and the determinant is %g", err, det)
				}
			case err == nil && det == 0 && l.Cond() > 1e13:
			case err != nil || det == 0:
				t.Fatalf("%v, and the determinant is %g, the condition number %.3g", err, det, l.Cond())
			default:
				if got := l.Det(); math.Abs(got-det) > 1e-7*l.Cond()*math.Abs(det) {
					t.Fatalf("determinant %g, want %g", got, det)
				}
			}
		}
	})
}

// exactDet returns the determinant of an integer matrix, by elimination with fractions.
func exactDet(a *sparse.CSC) float64 {
	n, _ := a.Dims()
	m := make([][]*big.Rat, n)
	for i := range m {
		for j := range n {
			m[i] = append(m[i], new(big.Rat).SetFloat64(a.At(i, j)))
		}
	}
	det := big.NewRat(1, 1)
	for k := range n {
		p := k
		for p < n && m[p][k].Sign() == 0 {
			p++
		}
		if p == n {
			return 0
		}
		if p != k {
			m[p], m[k] = m[k], m[p]
			det.Neg(det)
		}
		det.Mul(det, m[k][k])
		for i := k + 1; i < n; i++ {
			q := new(big.Rat).Quo(m[i][k], m[k][k])
			for j := k; j < n; j++ {
				m[i][j].Sub(m[i][j], new(big.Rat).Mul(q, m[k][j]))
			}
		}
	}
	v, _ := det.Float64()
	return v
}

// TestLargerSystems: the true solution is known.
func TestLargerSystems(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 15))
	for _, n := range []int{1000, 3000} {
		var i, j []int
		for k := range 3 * n {
			i, j = append(i, k%n), append(j, min(n-1, max(0, k%n+r.IntN(60)-30)))
		}
		p, err := sparsity.FromEntries(n, n, i, j)
		if err != nil {
			t.Fatal(err)
		}
		s := symmetric(r, p, blas.Upper, 8)
		a := general(r, diagonal(p))
		want, x := vector(r, n), make([]float64, n)
		var l direct.LDL
		var lu direct.LU
		if err := errors.Join(l.Factorize(s), l.Solve(x, s.MulVec(nil, want))); err != nil {
			t.Fatal(err)
		}
		closeTo(t, "LDL", x, want, 1e-14*l.Cond())
		for range 2 {
			if err := errors.Join(lu.Refactorize(a), lu.Solve(x, a.MulVec(nil, want))); err != nil {
				t.Fatal(err)
			}
			closeTo(t, "LU", x, want, 1e-14*lu.Cond())
		}
	}
}
