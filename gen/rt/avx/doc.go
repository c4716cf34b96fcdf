// Package avx has the operations on vectors of four numbers that generated code needs besides those
// of package simd/archsimd. Without GOEXPERIMENT=simd, and for processors other than amd64, it is
// empty.
//
// Between the first vector of a function and archsimd.ClearAVXUpperBits there must be no scalar
// floating-point operations: Go compiles these to instructions that are aware of the lower half of
// a register only, and each transition between the two kinds stalls some processors for hundreds of
// cycles. So numbers are loaded from memory as integers, become vectors before they are in a
// floating-point register, and are stored in the same way. Vectors of half the size, which Go moves
// by such instructions too, must not have to be spilled.
package avx
