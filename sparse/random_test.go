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

var parts = []blas.Uplo{blas.Upper, blas.Lower, blas.All}

// random returns a matrix with some stored zeros, and the same as rows of numbers.
func random(r *rand.Rand, rows, cols int) (*sparse.CSC, [][]float64) {
	var i, j []int
	if rows*cols > 0 {
		for range r.IntN(1 + rows*cols) {
			i, j = append(i, r.IntN(rows)), append(j, r.IntN(cols))
		}
	}
	p, err := sparsity.FromEntries(rows, cols, i, j)
	if err != nil {
		panic(err)
	}
	m := sparse.NewCSC(p, nil)
	want := make([][]float64, rows)
	for i := range want {
		want[i] = make([]float64, cols)
	}
	for j := range cols {
		for _, i := range p.Col(j) {
			if r.IntN(5) > 0 {
				want[i][j] = r.NormFloat64()
			}
			m.Set(i, j, want[i][j])
		}
	}
	return m, want
}

// randomSym returns a symmetric matrix with dominant diagonal that stores a part.
func randomSym(r *rand.Rand, n int, uplo blas.Uplo) (*sparse.SymCSC, [][]float64) {
	m, want := random(r, n, n)
	p, err := m.Pattern().Union(m.Pattern().Transpose())
	if err == nil {
		p, err = p.Union(sparsity.Banded(n, n, 0, 0))
	}
	if err != nil {
		panic(err)
	}
	s, err := sparse.NewSymCSC(p.Triangle(uplo), uplo, nil)
	if err != nil {
		panic(err)
	}
	for i := range n {
		for j := range i {
			v := want[i][j]
			want[j][i] = v
			if p.Has(i, j) {
				s.SetSym(i, j, v)
			}
		}
		want[i][i] = float64(3 * n)
		s.SetSym(i, i, want[i][i])
	}
	return s, want
}

// dense returns rows of numbers as a matrix of gonum, which needs some.
func dense(rows [][]float64) *mat.Dense {
	d := mat.NewDense(len(rows), len(rows[0]), nil)
	for i, row := range rows {
		d.SetRow(i, row)
	}
	return d
}

func vector(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return x
}

// near compares results of at most a few dozen operations of numbers near 1.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-13*(1+math.Abs(b)) }

func closeAll(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	for i := range got {
		if !near(got[i], want[i]) {
			t.Fatalf("%s: %v, want %v", what, got, want)
		}
	}
}

// each runs f for random shapes, those without entries among them.
func each(f func(r *rand.Rand, rows, cols int)) {
	for rows := range 7 {
		for cols := range 7 {
			for k := range 4 {
				f(rand.New(rand.NewPCG(uint64(rows*100+cols), uint64(k))), rows, cols)
			}
		}
	}
}

// panics returns the value that f panics with.
func panics(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}
