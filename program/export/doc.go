// Package export writes programs, recorded functions and their derivatives, as source code and as data: Go, C99, LaTeX,
// JSON, Graphviz and text. [Load] reads JSON back.
//
// A derivative of a program is a program, so that gradients, Jacobians, Hessians, products and entries of sparse
// matrices are exported in the same way; see nabla.Record and package program for how to make them.
//
// [Go] and [C] write a function without branches other than guards. Its results are those of a machine that runs the
// program: bit for bit, except that C calls the functions of its own math library. A program with custom rules is not
// exported as code: the error is a [*RuleError].
//
// # Loops
//
// Equal operations that do not depend on each other become loops, from [Options.Unroll] of them on, however the program
// has them: as lanes of statements or as statements of their own. A loop has all such operations of one number of lanes
// that can be computed lane by lane. What only the loop needs stays in a variable, and the rest is in an array, whose
// place another one takes when it is not read any more. An argument is read at a fixed stride or through a constant
// table. Sums and chains of additions are loops as well, in the order of their terms. A program need not be scheduled,
// and the code is better if it is not; one that is simplified is shorter.
//
// A function with arrays of more than 512 numbers takes memory for them as its last parameter. It never allocates.
//
// # Guards
//
// A program is one branch of a function. Its guards check the comparisons that the function made. Exported functions
// check them too, report one that fails, and have then written no outputs.
package export
