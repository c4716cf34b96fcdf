//go:build arm64 && linux

package native

import "unsafe"

//go:noescape
func call(entry uintptr, file, table, list, in, out unsafe.Pointer) bool

// supported reports whether the system runs code that a program writes. Every processor has the instructions.
func supported() bool { return true }

func largest() int32 { return lanes }

// flush makes the processor see the instructions that have been written to some memory.
//
//go:noescape
func flush(from, end uintptr)

// written is called when code has been written to memory, and may be run.
func written(memory []byte) {
	from := uintptr(unsafe.Pointer(unsafe.SliceData(memory)))
	flush(from, from+uintptr(len(memory)))
}
