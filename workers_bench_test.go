package nabla_test

import (
	"fmt"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/source"
	"github.com/nabla-ad/nabla/internal/problems"
	"github.com/nabla-ad/nabla/sparse"
)

// BenchmarkWorkers has the Jacobian of T4 on a grid of 64×64 and the Hessian of listing2 on one goroutine and on two.
func BenchmarkWorkers(b *testing.B) {
	compiled := reversediff.Backend{Compile: true}
	engines := []nabla.Backend{source.Forward{}, source.Reverse{}, compiled, forwarddiff.Backend{}}
	q := problems.T4(64)
	x := q.Select(0).X
	for _, e := range engines {
		for _, w := range []int{1, 2} {
			b.Run(fmt.Sprintf("T4/%s/workers=%d", e.Name(), w), func(b *testing.B) {
				p, err := nabla.PrepareJacobian(q.Bound, nabla.AutoSparse{Dense: e, Workers: w}, x)
				if err != nil {
					b.Fatal(err)
				}
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
	l := problems.Listing2(100_000)
	engines[2] = nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: compiled}
	xl := l.Select(0).X
	for _, e := range engines {
		for _, w := range []int{1, 2} {
			b.Run(fmt.Sprintf("listing2/%s/workers=%d", e.Name(), w), func(b *testing.B) {
				p, err := nabla.PrepareHessian(problems.DiffSquaresPlain, nabla.AutoSparse{Dense: e, Workers: w}, xl)
				if err != nil {
					b.Skip(err)
				}
				var j sparse.SymCSC
				p.Sparse(&j, xl)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := p.Sparse(&j, xl); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
