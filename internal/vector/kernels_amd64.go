package vector

import "sync"

// supported reports whether the processor and the system have AVX2 and FMA.
var supported = sync.OnceValue(func() bool {
	const fma, saves, avx, avx2 = 1 << 12, 1 << 27, 1 << 28, 1 << 5
	if most, _, _, _ := cpuid(0, 0); most < 7 {
		return false
	}
	_, _, features, _ := cpuid(1, 0)
	_, more, _, _ := cpuid(7, 0)
	return features&(fma|saves|avx) == fma|saves|avx && more&avx2 != 0 && xgetbv()&6 == 6
})

func cpuid(leaf, sub uint32) (ax, bx, cx, dx uint32)

func xgetbv() (ax uint32)

//go:noescape
func expBlocks(dst, src *float64, blocks int) int

//go:noescape
func logBlocks(dst, src *float64, blocks int) int

//go:noescape
func log1pBlocks(dst, src *float64, blocks int) int

// nanBlocks reports whether one or more blocks of 16 numbers have a NaN.
//
//go:noescape
func nanBlocks(src *float64, blocks int) bool
