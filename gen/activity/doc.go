// Package activity performs activity analysis: given the active parameters of a function, it determines which variables
// of the function and of its callees carry derivatives. A second analysis, [Unwritten], determines which fields of a
// struct parameter a function never writes.
//
// The input is a function in the form of package ir and a [Mask] of its active parameters; the output are [Facts] for
// the function and, through [Facts.Callee], for the functions it calls. There is one Facts for each combination of a
// function and its active parameters, so the analysis is context-sensitive in that respect.
//
// # Terms
//
// A value is varied if it depends on an active parameter, and useful if a result depends on it. In the literature
// (Bischof et al. 1992; Griewank & Walther 2008, section 6.2) a variable is active if it is both. Here active means
// varied only: an adjoint needs no cotangents for values that are not useful, but zero ones do no harm, and package
// simplify removes most of the code that handles them.
//
// A shadow is memory of the shape of primal memory that holds its derivatives: tangents in forward mode, cotangents in
// reverse mode. Active variables have shadows. A variable that is not active is passive; a passive function promises to
// have no derivatives.
//
// # Method
//
// The memory that a variable leads to, through slices and pointers, is an alias class. Classes are computed by
// unification (Steensgaard 1996): assigning a value with references merges the classes of both sides. Activity and "may
// be written" are properties of a class, so a struct is active as a whole. The analysis is flow-insensitive. All facts
// only grow: classes merge, properties become true, masks gain bits. Statements and functions are visited until nothing
// changes, and there are finitely many masks, so the fixed point exists and is reached. The result is conservative:
// passive variables depend on no active parameter in any execution.
package activity
