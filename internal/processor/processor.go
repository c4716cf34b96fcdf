// Package processor tells which instructions of amd64 the processor has and the system supports.
package processor

// AVX reports instructions on vectors of 256 bits, AVX2 those on integers in them, and FMA products and sums with one
// rounding. All are false for other processors.
var AVX, AVX2, FMA bool
