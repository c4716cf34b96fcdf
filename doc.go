// Package nabla is a common interface for automatic differentiation: write the
// function once, pick an engine by its value, and get exact derivatives.
//
//	sumsq := func(x []nabla.Real) nabla.Real { return nabla.Dot(x, x) }
//	y, g, err := nabla.ValueAndGradient(sumsq, forwarddiff.Backend{}, x)
//
//	prep, err := nabla.PrepareGradient(sumsq, reversediff.Backend{Compile: true}, x)
//	for range 1000 {
//		g, err = prep.Gradient(g, x) // no allocation
//	}
//
// # Operators
//
// Each operator is a function, and has another that also returns the values it computes on the way
// (ValueAndGradient, ValueGradientAndHessian), where there are any. Its Prepare function does the work that many calls
// have in common once:
//
//	operator               function            result
//	Pushforward            any                 J(x)·dx
//	Pullback               any                 J(x)ᵀ·dy
//	Derivative             number → number     f'(x)
//	CurveDerivative        number → numbers    f'(t)
//	Gradient               numbers → number    ∇f(x)
//	Jacobian               numbers → numbers   J(x)
//	SecondDerivative       number → number     f″(x)
//	CurveSecondDerivative  number → numbers    f″(t)
//	HVP                    numbers → number    ∇²f(x)·v
//	Hessian                numbers → number    ∇²f(x)
//	HessianDiagonal        numbers → number    the diagonal of ∇²f(x)
//	WeightedHessian        numbers → numbers   Σ wᵢ·∇²fᵢ(x)
//
// Methods of prepared objects take the destination first: nil is allocated, anything
// else is overwritten and returned. An unprepared call prepares and throws the
// preparation away.
//
// # Functions
//
// An operator takes a function over [Real], which every engine can run, or one over
// float64. That is a black box, for finite differences only, unless code has been
// generated from it; see [Register]. In-place functions,
// functions with data and functions of structs become a [Func] first; see
// [InPlace], [Bind], [BindInPlace], [BindMethod] and [Struct]. What is asked of a
// function:
//
//  1. It does not keep its arguments after it returns.
//  2. At one point it takes the same branches and gives the same outputs, as many as
//     before.
//  3. What it reads besides x is constant between calls, or a bound struct. What else
//     changes costs a new recording, or is an error: see [Policy].
//
// # Engines
//
//	package                  what it is                              best for
//	backend/finitediff       difference quotients, complex step      black boxes
//	backend/forwarddiff      dual numbers, several tangents a sweep  few inputs
//	backend/reversediff      a recorded program and its reverse      many inputs, many calls
//	backend/tracker          a tape written anew at every call       many inputs, wild control flow
//	backend/source           generated Go code                       functions over float64
//
// [SecondOrder] combines two of them, [AutoSparse] makes use of zeros in Jacobians and
// Hessians, [Policy] says how recordings are kept right.
// [Choose] measures which of them is fastest for a function.
// To write an engine, see package engine and CONTRIBUTING.md.
//
// # Errors
//
// Whatever can go wrong on the caller's side is returned as an error with a type, and
// the prepared object stays usable. Beside an error the other results mean nothing. A
// panic in the function comes back as a [PanicError]. NaN and Inf are values, not
// errors.
//
// # Goroutines
//
// A prepared object serves one goroutine at a time; a second one gets ErrBusy, never
// a race. Clone makes another; [Bind] says what they share of a bound struct.
//
// A function may compute in goroutines that it waits for before it returns. It is then
// run twice at the first call, and each of its operations on Reals takes a lock: right,
// but no faster than without goroutines. What goes wrong in one of them is an error of
// the call.
package nabla
