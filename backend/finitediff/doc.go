// Package finitediff is the engine of difference quotients, and of the complex step.
// Difference quotients require only values of the function, so it may be any Go
// function over float64. They share no code with the engines that apply the chain
// rule, and so serve to check these.
//
//	b := finitediff.Backend{} // central differences
//	f := func(x []float64) float64 { return x[0]*x[0] + math.Sin(x[1]) }
//	g, err := nabla.Gradient(f, b, []float64{1, 0}) // about [2 1], to 10 digits
//
// # Methods
//
// With n inputs, and for f and x of the size of 1:
//
//	method    evaluations for J   for J·v   error       function over
//	Forward   n+1                 2         eps^(1/2)   float64, Real
//	Backward  n+1                 2         eps^(1/2)   float64, Real
//	Central   2n+1                3         eps^(2/3)   float64, Real
//	Complex   n+2                 3         eps         Real
//
// The error of the first three is truncation, h·f″/2 or h²·f‴/6, plus rounding,
// eps·|f|/h; the default steps balance the two. The step of component i is
// max(RelStep·|x[i]|, AbsStep). That suits functions that vary over
// lengths of the size of x[i] and 1. If f varies over another length L, the step
// should be r·L, where r is the default of RelStep: set AbsStep to r·L and, if L is
// much smaller than |x[i]|, RelStep to r·L/|x[i]|.
//
// # Adaptive differences
//
// [Adaptive] is a second engine for the same functions. It chooses each step by measurement, with about 13 evaluations
// for a derivative in place of 2, and estimates the errors. Use Backend where the time of evaluations counts and
// functions vary over the lengths that it assumes, and Adaptive
//
//   - for derivatives with 12 digits, or of functions that vary over unknown lengths: the default steps of Backend suit
//     sin(x), and those of Adaptive sin(1000x) and exp(x/1000) too,
//   - for noisy functions, such as results of simulations: the noise is found, and the steps are so long that it does
//     not matter, or [MeasureNoise] and Noise tell the engine,
//   - next to the edge of a domain that is not known as [Bounds], or where f panics there,
//   - for error estimates: the methods GradientWithError, JacobianWithError and DerivativeWithError of prepared
//     objects,
//   - for derivatives of any order of functions of one number: [Adaptive.Derivative].
//
// In the test of all elementary functions of package rules, 99 of 100 estimates bound the error (TestElementary). A
// stencil of any order on any grid is a [Stencil], with rational coefficients.
//
// An estimate fails where f hides structure from all nodes, such as a period that the steps are multiples of.
//
// # Second order
//
// Second derivatives, Hessians and H·v are second differences of values, central
// with h = eps^(1/4), and not differences of differences: 2n²+1 evaluations for a
// Hessian, 4n for H·v, 3 for a curve, with an error of eps^(1/2). The gradient that
// is returned with them is computed from the same evaluations and has that error
// too; an operator of first order such as nabla.Gradient computes more digits.
//
// Complex takes central differences of complex-step gradients, with an error of
// eps^(2/3), for 2n² or 2n runs of the program. Adaptive takes second derivatives along lines, with an error of about
// eps^(3/5).
//
// # Requirements on f
//
// f is called at points near x, within [Bounds] if they are set, and gets a slice of
// its own. It must be smooth within a step of x: at a kink or a jump the quotients
// are no derivatives, and no error is reported, except that the estimates of Adaptive are large there, or the
// derivative is NaN. Rounding errors of f are multiplied by 1/h.
//
// [Adaptive] has the settings of the package FiniteDifferences for Julia.
//
// The formulas and steps: J. Nocedal & S. Wright, Numerical Optimization, 2nd ed.
// (2006), §8.1; W. Squire & G. Trapp, SIAM Review 40 (1998), for the complex step.
package finitediff
