// Package sparsity represents sparsity patterns: a [Pattern] is the set of the entries of a Jacobian or Hessian that
// can differ from zero. Its detectors find patterns by dependency analysis of recorded operations; see [Detector].
package sparsity
