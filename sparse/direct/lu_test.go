package direct_test

import (
	"math/rand/v2"
	"testing"

	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparse/direct"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"
)

var orderings = []direct.Ordering{direct.AutoOrder, direct.AMDOrder, direct.ColAMDOrder, direct.NaturalOrder}

// TestLUAgainstDense compares solutions, determinants and condition numbers with gonum's dense LU, for the first
// factorisation, another one of the same pattern with the same pivots, and another one with new pivots.
func TestLUAgainstDense(t *testing.T) {
	for seed := range uint64(longtest.Cases(0, 3, 20, 400)) {
		r := rand.New(rand.NewPCG(seed, 2))
		n := 1 + r.IntN(60)
		if seed < 2 {
			n = 200
		}
		p := diagonal(randomPattern(r, n, 1+r.IntN(3)))
		for _, order := range orderings {
			lu := direct.LU{Ordering: order, Threshold: []float64{0, 1}[r.IntN(2)]}
			for step := range 3 {
				a := general(r, p)
				factorize := lu.Factorize
				if step == 1 {
					factorize = lu.Refactorize
				}
				if err := factorize(a); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				var dense mat.LU
				dense.Factorize(a)
				// Errors of both solutions are proportional to the condition number.
				tol := 1e-15 * float64(n) * (100 + dense.Cond())
				b, x := vector(r, n), make([]float64, n)
				for _, trans := range []bool{false, true} {
					solve := lu.Solve
					if trans {
						solve = lu.SolveTrans
					}
					if err := solve(x, b); err != nil {
						t.Fatal(err)
					}
					closeTo(t, "solution", x, gonumSolution(t, a, trans, b), tol)
					if backward, err := lu.SolveRefined(x, trans, a, b); err != nil || backward > 1e-14 {
						t.Fatalf("refined: %.3g, %v", backward, err)
					}
				}
				det, sign := lu.LogDet()
				wantDet, wantSign := dense.LogDet()
				if sign != wantSign {
					t.Fatalf("sign %g, want %g", sign, wantSign)
				}
				closeTo(t, "log det", []float64{det}, []float64{wantDet}, tol)
				var inverse mat.Dense
				if err := inverse.Inverse(a); err != nil {
					t.Fatal(err)
				}
				if got, want := lu.Cond(), mat.Norm(a, 1)*mat.Norm(&inverse, 1); got > 1.01*want || got < want/10 {
					t.Fatalf("condition %.3g, want %.3g", got, want)
				}
			}
		}
	}
}

func BenchmarkLU(b *testing.B) {
	s := laplacian(256, blas.Upper, 0)
	a := s.CSC()
	b.Run("analysis", func(b *testing.B) {
		for b.Loop() {
			var l direct.LU
			if err := l.Factorize(a); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, again := range []bool{false, true} {
		name := "Factorize"
		if again {
			name = "Refactorize"
		}
		b.Run(name, func(b *testing.B) {
			var l direct.LU
			if err := l.Factorize(a); err != nil {
				b.Fatal(err)
			}
			factorize := map[bool]func(*sparse.CSC) error{false: l.Factorize, true: l.Refactorize}[again]
			for b.Loop() {
				if err := factorize(a); err != nil {
					b.Fatal(err)
				}
			}
			lower, upper := l.NNZ()
			b.ReportMetric(float64(lower+upper), "entries")
		})
	}
}
