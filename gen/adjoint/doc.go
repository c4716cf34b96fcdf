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
// Files are named after phases, in the order in which [Program.Of] runs them (pipeline.go). Each has an output that no
// later phase changes:
//
//	phase                      files                          from → to
//	1 normalise                normal*.go                     ir.Func → normalForm, once for all its adjoints
//	2 activity                 package activity               normalForm and mask → activity.Facts
//	3 pair                     reversal*.go, node.go          normalForm and Facts → pairing: a tree of nodes
//	4 locate                   location.go, effects.go,       pairing → locations: memory read and written
//	                           allocsite.go, kill.go,
//	                           valuenumber.go
//	5 fuse                     plan_fuse.go                   pairing and locations → plan.body and plan.fused
//	6 recompute and record     plan_recompute.go,             → plan: what is recorded, recomputed and needed
//	                           plan_record.go
//	7 emit                     emit*.go, tape*.go,            pairing and plan → ir.Func, fields of the Workspace
//	                           checkpoint*.go
//	8 simplify                 package simplify               ir.Func → ir.Func
//	9 remarks                  remarks.go                     plan → Remarks, for the user
//
// Phase 1 boxes address-taken variables, flattens operands, stores conditions, bounds and exits in variables, and
// outlines checkpointed loops. Phase 3 pairs each statement with its adjoint. Phases 5 and 6 decide which loops are
// reversed iteration by iteration, which variables the reverse sweep computes again, and which overwritten values the
// forward sweep records; the last two depend on each other and are iterated to a fixed point (planner, plan.go).
// Phase 7 chooses the storage of recorded values and writes the sweeps as functions.
//
// specialize.go has the cache of specialisations: a callee goes through phases 3 to 6 for each combination of activity,
// aliasing and mode in which it is called, before its callers, which read a summary of it (summary.go).
//
// # To-be-recorded values
//
// An assignment records the value that it overwrites only if the reversal of an earlier statement reads that value:
// the to-be-recorded analysis (Hascoët, Naumann & Pascual, "To be recorded" analysis in reverse-mode automatic
// differentiation, 2005). A variable that is assigned once by a cheap expression is recomputed instead. Conditions,
// bounds, trip counts and exits are variables in the normal form, so that control flow needs no storage of its own.
package adjoint
