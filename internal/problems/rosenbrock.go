package problems

import "github.com/nabla-ad/nabla"

// Rosenbrock is [RosenbrockPlain] over Reals.
func Rosenbrock(x []nabla.Real) nabla.Real {
	var s nabla.Real
	for i := range len(x) - 1 {
		a := x[i+1].Sub(x[i].Sq())
		b := nabla.Const(1).Sub(x[i])
		s = s.Add(a.Sq().Scale(100).Add(b.Sq()))
	}
	return s
}

// RosenbrockPlain returns Σ 100(x[i+1]-x[i]²)² + (1-x[i])².
//
//nabla:differentiate
func RosenbrockPlain(x []float64) float64 {
	s := 0.0
	for i := range len(x) - 1 {
		a := x[i+1] - x[i]*x[i]
		b := 1 - x[i]
		s += 100*(a*a) + b*b
	}
	return s
}

// rosenbrockGradient returns the gradient, written by hand.
func rosenbrockGradient(x []float64) []float64 {
	g := make([]float64, len(x))
	for i := range len(x) - 1 {
		a := x[i+1] - x[i]*x[i]
		g[i] += -400*x[i]*a - 2*(1-x[i])
		g[i+1] += 200 * a
	}
	return g
}

// T3 returns the chained Rosenbrock function at its usual starting point, (-1.2, 1, -1.2, 1, …).
func T3(n int) *Problem {
	x := make([]float64, n)
	for i := range x {
		x[i] = 1
		if i%2 == 0 {
			x[i] = -1.2
		}
	}
	// Even terms are 100(1-1.44)² + 2.2², odd ones 100(-1.2-1)².
	odd := (n - 1) / 2
	value := float64(n-1-odd)*24.2 + float64(odd)*484
	return &Problem{
		Name: "T3", Title: "chained Rosenbrock",
		Formula: "f(x) = Σᵢ 100 (xᵢ₊₁ − xᵢ²)² + (1 − xᵢ)²",
		N:       n, M: 1,
		Source: "Toint, Math. Comp. 32 (1978) 839, with all weights 100; gradient by hand",
		Plain:  RosenbrockPlain, Traced: Rosenbrock,
		ByHand:    rosenbrockByHand,
		Cases:     []Case{{X: x, Value: []float64{value}, Derivative: rosenbrockGradient(x)}},
		Tolerance: 1e-12, Difference: 1e-3,
	}
}
