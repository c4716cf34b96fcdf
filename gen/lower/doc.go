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
// # What is refused
//
// Everything else, by a [Refusal] that says where, what, why and the way round. A refused
// function refuses those that call it. A function is never lowered to something else than
// it means, with one proviso: a loop over a 64-bit integer is taken to be counted although
// a bound within one step of the largest integer would make it endless.
//
// # Order
//
// Calls, and whatever else has an effect, stand as statements before the one they are
// part of, in the order in which Go runs them. Other operands stay where they are in their
// expression. Go leaves open whether x is read before or after f is called in x + f();
// here it is read after, which is what the compiler does.
package lower
