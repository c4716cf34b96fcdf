// Package sparsity says which entries of a Jacobian or Hessian can differ from
// zero: [Pattern], and the detectors that find one.
//
// A detector runs the function once over numbers that only note what was done with
// them. Each elementary operation has a class: whether its first and second
// derivatives by each operand can differ from zero. It is read off the table of
// package rules, where a partial derivative "0" is a structural zero, and one that
// does not vary with an operand has no second derivative by it. What remains is a
// graph, and a pattern is a question of reachability in it:
//
//	J[i, j]     output i is reached from input j over first derivatives
//	H[i, j]     some operation with a second derivative by operands a and b, on which
//	            an output depends, has a reached from i and b from j
//
// The answer is found with one bit for each of 64 outputs or inputs, by walks from
// the outputs down to the inputs, or for second derivatives from the inputs up and
// down again. They visit only what they find, which takes linear time where each
// output depends on few inputs. Where that turns out to be more, sweeps over all
// operations take over, whose cost does not depend on the pattern. A long sum costs
// nothing: its partial sums, which depend on everything before, have no sets.
package sparsity
