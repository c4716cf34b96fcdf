package iterative_test

import (
	"fmt"
	"testing"

	"github.com/nabla-ad/nabla/sparse/iterative"
	"gonum.org/v1/gonum/blas"
)

// BenchmarkPoisson solves -Δu = 1 on a grid of m×m points to a relative residual of 1e-8.
func BenchmarkPoisson(b *testing.B) {
	for _, m := range []int{64, 256} {
		a := sym(b, grid(m, 0, 0), blas.Upper)
		n := m * m
		x, rhs := make([]float64, n), make([]float64, n)
		for i := range rhs {
			rhs[i] = 1
		}
		b.Run(fmt.Sprintf("m=%d/IC0.Factorize", m), func(b *testing.B) {
			var ic iterative.IC0
			for b.Loop() {
				if err := ic.Factorize(a); err != nil {
					b.Fatal(err)
				}
			}
		})
		for _, c := range methods[:2] {
			for _, p := range []string{"none", "IC0"} {
				b.Run(fmt.Sprintf("m=%d/%s/%s", m, c.name, p), func(b *testing.B) {
					var s iterative.Settings
					if p == "IC0" {
						var ic iterative.IC0
						if err := ic.Factorize(a); err != nil {
							b.Fatal(err)
						}
						s.Preconditioner = &ic
					}
					solver := c.make(s)
					b.ReportAllocs()
					for b.Loop() {
						clear(x)
						result, err := solver.Solve(b.Context(), x, a, rhs)
						if err != nil {
							b.Fatal(err)
						}
						b.ReportMetric(float64(result.Iterations), "iterations")
					}
				})
			}
		}
		convection := grid(m, 0.5, 0)
		for _, c := range methods[2:] {
			b.Run(fmt.Sprintf("m=%d/%s/ILU0", m, c.name), func(b *testing.B) {
				var ilu iterative.ILU0
				if err := ilu.Factorize(convection); err != nil {
					b.Fatal(err)
				}
				solver := c.make(iterative.Settings{Preconditioner: &ilu})
				b.ReportAllocs()
				for b.Loop() {
					clear(x)
					result, err := solver.Solve(b.Context(), x, convection, rhs)
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(result.Iterations), "iterations")
				}
			})
		}
	}
}
