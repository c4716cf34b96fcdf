//go:build amd64 && (linux || darwin)

package native

import (
	"unsafe"

	"github.com/nabla-ad/nabla/internal/processor"
)

//go:noescape
func call(entry uintptr, file, table, list, in, out unsafe.Pointer) bool

func written([]byte) {}

// supported reports whether the processor and the system have AVX.
func supported() bool { return processor.AVX }

func largest() int32 {
	if processor.AVX512 {
		return 8
	}
	return lanes
}
