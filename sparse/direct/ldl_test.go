package direct_test

import (
	"math/rand/v2"
	"testing"

	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/sparse/direct"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"
)

func TestLDLAgainstDense(t *testing.T) {
	for seed := range uint64(longtest.Cases(0, 3, 30, 400)) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := 1 + r.IntN(60)
		if seed < 2 {
			n = 200
		}
		for _, order := range []direct.Ordering{direct.AutoOrder, direct.NaturalOrder} {
			l := direct.LDL{Ordering: order}
			p := randomPattern(r, n, 1+r.IntN(3))
			for _, uplo := range parts {
				a := symmetric(r, p, uplo, 10)
				if err := l.Factorize(a); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				b, x := vector(r, n), make([]float64, n)
				if err := l.Solve(x, b); err != nil {
					t.Fatal(err)
				}
				closeTo(t, "solution", x, gonumSolution(t, a, false, b), 1e-9)
				var lu mat.LU
				lu.Factorize(a)
				det, sign := l.LogDet()
				wantDet, wantSign := lu.LogDet()
				if sign != wantSign {
					t.Fatalf("sign %g, want %g", sign, wantSign)
				}
				closeTo(t, "log det", []float64{det}, []float64{wantDet}, 1e-9)
				var eigen mat.EigenSym
				if eigen.Factorize(a.SymDense(nil), false) {
					pos, neg := 0, 0
					for _, v := range eigen.Values(nil) {
						if v > 0 {
							pos++
						} else {
							neg++
						}
					}
					if p, m, z := l.Inertia(); p != pos || m != neg || z != 0 {
						t.Fatalf("inertia %d, %d, %d, want %d, %d, 0", p, m, z, pos, neg)
					}
				}
			}
		}
	}
}

func BenchmarkLDL(b *testing.B) {
	a := laplacian(256, blas.Upper, 0)
	b.Run("analysis", func(b *testing.B) {
		for b.Loop() {
			var l direct.LDL
			if err := l.Factorize(a); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("numeric", func(b *testing.B) {
		var l direct.LDL
		for b.Loop() {
			if err := l.Factorize(a); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(l.NNZ()), "entries")
	})
	b.Run("solve", func(b *testing.B) {
		var l direct.LDL
		if err := l.Factorize(a); err != nil {
			b.Fatal(err)
		}
		x := make([]float64, 256*256)
		for i := range x {
			x[i] = 1
		}
		for b.Loop() {
			if err := l.Solve(x, x); err != nil {
				b.Fatal(err)
			}
		}
	})
}
