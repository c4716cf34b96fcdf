// Package problems is a set of test functions with known derivatives, for tests, benchmarks and examples.
//
// Each function is written three times: in plain Go, the form whose time is the unit of derivative times; over
// nabla.Real, with the same arithmetic in the same order, so that the values agree to the bit (unless the compiler
// fuses multiplications with additions); and as a derivative by hand, which shares no code with the engines and is
// tested against numbers computed with 40 digits.
//
//	name  function                                   inputs  outputs
//	T1    sum of squares                             any     1
//	T2    sum of squared differences                 any     1
//	T3    chained Rosenbrock                         any     1
//	T4    Brusselator on a grid of 6×6, or 32×32     72      72
//	T5    Gaussian mixture, d=10, K=5, 100 points    330     1
//	gmm   Gaussian mixture, ADBench's d=2, K=5 file  30      1
//	T6    bundle adjustment, 1000 observations       15      2
//	ba    bundle adjustment, all in one              56      24
//	T7    logistic regression, 1000 rows             20      1
//	T8    Lorenz system, 1000 Runge-Kutta steps      6       1
//	T4-modulo, T8-arrays  T4 and T8 in a slower form of the plain function
//	lstm  LSTM, 2 layers, 10 characters of 5 bits    95      1
//	hand  hand tracking, points at vertices          26      36
//	hand_triangles  the same, points in triangles    50      36
//
// The derivative is the gradient or Jacobian; that of listing2 is the Hessian of T2.
//
// list.go has the list of problems, and that of the ones which the command times.
package problems
