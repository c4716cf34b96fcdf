package coded

import "github.com/nabla-ad/nabla"

// Functions of a struct of numbers, of the scenarios behaviour/struct and behaviour/struct_bound.

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

// structFunction returns the function of a scenario of the given name, "struct" or "struct_bound"; nil for others.
func structFunction(name string) (f *nabla.Func) {
	s := &affine{Weights: make([]float64, 2), Times: 3}
	var err error
	switch name {
	case "struct":
		f, _, err = nabla.StructPlain(affineSum, s)
	case "struct_bound":
		f, _, err = nabla.BindStructPlain(affineGain, s, &gain{0.5})
	}
	if err != nil {
		panic(err) // a mistake in this file
	}
	return f
}
