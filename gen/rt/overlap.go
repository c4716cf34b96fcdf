package rt

import (
	"strings"
	"unsafe"

	"github.com/nabla-ad/nabla/internal/page"
)

// Checks at the beginning of generated functions that slices do not overlap.

// An OverlapError is the panic of an adjoint if two of its slice arguments share memory and it
// writes to one of them. First and Second are names of parameters; First is written.
type OverlapError struct{ Func, First, Second string }

// Error returns the function, both parameters and the remedy.
func (e *OverlapError) Error() string {
	return page.Namef("rt.OverlapError",
		"%s: %s and %s share memory, and %s is written to; pass slices that share none", e.Func, e.First,
		e.Second, e.First)
}

// Apart panics with an *[OverlapError] if one of the first written slices shares memory with
// another. names are those of all slices, separated by a comma and a space. It takes quadratic time
// in their number.
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

// overlap panics for the slices i and j.
func overlap(function, names string, i, j int) {
	name := strings.Split(names, ", ")
	panic(&OverlapError{function, name[i], name[j]})
}

// A Span is the memory of a slice up to its length.
type Span struct {
	at   unsafe.Pointer
	size uintptr
}

// SpanOf returns the memory of s.
func SpanOf[T any](s []T) Span {
	return Span{unsafe.Pointer(unsafe.SliceData(s)), uintptr(len(s)) * unsafe.Sizeof(*new(T))}
}

// share reports whether two spans overlap. Empty spans overlap with nothing.
func share(a, b Span) bool {
	p, q := uintptr(a.at), uintptr(b.at)
	return a.size > 0 && b.size > 0 && p < q+b.size && q < p+a.size
}
