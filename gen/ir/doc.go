// Package ir is the form in which package gen differentiates Go functions: small,
// typed and structured, so that every pass is one switch.
//
// # Functions
//
// A [Func] has parameters, results and a body. Results are variables; a return sets
// them and leaves the function. All names of a function are different, so a variable is
// known by its name in the text form.
//
// # Statements
//
//	let v T = e           declares v, a new variable at every execution
//	p = e                 assigns to a place: a variable, an element, a field, a target
//	p += e                adds a number; e does not read p
//	v, w = call f(e…)     calls a function; the only statement that runs others
//	v = append(s, e…)     append(s, e…), or append(s, t...) with one slice
//	n = copy(d, s)        copies elements; n may be missing
//	clear(s)              clears the elements of a slice
//	if e { … } else { … }
//	scope l { … }         what a leave of l goes to the end of
//	for l, n …            loops, see [Loop]: a leave of l ends it, one of n its iteration
//	leave l               goes to the end of the scope, loop, iteration or function l
//	panic(e)
//
// leave and panic stand last in their block. There is no other jump.
//
// # Expressions
//
// An expression has no effect and calls nothing but elementary functions, so it may be
// evaluated again wherever what it reads is unchanged. It may panic, as an index out of
// range does. Expressions are trees as the user wrote them: splitting one could change
// how the compiler fuses it. && and || evaluate their right side only if they have to.
// make, new and composite literals, which give new memory, stand only directly behind
// the = of a let or an assignment.
//
// # Places
//
// A [Place] is a variable and a path of fields, indices and dereferences from it. The
// index of an element is an expression and is evaluated where the place is used. Reading
// a place of array or struct type copies it.
//
// # Types
//
// Types are those of go/types. What is differentiated are floats, in variables, arrays,
// slices, structs and behind pointers; everything else is data.
//
// # Stages
//
// Lowering makes functions in this form out of Go source. A normalised function, see
// [Normalize], has no statement behind an if one of whose branches leaves. Functions that
// package gen builds, tangents and adjoints, are in this form again, with the statements
//
//	keep t e              puts a number or a header on the stack t
//	restore p t           takes it off again and assigns it
//
// besides; they too can be differentiated.
package ir
