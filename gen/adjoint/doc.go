// Package adjoint generates adjoints: from a function in the form of package ir it builds one that returns the same
// results and then, in reverse order, propagates cotangents from the results to the parameters. This is the reverse
// mode of algorithmic differentiation by source transformation (Griewank & Walther, Evaluating Derivatives, 2nd ed.,
// 2008, chapters 3, 4 and 12; Hascoët & Pascual, The Tapenade automatic differentiation tool, 2013).
//
// # Terms
//
// The primal is the function that is differentiated, and its values. The forward sweep runs the primal and records
// values on the tape, fields of a workspace struct. The reverse sweep runs the statement adjoints in reverse order.
// A cotangent is the derivative of the weighted outputs with respect to a value; a seed is the cotangent of an output,
// passed by the caller. The statement adjoint of x = e consumes the cotangent of x, reading and zeroing it, and
// propagates it to the operands of e. Restoring writes a recorded value back, so that each statement adjoint sees the
// primal values that its statement saw.
//
// A slice or pointer through which floats with derivatives are reached has a shadow of its own type, which is made,
// sliced, stored and passed in step with it. Two slices overlap exactly if their shadows do, so that cotangents in
// memory need no alias analysis. A float variable has its cotangent in a variable of the reverse sweep, its bar.
//
// # Phases
//
// Files are named after phases, in the order in which [Program.Of] runs them:
//
//   - normal*.go normalise a function once for all its adjoints: address-taken variables are boxed, operands flattened,
//     conditions, bounds and exits stored in variables, checkpointed loops outlined.
//   - Package activity finds the variables that carry derivatives.
//   - reversal*.go pair each statement with its adjoint: a tree of nodes (node.go).
//   - location.go, effects.go, allocsite.go, kill.go and valuenumber.go answer which memory a node may read or write.
//   - plan_fuse.go, plan_recompute.go and plan_record.go decide which loops are reversed iteration by iteration, which
//     variables the reverse sweep recomputes and which overwritten values the forward sweep records.
//   - tape*.go and emit*.go choose the storage of recorded values and write the sweeps as functions;
//     checkpoint*.go write those of checkpointed loops.
//   - Package simplify optimises the result, and remarks.go reports the decisions.
//
// pipeline.go has the list of phases, specialize.go the cache of specialisations: a callee is analysed for each
// combination of activity, aliasing and mode in which it is called, before its callers, which see a summary of it
// (summary.go).
//
// # To-be-recorded values
//
// An assignment records the value that it overwrites only if the reversal of an earlier statement reads that value:
// the to-be-recorded analysis (Hascoët, Naumann & Pascual, "To be recorded" analysis in reverse-mode automatic
// differentiation, 2005). A variable that is assigned once by a cheap expression is recomputed instead. Conditions,
// bounds, trip counts and exits are variables in the normal form, so that control flow needs no storage of its own.
package adjoint
