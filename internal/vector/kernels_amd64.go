package vector

import "github.com/nabla-ad/nabla/internal/processor"

// supported reports whether the processor and the system have AVX2 and FMA.
func supported() bool { return processor.AVX2 && processor.FMA }

//go:noescape
func expBlocks(dst, src *float64, blocks int) int

//go:noescape
func logBlocks(dst, src *float64, blocks int) int

//go:noescape
func log1pBlocks(dst, src *float64, blocks int) int

//go:noescape
func expm1Blocks(dst, src *float64, blocks int) int

//go:noescape
func sinBlocks(dst, src *float64, blocks int) int

//go:noescape
func cosBlocks(dst, src *float64, blocks int) int

//go:noescape
func tanhBlocks(dst, src *float64, blocks int) int

// nanBlocks reports whether one or more blocks of 16 numbers have a NaN.
//
//go:noescape
func nanBlocks(src *float64, blocks int) bool

// copyBlocks copies one or more blocks of 16 numbers and reports whether they have a NaN.
//
//go:noescape
func copyBlocks(dst, src *float64, blocks int) bool
