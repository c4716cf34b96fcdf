// Package coded calls all maps of package constrain in a function with generated code, for tests.
package coded

import (
	"math"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/constrain"
)

// Inputs is the number of elements of the argument of All.
const Inputs = 4 + 3 + 3 + 6 // numbers, Ordered, Simplex, Correlation

// All is a function of all results of the maps.
//
//nabla:differentiate
func All(u []float64) float64 {
	a, j0 := constrain.Positive(u[0])
	b, j1 := constrain.Above(u[1], 2)
	c, j2 := constrain.Below(u[2], -1)
	d, j3 := constrain.Between(u[3], -2, 5)
	var ordered [3]float64
	var simplex [4]float64
	var factor [16]float64
	sum := j0 + 2*j1 + 3*j2 + 4*j3
	sum += 5 * constrain.Ordered(ordered[:], u[4:7])
	sum += 6 * constrain.Simplex(simplex[:], u[7:10])
	sum += 7 * constrain.Correlation(factor[:], u[10:], 4)
	sum += math.Sin(a) + math.Sin(2*b) + math.Sin(3*c) + math.Sin(4*d)
	for i, v := range ordered {
		sum += math.Sin(float64(i+1) * v)
	}
	for i, v := range simplex {
		sum += math.Sin(float64(i+2) * v)
	}
	for i, v := range factor {
		sum += math.Sin(float64(i+3) * v)
	}
	return sum
}

// AllReal is All over Reals, by the forms of package constrain for these.
func AllReal(u []nabla.Real) nabla.Real {
	a, j0 := constrain.PositiveReal(u[0])
	b, j1 := constrain.AboveReal(u[1], 2)
	c, j2 := constrain.BelowReal(u[2], -1)
	d, j3 := constrain.BetweenReal(u[3], -2, 5)
	ordered, simplex, factor := make([]nabla.Real, 3), make([]nabla.Real, 4), make([]nabla.Real, 16)
	sum := j0.Add(j1.Scale(2)).Add(j2.Scale(3)).Add(j3.Scale(4))
	sum = sum.Add(constrain.OrderedReal(ordered, u[4:7]).Scale(5))
	sum = sum.Add(constrain.SimplexReal(simplex, u[7:10]).Scale(6))
	sum = sum.Add(constrain.CorrelationReal(factor, u[10:], 4).Scale(7))
	for i, v := range []nabla.Real{a, b, c, d} {
		sum = sum.Add(nabla.Sin(v.Scale(float64(i + 1))))
	}
	for first, list := range [][]nabla.Real{ordered, simplex, factor} {
		for i, v := range list {
			sum = sum.Add(nabla.Sin(v.Scale(float64(i + first + 1))))
		}
	}
	return sum
}
