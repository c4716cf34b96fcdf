package sparsity_test

import (
	"fmt"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/sparsity"
)

// differencesSquared is Σ (x[i+1]-x[i])²: its partial sums depend on O(n) inputs each.
func differencesSquared(x []nabla.Real) nabla.Real {
	var s nabla.Real
	for i := range len(x) - 1 {
		s = s.Add(x[i+1].Sub(x[i]).Sq())
	}
	return s
}

// recurrent is a dense network that feeds back its state, one number per step.
func recurrent(steps int) func(x []nabla.Real) nabla.Real {
	return func(x []nabla.Real) nabla.Real {
		n := 16
		state := make([]nabla.Real, n)
		next := make([]nabla.Real, n)
		for range steps {
			for i := range n {
				next[i] = nabla.Tanh(nabla.Dot(x[i*n:(i+1)*n], state).Add(x[n*n+i]))
			}
			state, next = next, state
		}
		return nabla.Dot(state, state)
	}
}

// prefix is y[i] = x[0] + … + x[i].
func prefix(y, x []nabla.Real) {
	var s nabla.Real
	for i, v := range x {
		s = s.Add(v)
		y[i] = s
	}
}

// prefixTanh is a chain of n nested functions.
func prefixTanh(x []nabla.Real) nabla.Real {
	var s nabla.Real
	for _, v := range x {
		s = nabla.Tanh(s.Add(v))
	}
	return s
}

func BenchmarkHessianOfDifferences(b *testing.B) {
	for _, d := range all() {
		for n := 1000; n <= 1_000_000; n *= 10 {
			if n == 1_000_000 && d.Name() == "recorded" {
				continue
			}
			b.Run(fmt.Sprintf("%s/n=%d", d.Name(), n), func(b *testing.B) {
				benchmarkHessian(b, differencesSquared, d, n, 3*n-2)
			})
		}
	}
}

func BenchmarkJacobianOfBrusselator(b *testing.B) {
	for _, d := range all() {
		for _, n := range []int{22, 32, 71, 224, 707} {
			size := 2 * n * n
			if size > 500_000 && d.Name() == "recorded" {
				continue
			}
			b.Run(fmt.Sprintf("%s/n=%d", d.Name(), size), func(b *testing.B) {
				benchmarkJacobian(b, brusselator(n), d, size, 6*size)
			})
		}
	}
}

func BenchmarkDense(b *testing.B) {
	d := sparsity.Global{}
	b.Run("recurrent", func(b *testing.B) { benchmarkHessian(b, recurrent(400), d, 272, 272*272) })
	for _, n := range []int{1000, 4000} {
		b.Run(fmt.Sprintf("prefix sums/n=%d", n), func(b *testing.B) {
			benchmarkJacobian(b, nabla.InPlace(n, prefix), d, n, n*(n+1)/2)
		})
		b.Run(fmt.Sprintf("nested tanh/n=%d", n), func(b *testing.B) { benchmarkHessian(b, prefixTanh, d, n, n*n) })
	}
}

// burgers is the energy after some steps of a difference scheme.
func burgers(steps int) func(x []nabla.Real) nabla.Real {
	return func(x []nabla.Real) nabla.Real {
		u, next := append([]nabla.Real(nil), x...), make([]nabla.Real, len(x))
		for range steps {
			copy(next, u)
			for i := 1; i < len(x)-1; i++ {
				next[i] = u[i].Add(u[i].Mul(u[i+1].Sub(u[i-1])).Scale(1e-3))
			}
			u, next = next, u
		}
		var e nabla.Real
		for _, v := range u {
			e = e.Add(v.Sq())
		}
		return e
	}
}

func BenchmarkSteps(b *testing.B) {
	const steps = 20
	for _, n := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			benchmarkHessian(b, burgers(steps), sparsity.Global{}, n, n*(4*steps+1)-2*steps*(2*steps+1))
		})
	}
}

func benchmarkHessian(b *testing.B, f func(x []nabla.Real) nabla.Real, d sparsity.Detector, n, nnz int) {
	x := point(n)
	b.ReportAllocs()
	for b.Loop() {
		p, err := nabla.HessianSparsity(f, d, x)
		if err != nil || p.NNZ() != nnz {
			b.Fatalf("%d entries, want %d; %v", p.NNZ(), nnz, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/input")
}

func benchmarkJacobian(b *testing.B, f *nabla.Func, d sparsity.Detector, n, nnz int) {
	x := point(n)
	b.ReportAllocs()
	for b.Loop() {
		p, err := nabla.JacobianSparsity(f, d, x)
		if err != nil || p.NNZ() != nnz {
			b.Fatalf("%d entries, want %d; %v", p.NNZ(), nnz, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/input")
}

func point(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 1 + float64(i%7)/8
	}
	return x
}
