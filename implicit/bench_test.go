package implicit_test

import (
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/implicit"
	"github.com/nabla-ad/nabla/internal/timing/timingtest"
)

// BenchmarkRoot is the time of a gradient through an implicit function, in relation to one through ten steps of the
// solver.
func BenchmarkRoot(b *testing.B) {
	p := []float64{1, 0.3}
	f, err := implicit.Root(kepler, nil, 1, p, solveKepler, &implicit.Settings{Start: []float64{1}})
	if err != nil {
		b.Fatal(err)
	}
	anomaly := f.Real()
	one, err := nabla.PrepareGradient(func(p []nabla.Real) nabla.Real { return anomaly(p)[0] }, tracker.Backend{}, p)
	if err != nil {
		b.Fatal(err)
	}
	all, err := nabla.PrepareGradient(unrolledKepler, tracker.Backend{}, p)
	if err != nil {
		b.Fatal(err)
	}
	g := make([]float64, 2)
	timingtest.Ratio(b, func() {
		if _, err := one.Gradient(g, p); err != nil {
			b.Fatal(err)
		}
	}, func() {
		if _, err := all.Gradient(g, p); err != nil {
			b.Fatal(err)
		}
	})
}
