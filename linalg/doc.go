// Package linalg has dense matrices of Reals, and operations on them that are single steps with derivatives of their
// own: products, solutions of linear systems and of least squares problems, factorisations, determinants, inverses,
// eigenvalues and singular values.
//
//	k := linalg.New(n, n) // elements are Reals: k.Set(i, j, …)
//	c := linalg.NewCholesky(k)
//	logLikelihood := nabla.Dot(y, c.SolveVec(y)).Add(c.LogDet()).Scale(-0.5)
//
// An operation takes the time of its counterpart in gonum, O(n³) with blocked kernels, and O(n²) memory, in the
// function and in its derivatives; a function that computes the same with scalars is recorded as O(n³) operations.
// Derivatives are made of the same operations, so that they can be differentiated again, to any order, and every engine
// has them. A compiled engine runs an operation as one statement of its program. A function may use an operation's
// result or arguments several times, and arguments may share elements.
//
// # Shapes, costs and derivatives
//
// The second column has the multiplications of an evaluation, the third those of the reverse sweep in addition, for A
// n×n, B n×m.
//
//	operation              evaluation      reverse sweep    source
//	MatMul, MatVec         k·n·m           2·k·n·m          Giles 2.2.2
//	SolveLower, SolveUpper n²·m/2          3·n²·m/2         Giles 2.3.1
//	NewCholesky            n³/6            –
//	  Solve, SolveVec      n²·m            2·n²·m           Giles 2.3.1
//	  LogDet               n               n³/3             Giles 2.2.4
//	  Inverse              n³/3            2·n³             Giles 2.2.3
//	  Lower                n²/2            2·n³             Murray, equation 10
//	NewLU                  n³/3            –
//	  Solve, SolveVec      n²·m            2·n²·m           Giles 2.3.1
//	  Det, LogDet          n               2·n³/3           Giles 2.2.4
//	  Inverse              2·n³/3          2·n³             Giles 2.2.3
//	NewEigen               about 9·n³      –
//	  Values               n               n³               Giles 3.1
//	  Vectors              n²              3·n³             Giles 3.1
//
// For A m×n with m ≥ n, and B m×k; a wide matrix costs as much as its transpose:
//
//	NewQR                  2·m·n²-2·n³/3   –
//	  Solve, SolveVec      m·n·k           5·m·n·k          Golub and Pereyra, theorem 4.3
//	  Q                    m·n             4·m·n²           Walter and Lehmann, section 4
//	  R                    n²/2            3·m·n²           Walter and Lehmann, section 4
//	LeastSquares           NewQR and Solve
//	PseudoInverse          NewQR, m·n²     6·m·n²           Golub and Pereyra, theorem 4.3
//	NewSVD                 about 9·m·n²    –
//	  Values               n               m·n²             Giles 3.2
//	  U, V                 m·n             4·m·n²           Townsend
//
// The methods of a factorisation are differentiated with respect to the matrix, not to its factors, so that factorising
// has no derivative to be computed. Only Lower, which returns a factor, pays for it.
//
// Symmetric matrices are given by their lower triangles, and an element below the diagonal stands for both of A. A
// function that is to have the derivative with respect to a full matrix passes (A + Aᵀ)/2.
//
// # Errors
//
// Matrices of the wrong shape, and those for which an operation is not defined, end the function, and the operator that
// differentiates it returns an [*Error]. A matrix is singular only if a pivot is exactly 0; solutions of nearly
// singular systems are computed, with the errors that their condition implies. Factorising a matrix with a NaN is no
// error, and the results are NaN.
//
// A matrix does not have full rank if in its QR factorisation an element on the diagonal of R is at most m·2⁻⁵² times
// the norm of its column, that is if only rounding tells a column from a combination of those before it; the scales of
// the columns do not matter. There least squares solutions, and the derivatives of Q and R, are an error: the solution
// with the least norm is not continuous at such a matrix.
//
// Derivatives of eigenvectors are divided by differences of eigenvalues, those of singular vectors by differences of
// singular values. If two are exactly equal that is an error. If they nearly are the derivatives are computed and have
// the relative error 2⁻⁵²·|A|/gap, as the vectors themselves do. First derivatives of the values need no gaps.
//
// # Memory
//
// A call of a prepared object on a compiled engine takes its memory from the object and from a pool, and does not
// allocate; but gonum computes products of matrices with more than 64 rows and columns in goroutines, which takes some
// memory for each, independent of the size. Engines that do not compile (forwarddiff, tracker, reversediff without
// Compile) allocate O(n²) for an operation.
//
// # Sparsity
//
// For detectors of sparsity an element of a product depends on a row and a column, bilinearly, a column of a solution
// linearly on the column of the right-hand side and nonlinearly on all elements of the matrix, and results of other
// operations on all elements of their arguments.
//
// # Sources
//
// M. B. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation", in
// Advances in Automatic Differentiation, 2008; I. Murray, "Differentiation of the Cholesky decomposition",
// arXiv:1602.07527, 2016; G. H. Golub and V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least
// squares problems whose variables separate", SIAM Journal on Numerical Analysis 10, 1973; S. F. Walter and L. Lehmann,
// "Algorithmic differentiation of linear algebra functions with application in optimum experimental design",
// arXiv:1001.1654, 2010; J. Townsend, "Differentiating the singular value decomposition", 2016.
package linalg
