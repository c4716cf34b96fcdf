// Package sparsity says which entries of a Jacobian or Hessian can differ from
// zero: [Pattern], and the detectors that find one.
package sparsity
