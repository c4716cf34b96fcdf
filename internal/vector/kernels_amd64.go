package vector

import "github.com/nabla-ad/nabla/internal/processor"

// supported reports whether the processor and the system have AVX2 and FMA, and wide whether they have AVX-512 as well.
func supported() bool { return processor.AVX2 && processor.FMA }
func wide() bool      { return processor.AVX512 }

// entry returns the entry of the kernel for blocks of four or eight numbers.
func entry(function, lanes int) uintptr

// run calls the kernel at an entry for one or more blocks, and returns their number before one that it leaves out.
// It is in assembly, since arguments of an unknown function would escape.
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
