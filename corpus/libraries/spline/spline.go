// Package spline has functions that use github.com/cnkei/gospline and github.com/sgreben/piecewiselinear.
package spline

import (
	"github.com/cnkei/gospline"
	"github.com/sgreben/piecewiselinear"
)

// Natural interpolates heights by a natural cubic spline.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4
func Natural(y []float64) float64 {
	s := gospline.NewCubicSpline([]float64{0, 1, 2, 3, 4}, y)
	return s.At(1.4)
}

// Monotone interpolates at a point.
//
//corpus:at 1.4
func Monotone(x float64) float64 {
	s := gospline.NewMonotoneSpline([]float64{0, 1, 2, 3, 4}, []float64{0, 1, 1.5, 3, 3.2})
	return s.At(x)
}

var track = gospline.NewClampedCubicSpline([]float64{0, 1, 2, 3}, []float64{0, 2, 1, 3}, 0, 1)

// Clamped is a value of a spline that was made before.
//
//corpus:at 2.3
func Clamped(x float64) float64 { return track.At(x) * track.At(x/2) }

// Tariff is the price by a table.
//
//corpus:at 2.3 7.1
func Tariff(x []float64) float64 {
	f := piecewiselinear.Function{X: []float64{0, 1, 5, 10}, Y: []float64{0, 3, 9, 11}}
	s := 0.0
	for _, v := range x {
		s += f.At(v)
	}
	return s
}

// Load is the area below a curve, with heights as variables.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4
func Load(y []float64) float64 {
	f := piecewiselinear.Function{X: piecewiselinear.Span(0, 2, len(y)), Y: y}
	return f.Area() + f.AreaUpTo(0.8)*f.At(1.3)
}
