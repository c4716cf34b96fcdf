package nabla

import (
	"unsafe"

	"github.com/nabla-ad/nabla/internal/core"
)

// Real and core.Rep are two types with one layout: Real so that its methods inline and appear on
// the documentation page, Rep so that engines can be written in other packages. Slices are cast in
// this file and nowhere else.

// These do not compile where the layouts differ.
var (
	_ = [1]int{}[unsafe.Sizeof(Real{})-unsafe.Sizeof(core.Rep{})]
	_ = [1]int{}[unsafe.Offsetof(Real{}.v)-unsafe.Offsetof(core.Rep{}.V)]
	_ = [1]int{}[unsafe.Offsetof(Real{}.mark)-unsafe.Offsetof(core.Rep{}.Mark)]
	_ = [1]int{}[unsafe.Offsetof(mark{}.gen)-unsafe.Offsetof(core.Mark{}.Gen)]
	_ = [1]int{}[unsafe.Offsetof(Real{}.t)-unsafe.Offsetof(core.Rep{}.T)]
)

// reps returns x as a slice of core.Rep that shares its memory.
func reps(x []Real) []core.Rep {
	return unsafe.Slice((*core.Rep)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// reals returns x as a slice of Real that shares its memory.
func reals(x []core.Rep) []Real {
	return unsafe.Slice((*Real)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}
