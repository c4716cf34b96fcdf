// Package sparse has the matrices in which sparse derivatives come: [CSC], compressed
// by columns, and [SymCSC], symmetric. Both are values over a *[sparsity.Pattern],
// which does not change and which any number of matrices share; both work wherever
// gonum takes a mat.Matrix, and a SymCSC wherever it takes a mat.Symmetric.
//
//	p := sparsity.Banded(3, 3, 1, 1)
//	a := sparse.NewCSC(p, nil) // zeros
//	a.Set(0, 1, 2)             // on the pattern only
//	y := a.MulVec(nil, x)
//
// A stored entry may be zero: an entry of the pattern may have the
// value 0 and keeps its place. At(i, j) is 0 off the pattern.
//
// # With gonum
//
// gonum 0.16 asks a matrix for its entries one by one, through At, which is a binary
// search in a column here. That is always correct, and fast for code that reads every
// entry only once (mat.Dense.CloneFrom, mat.Dense.Add, the factorisations, mat.Equal,
// mat.Formatted). These are the interfaces of gonum which the matrices have:
//
//	mat.Matrix, mat.Symmetric     all functions of gonum take them
//	mat.Normer, mat.Tracer        mat.Norm and mat.Trace use them: linear in the entries
//	mat.NonZeroDoer, RowNonZeroDoer, ColNonZeroDoer
//	                              stat/spatial uses the second, package mat none
//	mat.Reseter                   Reset and ReuseAs, as those of mat.Dense
//	mat.Mutable (CSC)             Set panics off the pattern
//	MulVecTo                      gonum.org/v1/exp/linsolve takes it as a system
//	mat.Transpose, from CSC.T     undone by gonum where it can
//
// For products use MulVec and MulVecTo: mat.Dense.Mul and mat.VecDense.MulVec look at
// every entry of the shape. Code for other layouts gets at the slices through ColPtr,
// RowIndex and Data, without a copy.
//
// # Sizes
//
// gonum has no 0×n matrices, only empty ones without a shape. Here the zero value is
// the empty one, and a pattern of 0×n, n×0 or 0×0 gives a matrix like any other, with
// nothing in it; only conversions to gonum's types lose its shape, and mat.Norm,
// mat.Sum and the like panic with mat.ErrZeroLength as for any matrix without entries.
//
// # Errors
//
// FromTriplets, NewSymCSC, Sym, CopyFrom and the readers return errors. All other functions
// panic if their arguments do not fit: the methods of gonum's interfaces with
// gonum's errors (mat.ErrRowAccess, mat.ErrShape), the rest, NewCSC among them, with a
// *[ShapeError], *[PatternError] or *[OverlapError].
//
// A matrix may be read by several goroutines at once, and written by one alone.
package sparse
