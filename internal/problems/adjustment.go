package problems

import "github.com/nabla-ad/nabla"

// An Adjustment holds the observations of a bundle adjustment: observation i is of point i mod Points by camera i mod
// Cameras, at Features[2i:2i+2].
type Adjustment struct {
	Cameras, Points int
	Features        []float64
}

// Inputs are the cameras, 11 numbers each, the points, 3 each, and a weight for each observation. Outputs are the two
// residuals of each observation, and then 1 - w² for each weight.

// Dims returns the numbers of inputs and outputs.
func (a *Adjustment) Dims() (n, m int) {
	seen := len(a.Features) / 2
	return 11*a.Cameras + 3*a.Points + seen, 3 * seen
}

// columns returns the indices of the inputs of observation i: its camera, its point, its weight.
func (a *Adjustment) columns(i int) (cols [15]int) {
	for k := range 11 {
		cols[k] = 11*(i%a.Cameras) + k
	}
	points := 11 * a.Cameras
	for k := range 3 {
		cols[11+k] = points + 3*(i%a.Points) + k
	}
	cols[14] = points + 3*a.Points + i
	return cols
}

// AdjustmentPlain computes the residuals of all observations.
//
//nabla:differentiate
func AdjustmentPlain(y, x []float64, a *Adjustment) {
	seen := len(a.Features) / 2
	var in [15]float64
	var f Feature
	for i := range seen {
		for k, c := range a.columns(i) {
			in[k] = x[c]
		}
		f.Z = a.Features[2*i : 2*i+2]
		ReprojectionPlain(y[2*i:2*i+2], in[:], &f)
		w := in[14]
		y[2*seen+i] = 1 - w*w
	}
}

// An AdjustmentVec is an [Adjustment] for functions over Reals.
type AdjustmentVec struct {
	Cameras, Points int
	Features        nabla.Vec
}

// Adjust is [AdjustmentPlain] over Reals.
func Adjust(y, x []nabla.Real, a *AdjustmentVec) {
	shape := Adjustment{Cameras: a.Cameras, Points: a.Points}
	seen := a.Features.Len() / 2
	var in [15]nabla.Real
	var f FeatureVec
	for i := range seen {
		for k, c := range shape.columns(i) {
			in[k] = x[c]
		}
		f.Z = a.Features.Slice(2*i, 2*i+2)
		Reprojection(y[2*i:2*i+2], in[:], &f)
		y[2*seen+i] = nabla.Const(1).Sub(in[14].Sq())
	}
}

// AdjustmentJacobian returns the value and the Jacobian, written by hand: 31 elements for each observation, two rows of
// 15 and one for the weight.
func AdjustmentJacobian(x []float64, a *Adjustment) (y []float64, jac []Element) {
	_, m := a.Dims()
	seen := m / 3
	y = make([]float64, m)
	in := make([]float64, 15)
	for i := range seen {
		cols := a.columns(i)
		for k, c := range cols {
			in[k] = x[c]
		}
		e, block := reprojectionJacobian(in, a.Features[2*i:2*i+2])
		copy(y[2*i:], e)
		for r := range 2 {
			for k, c := range cols {
				jac = append(jac, Element{2*i + r, c, block[15*r+k]})
			}
		}
		w := in[14]
		y[2*seen+i] = 1 - w*w
		jac = append(jac, Element{2*seen + i, cols[14], -2 * w})
	}
	return y, jac
}

// BA returns a bundle adjustment of 3 cameras, 5 points and 8 observations, all random except that the points are in
// front of the cameras.
func BA() *Problem {
	s := seed
	a := &Adjustment{Cameras: 3, Points: 5}
	const seen = 8
	x := s.draw(11*a.Cameras + 3*a.Points + seen)
	a.Features = s.draw(2 * seen)
	for i := range a.Cameras {
		cam := x[11*i : 11*i+11]
		for k := range 3 {
			cam[k] *= 0.25 // turned a little
		}
		cam[5] -= 5 // and behind
	}
	n, m := a.Dims()
	y, jac := AdjustmentJacobian(x, a)
	v := &AdjustmentVec{Cameras: a.Cameras, Points: a.Points, Features: nabla.VecOf(a.Features)}
	return &Problem{
		Name: "ba", Title: "bundle adjustment, all observations",
		Formula: "y = wₖ (project(cameraₖ, pointₖ) − observedₖ) for every observation k, and 1 − wₖ²",
		N:       n, M: m,
		Source: "Šrajer, Kukelova & Fitzgibbon, Optim. Methods Softw. 33 (2018) 889 (ADBench), random inputs; " +
			"Jacobian by hand",
		PlainVector:  func(y, x []float64) { AdjustmentPlain(y, x, a) },
		TracedVector: func(y, x []nabla.Real) { Adjust(y, x, v) },
		Func:         nabla.BindInPlace(m, Adjust, v),
		Bound:        nabla.BindInPlace(m, AdjustmentPlain, a),
		Cases:        []Case{{X: x, Value: y, Derivative: dense(jac, m, n)}},
		Tolerance:    1e-12, Difference: 1e-5,
	}
}
