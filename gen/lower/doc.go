// Package lower turns typed Go functions into the form of package ir.
//
// [Load] type-checks packages, [New] indexes them, [Program.Targets] are the functions
// that are to be differentiated, and [Program.Func] lowers one of them with all that it
// calls.
//
// # What is lowered
//
// Numbers, arrays, slices, structs and pointers; all of Go's loops over them, if and
// switch, labels, early returns and panics; calls of functions and methods, also generic
// ones, and of closures that do not escape; constants, package variables that are only
// read and package math. Whatever is known when a function is called is put into a copy
// of the callee: type arguments, function values, and the types of interface values whose
// methods are called then. A closure becomes a function whose
// last parameters are the variables it captures, by pointer where somebody writes them
// through the closure.
//
// The variables of a loop are those of the Go version of its file: one for the loop before
// Go 1.22, one for each iteration since, wherever the function is copied to.
//
// In a loop over a function the body of the function stands where the loop does, and that
// of the loop where the function calls yield: for i := range count(n) becomes the loop in
// count. The function has to be known: a function literal, a declared function or method,
// a variable that is bound once to one of them, or a call of a function that ends with
// its only return, of one of them, such as slices.Values(x). It may hand yield on to other
// functions, but not to itself. One that calls yield again after the loop was left panics
// as Go does, though not with a runtime.Error.
//
// # What is refused
//
// Everything else, by a [Refusal] that says where, what, why and the way round. A refused
// function refuses those that call it. A function is never lowered to something else than
// it means, with one proviso: a loop over a 64-bit integer is taken to be counted although
// a bound within one step of the largest integer would make it endless.
//
// # Rules
//
// A function that is not to be looked into, since it iterates, ends in assembly or has a
// derivative that is better written by hand, gets one by a directive on its declaration:
//
//	//nabla:rule tangent=SolveTangent pullback=SolvePullback
//	func Solve(x, a []float64, b float64) (residual float64)
//
// One of the two may be missing; then only the other mode is there. Both are functions of
// the same package, exported if functions of other packages call this one. Their types
// follow from that of the function; where they do not, the refusal says what to declare.
//
//	func SolveTangent(x, a []float64, b float64, xDot, aDot []float64, bDot float64) (residual, residualDot float64)
//	func SolvePullback(x, a []float64, b float64, xBar, aBar []float64, residualBar float64) (bBar float64)
//
// The tangent has the parameters, then a shadow for each one that holds floats or leads to
// some; it does what the function does and gives its results, then the derivatives of
// those that have floats. A shadow has the type of what it belongs to and holds the
// derivative where that holds a float.
//
// The pullback has the parameters, then a shadow for each one that leads to floats behind
// slices and pointers, then the seeds of the results that have floats of their own; it
// gives the adjoints of the parameters that have floats of their own. Values and memory
// are as they were before the call, and stay so. It adds to the shadows. For memory that
// the function writes the shadow holds the adjoint of what it wrote; the pullback leaves
// there that of what stood there before, which is 0 where it was overwritten.
//
// Shadows overlap just as what they belong to does, so an element is taken from one before
// it is given to another. A nil shadow says of a tangent that nothing moves there, and of
// a pullback that nobody wants it. With passive=n,tol the parameters n and tol have no
// shadow and no adjoint; calls where they carry a derivative are refused.
//
// The function and its derivatives are lowered where that can be done. It tells what the
// function writes, so that the reverse sweep keeps no more than it has to, what the
// pullback reads, and how to go on to second derivatives. Where the function has no source
// that can be lowered it is taken to write all that it can reach, which may be slices of
// numbers only. It may not write to what is behind the length of a slice. A slice or
// pointer that it returns has to be one of its arguments.
//
// Rules for gonum's packages floats, blas64 and mathext, and for sorting, come with nabla, see package
// kernels. What they do not give is had from the source of the function, where that can be
// lowered. All of them are there over nabla.Real too: functions of slices in plain forms that are
// followed, functions of numbers as rules that are called. Functions of package math need none.
//
// # Order
//
// Calls, and whatever else has an effect, stand as statements before the one they are
// part of, in the order in which Go runs them. Other operands stay where they are in their
// expression. Go leaves open whether x is read before or after f is called in x + f();
// here it is read after, which is what the compiler does.
package lower
