package edges

import (
	"iter"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// Functions with one line that makes their value or derivative NaN or infinite: the one with a comment of their name.

// NaNLoop is a sum of logarithms, with NaN for numbers below 1.
//
//nabla:differentiate gradient
func NaNLoop(x []float64) float64 {
	s := 0.0
	for i, v := range x {
		t := v - 1

		// Other elements do not count.
		if i%2 == 0 {
			s += math.Log(t) // NaNLoop
		}
	}
	return s
}

// NaNHelper is a ratio of differences, infinite where the last two numbers are equal.
//
//nabla:differentiate gradient
func NaNHelper(x []float64) float64 {
	a := x[0] - x[1]
	return ratio(a, x[1]-x[2])
}

func ratio(a, b float64) float64 {
	return a /
		b // NaNHelper
}

// NaNClosure is a sum of roots, with an infinite derivative at 0.
//
//nabla:differentiate gradient
func NaNClosure(x []float64) float64 {
	scale := 3.0
	root := func(v float64) float64 {
		return scale * math.Sqrt(v) // NaNClosure
	}
	s := 0.0
	for _, v := range x {
		s += root(v)
	}
	return s
}

// NaNBound is a product of relative positions, NaN if the limits are equal.
//
//nabla:differentiate gradient
func NaNBound(x []float64, l *Limits) float64 {
	p := 1.0
	for _, v := range x {
		p *= l.position(v)
	}
	return p
}

// position returns where v is between the limits, from 0 to 1.
func (l *Limits) position(v float64) float64 {
	d := l.High - l.Low
	return (v - l.Low) / d // NaNBound
}

// NaNInPlace has a second output that is NaN for numbers above 1.
//
//nabla:differentiate pullback
func NaNInPlace(y, x []float64) {
	y[0] = math.Cos(x[0])
	y[1] = math.Acos(x[0]) // NaNInPlace
}

// A Wave is a struct of numbers.
type Wave struct{ Amplitude, Length float64 }

// NaNStruct is the energy of a wave, infinite for a wave without length.
//
//nabla:differentiate gradient
func NaNStruct(w *Wave) float64 {
	a := w.Amplitude * w.Amplitude
	f := 1 / w.Length // NaNStruct
	return a * f * f
}

// NaNIterator is a sum over an iterator, which takes logarithms.
//
//nabla:differentiate gradient
func NaNIterator(x []float64) float64 {
	s := 0.0
	for v := range logarithms(x) {
		s += v
	}
	return s
}

func logarithms(x []float64) iter.Seq[float64] {
	return func(yield func(float64) bool) {
		for _, v := range x {
			if !yield(math.Log(v)) { // NaNIterator
				return
			}
		}
	}
}

// NaNResults is the sum of two exponentials, the second of which overflows.
//
//nabla:differentiate gradient
func NaNResults(x []float64) float64 {
	a, b := exponentials(x[0])
	return a + b
}

func exponentials(v float64) (a, b float64) {
	a = math.Exp(v)
	b = math.Exp(v * v) // NaNResults
	return
}

// NaNBranch has a root in a branch.
//
//nabla:differentiate gradient
func NaNBranch(x []float64) float64 {
	if x[0] > 2 {
		return x[0]
	} else if math.Exp(x[0]) > 1 {
		return 1
	} else if x[1] < 0 {
		x[0] = math.Sqrt(x[1]) // NaNBranch
	}
	switch {
	case x[0] > 1:
		return x[0] * x[1]
	default:
		return x[0] - x[1]
	}
}

// NaNOperation calls a function with a rule whose derivative is not finite.
//
//nabla:differentiate gradient
func NaNOperation(x []float64) float64 {
	s := math.Sin(x[0])
	s += halfPower(x[1]) // NaNOperation
	return s
}

// halfPower is the square root, with a rule.
//
//nabla:rule tangent=halfPowerTangent pullback=halfPowerPullback
func halfPower(v float64) float64 { return math.Sqrt(v) }

func halfPowerTangent(v, vDot float64) (y, yDot float64) {
	y = math.Sqrt(v)
	return y, 0.5 * vDot / y
}

func halfPowerPullback(v, yBar float64) (vBar float64) { return 0.5 * yBar / math.Sqrt(v) }

// NaNLibrary calls a function with a library derivative.
//
//nabla:differentiate gradient
func NaNLibrary(x []float64) float64 {
	n := floats.Norm(x, 3) // NaNLibrary
	return n * x[0]
}

// NaNFollowed calls a function of another module, which is followed.
//
//nabla:differentiate gradient
func NaNFollowed(x []float64) float64 {
	m := stat.GeometricMean(x, nil)
	return m * m
}

// NaNSecond is finite with its gradient, and not its Hessian, where two numbers are equal. They are in ascending order.
//
//nabla:differentiate gradient
func NaNSecond(x []float64) float64 {
	s := 0.0
	for i := range len(x) - 1 {
		d := x[i+1] - x[i]
		s += math.Pow(d, 1.5) // the Hessian of NaNSecond
	}
	return s
}
