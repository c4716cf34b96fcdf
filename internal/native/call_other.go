//go:build !(amd64 && (linux || darwin))

package native

import "unsafe"

func supported() bool { return false }

func call(entry uintptr, file, table, list, in, out unsafe.Pointer) bool {
	panic("native: not supported")
}
