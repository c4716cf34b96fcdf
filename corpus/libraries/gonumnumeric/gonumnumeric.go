// Package gonumnumeric has functions that use numerical packages of gonum.org/v1/gonum: integrate, interp, dsp,
// optimize, mathext, diff and floats.
package gonumnumeric

import (
	"math"
	"math/cmplx"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/dsp/window"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/interp"
	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/optimize/functions"
)

// Extended is the extended Rosenbrock function.
//
//corpus:at -1.2 1 0.5 2
func Extended(x []float64) float64 { return functions.ExtendedRosenbrock{}.Func(x) }

// Objectives adds test functions of optimisation.
//
//corpus:at 0.3 0.4
func Objectives(x []float64) float64 {
	return functions.Beale{}.Func(x) + functions.BrownBadlyScaled{}.Func(x)*1e-12 +
		functions.Wood{}.Func([]float64{x[0], x[1], x[0], 1})
}

// Biggs is a fit of exponentials.
//
//corpus:at 1 2 1 1 1 1
func Biggs(x []float64) float64 { return functions.BiggsEXP6{}.Func(x) }

// Penalty is the first penalty function.
//
//corpus:at 1 2 3 4
func Penalty(x []float64) float64 { return functions.PenaltyI{}.Func(x) }

// Trapezoid integrates samples.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4
func Trapezoid(y []float64) float64 {
	x := []float64{0, 0.4, 1, 1.3, 2}
	return integrate.Trapezoidal(x, y)
}

// Simpson integrates samples.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4
func Simpson(y []float64) float64 {
	x := []float64{0, 0.4, 1, 1.3, 2}
	return integrate.Simpsons(x, y) + integrate.Romberg(y, 0.25)
}

// Legendre integrates a function with parameters by Gauss quadrature.
//
//corpus:at 0.7 1.3
func Legendre(a, b float64) float64 {
	f := func(t float64) float64 { return math.Exp(-a*t) * math.Cos(b*t) }
	return quad.Fixed(f, 0, 2, 12, nil, 0)
}

// PlanckFraction integrates with a limit that depends on the argument.
//
//corpus:at 2.5
func PlanckFraction(x float64) float64 {
	planck := func(t float64) float64 { return t * t * t / math.Expm1(t) }
	return 15 / math.Pow(math.Pi, 4) * quad.Fixed(planck, 1e-3, x, 16, quad.Legendre{}, 0)
}

// Linear interpolates between points whose heights are given.
//
//corpus:at 1.2 0.7 2.2 1.9
func Linear(y []float64) (float64, error) {
	var p interp.PiecewiseLinear
	if err := p.Fit([]float64{0, 1, 2, 4}, y); err != nil {
		return 0, err
	}
	return p.Predict(0.3) * p.Predict(3.1), nil
}

// Akima interpolates at a point.
//
//corpus:at 2.3
func Akima(x float64) (float64, error) {
	var s interp.AkimaSpline
	err := s.Fit([]float64{0, 1, 2, 3, 4, 5}, []float64{0, 2, 1, 4, 3, 5})
	return s.Predict(x), err
}

// FritschButland interpolates monotonically.
//
//corpus:at 2.3
func FritschButland(x float64) (value, slope float64, err error) {
	var s interp.FritschButland
	err = s.Fit([]float64{0, 1, 2, 3, 4, 5}, []float64{0, 2, 2.5, 4, 4.2, 5})
	return s.Predict(x), s.PredictDerivative(x), err
}

// NaturalCubic interpolates between points whose heights are given.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4
func NaturalCubic(y []float64) (float64, error) {
	var s interp.NaturalCubic
	if err := s.Fit([]float64{0, 1, 2, 3, 4}, y); err != nil {
		return 0, err
	}
	return s.Predict(1.4), nil
}

// Spectrum is the power of one frequency.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4 1.1 -0.3 0.8
func Spectrum(x []float64) float64 {
	fft := fourier.NewFFT(len(x))
	c := fft.Coefficients(nil, x)
	a := cmplx.Abs(c[2])
	return a * a
}

// Windowed is the energy of a signal behind a window.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4 1.1 -0.3 0.8
func Windowed(x []float64) float64 {
	s := append([]float64{}, x...)
	s = window.Hann(s)
	return floats.Dot(s, s)
}

// Cosine is the sum of squares of a cosine transform with weights.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4
func Cosine(x []float64) float64 {
	dct := fourier.NewDCT(len(x))
	y := dct.Transform(nil, x)
	s := 0.0
	for k, v := range y {
		s += v * v * float64(k)
	}
	return s
}

// Special adds special functions.
//
//corpus:at 0.7 1.9
func Special(x, y float64) float64 {
	return mathext.Digamma(y) + mathext.GammaIncReg(2, x) + mathext.Beta(x, y) + mathext.Zeta(2+x, y)
}

// Elliptic is the period of a pendulum.
//
//corpus:at 0.8 1.5
func Elliptic(theta, length float64) float64 {
	m := math.Pow(math.Sin(theta/2), 2)
	return 4 * math.Sqrt(length/9.81) * mathext.CompleteK(m)
}

// LogSumExp is the free energy of levels, in gonum/floats.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4
func LogSumExp(e []float64) float64 {
	s := make([]float64, len(e))
	floats.ScaleTo(s, -1/0.6, e)
	return -0.6 * floats.LogSumExp(s)
}

// Distances is a norm of differences with weights.
//
//corpus:at 1.2 0.7 2.2 1.9
func Distances(x []float64) float64 {
	ref := []float64{1, 1, 2, 2}
	d := floats.SubTo(make([]float64, 4), x, ref)
	floats.Mul(d, []float64{1, 2, 3, 4})
	return floats.Norm(d, 2) + floats.Distance(x, ref, 3) + floats.Prod(x)
}

// Differences is a derivative by differences inside.
//
//corpus:at 0.8
//corpus:tolerance 1e-4
func Differences(x float64) float64 {
	f := func(t float64) float64 { return math.Sin(t * x) }
	return fd.Derivative(f, 0.5, &fd.Settings{Formula: fd.Central, Step: 1e-3})
}

// Minimum is the value of a minimisation over an inner variable.
//
//corpus:at 0.8
//corpus:tolerance 1e-3
func Minimum(x float64) (float64, error) {
	p := optimize.Problem{Func: func(t []float64) float64 { return math.Pow(t[0]-x, 2) + math.Exp(t[0]) }}
	r, err := optimize.Minimize(p, []float64{0}, nil, &optimize.NelderMead{})
	if err != nil {
		return 0, err
	}
	return r.F, nil
}
