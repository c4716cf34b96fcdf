package gonumopt_test

import (
	"math"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/reversediff"
)

// Problems of Moré, Garbow and Hillstrom, as in the tests of package optim, which does not need gonum/optimize.

type (
	reals  = []nabla.Real
	system = func(x reals) reals
)

var compiled = reversediff.Backend{Compile: true}

func same(n int, v float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = v
	}
	return x
}

// objective is the sum of squares of a system, the objective of the paper's unconstrained problems.
func objective(f system) func(x reals) nabla.Real {
	return func(x reals) nabla.Real { r := f(x); return nabla.Dot(r, r) }
}

// repeat returns n elements of the cycle.
func repeat(n int, cycle ...float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = cycle[i%len(cycle)]
	}
	return x
}

// A start has a problem with a standard starting point.
type start struct {
	name string
	f    system
	x    []float64
}

func constant(v float64) nabla.Real { return nabla.Const(v) }

func rosenbrock(x reals) reals {
	return reals{x[1].Sub(x[0].Sq()).Scale(10), x[0].Neg().AddConst(1)}
}

// extendedRosenbrock is a Rosenbrock function of each pair of unknowns.
func extendedRosenbrock(x reals) (f reals) {
	for i := 0; i+1 < len(x); i += 2 {
		f = append(f, rosenbrock(x[i:i+2])...)
	}
	return f
}

func beale(x reals) reals {
	f, power := make(reals, 3), constant(1)
	for i, y := range []float64{1.5, 2.25, 2.625} {
		power = power.Mul(x[1])
		f[i] = constant(y).Sub(x[0].Mul(power.Neg().AddConst(1)))
	}
	return f
}

func wood(x reals) reals {
	return reals{x[1].Sub(x[0].Sq()).Scale(10), x[0].Neg().AddConst(1), x[3].Sub(x[2].Sq()).Scale(math.Sqrt(90)),
		x[2].Neg().AddConst(1), x[1].Add(x[3]).AddConst(-2).Scale(math.Sqrt(10)),
		x[1].Sub(x[3]).Scale(1 / math.Sqrt(10))}
}
