// Package implicit differentiates functions that are defined by equations: roots, fixed points, minimizers and
// solutions of linear systems that depend on parameters.
//
// The solver is any Go code over float64, such as Newton's method, a bracketing search, package optim or a program by
// somebody else. It is not differentiated. The derivative comes from the implicit function theorem: where F(x, p) = 0
// and the derivative of F by x is not singular,
//
//	dx/dp = -(∂F/∂x)⁻¹·∂F/∂p
//
// for the derivatives of F by the engine of one's choice.
//
// Equations are functions of one vector, as all operators of nabla take it: the unknowns x, then the parameters p.
//
//	kepler := func(z []nabla.Real) []nabla.Real { // E - e·sin(E) = M; z is E, M, e
//		return []nabla.Real{z[0].Sub(z[2].Mul(nabla.Sin(z[0]))).Sub(z[1])}
//	}
//	f, err := implicit.Root(kepler, nil, 1, []float64{1, 0.3}, solve, nil)
//	anomaly := f.Real() // a function over Reals, for use in functions that any engine differentiates
//
//	Root         F(x, p) = 0
//	FixedPoint   x = G(x, p)
//	Minimizer    x minimises φ(x, p)
//	LinearSolve  F(x, p) = 0 for F that is linear in x; needs no solver
//
// # Uses
//
// [Function.Solve] computes with plain numbers, and [Function.Pushforward] and [Function.Pullback] are its derivatives
// there. [Function.Real] is the function over Reals: all engines, also in pairs and nested to any order, have exact
// derivatives of what calls it. [Function.Rule] is the same as a rule. Functions over float64 with generated code
// call it through functions with names:
//
//	var solution = f.Rule()
//	var AnomalyRule = nabla.Rule{Name: "Anomaly", Value: Anomaly, JVP: anomalyJVP, VJP: anomalyVJP,
//		JVPReal: solution.JVPReal}
//
//	//nabla:rule rule=AnomalyRule
//	func Anomaly(x, p []float64)                { solution.Value(x, p) }
//	func anomalyJVP(xdot, p, x, pdot []float64) { solution.JVP(xdot, p, x, pdot) }
//	func anomalyVJP(pbar, p, x, xbar []float64) { solution.VJP(pbar, p, x, xbar) }
//
// Their second derivatives are those of engines that run the form over Reals, which nil selects.
//
// # Convergence
//
// A derivative at a point that is no solution would be wrong without a sign of it. Before each derivative the equations
// are evaluated, and the correction that Newton's method would make is compared with [Settings].Tolerance: a larger one
// is an *[UnconvergedError] instead of a derivative. The error of the derivative is of the order of the correction.
//
// # Linear systems
//
// By default the derivative of F is computed as a matrix and factorised, dense or sparse as nabla returns it:
// [nabla.AutoSparse] as backend makes it sparse. One factorisation serves all derivatives at a point.
// Settings.MatrixFree takes Krylov subspace methods over products with the derivative instead.
package implicit
