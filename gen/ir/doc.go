// Package ir is the intermediate representation in which package gen differentiates Go functions.
// It is small, typed and structured: control flow is a tree of statements, so every pass is a
// recursive switch over statements and expressions.
//
// # Functions
//
// A [Func] has parameters, results and a body. Results are variables; a return assigns them and
// leaves the function. All names of a function are different, so the text form can refer to
// variables by name.
//
// # Statements
//
//	let v T = e           declares v, a new variable at every execution
//	p = e                 assigns to a place: a variable, an element, a field, a pointer's target
//	p += e                adds a number; e does not read p
//	v, _ = call f(e…)     calls a function; the only statement that executes others
//	p = append(s, e…)     append(s, e…), or append(s, t...) with one slice
//	n = copy(d, s)        copies elements; n may be missing
//	clear(s)              clears the elements of a slice
//	batch f(d, s…)        d[i] = f(s[i]…) for all i, by an elementary function
//	if e { … } else { … }
//	scope l { … }         a leave of l ends it
//	for l, n { … }        repeats: a leave of l ends the loop, one of n its iteration
//	for l, n i T = lo; i < hi; i += step { … }
//	for l, n … checkpoint(2, 0, 0) { … }      a loop that is checkpointed, see [Checkpoint]
//	for l, n … marked { … }                   a loop whose iterations recordings are told of
//	leave l               ends the scope, loop, iteration or function l
//	panic(e)
//
// leave and panic are the last statements of their blocks. There is no other jump.
//
// # Expressions
//
// An expression has no side effects and calls only elementary functions, so it may be recomputed
// wherever its operands are unchanged. It may panic, as an index out of range does. Expressions are
// trees as written by the user: splitting one could change how the compiler fuses it. && and || do
// not evaluate their right operand unless the result depends on it. make, new and composite
// literals, which allocate, occur only as the whole right side of a let or an assignment.
//
// # Places
//
// A [Place] is a variable and a path of fields, indices and dereferences from it. Indices are
// expressions, evaluated where the place is used. Reading a place of array or struct type copies
// it. A place is indirect if its path crosses a pointer or a slice; then other places may alias it.
//
// # Types
//
// Types are those of go/types. Floats are differentiated, in variables, arrays, slices, structs and
// through pointers; values of other types carry no derivative.
//
// # Text
//
// [Print] writes functions as text and [Parse] reads it back: printing the result of Parse gives
// the same text again. Each statement is on a line of its own, and so is each part of a statement
// with blocks. A comment starts with //; //@ file:line:column at the end of a line is the source
// position of the statement or function that starts there.
//
//	text   = { import | func }
//	import = "import" name string            a package that is not referred to by its own name
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
//	       | "batch" name "(" expr "," exprs ")"
//	       | "if" expr "{" block [ "}" "else" "{" block ] "}"
//	       | "scope" label "{" block "}"
//	       | "for" label "," label [ count ] [ check ] "{" block "}"
//	       | "leave" label
//	       | "panic" "(" expr ")"
//	count  = name type "=" expr ";" name ( "<" | ">" ) expr ";" name "+=" integer
//	check  = "checkpoint" "(" integer "," integer "," integer ")"    levels, snapshots, steps
//	vars   = var { "," var }                 var is a name, or _ for a discarded result
//	callee = fname | "rule" string
//	fname  = names and dots, with a receiver's type in parentheses before them and type
//	         arguments in brackets after them, or any other name as a string
//
// Places, expressions and types have Go's syntax, so a field or an index follows a pointer to a
// struct or an array without a star. A place begins with a variable. Types and variables of
// packages are written package.Name. In addition there are
//
//	zero(T)               the zero value of a type that has no nil
//	text("t", constant)   a constant spelled t in the source, if that is neither a
//	                      literal nor package.Name
//	opaque[T]("f", e…)    an [Opaque] with format f
//	typeis[T](x)          a [TypeTest] of x
//	unboxto[*T](x)        an [Unbox] of x
//	boxto[T](x)           a [Box] of x
//
// A constant has the type that Go would derive from its context: that of the other operand, or of
// the variable or parameter it is assigned to; otherwise it has Go's default type, and a shift
// count is a uint. A constant of another type is written as a conversion, T(constant), so a
// [Convert] of a constant is written with two: float64(int(3)). A - before a literal is part of the
// constant; -(3) is a [Unary].
//
// No variable or label has the name of a predeclared identifier of Go or one of the words let,
// call, rule, scope, leave, zero, text, opaque, typeis, boxto and unboxto, see [Namer].
//
// # Stages
//
// Lowering translates Go source into this form. A function in normal form, see [Normalize], has no
// statement after an if one of whose branches leaves. Tangents and adjoints that package gen builds
// are in this form too, so they can be differentiated again. A traced function has numbers of type
// [Real] in place of the floats of its original.
//
// [Check] verifies the invariants of this form and runs after every stage. [Eval] is an interpreter
// for functions of any stage; tests compare stages with it.
//
// # Terms
//
// Unless noted otherwise, a function that returns a slice of places or expressions returns shared
// parts of the function, which must not be modified: passes build new trees, see [Map].
package ir
