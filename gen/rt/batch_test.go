package rt_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/nabla-ad/nabla/gen/rt"
)

// TestBatches compares the functions for slices with those of package math, also in place and for special numbers.
func TestBatches(t *testing.T) {
	for _, f := range []struct {
		name  string
		batch func(dst, src []float64)
		one   func(float64) float64
	}{
		{"Exp", rt.Exp, math.Exp}, {"Expm1", rt.Expm1, math.Expm1}, {"Log", rt.Log, math.Log},
		{"Log1p", rt.Log1p, math.Log1p}, {"Sin", rt.Sin, math.Sin}, {"Cos", rt.Cos, math.Cos},
		{"Tanh", rt.Tanh, math.Tanh},
		{"Pow", func(dst, src []float64) { rt.Pow(dst, src, constant(len(src), 1.5)) },
			func(x float64) float64 { return math.Pow(x, 1.5) }},
	} {
		for n := range 20 {
			src := make([]float64, n)
			for i := range src {
				src[i] = float64(i*i)*0.37 - 4*float64(i%5)
			}
			if n > 5 {
				src[5], src[n/2] = math.Inf(1-2*(n%2)), math.Copysign(0, -1)
			}
			want := make([]float64, n)
			for i, x := range src {
				want[i] = f.one(x)
			}
			dst := make([]float64, n)
			f.batch(dst, src)
			f.batch(src, src)
			for i := range want {
				for _, got := range []float64{dst[i], src[i]} {
					if math.Float64bits(got) != math.Float64bits(want[i]) && !(got != got && want[i] != want[i]) {
						t.Errorf("%s, element %d of %d: got %v, want %v", f.name, i, n, got, want[i])
					}
				}
			}
		}
	}
}

func constant(n int, x float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = x
	}
	return out
}

func ExampleExp() {
	x := []float64{0, 1, 2}
	y := make([]float64, len(x))
	rt.Exp(y, x)
	fmt.Println(y[1] == math.Exp(1), y[2] == math.Exp(2))
	// Output: true true
}
