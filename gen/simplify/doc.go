// Package simplify optimises functions in the form of package ir: those that are to be differentiated, so that the
// derivatives built from them are short, and the derivatives, so that the Go code printed from them is fast.
//
// A pass takes a function that [ir.Check] accepts and leaves one that it accepts. The body is replaced, not modified in
// place, so other functions may share its statements.
//
//	Inline      inlining of small functions
//	Clones      append to an empty slice becomes make and copy
//	Unroll      complete unrolling of loops with a constant trip count of at most four
//	Copies      constant and copy propagation, sinking of declarations, forward substitution, and Dead
//	Scalars     scalar replacement of arrays and structs
//	Invariants  loop-invariant code motion of floating-point arithmetic
//	Increments  merging of additions to one place
//	Windows     predictive commoning of loads and additions at neighbouring elements
//	Promote     memory at one address in variables during loops
//	Rebase      loops that count from 0
//	Cut         bounds-check elimination: slices are cut to one length before loops
//	Sink        sinking of declarations
//	NilChecks   evaluation of comparisons with nil whose results are known
//	Dead        dead-code elimination
//	Checks      reduction of dead code that may panic to the operands that may panic
//	Calls       deletion of calls of functions without effects
//	Unread      deletion of stores to a slice parameter that is never read
//	Overwrite   stores instead of the first accumulations into a slice parameter
//	Stacks      stacks of the tape in local variables during innermost loops, or indexed
//	Batch       elementary functions for several iterations of a loop at once
//	Vectors     kernels for the iterations of loops, which can be done as vectors
//
// # Stages
//
// A function goes through one stage, a list of passes, wherever it has been built. DeadCode is repeated until Checks
// changes nothing. Unread, Calls, Overwrite, Stacks, Batch and Vectors are in no stage: package gen calls Unread
// between two runs of Prune, Calls when all functions are complete, Overwrite for a copy of the complete function,
// Stacks and Batch at the end, and Vectors for further copies.
//
//	Primal    Inline Clones Unroll Copies Scalars Copies
//	Body      Clones Unroll Copies Scalars Copies
//	Adjoint   Copies Scalars Invariants Increments Windows Promote Rebase Cut Copies
//	DeadCode  Sink NilChecks Dead Checks
//	Prune     DeadCode Copies DeadCode
//
// Body is Primal without inlining, for ablation tests.
//
// # Semantics
//
// Floating-point results stay the same bit for bit, except that [Increments] and [Windows] reorder sums of cotangents,
// and that they and [Overwrite] may change the sign of a zero. A function panics after a pass if and only if it did
// before, except for [Unread]; if two expressions would panic, another of them may be first. A loop that would panic
// does so before its first iteration after [Cut], and may do so after [Overwrite]; after [Promote] and [Batch] effects
// of the iterations before it may be missing, and after [Vectors] those of later iterations may be there too.
//
// # Terms
//
// A variable is assigned once if its declaration is the only write, and addressed if some expression takes its address:
// it may then be written through pointers, and no pass moves accesses to it. The header of a slice is its pointer,
// length and capacity, as opposed to its elements. Two places may alias if they may overlap in memory; the passes find
// that out with a unification-based points-to analysis (Steensgaard 1996), and Windows with [Unshared] too. An
// accumulation is a statement p += e.
//
// The passes are those of the literature (Muchnick 1997, Advanced Compiler Design and Implementation), but on a
// structured tree instead of a control-flow graph, and without SSA form. Predictive commoning is due to O'Brien et al.
// (1990).
package simplify
