// Package sparsity represents the set of the entries of a Jacobian or Hessian that can
// differ from zero, as a [Pattern], and has detectors that find it by dependency analysis.
package sparsity
