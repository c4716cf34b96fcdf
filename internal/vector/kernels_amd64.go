package vector

import "github.com/nabla-ad/nabla/internal/processor"

// supported reports whether the processor and the system have AVX2 and FMA, and wide whether they have AVX-512 too.
func supported() bool { return processor.AVX2 && processor.FMA }

func wide() bool { return supported() && processor.AVX512 }

// entry returns the entry of a kernel: the numbers of those of blocks of eight follow those of blocks of four.
func entry(number int) uintptr

// run calls the kernel at an entry, which computes one or more blocks, and returns their number before one that it
// leaves out. The calls by entries are in assembly, so that arguments do not escape as those of a function value do.
//
//go:noescape
func run(entry uintptr, dst, src *float64, blocks int) int

// nanBlocks reports whether one or more blocks of 16 numbers have a NaN.
//
//go:noescape
func nanBlocks(src *float64, blocks int) bool

// copyBlocks copies one or more blocks of 16 numbers and reports whether they have a NaN.
//
//go:noescape
func copyBlocks(dst, src *float64, blocks int) bool
