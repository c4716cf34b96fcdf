package sparse

import (
	"fmt"
	"strconv"
	"unsafe"

	"github.com/nabla-ad/nabla/internal/page"
)

// A ShapeError is returned for an argument of the wrong length or shape.
type ShapeError struct {
	Op, Arg   string
	Got, Want string
}

func (e *ShapeError) Error() string {
	return page.Namef("sparse.ShapeError", "sparse: %s: %s is %s, want %s", e.Op, e.Arg, e.Got, e.Want)
}

// lenError returns a *ShapeError if got and want differ, and nil otherwise.
func lenError(op, arg string, got, want int) error {
	if got == want {
		return nil
	}
	return &ShapeError{Op: op, Arg: "len(" + arg + ")", Got: strconv.Itoa(got), Want: strconv.Itoa(want)}
}

// checkLen panics with a *ShapeError if got and want differ.
func checkLen(op, arg string, got, want int) {
	if err := lenError(op, arg, got, want); err != nil {
		panic(err)
	}
}

// shapeError returns the error for a matrix of the wrong shape.
func shapeError(op, arg string, gotRows, gotCols, rows, cols int) *ShapeError {
	return &ShapeError{Op: op, Arg: "the shape of " + arg,
		Got: fmt.Sprintf("%d×%d", gotRows, gotCols), Want: fmt.Sprintf("%d×%d", rows, cols)}
}

// A PatternError is returned if a matrix has no place for an entry, or if its pattern or values contradict their
// declaration. Its reason names the next step.
type PatternError struct {
	Op, Reason string
}

func (e *PatternError) Error() string {
	return page.Named("sparse.PatternError", "sparse: "+e.Op+": "+e.Reason)
}

// patternErrorf returns a *PatternError with a formatted reason.
func patternErrorf(op, format string, args ...any) *PatternError {
	return &PatternError{op, fmt.Sprintf(format, args...)}
}

// An OverlapError is the panic value if the destination of a product shares memory with the factor.
type OverlapError struct{ Op string }

func (e *OverlapError) Error() string {
	return page.Named("sparse.OverlapError",
		"sparse: "+e.Op+": dst and x share memory; give dst separate memory, or nil")
}

// A FormatError names a line, counted from 1, at which a file is malformed, and the reason.
type FormatError struct {
	Line   int
	Reason string
}

func (e *FormatError) Error() string {
	return page.Namef("sparse.FormatError", "sparse: line %d: %s", e.Line, e.Reason)
}

// overlap reports whether the address ranges of a and b overlap, from their first to their last element.
func overlap(a, b []float64) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	a0, b0 := uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&b[0]))
	return a0 <= uintptr(unsafe.Pointer(&b[len(b)-1])) && b0 <= uintptr(unsafe.Pointer(&a[len(a)-1]))
}
