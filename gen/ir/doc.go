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
//	v, _ = call f(e…)     calls a function; the only statement that runs others
//	p = append(s, e…)     append(s, e…), or append(s, t...) with one slice
//	n = copy(d, s)        copies elements; n may be missing
//	clear(s)              clears the elements of a slice
//	if e { … } else { … }
//	scope l { … }         what a leave of l goes to the end of
//	for l, n { … }        repeats: a leave of l ends the loop, one of n its iteration
//	for l, n i T = lo; i < hi; i += step { … }
//	for l, n … checkpoint(2, 0, 0) { … }      whose reverse sweep saves memory, see [Checkpoint]
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
// # Text
//
// [Print] writes functions as text and [Parse] reads them again, as the same: printed,
// read and printed they give the same text. A statement is a line, and so is each part
// of a statement with blocks; // begins a comment, and //@ file:line:column at the end of
// a line is the position of what begins there.
//
//	text   = { import | func }
//	import = "import" name string            a package that does not go by its name
//	func   = "func" [ "(" param ")" ] fname "(" [ params ] ")" [ "(" params ")" ]
//	         [ "passive" ] [ check ] label "{" block "}"
//	params = param { "," param }             the last may be name "..." type
//	param  = name type
//	block  = { stmt }
//	stmt   = "let" name type [ "=" expr ]
//	       | place "=" expr
//	       | place "+=" expr
//	       | [ vars "=" ] "call" callee "(" [ exprs ] ")"
//	       | place "=" "append" "(" expr { "," expr } [ "..." ] ")"
//	       | [ name "=" ] "copy" "(" expr "," expr ")"
//	       | "clear" "(" expr ")"
//	       | "if" expr "{" block [ "}" "else" "{" block ] "}"
//	       | "scope" label "{" block "}"
//	       | "for" label "," label [ count ] [ check ] "{" block "}"
//	       | "leave" label
//	       | "panic" "(" expr ")"
//	count  = name type "=" expr ";" name ( "<" | ">" ) expr ";" name "+=" integer
//	check  = "checkpoint" "(" integer "," integer "," integer ")"    levels, snapshots, steps
//	vars   = var { "," var }                 var is a name, or _ for a result that is dropped
//	callee = fname | "rule" string
//	fname  = names and dots, a receiver's type in parentheses in front and type arguments in
//	         brackets behind, or any other name as a string
//
// Places, expressions and types are Go's, so a pointer to a struct or an array is
// followed without a star by a field or an index; a place begins with a variable. Types
// and variables of packages stand as package.Name. Besides there are
//
//	zero(T)               the zero value of a type that has no nil
//	text("t", constant)   a constant that the source writes as t, where that is neither a
//	                      literal nor package.Name
//	opaque[T]("f", e…)    an [Opaque] with format f
//
// A constant has the type that Go would give it by what is around it, from the operand
// beside it or from what it is assigned or passed to, or else Go's default type, the
// count of a shift being a uint. A constant of another type is written as a conversion,
// T(constant), so a [Convert] of a constant has two: float64(int(3)). Where - stands in
// front of a literal it belongs to the constant; -(3) is a [Unary].
//
// No variable or label has the name of something predeclared in Go or one of the words
// let, call, rule, scope, leave, zero, text and opaque, see [Namer].
//
// # Stages
//
// Lowering makes functions in this form out of Go source. A normalised function, see
// [Normalize], has no statement behind an if one of whose branches leaves. Functions that
// package gen builds, tangents and adjoints, are in this form again, so they too can be
// differentiated. A traced function has numbers of type [Real] where the function that it is
// made of has floats.
//
// [Check] says whether a function keeps the rules of this form, and is run after every
// stage. [Eval] runs a function of any stage.
package ir
