// Package sparse represents the matrices in which sparse derivatives are returned: [CSC], in compressed sparse column
// form, and [SymCSC], its symmetric counterpart. Both are values over a *[sparsity.Pattern], which is immutable and may
// be shared by any number of matrices. Both can be used wherever gonum takes a mat.Matrix, and a SymCSC wherever it
// takes a mat.Symmetric.
//
//	p := sparsity.Banded(3, 3, 1, 1)
//	a := sparse.NewCSC(p, nil) // zeros
//	a.Set(0, 1, 2)             // only on the pattern
//	y := a.MulVec(nil, x)
//
// A stored entry may have the value 0: it remains an entry of the pattern. At(i, j) is 0 off the pattern.
//
// # With gonum
//
// gonum 0.16 reads the entries of a matrix one by one through At, which is a binary search in a column here. That is
// always correct, and fast for code that reads every entry only once (mat.Dense.CloneFrom, mat.Dense.Add, the
// factorisations, mat.Equal, mat.Formatted). The matrices implement these interfaces of gonum:
//
//	mat.Matrix, mat.Symmetric     all functions of gonum take them
//	mat.Normer, mat.Tracer        mat.Norm and mat.Trace use them: linear in the entries
//	mat.NonZeroDoer, RowNonZeroDoer, ColNonZeroDoer
//	                              stat/spatial uses the second, package mat none
//	mat.Reseter                   Reset and ReuseAs, as those of mat.Dense
//	mat.Mutable (CSC)             Set panics off the pattern
//	MulVecTo                      gonum.org/v1/exp/linsolve takes it as a system
//	mat.Transpose, from CSC.T     gonum untransposes it where it can
//
// For products use MulVec and MulVecTo: mat.Dense.Mul and mat.VecDense.MulVec read all rows·cols entries. Code for
// other layouts can use the slices that ColPtr, RowIndex and Data return, without a copy.
//
// # Sizes
//
// gonum has no 0×n matrices, only empty ones without a shape. Here the zero value is the empty matrix, and a pattern of
// 0×n, n×0 or 0×0 gives a matrix with a shape and no entries. Only conversions to gonum's types lose its shape, and
// mat.Norm, mat.Sum and similar functions panic with mat.ErrZeroLength, as for any matrix without entries.
//
// # Errors
//
// FromTriplets, NewSymCSC, Sym, CopyFrom and the readers return errors. All other functions panic if their arguments do
// not fit: the methods of gonum's interfaces with gonum's errors (mat.ErrRowAccess, mat.ErrShape), the others,
// including NewCSC, with a *[ShapeError], *[PatternError] or *[OverlapError].
//
// A matrix may be read by several goroutines at once; a write needs exclusive access.
package sparse
