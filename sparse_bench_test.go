package nabla_test

import (
	"fmt"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/internal/problems"
	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparsity"
)

func plainDifferences(x []float64) float64 {
	s := 0.0
	for i := 1; i < len(x); i++ {
		d := x[i] - x[i-1]
		s += d * d
	}
	return s
}

// BenchmarkSparseHessian is the Hessian of the sum of squared differences.
func BenchmarkSparseHessian(b *testing.B) {
	so := nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: reversediff.Backend{Compile: true}}
	for _, n := range []int{1000, 10_000, 100_000, 1_000_000} {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(i)
		}
		b.Run(fmt.Sprintf("n=%d/plain", n), func(b *testing.B) {
			for b.Loop() {
				plainDifferences(x)
			}
		})
		for _, e := range []nabla.Backend{so, reversediff.Backend{Compile: true}, forwarddiff.Backend{}} {
			if n > 100_000 && testing.Short() {
				continue
			}
			b.Run(fmt.Sprintf("n=%d/%s", n, e.Name()), func(b *testing.B) {
				p, err := nabla.PrepareHessian(squaredDifferences, nabla.AutoSparse{Dense: e}, x)
				if err != nil {
					b.Fatal(err)
				}
				var h sparse.SymCSC
				p.Sparse(&h, x)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := p.Sparse(&h, x); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkSparseJacobian is the Jacobian of the Brusselator on a grid of 32×32.
func BenchmarkSparseJacobian(b *testing.B) {
	q := problems.T4(32)
	x := q.Select(0).X
	y := make([]float64, q.M)
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			q.Eval(y, x)
		}
	})
	for _, e := range []nabla.Backend{forwarddiff.Backend{}, reversediff.Backend{Compile: true}} {
		b.Run(e.Name(), func(b *testing.B) {
			p, err := nabla.PrepareJacobian(q.Func, nabla.AutoSparse{Dense: e}, x)
			if err != nil {
				b.Fatal(err)
			}
			b.Log(p.Plan())
			var j sparse.CSC
			p.Sparse(&j, x)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Sparse(&j, x); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSparsePlan finds and colours the pattern of the Hessian of a chain.
func BenchmarkSparsePlan(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			x := make([]float64, n)
			for b.Loop() {
				p, err := nabla.HessianSparsity(squaredDifferences, sparsity.Global{}, x)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := (coloring.Greedy{}).Color(p, coloring.Problem{Structure: coloring.Symmetric}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
