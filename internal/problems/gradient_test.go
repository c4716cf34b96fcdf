package problems

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/source"
	"github.com/nabla-ad/nabla/internal/timing/timingtest"
)

// gradients returns the adjoints of problems, with and without the value.
func gradients() map[string]func(xbar []float64, value bool) {
	r := rand.New(rand.NewPCG(7, 8))
	x := make([]float64, 1000)
	for i := range x {
		x[i] = 2*r.Float64() - 1
	}
	var work AdjointWork
	of := func(only func(x, xbar []float64, seed float64, ws *AdjointWork),
		whole func(x, xbar []float64, seed float64, ws *AdjointWork) float64) func(xbar []float64, value bool) {
		return func(xbar []float64, value bool) {
			clear(xbar)
			if value {
				sink = whole(x, xbar, 1, &work)
			} else {
				only(x, xbar, 1, &work)
			}
		}
	}
	return map[string]func(xbar []float64, value bool){
		"T1": of(SumSquaresPlainAdjointOnly, SumSquaresPlainAdjoint),
		"T2": of(DiffSquaresPlainAdjointOnly, DiffSquaresPlainAdjoint),
		"T3": of(RosenbrockPlainAdjointOnly, RosenbrockPlainAdjoint),
	}
}

// TestGradientBuild compares gradients of code that does not compute the value with those of code that does.
func TestGradientBuild(t *testing.T) {
	for name, f := range gradients() {
		got, want := make([]float64, 1000), make([]float64, 1000)
		f(got, false)
		f(want, true)
		if !slices.Equal(got, want) || want[3] == 0 {
			t.Errorf("%s: %v, want %v", name, got[:5], want[:5])
		}
	}
}

// TestGradientBuildIsUsed requires that a gradient without value is computed by that code, except in calls that compare
// the value with the function's.
func TestGradientBuildIsUsed(t *testing.T) {
	x := []float64{1, -2, 3}
	p, err := nabla.PrepareGradient(SumSquaresPlain, source.Reverse{}, x)
	if err != nil {
		t.Fatal(err)
	}
	for call := range 6 {
		got, err := p.Gradient(nil, x)
		if err != nil || !slices.Equal(got, []float64{2, -4, 6}) {
			t.Errorf("call %d: %v, %v", call, got, err)
		}
	}
}

// BenchmarkGradientBuild measures gradients without and with the value, beside the function.
func BenchmarkGradientBuild(b *testing.B) {
	xbar := make([]float64, 1000)
	x := slices.Clone(xbar)
	all := gradients()
	for _, name := range []string{"T1", "T2", "T3"} {
		f := all[name]
		b.Run(name, func(b *testing.B) {
			timingtest.Ratio(b, func() { f(xbar, false) }, func() { f(xbar, true) })
		})
	}
	for _, value := range []bool{false, true} {
		b.Run(fmt.Sprint("T1/plain/value=", value), func(b *testing.B) {
			timingtest.Ratio(b, func() { all["T1"](xbar, value) }, func() { sink = SumSquaresPlain(x) })
		})
	}
}
