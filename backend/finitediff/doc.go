// Package finitediff is the engine that differentiates by evaluating: it takes
// differences of values, or steps into the complex plane. It needs nothing of a
// function but its values, so it works for plain Go over float64, and it shares no
// code with the engines that apply the chain rule, which makes it the check for
// all of them.
//
//	b := finitediff.Backend{} // central differences
//	f := func(x []float64) float64 { return x[0]*x[0] + math.Sin(x[1]) }
//	g, err := nabla.Gradient(f, b, []float64{1, 0}) // about [2 1], to 10 digits
//
// # Methods
//
// With n inputs, and for f and x of the size of 1:
//
//	method    evaluations for J   for J·v   error       wants
//	Forward   n+1                 2         eps^(1/2)   values
//	Backward  n+1                 2         eps^(1/2)   values
//	Central   2n+1                3         eps^(2/3)   values
//	Complex   n+2                 3         eps         nabla.Real
//
// The error of the first three is truncation, h·f″/2 or h²·f‴/6, plus rounding,
// eps·|f|/h; the default steps balance the two. The step of component i is
// max(RelStep·|x[i]|, AbsStep): where the function varies on another scale than
// that of x and 1, say so in AbsStep.
//
// # Second order
//
// Second derivatives, Hessians and H·v are second differences of values, central
// with h = eps^(1/4), and not differences of differences: 2n²+1 evaluations for a
// Hessian, 4n for H·v, 3 for a curve, with an error of eps^(1/2). The gradient with
// them is taken from the same evaluations and has that error too; one that is
// wanted to more digits is a call of Gradient.
//
// Complex takes central differences of complex-step gradients, with an error of
// eps^(2/3), for 2n² or 2n runs of the program.
//
// # Requirements on f
//
// f is called at points near x, inside [Bounds] where there are some. It never
// sees the slice that the user passed. Kinks and jumps within a step of x give
// numbers that mean nothing; rounding in f itself is amplified by 1/h.
//
// The formulas and steps: J. Nocedal & S. Wright, Numerical Optimization, 2nd ed.
// (2006), §8.1; W. Squire & G. Trapp, SIAM Review 40 (1998), for the complex step.
package finitediff
