// Package processor tells which instructions of amd64 the processor has and the system supports.
package processor

// AVX reports instructions on vectors of 256 bits, AVX2 those on integers in them, and FMA products and sums with one
// rounding. AVX512 reports those on vectors of 512 bits (F, DQ and VL), on processors that do not slow down by much for
// them: that have VBMI2 too, as from Ice Lake and Zen 4 on. All are false for other processors.
var AVX, AVX2, FMA, AVX512 bool
