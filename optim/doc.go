// Package optim solves optimisation problems that need Jacobians, exact Hessians or products with them, by derivatives
// of package nabla. Package gonumopt makes problems for gonum's optimize package.
//
//   - [LeastSquares] minimises a sum of squares, with bounds on the unknowns or without: the Levenberg–Marquardt method
//     as MINPACK has it, the Gauss–Newton method, and an iterative method for large sparse Jacobians.
//   - [NewtonCG] minimises a function of many unknowns from products with its Hessian.
//   - [Bounded] minimises a function with bounds on the unknowns from its Hessian.
//   - [Constrained] minimises a function subject to equations, inequalities and bounds.
//   - [LSMR] solves linear least-squares problems with an operator, such as a *nabla.LinearOp or a *sparse.CSC.
//
// Functions and backends are those of package nabla: a nil backend selects an engine. Each call prepares what it
// needs once and then evaluates it without allocation.
//
// The solvers return a result with every error that occurs after the first evaluation: the best point so far.
package optim
