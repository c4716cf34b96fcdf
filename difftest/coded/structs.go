package coded

import "github.com/nabla-ad/nabla"

// Functions of a struct of numbers, of the scenarios behaviour/struct….

// An affine holds the numbers of these functions, and an int.
type affine struct {
	Weights []float64
	Bias    float64
	Times   int
}

// A gain is bound to one of them.
type gain struct{ K float64 }

//nabla:differentiate
func affineSum(a *affine) float64 {
	y := 0.0
	for _, w := range a.Weights {
		y += w * w
	}
	return y * a.Bias * float64(a.Times)
}

//nabla:differentiate wrt=a
func affineGain(a *affine, g *gain) float64 { return g.K * affineSum(a) }

//nabla:differentiate
func affineOutputs(a *affine) []float64 {
	y := make([]float64, len(a.Weights))
	affineSquares(y, a)
	return y
}

//nabla:differentiate
func affineSquares(y []float64, a *affine) {
	for i, w := range a.Weights {
		y[i] = w * w * a.Bias * float64(a.Times)
	}
}

//nabla:differentiate wrt=y,a
func affineGains(y []float64, a *affine, g *gain) error {
	affineSquares(y, a)
	for i := range y {
		y[i] *= g.K
	}
	return nil
}

// structFunction returns the function of a scenario of the given name, such as "struct", with n numbers; nil for names
// of other scenarios.
func structFunction(name string, n int) (f *nabla.Func) {
	s := &affine{Weights: make([]float64, max(0, n-1)), Times: 3}
	var err error
	switch name {
	case "struct":
		f, _, err = nabla.StructPlain(affineSum, s)
	case "struct_bound":
		f, _, err = nabla.BindStructPlain(affineGain, s, &gain{0.5})
	case "struct_outputs":
		f, _, err = nabla.StructPlain(affineOutputs, s)
	case "struct_in_place":
		f, _, err = nabla.StructInPlace(n-1, affineSquares, s)
	case "struct_bound_in_place":
		f, _, err = nabla.BindStructInPlaceWithError(n-1, affineGains, s, &gain{0.5})
	}
	if err != nil {
		panic(err) // a mistake in this file
	}
	return f
}
