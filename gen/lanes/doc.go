// Package lanes vectorises functions: from a function in the form of package ir it builds one that performs several
// runs, the lanes, that differ only in some of their arguments. Values that are uniform across the lanes are computed
// once.
//
// It serves vector mode: an adjoint runs with several seeds, or a tangent in several directions, and the lanes share
// the primal values of the differentiated function.
//
// # Terms
//
// A value is divergent if it may differ between lanes and uniform if it is the same in all, as in compilers for GPUs.
// The lane type of a float is an array with one number per lane; see [Types]. A divergent float that is a variable
// becomes one variable per lane, its scalars. A cell is a unit of divergence analysis: a variable with all memory
// reachable from it, or a field of the workspace. The workspace is a struct that all functions get a pointer to; it
// holds the tape.
//
// # Phases
//
//  1. Divergence analysis (Coutinho et al. 2011) of the function and its callees, by reachability in a graph of
//     dependences between cells.
//  2. Code generation, one function for each combination of a function and the divergence of the cells it uses. Uniform
//     subexpressions of divergent expressions are hoisted into variables, and the statements of the lanes are
//     interleaved, two lanes at a time. A branch on a divergent number is written once per lane.
//  3. If asked for, with four lanes: a second form of the function in which one SIMD vector holds the four lanes of a
//     number; see [Vector].
//
// Each lane performs the operations of the function in the same order, so its results are those of a separate run bit
// for bit, also where zeros meet infinities.
//
// Memory of a cell is either divergent or uniform as a whole. Functions for which that cannot be arranged, or which do
// something once under a condition that differs between lanes, are refused with an [Error].
package lanes
