package nabla

import (
	"unsafe"

	"github.com/nabla-ad/nabla/internal/core"
)

// Real and core.Rep are two types with one layout: Real so that its methods inline
// and show on the documentation page, Rep so that engines can be written in other
// packages. Slices are cast here and nowhere else.

// These do not compile where the layouts differ.
var (
	_ = [1]int{}[unsafe.Sizeof(Real{})-unsafe.Sizeof(core.Rep{})]
	_ = [1]int{}[unsafe.Offsetof(Real{}.v)-unsafe.Offsetof(core.Rep{}.V)]
	_ = [1]int{}[unsafe.Offsetof(Real{}.mark)-unsafe.Offsetof(core.Rep{}.Mark)]
	_ = [1]int{}[unsafe.Offsetof(mark{}.gen)-unsafe.Offsetof(core.Mark{}.Gen)]
	_ = [1]int{}[unsafe.Offsetof(Real{}.t)-unsafe.Offsetof(core.Rep{}.T)]
)

// reps views Reals as an engine's numbers.
func reps(x []Real) []core.Rep {
	return unsafe.Slice((*core.Rep)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// reals views an engine's numbers as Reals.
func reals(x []core.Rep) []Real {
	return unsafe.Slice((*Real)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}
