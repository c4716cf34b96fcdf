package nabla_test

import (
	"fmt"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/source"
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
				timeHessian(b, squaredDifferences, nabla.AutoSparse{Dense: e}, x)
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
		b.Run(e.Name(), func(b *testing.B) { timeJacobian(b, q.Func, nabla.AutoSparse{Dense: e}, x) })
	}
}

// timeHessian times the Hessian of f, prepared with s.
func timeHessian[F nabla.ScalarFunc](b *testing.B, f F, s nabla.AutoSparse, x []float64) {
	p, err := nabla.PrepareHessian(f, s, x)
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
}

// timeJacobian times the Jacobian of f, prepared with s.
func timeJacobian[F nabla.VectorFunc](b *testing.B, f F, s nabla.AutoSparse, x []float64) {
	p, err := nabla.PrepareJacobian(f, s, x)
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
}

// BenchmarkDenseWorkers has dense Jacobians of 512×512 entries, of T4 on a grid of 16×16, and a dense Hessian of
// 500×500 on one goroutine and on two.
func BenchmarkDenseWorkers(b *testing.B) {
	q, h := problems.T4(16), problems.T3(500)
	dst, symmetric := new(mat.Dense), new(mat.SymDense)
	for _, workers := range []int{1, 2} {
		for _, e := range []nabla.Backend{source.Forward{}, source.Reverse{}, forwarddiff.Backend{},
			reversediff.Backend{}, reversediff.Backend{Compile: true}} {
			b.Run(fmt.Sprintf("Jacobian/%s/workers=%d", e.Name(), workers), func(b *testing.B) {
				p, err := nabla.PrepareJacobian(q.Bound, nabla.Policy{Backend: e, Workers: workers}, q.Select(0).X)
				if err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					if _, err := p.Dense(dst, q.Select(0).X); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		for _, e := range []nabla.Backend{source.Reverse{}, forwarddiff.Hyper{}, reversediff.Backend{Compile: true}} {
			b.Run(fmt.Sprintf("Hessian/%s/workers=%d", e.Name(), workers), func(b *testing.B) {
				p, err := nabla.PrepareHessian(problems.RosenbrockPlain, nabla.Policy{Backend: e, Workers: workers},
					h.Select(0).X)
				if err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					if _, err := p.Dense(symmetric, h.Select(0).X); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkWorkers has the Jacobian of T4 on a grid of 64×64 and the Hessian of listing2 on one goroutine and on two.
func BenchmarkWorkers(b *testing.B) {
	compiled := reversediff.Backend{Compile: true}
	q, l := problems.T4(64), problems.Listing2(100_000)
	for _, workers := range []int{1, 2} {
		name := func(task string, e nabla.Backend) string {
			return fmt.Sprintf("%s/%s/workers=%d", task, e.Name(), workers)
		}
		for _, e := range []nabla.Backend{source.Forward{}, source.Reverse{}, compiled, forwarddiff.Backend{}} {
			b.Run(name("T4", e), func(b *testing.B) {
				timeJacobian(b, q.Bound, nabla.AutoSparse{Dense: e, Workers: workers}, q.Select(0).X)
			})
		}
		for _, e := range []nabla.Backend{source.Forward{}, source.Reverse{},
			nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: compiled}} {
			b.Run(name("listing2", e), func(b *testing.B) {
				timeHessian(b, problems.DiffSquaresPlain, nabla.AutoSparse{Dense: e, Workers: workers}, l.Select(0).X)
			})
		}
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
