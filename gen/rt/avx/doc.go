// Package avx is what generated code calls, besides package simd/archsimd, where it
// computes four numbers at once. Without GOEXPERIMENT=simd, and for other processors than
// amd64, it is empty.
//
// Between the first vector of a function and archsimd.ClearAVXUpperBits nothing may be
// done with numbers that are no vectors: Go compiles that to instructions that know of the
// lower half of a register only, and each change between these and the others stops some
// processors for hundreds of cycles. So numbers come from memory, as bits that no register
// of floats sees before they are a vector, and go there the same way. Of half vectors, which
// Go moves by such instructions too, there are none that could wait for anything.
package avx
