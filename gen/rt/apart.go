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
	return fmt.Sprintf("%s: %s and %s share memory, and %s is written to; pass slices that share none", e.Func, e.First,
		e.Second, e.First)
}

// Apart panics with an *[OverlapError] if one of the first written slices shares memory with
// another. Names are those of all slices, between them a comma and a space.
func Apart[T any](function, names string, written int, s ...[]T) {
	for i, a := range s[:written] {
		for j := i + 1; j < len(s); j++ {
			if share(SpanOf(a), SpanOf(s[j])) {
				overlap(function, names, i, j)
			}
		}
	}
}

// SpansApart is [Apart] for slices of several types.
func SpansApart(function, names string, written int, s ...Span) {
	for i, a := range s[:written] {
		for j := i + 1; j < len(s); j++ {
			if share(a, s[j]) {
				overlap(function, names, i, j)
			}
		}
	}
}

func overlap(function, names string, i, j int) {
	name := strings.Split(names, ", ")
	panic(&OverlapError{function, name[i], name[j]})
}

// Span is where a slice, up to its length, is in memory.
type Span struct {
	at   unsafe.Pointer
	size uintptr
}

// SpanOf returns where s is.
func SpanOf[T any](s []T) Span {
	return Span{unsafe.Pointer(unsafe.SliceData(s)), uintptr(len(s)) * unsafe.Sizeof(*new(T))}
}

// share reports whether two spans have memory in common.
func share(a, b Span) bool {
	p, q := uintptr(a.at), uintptr(b.at)
	return a.size > 0 && b.size > 0 && p < q+b.size && q < p+a.size
}
