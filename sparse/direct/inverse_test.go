package direct_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparse/direct"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"
)

// TestInverseEntries compares the entries with the dense inverse of gonum, for the pattern of the matrix, for all
// entries, and for random ones, most of which are not in that of the factor.
func TestInverseEntries(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 31))
		n := 1 + r.IntN(40)
		uplo := []blas.Uplo{blas.Upper, blas.Lower, blas.All}[seed%3]
		p := diagonal(randomPattern(r, n, 1+r.IntN(3)))
		a := symmetric(r, p, uplo, 12)
		var want mat.Dense
		if err := want.Inverse(a); err != nil {
			t.Fatal(err)
		}
		var l direct.LDL
		if seed%2 == 1 {
			l.Ordering = direct.NaturalOrder
		}
		if err := l.Factorize(a); err != nil {
			t.Fatal(err)
		}
		for what, dst := range map[string]*sparse.SymCSC{
			"pattern": a.Clone(),
			"all":     sparse.FromSymmetric(mat.NewSymDense(n, ones(n*n)), uplo),
			"random":  symmetric(r, randomPattern(r, n, 2), uplo, 0),
		} {
			if err := l.InverseEntries(dst); err != nil {
				t.Fatal(err)
			}
			scale := mat.Norm(&want, math.Inf(1))
			dst.DoNonZero(func(i, j int, v float64) {
				if !(math.Abs(v-want.At(i, j)) <= 1e-13*scale*float64(n)) {
					t.Fatalf("seed %d, %s: entry (%d, %d) is %v, want %v", seed, what, i, j, v, want.At(i, j))
				}
			})
		}
	}
}

func ones(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = 1
	}
	return v
}

// TestInverseOfGrid compares the entries of a large system, with supernodes, with solutions; and log|A| changes by
// them.
func TestInverseOfGrid(t *testing.T) {
	const m = 60
	a := laplacian(m, blas.Upper, 0.1)
	n := a.SymmetricDim()
	var l direct.LDL
	if err := l.Factorize(a); err != nil {
		t.Fatal(err)
	}
	z := a.Clone()
	if err := l.InverseEntries(z); err != nil {
		t.Fatal(err)
	}
	x := make([]float64, n)
	for j := 0; j < n; j += 97 {
		clear(x)
		x[j] = 1
		if err := l.Solve(x, x); err != nil {
			t.Fatal(err)
		}
		z.DoColNonZero(j, func(i, j int, v float64) {
			if math.Abs(v-x[i]) > 1e-12*math.Abs(x[j]) {
				t.Fatalf("entry (%d, %d) is %v, want %v", i, j, v, x[i])
			}
		})
	}
	before, _ := l.LogDet()
	const i, j, h = 17, 18, 1e-5
	a.SetSym(i, j, a.At(i, j)+h)
	if err := l.Factorize(a); err != nil {
		t.Fatal(err)
	}
	after, _ := l.LogDet()
	if got, want := (after-before)/h, 2*z.At(i, j); math.Abs(got-want) > 1e-4*math.Abs(want) {
		t.Errorf("derivative of log|A| with respect to entry (%d, %d) is %v, want %v", i, j, got, want)
	}
	if n := testing.AllocsPerRun(3, func() {
		if err := l.InverseEntries(z); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestInverseEntriesErrors(t *testing.T) {
	var l direct.LDL
	a := laplacian(3, blas.Lower, 1)
	var none *direct.NotFactorizedError
	if err := l.InverseEntries(a); !errors.As(err, &none) {
		t.Errorf("without factorisation: %v", err)
	}
	if err := l.Factorize(a); err != nil {
		t.Fatal(err)
	}
	var shape *sparse.ShapeError
	if err := l.InverseEntries(laplacian(2, blas.Lower, 1)); !errors.As(err, &shape) {
		t.Errorf("another shape: %v", err)
	}
	if _, _, err := l.Analyze(a); err != nil {
		t.Fatal(err)
	}
	if err := l.InverseEntries(a); !errors.As(err, &none) {
		t.Errorf("after an analysis: %v", err)
	}
}

// TestAnalyze compares the costs with those of a factorisation: entries that are counted afterwards, and a dense
// matrix, whose multiplications are n(n+1)(n+2)/6 less the diagonal's.
func TestAnalyze(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 31))
	for range 20 {
		n := 1 + r.IntN(60)
		a := symmetric(r, diagonal(randomPattern(r, n, 2)), blas.Upper, 9)
		var l direct.LDL
		entries, operations, err := l.Analyze(a)
		if err != nil {
			t.Fatal(err)
		}
		if l.NNZ() != entries {
			t.Errorf("NNZ is %d after an analysis that found %d", l.NNZ(), entries)
		}
		if err := l.Factorize(a); err != nil {
			t.Fatal(err)
		}
		if l.NNZ() != entries || operations < float64(entries-n) {
			t.Errorf("n = %d: %d entries and %g multiplications, the factor has %d", n, entries, operations, l.NNZ())
		}
	}
	const n = 10
	dense := sparse.FromSymmetric(mat.NewSymDense(n, ones(n*n)), blas.Lower)
	var l direct.LDL
	entries, operations, err := l.Analyze(dense)
	if err != nil || entries != n*(n+1)/2 {
		t.Errorf("dense: %d entries, %v", entries, err)
	}
	want := 0.0 // column j: c entries are divided, and c(c+1)/2 products subtracted
	for c := range n {
		want += float64(c + c*(c+1)/2)
	}
	if operations != want {
		t.Errorf("dense: %g multiplications, want %g", operations, want)
	}
}

func BenchmarkInverseEntries(b *testing.B) {
	a := laplacian(200, blas.Upper, 0.1)
	var l direct.LDL
	if err := l.Factorize(a); err != nil {
		b.Fatal(err)
	}
	z := a.Clone()
	b.Run("factorisation", func(b *testing.B) {
		for b.Loop() {
			if err := l.Factorize(a); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("entries", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := l.InverseEntries(z); err != nil {
				b.Fatal(err)
			}
		}
	})
}
