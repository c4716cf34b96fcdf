package finitediff_test

import (
	"fmt"
	"math"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
)

func Example() {
	f := func(x []float64) float64 { return x[0]*x[0] + math.Sin(x[1]) }
	g, err := nabla.Gradient(f, finitediff.Backend{}, []float64{1, 0})
	fmt.Printf("%.8f %v\n", g, err)
	// Output:
	// [2.00000000 1.00000000] <nil>
}

// A gradient with estimates of its errors.
func ExampleAdaptive() {
	f := func(x []float64) float64 { return math.Exp(x[0]) * math.Sin(1000*x[1]) }
	x := []float64{1, 0.002}
	p, err := nabla.PrepareGradient(f, finitediff.Adaptive{}, x)
	if err != nil {
		panic(err)
	}
	g, e, err := p.GradientWithError(nil, nil, x)
	if err != nil {
		panic(err)
	}
	exact := []float64{math.E * math.Sin(2), 1000 * math.E * math.Cos(2)}
	for i := range x {
		fmt.Printf("%.8f, error within the estimate: %v, which is small: %v\n", g[i], math.Abs(g[i]-exact[i]) <= e[i],
			e[i] < 1e-8)
	}
	// Output:
	// 2.47172667, error within the estimate: true, which is small: true
	// -1131.20438376, error within the estimate: true, which is small: true
}

// Derivatives of any order.
func ExampleAdaptive_Derivative() {
	for order := 1; order <= 4; order++ {
		d, err := finitediff.Adaptive{Points: 9}.Derivative(math.Exp, 0, order)
		fmt.Printf("%.6f %v %v\n", d.Value, d.Error < 1e-6, err)
	}
	// Output:
	// 1.000000 true <nil>
	// 1.000000 true <nil>
	// 1.000000 true <nil>
	// 1.000000 true <nil>
}

// The third derivative on four points of one side.
func ExampleNewStencil() {
	s, err := finitediff.NewStencil(finitediff.Grid{0, 1, 2, 3}, 3)
	fmt.Println(s.Exact(), err)
	s, err = finitediff.NewStencil(finitediff.Grid{-1, 0, 2}, 1)
	fmt.Println(s.Exact(), err)
	// Output:
	// [-1/1 3/1 -3/1 1/1] <nil>
	// [-2/3 1/2 1/6] <nil>
}

// A function with noise, such as the result of an iteration.
func ExampleMeasureNoise() {
	f := func(x float64) float64 { return math.Round(math.Exp(x)*1e6) / 1e6 }
	noise, err := finitediff.MeasureNoise(f, 1)
	fmt.Printf("about 1e%.0f %v\n", math.Log10(noise), err)
	d, err := finitediff.Adaptive{Noise: 2 * noise}.Derivative(f, 1, 1)
	fmt.Printf("%.3f %v\n", d.Value, err)
	// Output:
	// about 1e-7 <nil>
	// 2.718 <nil>
}
