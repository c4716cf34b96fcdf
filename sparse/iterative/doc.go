// Package iterative solves systems A·x = b by Krylov subspace methods, which need A only as products with vectors:
// matrices of package sparse, or functions ([Func]), such as the method Apply of a derivative of nabla as a linear
// operator.
//
//	CG         A symmetric positive definite; a positive definite preconditioner
//	MINRES     A symmetric; a positive definite preconditioner
//	GMRES      any A; memory for Restart vectors
//	BiCGStab   any A; little memory, two products in each iteration, an irregular residual
//
// A method is a struct whose exported fields are its settings and which holds the memory of a solution: repeated calls
// with vectors of one length do not allocate. The zero value is ready.
//
//	cg := iterative.CG{Settings: iterative.Settings{Preconditioner: &ic}}
//	result, err := cg.Solve(ctx, x, a, b) // x is the initial guess, and then the solution
//
// # Convergence
//
// A method has converged if the residual of its result, computed anew as b-A·x, is at most Tolerance·‖b‖₂, or
// AbsTolerance if that is larger. If b is 0, so is the solution, whatever the initial guess. The residual of the
// recurrences only decides when to look: if the true one is larger, the method starts again from its result. Otherwise
// the error tells what happened: *[NotConvergedError], *[BreakdownError], *[IndefiniteError], *[CanceledError] or
// *[NonFiniteError]. In each of these cases x is the iterate with the smallest residual so far, and the Result
// describes it.
//
// # Preconditioners
//
// A [Preconditioner] approximates the solution of A·z = r. [Jacobi] divides by the diagonal, [ILU0] and [IC0] are
// incomplete factorisations without fill, and *direct.LU and *direct.LDL, of the matrix itself or of one like it, are
// preconditioners too. GMRES and BiCGStab apply them on the right, so that the residual is that of the system.
package iterative
