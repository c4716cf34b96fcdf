// Package ode solves ordinary differential equations y' = f(y, p, t) and differentiates their solutions with respect to
// the initial state, the parameters and the end of the interval, exactly for the steps that were taken.
//
// The right-hand side is a function of one vector, as all operators of nabla take it: the state, then the parameters,
// then the time. It writes or returns the derivative of the state.
//
//	func Decay(dy, z []float64) { dy[0] = -z[1] * z[0] } // z is y, p, t
//
//	prob, err := ode.Prepare(nabla.InPlace(1, Decay), nil, []float64{1}, []float64{0.5}, nil)
//	sol, err := prob.Solve(nil, []float64{1}, []float64{0.5}, 0, 2)
//	fmt.Println(sol.Y, sol.At(nil, 1.2))
//	err = prob.Pullback(y0bar, pbar, sol, ybar) // adds the gradient of ybar·y(2) by y0 and p
//
// # Methods
//
//	DormandPrince   explicit, order 5 with an error estimate of order 4, for problems that are not stiff
//	Rodas           Rosenbrock, order 4 with an error estimate of order 3, L-stable, for stiff problems; it uses the
//	                Jacobian of f, dense or sparse, from nabla
//
// Both choose their steps from the tolerances in [Settings] and have dense output.
//
// # Derivatives
//
// Derivatives are those of the numerical solution: the steps of the solution are fixed, and each is differentiated as
// the sequence of operations that it is. [Problem.Pushforward] carries tangents along with the steps,
// [Problem.Pullback] goes through them backwards. States at the steps are kept within [Settings].Bytes and otherwise
// computed again from snapshots. The result agrees with differentiating through all operations with the step sizes as
// constants; how the step sizes depend on the data is left out, as the error of the solution is.
//
// [Problem.Flow] is the solution as a function over Reals, with these derivatives as a rule, for use in functions that
// any engine differentiates. Functions over float64 with generated code call [Problem.Rule] through functions with
// names; package implicit shows how, and here the rule has VJPReal too.
//
// # Cost
//
// A step of DormandPrince takes 6 evaluations of f, its pullback 6 pullbacks of f. A step of Rodas takes 6 evaluations,
// a Jacobian and a factorisation. A Problem keeps its memory: Solve allocates what the solution holds, if it holds more
// than before.
//
// Sources: Hairer, Nørsett and Wanner, "Solving Ordinary Differential Equations I" (1993) for the explicit method, step
// control and dense output; Hairer and Wanner, volume II (1996) for Rodas.
package ode
