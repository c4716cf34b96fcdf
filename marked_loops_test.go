package nabla_test

import (
	"math"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/source"
	"github.com/nabla-ad/nabla/internal/problems"
)

// wideMixture returns a mixture whose loop over points has more operations in each iteration than a search looks
// for, which are no loop by themselves, and parameters.
func wideMixture() (f *nabla.Func, x []float64) {
	const d, k, points = 32, 4, 20
	c := &problems.Mixture{D: d, K: k, Gamma: 1}
	for i := range points * d {
		c.Points = append(c.Points, math.Sin(float64(i)))
	}
	for i := range k * (1 + d + d*(d+1)/2) {
		x = append(x, 0.1*math.Cos(float64(i*i)))
	}
	return nabla.Bind(problems.LogPosteriorPlain, c), x
}

// TestMarkedLoops: a function with generated code tells its recording of its loops, so that the program has the
// statements of the body of the outer one.
func TestMarkedLoops(t *testing.T) {
	f, x := wideMixture()
	rec, err := nabla.Record(f, x)
	if err != nil {
		t.Fatal(err)
	}
	n, operations := len(rec.Program().Stmts), rec.Program().Operations()
	t.Logf("%d statements of %d operations", n, operations)
	if 10*n > operations {
		t.Errorf("%d statements of %d operations", n, operations)
	}
	want, err := nabla.Gradient(f, source.Reverse{}, x)
	if err != nil {
		t.Fatal(err)
	}
	prep, err := nabla.PrepareGradient(f, reversediff.Backend{Compile: true}, x)
	if err != nil {
		t.Fatal(err)
	}
	got, err := prep.Gradient(nil, x)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-11*(1+math.Abs(want[i])) {
			t.Fatalf("[%d] is %g, want %g", i, got[i], want[i])
		}
	}
}

// BenchmarkMarkedLoops prepares gradients of functions with generated code by recordings.
func BenchmarkMarkedLoops(b *testing.B) {
	prepare := func(name string, f *nabla.Func, x []float64) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := nabla.PrepareGradient(f, reversediff.Backend{Compile: true}, x); err != nil {
					b.Fatal(err)
				}
			}
			rec, err := nabla.Record(f, x)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(len(rec.Program().Stmts)), "statements")
		})
	}
	f, x := wideMixture()
	prepare("wide", f, x)
	for _, p := range []*problems.Problem{problems.T5(), problems.GMM(), problems.T7()} {
		prepare(p.Name, p.Bound, p.Select(0).X)
	}
}
