package nabla_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/internal/longtest"
)

// A loopTask is a function of long loops, of about the size n.
type loopTask struct {
	name string
	f    func(n int) func(x []nabla.Real) nabla.Real
	x    func(n int) []float64
}

func waves(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 0.3 * math.Sin(0.7*float64(i)+0.2)
	}
	return x
}

var loopTasks = []loopTask{
	{"mixture", func(n int) func(x []nabla.Real) nabla.Real {
		data := waves(2 * n)
		return func(x []nabla.Real) nabla.Real { // five means in the plane and their weights
			var sum nabla.Real
			terms := make([]nabla.Real, 5)
			for i := range n {
				for k := range terms {
					a := x[3*k].AddConst(-data[2*i])
					b := x[3*k+1].AddConst(-data[2*i+1])
					terms[k] = x[3*k+2].Sub(a.Sq().Add(b.Sq()))
				}
				sum = sum.Add(nabla.LogSumExp(terms...))
			}
			return sum
		}
	}, func(int) []float64 { return waves(15) }},
	{"network", func(n int) func(x []nabla.Real) nabla.Real {
		rows := n / 16
		data := waves(16 * rows)
		return func(x []nabla.Real) nabla.Real { // 16 inputs, 20 hidden units, one output
			var sum nabla.Real
			for r := range rows {
				var out nabla.Real
				for u := range 20 {
					w := x[17*u : 17*u+17]
					h := w[16]
					for j := range 16 {
						h = h.Add(w[j].Scale(data[16*r+j]))
					}
					out = out.Add(nabla.Tanh(h).Mul(x[340+u]))
				}
				sum = sum.Add(out.AddConst(-1).Sq())
			}
			return sum
		}
	}, func(int) []float64 { return waves(360) }},
	{"heat", func(n int) func(x []nabla.Real) nabla.Real {
		return func(x []nabla.Real) nabla.Real { // ten steps of a reaction with diffusion on a ring
			u, next := slices.Clone(x), make([]nabla.Real, n)
			for range 10 {
				for i := range u {
					west, east := u[(i+n-1)%n], u[(i+1)%n]
					flow := west.Add(east).Sub(u[i].Scale(2)).Scale(0.1)
					next[i] = u[i].Add(flow).Add(u[i].Sub(u[i].Mul(u[i].Sq())).Scale(0.01))
				}
				u, next = next, u
			}
			return nabla.Dot(u, u)
		}
	}, waves},
}

// TestRecordingWorkers: gradients of recordings have the same bits with any number of workers.
func TestRecordingWorkers(t *testing.T) {

	n := longtest.Cases(0, 20000, 20000, 40000)
	for _, task := range loopTasks {
		t.Run(task.name, func(t *testing.T) {
			x := task.x(n)
			prepare := func(workers int) *nabla.GradientPrep {
				prep, err := nabla.PrepareGradient(task.f(n), nabla.Policy{Backend: reversediff.Backend{Compile: true},
					FixedCaptures: true, Workers: workers}, x)
				if err != nil {
					t.Fatal(err)
				}
				return prep
			}
			one, several := prepare(1), prepare(3)
			for range 5 {
				x[0] += 0.01
				y, g, err := one.ValueAndGradient(nil, x)
				y2, g2, err2 := several.ValueAndGradient(nil, x)
				if err != nil || err2 != nil || y != y2 || !slices.Equal(g, g2) {
					t.Errorf("value %v, error %v with three workers, want %v and %v, or the gradient differs", y2, err2,
						y, err)
				}
			}
		})
	}
}

func BenchmarkRecordingWorkers(b *testing.B) {
	for _, task := range loopTasks {
		for _, n := range []int{5000, 20000, 200000} {
			for _, workers := range []int{1, 2} {
				b.Run(fmt.Sprintf("%s/n=%d/workers=%d", task.name, n, workers), func(b *testing.B) {
					x := task.x(n)
					prep, err := nabla.PrepareGradient(task.f(n), nabla.Policy{
						Backend:       reversediff.Backend{Compile: true, Limit: 1 << 26},
						FixedCaptures: true, NoStaleCheck: true, Workers: workers}, x)
					if err != nil {
						b.Fatal(err)
					}
					dst := make([]float64, len(x))
					for b.Loop() {
						if _, _, err := prep.ValueAndGradient(dst, x); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
