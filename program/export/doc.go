// Package export writes programs, recorded functions and their derivatives, as source code and as data: Go, C99, LaTeX,
// JSON, Graphviz and text. [Load] reads JSON back.
//
// A derivative of a program is a program, so that gradients, Jacobians, Hessians, products and entries of sparse
// matrices are exported in the same way; see nabla.Record and package program for how to make them.
//
// [Go] and [C] write a function without loops, branches other than guards, or memory of its own. Its results are those
// of a machine that runs the program: bit for bit, except that C calls the functions of its own math library. A
// program with custom rules is not exported as code: the error is a [*RuleError].
//
// # Guards
//
// A program is one branch of a function. Its guards check the comparisons that the function made. Exported functions
// check them too, report one that fails, and have then written no outputs.
package export
