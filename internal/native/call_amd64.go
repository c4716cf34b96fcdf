//go:build amd64 && (linux || darwin)

package native

import (
	"sync"
	"unsafe"
)

//go:noescape
func call(entry uintptr, file, table unsafe.Pointer) bool

func cpuid(leaf, sub uint32) (ax, bx, cx, dx uint32)

func xgetbv() (ax uint32)

// supported reports whether the processor and the system have AVX.
var supported = sync.OnceValue(func() bool {
	const saves, avx = 1 << 27, 1 << 28
	if most, _, _, _ := cpuid(0, 0); most < 1 {
		return false
	}
	if _, _, features, _ := cpuid(1, 0); features&(saves|avx) != saves|avx {
		return false
	}
	return xgetbv()&6 == 6 // the system keeps the registers
})
