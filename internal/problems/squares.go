package problems

import (
	"math/big"

	"github.com/nabla-ad/nabla"
)

// SumSquares is [SumSquaresPlain] over Reals.
func SumSquares(x []nabla.Real) nabla.Real {
	var s nabla.Real
	for _, v := range x {
		s = s.Add(v.Sq())
	}
	return s
}

// SumSquaresPlain returns Σ x[i]².
//
//nabla:differentiate
func SumSquaresPlain(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v * v
	}
	return s
}

// T1 returns the sum of squares of n numbers from 0.5 to 1.5.
func T1(n int) *Problem {
	x, g := make([]float64, n), make([]float64, n)
	// The terms are added exactly, so that the reference does not have the rounding errors of the function.
	sum := new(big.Float).SetPrec(300)
	for i := range x {
		x[i] = 0.5 + float64(i)/float64(n)
		g[i] = 2 * x[i]
		v := big.NewFloat(x[i])
		sum.Add(sum, new(big.Float).SetPrec(106).Mul(v, v))
	}
	value, _ := sum.Float64()
	return &Problem{
		Name: "T1", Title: "sum of squares",
		Formula: "f(x) = Σᵢ xᵢ²",
		N:       n, M: 1,
		Source: "Dalle & Hill, A Common Interface for Automatic Differentiation, Listing 3; gradient 2x",
		Plain:  SumSquaresPlain, Traced: SumSquares,
		ByHand:    sumSquaresByHand,
		Cases:     []Case{{X: x, Value: []float64{value}, Derivative: g}},
		Tolerance: 1e-12, Difference: 1e-3,
	}
}

// DiffSquares is [DiffSquaresPlain] over Reals.
func DiffSquares(x []nabla.Real) nabla.Real {
	var s nabla.Real
	for i := range len(x) - 1 {
		s = s.Add(x[i+1].Sub(x[i]).Sq())
	}
	return s
}

// DiffSquaresPlain returns Σ (x[i+1]-x[i])². Its Hessian is tridiagonal: 2 and 4 on the diagonal, -2 beside it.
//
//nabla:differentiate
func DiffSquaresPlain(x []float64) float64 {
	s := 0.0
	for i := range len(x) - 1 {
		d := x[i+1] - x[i]
		s += d * d
	}
	return s
}

// DiffSquaresHessian returns the Hessian of [DiffSquares] of n numbers, written by hand.
func DiffSquaresHessian(n int) []Element {
	var h []Element
	for i := range n {
		diagonal := 4.0
		if i == 0 || i == n-1 {
			diagonal = 2
		}
		if i > 0 {
			h = append(h, Element{i, i - 1, -2})
		}
		h = append(h, Element{i, i, diagonal})
		if i < n-1 {
			h = append(h, Element{i, i + 1, -2})
		}
	}
	return h
}

// T2 returns the sum of squared differences at x[i] = i, where all differences are 1.
func T2(n int) *Problem {
	x, g := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = float64(i)
	}
	g[0], g[n-1] = -2, 2
	return &Problem{
		Name: "T2", Title: "sum of squared differences",
		Formula: "f(x) = Σᵢ (xᵢ₊₁ − xᵢ)²",
		N:       n, M: 1,
		Source: "Dalle & Hill, A Common Interface for Automatic Differentiation, Listing 2; gradient (-2, 0, …, 0, 2)",
		Plain:  DiffSquaresPlain, Traced: DiffSquares,
		Cases:     []Case{{X: x, Value: []float64{float64(n - 1)}, Derivative: g}},
		Tolerance: 1e-12, Difference: 1e-3,
	}
}

// Listing2 returns the Hessian of T2, which is constant.
func Listing2(n int) *Problem {
	p := T2(n)
	p.Name, p.Hessian = "listing2", true
	p.Title = "Hessian of the sum of squared differences"
	p.ByHand = func() *ByHand { return diffSquaresHessianByHand(n) }
	p.Source = "Dalle & Hill, A Common Interface for Automatic Differentiation, Listing 2; Hessian tridiagonal: 2, " +
		"4, …, 4, 2 and -2 beside"
	c := &p.Cases[0]
	c.Elements, c.Derivative = DiffSquaresHessian(n), nil
	if n < largeMatrix {
		c.Derivative = dense(c.Elements, n, n)
	}
	return p
}
