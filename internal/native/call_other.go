//go:build !(amd64 && (linux || darwin)) && !(arm64 && linux)

package native

import "unsafe"

func supported() bool { return false }

func largest() int32 { return lanes }

func written([]byte) {}

func call(entry uintptr, file, table, list, in, out unsafe.Pointer) bool {
	panic("native: not supported")
}
