package linalg

import (
	"unsafe"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/internal/core"
)

// nabla.Real and core.Rep have one layout, which package nabla checks; here only their sizes can be compared.
var _ = [1]int{}[unsafe.Sizeof(nabla.Real{})-unsafe.Sizeof(core.Rep{})]

// reps returns x as a slice of core.Rep that shares its memory.
func reps(x []nabla.Real) []core.Rep {
	return unsafe.Slice((*core.Rep)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// reals returns x as a slice of nabla.Real that shares its memory.
func reals(x []core.Rep) []nabla.Real {
	return unsafe.Slice((*nabla.Real)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}
