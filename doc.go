// Package nabla is a common interface for automatic differentiation: write the function once,
// select an engine by passing a value, and get exact derivatives.
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
// Each operator is a function. If it computes other values on the way, a second function returns
// those too (ValueAndGradient, ValueGradientAndHessian). The Prepare function of an operator does,
// once, the work that many calls have in common:
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
//	KKT                    numbers → numbers   J(x) and Σ wᵢ·∇²fᵢ(x) together
//	Hessians               numbers → numbers   ∇²fᵢ(x) of every output
//	GradientWithAux        numbers → numbers   ∇f₀(x), and the other outputs
//	GradientMany           numbers → number    ∇f at each of many points, on several workers
//	JacobianMany           numbers → numbers   J at each of many points, on several workers
//
// Derivatives of any order are computed by Taylor arithmetic, in package backend/taylor:
//
//	TaylorCoefficients        numbers → number   f(x+t·v) = Σ c[k]·t^k
//	VectorTaylorCoefficients  numbers → numbers  the same of each output
//	Derivatives               number → number    f(x), f'(x), f″(x), …
//	CurveDerivatives          number → numbers   f(t), f'(t), f″(t), …
//	PartialDerivatives        numbers → number   ∂^α f(x) for all multi-indices α
//
// [Output] makes a function with one output of one with several. [Scan] is a loop of many steps whose derivatives take
// a fixed amount of memory, and [Checkpoint] a function that a reverse sweep runs again.
//
// [Record] returns a function as a list of operations, and [Trace] finds the operation that made a NaN or an infinity.
// Package program/expression prints, simplifies and differentiates such a list as a formula.
//
// Methods of prepared objects take the destination first: if it is nil, it is allocated; otherwise
// it is overwritten and returned. It must have the length of the result, otherwise the error is a
// [ShapeError], and share no memory with an argument or another destination, otherwise it is an
// [AliasError]. Arguments are not modified. An unprepared call prepares the operator and discards
// the preparation.
//
// # Functions
//
// An operator takes a function over [Real], which every engine can run, or one over float64. The
// latter is a black box, for finite differences only, unless code has been generated from it; see
// [Register]. In-place functions, functions with data and functions of structs are first wrapped in
// a [Func]; see [InPlace], [Bind], [BindInPlace], [BindMethod], [Struct], [StructPlain] and
// [BindStructPlain]. Functions of structs that write their outputs are passed with [StructInPlace]
// and [BindStructInPlace]. A function must satisfy these conditions:
//
//  1. It does not keep its arguments after it returns.
//  2. At one point it takes the same branches and returns the same outputs, as many as
//     before.
//  3. Data that it reads in addition to x is constant between calls, or in a bound struct.
//     Other changes cost a new recording, or are an error: see [Policy].
//
// Complex numbers are pairs of Reals, see [Complex]: derivatives are those with respect to both parts, so the gradient
// of |z|² is 2z.
//
// # Engines
//
//	package                  method                                  best for
//	backend/finitediff       difference quotients, complex step,     black boxes
//	                         adaptive ones with error estimates
//	backend/forwarddiff      dual and hyper-dual numbers             few inputs
//	backend/reversediff      a recorded program and its reverse      many inputs, many calls
//	backend/symbolic         simplified expressions                  few inputs and outputs, many calls
//	backend/taylor           truncated power series                  high order, few inputs
//	backend/tracker          a new tape for every call               many inputs, wild control flow
//	backend/source           generated Go code                       functions over float64
//
// A nil Backend is [Auto], which selects the engine for the function and the operator; method
// Explain of a prepared object says which one, and why. [SecondOrder] combines two engines,
// [AutoSparse] exploits zeros in Jacobians and Hessians, and [Policy] controls how recordings are
// kept valid. [Choose] finds the fastest engine for a function by measurement. To write an engine,
// see package engine and CONTRIBUTING.md.
//
// # Errors
//
// Mistakes of the caller are returned as errors with a type, and the prepared object stays usable.
// Beside an error the other results are nil or 0; destinations may have been written. A panic in
// the function is returned as a [PanicError], an error that the function returns beside its value as a
// [ReturnedError]. NaN and Inf are values, not errors.
//
// # Goroutines
//
// A prepared object serves one goroutine at a time; a call from a second one returns ErrBusy and is
// never a race. Clone returns an object for another goroutine; [Bind] describes the parts of a
// bound struct that the two share.
//
// A function may compute in goroutines if it waits for them before it returns. Such a function is
// run twice at the first call, and each of its operations on Reals takes a lock: the result is
// correct, but no faster than without goroutines. A failure in one of the goroutines is an error of
// the call.
package nabla
