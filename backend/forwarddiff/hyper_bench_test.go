package forwarddiff_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/internal/problems"
	"github.com/nabla-ad/nabla/internal/timing"
)

// ackley is Ackley's function, whose inputs meet in two sums.
func ackley(x []nabla.Real) nabla.Real {
	var squares, waves nabla.Real
	for _, v := range x {
		squares = squares.Add(v.Sq())
		waves = waves.Add(nabla.Cos(v.Scale(6.283185307179586)))
	}
	c := 1 / float64(len(x))
	return nabla.Exp(squares.Scale(c).Sqrt().Scale(-0.2)).Scale(-20).Sub(nabla.Exp(waves.Scale(c)))
}

// charges is the energy of charges on a line: a term for each pair of inputs.
func charges(x []nabla.Real) nabla.Real {
	var sum nabla.Real
	for i, a := range x {
		for _, b := range x[:i] {
			d := a.Sub(b)
			sum = sum.Add(nabla.Exp(d.Sq().Neg())).Add(d.Sq().AddConst(0.1).Sqrt().Inv())
		}
	}
	return sum
}

// network is a perceptron with one layer of eight units, in which every unit depends on every input.
func network(x []nabla.Real) nabla.Real {
	var sum nabla.Real
	for k := range 8 {
		var a nabla.Real
		for i, v := range x {
			a = a.Add(v.Scale(0.1 * float64((k*7+i*3)%11-5)))
		}
		sum = sum.Add(nabla.Tanh(a).Scale(0.3 + float64(k)/10))
	}
	return sum.Sq()
}

// mixed is a function whose intermediate values all depend on all inputs, the worst case.
func mixed(x []nabla.Real) nabla.Real {
	p := nabla.Const(1)
	for _, v := range x {
		p = p.Mul(nabla.Sin(v).AddConst(1.5))
	}
	for range 5 * len(x) {
		p = nabla.Sin(p.Scale(1.1).AddConst(0.2))
	}
	return p
}

func hyperCases() []struct {
	name  string
	f     func(x []nabla.Real) nabla.Real
	sizes []int
} {
	all := []int{2, 3, 6, 12}
	return []struct {
		name  string
		f     func(x []nabla.Real) nabla.Real
		sizes []int
	}{
		{"rosenbrock", problems.Rosenbrock, all}, {"ackley", ackley, all}, {"charges", charges, all},
		{"network", network, all}, {"lorenz", problems.Lorenz, []int{6}}, {"mixed", mixed, all},
	}
}

// point returns a point that is not special for the functions of hyperCases.
func point(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 0.3 + 0.17*float64(i)
	}
	return x
}

// BenchmarkHyper reports the time of a Hessian by hyper-dual numbers in units of that by nested duals, by compiled
// forward over forward, and by compiled forward over reverse, from samples taken in turns: ratios of the shortest
// samples, and medians of the ratios. Those marked once are of calls with their preparation.
func BenchmarkHyper(b *testing.B) {
	for _, c := range hyperCases() {
		for _, n := range c.sizes {
			b.Run(fmt.Sprintf("%s/n=%d", c.name, n), func(b *testing.B) { hyperRatios(b, c.f, point(n)) })
		}
	}
}

// comparators are what hyper-dual numbers are compared with.
var comparators = []struct {
	name string
	nabla.Backend
}{
	{"nested", nestedDuals{}},
	{"forward", compiledForward{}},
	{"reverse", nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: reversediff.Backend{Compile: true}}},
}

func hyperRatios(b *testing.B, f func(x []nabla.Real) nabla.Real, x []float64) {
	var calls, once []func()
	add := func(e nabla.Backend) {
		p, err := nabla.PrepareHessian(f, e, x)
		if err != nil {
			b.Fatal(err)
		}
		dst := mat.NewSymDense(len(x), nil)
		calls = append(calls, func() {
			if _, err := p.Hessian(dst, x); err != nil {
				b.Fatal(err)
			}
		})
		once = append(once, func() {
			if _, err := nabla.Hessian(f, e, x); err != nil {
				b.Fatal(err)
			}
		})
	}
	add(forwarddiff.Hyper{})
	for _, c := range comparators {
		add(c.Backend)
	}
	k := len(calls)
	samples := inTurns(b, append(calls, once...))
	for i, c := range comparators {
		var ratios []float64
		for j, t := range samples[i+1] {
			ratios = append(ratios, samples[0][j]/t)
		}
		b.ReportMetric(slices.Min(samples[0])/slices.Min(samples[i+1]), "hyper/"+c.name)
		b.ReportMetric(timing.Median(ratios), "hyper/"+c.name+"-median")
		b.ReportMetric(slices.Min(samples[k])/slices.Min(samples[k+i+1]), "hyper/"+c.name+"-once")
	}
	b.ReportMetric(slices.Min(samples[0]), "ns/hyper")
	b.ReportMetric(0, "ns/op")
}

// inTurns returns samples of the time of a call in nanoseconds, as many as the benchmark has iterations.
func inTurns(b *testing.B, calls []func()) [][]float64 {
	samples, n := make([][]float64, len(calls)), make([]int, len(calls))
	mean := func(i int) float64 {
		start := time.Now()
		for range n[i] {
			calls[i]()
		}
		return float64(time.Since(start)) / float64(n[i])
	}
	for i := range calls {
		for n[i] = 1; mean(i)*float64(n[i]) < 50e3; {
			n[i] *= 2
		}
	}
	for b.Loop() {
		for i := range calls {
			samples[i] = append(samples[i], mean(i))
		}
	}
	return samples
}

// BenchmarkHyperChunk reports the time of a Hessian for chunks of several sizes, in units of the default size, from
// samples taken in turns.
func BenchmarkHyperChunk(b *testing.B) {
	for _, c := range hyperCases() {
		if c.name == "lorenz" {
			continue
		}
		for _, n := range []int{8, 16, 24, 48} {
			b.Run(fmt.Sprintf("%s/n=%d", c.name, n), func(b *testing.B) { chunkRatios(b, c.f, point(n)) })
		}
	}
}

func chunkRatios(b *testing.B, f func(x []nabla.Real) nabla.Real, x []float64) {
	sizes := slices.DeleteFunc([]int{0, 4, 6, 8, 12, 16, 24, 48}, func(k int) bool { return k > len(x) })
	var calls []func()
	for _, k := range sizes {
		p, err := nabla.PrepareHessian(f, forwarddiff.Hyper{Chunk: k}, x)
		if err != nil {
			b.Fatal(err)
		}
		dst := mat.NewSymDense(len(x), nil)
		calls = append(calls, func() {
			if _, err := p.Hessian(dst, x); err != nil {
				b.Fatal(err)
			}
		})
	}
	samples := inTurns(b, calls)
	for i, k := range sizes[1:] {
		b.ReportMetric(slices.Min(samples[i+1])/slices.Min(samples[0]), fmt.Sprintf("chunk=%d", k))
	}
	b.ReportMetric(0, "ns/op")
}
