package sparse_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparsity"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"
)

// mulVecToer is the interface of gonum.org/v1/exp/linsolve.
type mulVecToer interface {
	MulVecTo(dst *mat.VecDense, trans bool, x mat.Vector)
}

var _, _ mulVecToer = (*sparse.CSC)(nil), (*sparse.SymCSC)(nil)

// times multiplies slowly.
func times(a [][]float64, rows int, trans bool, x []float64) []float64 {
	y := make([]float64, rows)
	for i := range a {
		for j, v := range a[i] {
			if trans {
				y[j] += v * x[i]
			} else {
				y[i] += v * x[j]
			}
		}
	}
	return y
}

// plain is a vector that gonum knows nothing about.
type plain struct{ mat.Vector }

func TestMulVec(t *testing.T) {
	each(func(r *rand.Rand, rows, cols int) {
		m, a := random(r, rows, cols)
		x, xt := vector(r, cols), vector(r, rows)
		y, yt := times(a, rows, false, x), times(a, cols, true, xt)
		nan := func(n int) []float64 {
			s := make([]float64, n)
			for i := range s {
				s[i] = math.NaN()
			}
			return s
		}
		closeAll(t, "MulVec", m.MulVec(nan(rows), x), y)
		closeAll(t, "MulVec(nil)", m.MulVec(nil, x), y)
		closeAll(t, "MulVecTrans", m.MulVecTrans(nan(cols), xt), yt)
		if rows == 0 || cols == 0 {
			return
		}
		testMulVecTo(t, m, false, x, y)
		testMulVecTo(t, m, true, xt, yt)
		for _, uplo := range parts {
			s, a := randomSym(r, rows, uplo)
			y := times(a, rows, false, xt)
			closeAll(t, "SymCSC.MulVec", s.MulVec(nan(rows), xt), y)
			testMulVecTo(t, s, false, xt, y)
			testMulVecTo(t, s, true, xt, y)
		}
	})
	// Rows without columns are zeros.
	closeAll(t, "3×0", sparse.NewCSC(sparsity.Empty(3, 0), nil).MulVec(nil, nil), make([]float64, 3))
	v := mat.NewVecDense(2, []float64{1, 2})
	sparse.NewCSC(sparsity.Empty(2, 0), nil).MulVecTo(v, false, &mat.VecDense{})
	closeAll(t, "2×0", v.RawVector().Data, make([]float64, 2))
}

func testMulVecTo(t *testing.T, m mulVecToer, trans bool, x, y []float64) {
	t.Helper()
	// A column of a matrix has an increment.
	strided := func(s []float64) *mat.VecDense {
		d := mat.NewDense(len(s), 3, nil)
		d.SetCol(1, s)
		return d.ColView(1).(*mat.VecDense)
	}
	for name, v := range map[string]mat.Vector{"vector": mat.NewVecDense(len(x), x), "column": strided(x),
		"plain": plain{strided(x)}} {
		for to, dst := range map[string]*mat.VecDense{"empty": {}, "vector": mat.NewVecDense(len(y), nil),
			"column": strided(y)} {
			m.MulVecTo(dst, trans, v)
			closeAll(t, name+" to "+to, mat.Col(nil, 0, dst), y)
		}
	}
	if len(x) == len(y) {
		v := strided(x)
		m.MulVecTo(v, trans, v)
		closeAll(t, "in place", mat.Col(nil, 0, v), y)
	}
}

func TestDoNonZero(t *testing.T) {
	each(func(r *rand.Rand, rows, cols int) {
		m, a := random(r, rows, cols)
		checkVisits(t, m, a, cols)
		for _, uplo := range parts {
			s, a := randomSym(r, rows, uplo)
			checkVisits(t, s, a, rows)
		}
	})
}

