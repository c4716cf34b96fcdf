package rt

import (
	"fmt"
	"strings"
	"unsafe"
)

// OverlapError is what the adjoint of a function panics with if two of the slices that it
// is given share memory and it writes to one of them.
type OverlapError struct{ Func, First, Second string }

func (e *OverlapError) Error() string {
	return fmt.Sprintf("%s: %s and %s share memory, and %s is written to; pass slices that share none", e.Func, e.First, e.Second, e.First)
}

// Apart panics with an *[OverlapError] if one of the first written slices shares memory with
// another. Names are those of all slices, between them a comma and a space.
func Apart[T any](function, names string, written int, s ...[]T) {
	for i, a := range s[:written] {
		for j := i + 1; j < len(s); j++ {
			if share(a, s[j]) {
				name := strings.Split(names, ", ")
				panic(&OverlapError{function, name[i], name[j]})
			}
		}
	}
}

// share reports whether two slices, up to their lengths, have memory in common.
func share[T any](a, b []T) bool {
	size := unsafe.Sizeof(*new(T))
	p, q := uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return len(a) > 0 && len(b) > 0 && p < q+uintptr(len(b))*size && q < p+uintptr(len(a))*size
}
