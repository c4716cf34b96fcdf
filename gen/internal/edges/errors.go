package edges

import (
	"errors"
	"fmt"
	"math"
)

// ErrDomain is the error of the functions of this file.
var ErrDomain = errors.New("outside of the domain")

// A DomainError is an error with a number.
type DomainError struct{ At float64 }

func (e *DomainError) Error() string { return fmt.Sprintf("%v at %g", ErrDomain, e.At) }
func (e *DomainError) Unwrap() error { return ErrDomain }

// Limits are the bounds of a domain.
type Limits struct{ Low, High float64 }

// check returns an error if v is out of the limits.
func (l *Limits) check(v float64) error {
	if v < l.Low {
		return ErrDomain
	}
	if v > l.High {
		return fmt.Errorf("%w: too large", ErrDomain)
	}
	return nil
}

// RootSum is the sum of square roots, and an error for negative numbers.
//
//nabla:differentiate
func RootSum(x []float64) (float64, error) {
	l := Limits{0, 100}
	s := 0.0
	for _, v := range x {
		if err := l.check(v); err != nil {
			return 0, err
		}
		s += math.Sqrt(v)
	}
	return s, nil
}

// RootSumOf is RootSum with an error of another type and limits that are bound.
//
//nabla:differentiate
func RootSumOf(x []float64, l *Limits) (float64, error) {
	s := 0.0
	for _, v := range x {
		if v < l.Low {
			return 0, &DomainError{v}
		}
		s += v * math.Sqrt(v)
	}
	return s, nil
}

// Total is RootSum as a method.
//
//nabla:differentiate
func (l *Limits) Total(x []float64) (s float64, err error) {
	for i, v := range x {
		if err = l.check(v); err != nil {
			return s, err
		}
		s += math.Sqrt(v) * float64(i+1)
	}
	return s, err
}

// Roots are the square roots of the elements of x.
//
//nabla:differentiate
func Roots(x []float64) ([]float64, error) {
	y := make([]float64, len(x))
	return y, RootsInPlace(y, x)
}

// RootsInPlace is Roots in place.
//
//nabla:differentiate
func RootsInPlace(y, x []float64) error {
	for i, v := range x {
		if v < 0 {
			return ErrDomain
		}
		y[i] = math.Sqrt(v)
	}
	return nil
}

// CubicRoot is the root of the third power of x.
//
//nabla:differentiate
func CubicRoot(x float64) (float64, error) {
	if x < 0 {
		return math.NaN(), ErrDomain
	}
	return x * math.Sqrt(x), nil
}

// RootCurve is a curve.
//
//nabla:differentiate
func RootCurve(t float64) ([]float64, error) {
	if t < 0 {
		return nil, ErrDomain
	}
	return []float64{t, math.Sqrt(t)}, nil
}

// FlatRoot is a constant with a domain.
//
//nabla:differentiate
func FlatRoot(x []float64) (float64, error) {
	if x[0] < 0 {
		return 0, ErrDomain
	}
	return 3, nil
}
