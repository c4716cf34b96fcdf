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

// gradients are the adjoints of problems that are there without the value, and with it.
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

// TestOnly compares gradients without the value with those that come with it.
func TestOnly(t *testing.T) {
	for name, f := range gradients() {
		got, want := make([]float64, 1000), make([]float64, 1000)
		f(got, false)
		f(want, true)
		if !slices.Equal(got, want) || want[3] == 0 {
			t.Errorf("%s: %v, want %v", name, got[:5], want[:5])
		}
	}
}

// TestOnlyIsTaken: a gradient without the value is that code, but where the value is
// compared with the function's.
func TestOnlyIsTaken(t *testing.T) {
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

// BenchmarkOnly is gradients without the value beside those with it, and beside the
// function.
func BenchmarkOnly(b *testing.B) {
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