// checkVisits compares the visits with the entries other than zero, in their order.
func checkVisits(t *testing.T, m interface {
	mat.NonZeroDoer
	mat.RowNonZeroDoer
	mat.ColNonZeroDoer
}, a [][]float64, cols int) {
	t.Helper()
	type entry struct {
		i, j int
		v    float64
	}
	var got []entry
	visit := func(i, j int, v float64) { got = append(got, entry{i, j, v}) }
	check := func(what string, want []entry) {
		t.Helper()
		if len(got) != len(want) {
			t.Fatalf("%s: %v, want %v", what, got, want)
		}
		for k := range got {
			if got[k] != want[k] {
				t.Fatalf("%s: %v, want %v", what, got, want)
			}
		}
		got = nil
	}
	var all []entry
	for j := range cols {
		var col []entry
		for i := range a {
			if a[i][j] != 0 {
				col = append(col, entry{i, j, a[i][j]})
			}
		}
		m.DoColNonZero(j, visit)
		check("column", col)
		all = append(all, col...)
	}
	m.DoNonZero(visit)
	check("all", all)
	for i := range a {
		var row []entry
		for j, v := range a[i] {
			if v != 0 {
				row = append(row, entry{i, j, v})
			}
		}
		m.DoRowNonZero(i, visit)
		check("row", row)
	}
}

func TestNoAllocations(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	m, _ := random(r, 20, 30)
	x, y := vector(r, 30), vector(r, 20)
	vx, vy := mat.NewVecDense(30, x), mat.NewVecDense(20, y)
	sum := 0.0
	visit := func(i, j int, v float64) { sum += v }
	for name, f := range map[string]func(){
		"At":          func() { sum += m.At(3, 4) + m.T().At(4, 3) },
		"Set":         func() { m.Set(m.RowIndex()[0], 0, 1) },
		"MulVec":      func() { m.MulVec(y, x) },
		"MulVecTrans": func() { m.MulVecTrans(x, y) },
		"MulVecTo":    func() { m.MulVecTo(vy, false, vx); m.MulVecTo(vx, true, vy) },
		"DoNonZero":   func() { m.DoNonZero(visit); m.DoRowNonZero(3, visit); m.DoColNonZero(3, visit) },
		"Norm":        func() { sum += m.Norm(1) + m.Norm(2) },
	} {
		if n := testing.AllocsPerRun(20, f); n != 0 {
			t.Errorf("CSC.%s allocates %v times", name, n)
		}
	}
	for _, uplo := range parts {
		s, _ := randomSym(r, 20, uplo)
		x, y := vector(r, 20), vector(r, 20)
		vx, vy := mat.NewVecDense(20, x), mat.NewVecDense(20, y)
		for name, f := range map[string]func(){
			"At":        func() { sum += s.At(3, 4) + s.At(4, 3) + s.T().At(4, 4) },
			"SetSym":    func() { s.SetSym(3, 3, 1) },
			"MulVec":    func() { s.MulVec(y, x) },
			"MulVecTo":  func() { s.MulVecTo(vy, false, vx) },
			"DoNonZero": func() { s.DoNonZero(visit); s.DoRowNonZero(3, visit); s.DoColNonZero(3, visit) },
			"Norm":      func() { sum += s.Norm(2) + s.Trace() },
		} {
			if n := testing.AllocsPerRun(20, f); n != 0 {
				t.Errorf("SymCSC.%s of %c allocates %v times", name, uplo, n)
			}
		}
	}
}

func BenchmarkMulVec(b *testing.B) {
	const n = 10000
	p := sparsity.Banded(n, n, 2, 2)
	x, y := make([]float64, n), make([]float64, n)
	m := sparse.NewCSC(p, nil)
	b.Run("csc", func(b *testing.B) {
		for b.Loop() {
			m.MulVec(y, x)
		}
	})
	b.Run("csc trans", func(b *testing.B) {
		for b.Loop() {
			m.MulVecTrans(y, x)
		}
	})
	for _, uplo := range parts {
		s, err := sparse.NewSymCSC(p.Triangle(uplo), uplo, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("sym "+map[blas.Uplo]string{blas.Upper: "upper", blas.Lower: "lower", blas.All: "all"}[uplo],
			func(b *testing.B) {
				for b.Loop() {
					s.MulVec(y, x)
				}
			})
	}
}
