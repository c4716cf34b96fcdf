// Package lower translates typed Go functions into the intermediate representation of package ir.
//
// [Load] type-checks packages, [New] indexes them, [Program.Targets] lists the functions to be
// differentiated, and [Program.Func] lowers one of them and all its callees.
//
// # Supported Go
//
// Numbers, arrays, slices, structs and pointers; all loops of Go over them, if and switch, labels, early returns and
// panics; calls of functions and methods, generic ones included, and of closures that do not escape; constants,
// package-level variables that are read or used as scratch, and packages math and math/cmplx. A callee is specialised
// for its calling context: its type arguments, function values, and the dynamic types of interface values whose methods
// are called or whose types are tested. Where the type is known at run time only, a method call has a case for each
// type that the program converts to the interface. Numbers behind the interfaces of parameters and bound structs carry
// derivatives too, see carriers.go. A function value may be one of several known functions, as a
// variable that is assigned several of them, or an element of a table. A closure becomes a function whose last
// parameters are its captured variables, by pointer if a closure assigns to them. A function value in memory becomes a
// struct, and a call of it a branch for each function that flows there, see functions.go. One that other code sees is
// compared with the declared functions that the program assigns to it, see functionflow.go.
//
// A complex number is a pair of real numbers: its tangent is the complex number of the tangents of both parts, its
// cotangent the complex number ∂/∂Re + i·∂/∂Im. So the gradient of a real function points in the direction of steepest
// ascent, that of |z|² is 2z, and a holomorphic f has the tangent f'(z)·ż and the cotangent conj(f'(z))·w̄. Shadows of
// []complex128 are of the same type. At a singular point of a complex function a derivative may be NaN in both parts
// where only one is singular: Go multiplies complex numbers without regard to zeros.
//
// Calls of the standard library that carry no derivative are performed where the function performs them, in the part of
// the derivative that computes its values: once in a tangent, and once in the forward sweep of an adjoint, in the same
// order. These are output by fmt, log and log/slog, print and println, and the functions of errors, strings, strconv,
// bytes, time, unicode and path whose parameters and results permit it. Their results are constants for
// differentiation, the numbers of strconv.ParseFloat and time.Duration.Seconds included, and random numbers of a
// generator that rand.New made; where text may have been made of a float, numbers made of it are refused. log.Fatal and
// os.Exit end the program, as a panic ends the function. Forms over Reals print nothing. A loop that prints or reads
// the clock is not checkpointed, since its iterations would be repeated.
//
// Deferred calls are performed before each return after the defer statement, at the end of the
// function, and before a panic statement of the function itself, in reverse order. A panic of a
// callee or of the runtime does not perform them, and may leave a mutex locked. Methods of
// sync.Mutex, sync.RWMutex and the types of sync/atomic are called where the function calls them.
// The reverse sweep of an adjoint holds no lock: other goroutines must not change memory that it
// reads or writes.
//
// slices.SortFunc, slices.SortStableFunc, sort.Slice, sort.SliceStable, and sort.Sort and sort.Stable
// of slice types with plain methods Len and Swap, are performed by package sort or slices with the
// lowered comparison, so that equal elements come into the same order. The comparison decides and
// carries no derivative; it must write nothing. The order is recorded, and derivatives move with
// the elements.
//
// Names of other packages that generated code cannot use are no obstacle. Callees are copied into the generated code in
// any case. Types and fields are the printer's concern (package print). An unexported package-level variable becomes a
// private copy, initialised as the variable is, if nothing in its package writes to it or lets its memory out, and if
// its initial value is the same in every run.
//
// Maps can be made, read, changed and ranged over, in Go's random order, which derivatives take as the function took
// it. Keys must lead to no other memory and carry no derivatives. The elements of a map that only differentiated
// functions see may be of any type and carry derivatives: it becomes a map from keys to the elements of a slice, see
// slotmaps.go. Other maps, those of a parameter, a bound struct, a package-level variable, or passed to a function
// without derivative, are maps of numbers, strings and structs of them. Their elements are constants for
// differentiation, and a function that stores a number with a derivative in one is refused.
//
// A package-level variable that the function writes is scratch: its derivatives end with the call, and the variable has
// its value at the end as after a call of the function. Numbers that may be read before they are written are refused,
// unless they only count or carry no derivative, since they may be results of an earlier call that are used again. An
// array or a slice is written if any element is. The variable must be a number, an array or struct of such, or a slice
// of these whose memory no other name leads to. As the function itself, its derivatives must not be called in several
// goroutines at the same time. Forms over Reals leave the variable as it is, and so does a panic. The method Do of
// sync.Once is called with a declared function, which computes constants.
//
// The scope of loop variables is that of the Go version of the file that contains the loop: one
// variable per loop before Go 1.22, one per iteration since, also in copies of the function.
//
// A loop over a function is inlined: the body of the function replaces the loop, and the body of
// the loop replaces each call of yield, so for i := range count(n) becomes the loop in count. The
// function must be known: a function literal, a declared function or method, a variable that is
// bound once to one of them, or a call of a function whose only return is its last statement and
// returns one of them, such as slices.Values(x). It may pass yield on to other functions, but not
// recursively to itself. An iterator that calls yield again after the loop was left panics as in
// Go, though not with a runtime.Error.
//
// # Refusals
//
// All other constructs are refused by a [Refusal] that states the position, the construct, the
// reason and a remedy. A refusal of a function is one of its callers too. A function is never
// lowered to code with another meaning, with one proviso: a loop over a 64-bit integer is treated
// as counted although a bound within one step of the largest integer would make it infinite.
//
// # Rules
//
// A function that is not differentiated itself, since it iterates, ends in assembly or has a better
// derivative, has a derivative supplied by a directive on its declaration:
//
//	//nabla:rule tangent=SolveTangent pullback=SolvePullback
//	func Solve(x, a []float64, b float64) (residual float64)
//
// One of the two may be missing; then only the other mode is available. Both are functions of the
// same package, exported if functions of other packages call this one. Their types follow from that
// of the function; if they do not match, the refusal states the declaration.
//
//	func SolveTangent(x, a []float64, b float64, xDot, aDot []float64, bDot float64) (residual, residualDot float64)
//	func SolvePullback(x, a []float64, b float64, xBar, aBar []float64, residualBar float64) (bBar float64)
//
// The tangent takes the parameters, then a shadow for each one that contains floats or references
// to floats, complex numbers included; it performs the function and returns its results, then the
// derivatives of those with floats. A shadow has the type of its primal and holds a derivative for each float.
//
// The pullback takes the parameters, then a shadow for each one from which floats can be reached
// through slices and pointers, then the seeds of the results that contain floats; it returns the
// cotangents of the parameters that contain floats. Values and memory are in their state before the
// call, and must not be changed. It adds to the shadows. For memory that the function writes, the
// shadow holds the cotangent of the written values on entry, and must hold that of the overwritten
// values on return, which is 0 if they do not matter.
//
// Shadows alias as their primals do, so a cotangent is taken from an element before one is added to
// it. A nil shadow means zero to a tangent, and to a pullback that the cotangent is not needed.
// With passive=n,tol the parameters n and tol have no shadow and no cotangent; calls in which they
// carry a derivative are refused.
//
// The function and its derivatives are lowered if possible. That determines which memory the
// function writes, so that the reverse sweep records no more than necessary, which memory the
// pullback reads, and the second derivatives. If the function has no source that can be lowered, it
// is assumed to write all memory it can reach, which must be slices of numbers. It must not write
// beyond the length of a slice. A slice or pointer that it returns must be one of its arguments.
// With writes=x,y it writes memory of the parameters x and y only, and with writes=none nothing; its source is not
// looked at for that, except that
// an assignment through the name of another parameter is refused, as is one of a pullback through that of a primal.
// Over nabla.Real the function is one operation with the derivatives of the rule, if its parameters and results with
// numbers are numbers, slices of float64, and arrays and structs of them. A missing derivative is computed from the
// other one there. With plain=SolvePlain code over nabla.Real follows that function instead, of the same type and with
// the same results. With
// source=none the source of a function of package library is not followed: neither differentiated if the rule lacks a
// derivative nor over nabla.Real. Functions have it whose shadows are not the derivatives of their memory.
//
// A rule may also be a variable, so that functions over nabla.Real call it too:
//
//	var SolveRule = nabla.Rule{Name: "Solve", Value: solve, VJP: solveVJP, VJPReal: solveVJPReal}
//
//	//nabla:rule rule=SolveRule
//	func Solve(y, x []float64) { solve(y, x) }
//
// The function is of type func(y, x []float64), func(x []float64) float64 or func(x ...float64) float64, or takes and
// returns numbers only, which are the elements of x and y in order. It must compute what Value does; slices that it
// gets must not overlap. The variable is declared in the package of the function with a literal of nabla.Rule and not
// changed; Value, JVP and VJP in it are declared functions or function literals. Generated code calls Value, and JVP
// and VJP, the missing one by way of the other as nabla.Rule does. Their source has the second derivatives. Over
// nabla.Real the rule itself is called, with its Pattern, JVPReal and VJPReal; if it has neither of these two, the
// forms of JVP and VJP over nabla.Real stand in, so that second derivatives are not differences.
//
// ValueJVP and ValueVJP of the variable are called in place of Value and JVP, and of Value and VJP. A pullback is made
// in the reverse sweep, where the value is computed again with it. Parameters whose index NoTangent lists carry no
// derivative, as those of passive=; they may be integers: func Power(n int, x float64) float64.
//
// A table of rules is a variable of type nabla.Rules that is declared with a literal, whose keys are full names of
// functions, and not changed. Each of its rules is a literal of nabla.Rule or a variable as above. A call obeys the
// exported tables of the packages that the package of the calling function imports, and all tables of that package:
// what a function computes does not depend on which other packages are loaded. With the directive
//
//	//nabla:norule example.com/special.Erfcx example.com/specialrules.Rules
//
// above a function, calls in it obey no rule of the functions that it names, be it of a table, a directive or a library
// derivative, and no rule of the tables.
//
// The library derivatives, which come with nabla, are rules for gonum's packages floats, blas64 and
// mathext and for sorting, see package library. Derivatives they lack are obtained from the source
// of the function, if that can be lowered. All of them support nabla.Real too: functions of slices
// by equivalent Go code, functions of numbers by rules that are called. Functions of package math
// need no rules.
//
// # Order of evaluation
//
// Calls, and all other operations with side effects, become statements before the statement that
// contains them, in Go's order of evaluation. Other operands remain in their expressions. Go does
// not specify whether x is read before or after the call in x + f(); here it is read after it, as
// the compiler does.
//
// # Terms
//
// A specialization is a copy of a function for one calling context. Devirtualization resolves a
// method call from the known dynamic type of an interface value. A function is foreign if no code
// can be generated in its package; refusals in it are reported at the calls that lead there.
package lower
