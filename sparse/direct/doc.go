// Package direct solves systems with sparse matrices of package sparse by factorisation:
//
//	LDL   symmetric matrices, PAPᵀ = LDLᵀ: definite, quasi-definite, and other indefinite ones if the pivots allow
//	LU    square matrices, PRAQ = LU, with threshold pivoting
//
// Both reduce the fill by an order of elimination, [AMD] or [ColAMD]. The zero values are ready; the methods are those
// of gonum's mat.Cholesky and mat.LU as far as they make sense, and methods for slices:
//
//	var l direct.LDL
//	if err := l.Factorize(h); err != nil { … } // h is a *sparse.SymCSC
//	if err := l.Solve(x, b); err != nil { … }  // x may be b
//
// # One pattern, many matrices
//
// In Newton's method and in implicit integrators the matrices change and their pattern does not. [LDL.Factorize]
// analyses the pattern in the first call: the order of elimination, the elimination tree, the columns of the factor
// and their entries. Later calls with the same pattern compute numbers only. [LU.Factorize] keeps the order of the
// columns and chooses pivots each time, since they depend on the numbers; [LU.Refactorize] keeps the pivots as long as
// they are good enough. Neither LDL.Factorize nor LU.Refactorize allocates then, nor do solutions.
//
// Patterns are compared by sparsity.Pattern.Equal, which takes no time for matrices over the same *sparsity.Pattern, as
// those of a prepared Jacobian or Hessian of nabla are.
//
// # Accuracy
//
// A pivot counts as zero if it is of the size of the rounding errors of the sum that it is. This criterion depends on
// neither the scale of rows and columns nor a setting. Numbers that grow, for want of pivoting or with a small
// Threshold, are found by the solution of a test system; more than half of the digits lost is an *[InaccurateError]. A
// matrix that is close to a singular one is factorised, as by gonum: Cond estimates its condition number. SolveRefined
// adds iterative refinement and returns the backward error.
//
// # Aliasing, memory and concurrency
//
// Matrices are not retained. The destination of a solution may be the right-hand side, and vectors and matrices of
// gonum may overlap in any way. An LDL or LU uses memory of its own in all methods, so that it must not be used by
// several goroutines at once. Row indices take 4 bytes, values 8; LDL stores the rows of columns with the same pattern
// once.
package direct
