package core

import (
	"fmt"
	"strings"

	"github.com/nabla-ad/nabla/internal/page"
)

// Abort is the panic value by which the number type ends a user's function. The code that opened the trace recovers it
// and returns Err.
type Abort struct{ Err error }

func (a Abort) Error() string { return a.Err.Error() }

// ReturnedError reports that the user's function returned an error, in Err.
type ReturnedError struct {
	Function string
	Err      error
}

func (e *ReturnedError) Error() string {
	return page.Named("nabla.ReturnedError", "nabla: function "+e.Function+" returned an error: "+e.Err.Error())
}

// Unwrap returns Err.
func (e *ReturnedError) Unwrap() error { return e.Err }

// Returned ends the user's function, by an Abort, if err is not nil: the function has returned it.
func Returned(err error) {
	if err != nil {
		panic(Abort{&ReturnedError{Err: err}})
	}
}

// Of names the function in a *ReturnedError that has no name yet. It reports whether err is a *ReturnedError.
func (a Abort) Of(name string) bool {
	e, ok := a.Err.(*ReturnedError)
	if ok && e.Function == "" {
		e.Function = name
	}
	return ok
}

// These errors report misuse of a number.
var (
	// ErrForeignReal reports a number of a trace that has ended or that cannot be captured.
	ErrForeignReal = page.New("nabla.ErrForeignReal",
		"a Real was used outside the call that made it: it was kept from an earlier call or "+
			"belongs to another trace; compute it again from the arguments")

	// ErrOutputNotWritten reports an output that was read or returned before f wrote it.
	ErrOutputNotWritten = page.New("nabla.ErrOutputNotWritten",
		"an output was never written by f, or read before it was written; write every "+
			"y[i] first")
)

// LimitError reports that a recording exceeded its limit of operations, or that a computation would exceed its memory
// limit.
type LimitError struct {
	Limit int // operations allowed; 0 if memory is limited
	// Bytes is the memory that a recording of that length takes, approximately that of the programs derived from it if
	// Derived is set, or that of the data that What names. It is the largest int if that overflows.
	Bytes   int
	Derived bool
	What    string // names the data that takes the memory; empty for a recording
	Memory  int64  // bytes allowed; 0 if operations are limited
	Remedy  string // the next step, in place of the general ones; may be empty
}

func (e *LimitError) Error() string {
	if e.What != "" && e.Remedy != "" {
		return page.Namef("nabla.LimitError",
			"nabla: %s take %d bytes, and the limit is %d; %s", e.What, e.Bytes, e.Memory, e.Remedy)
	}
	if e.What != "" {
		return page.Namef("nabla.LimitError",
			"%s would take %s, and the limit is %s; raise nabla.Policy.Memory or GOMEMLIMIT, use "+
				"nabla.AutoSparse where most entries are zero, "+
				"or products with vectors, which take no matrix", e.What, Size(int64(e.Bytes)), Size(e.Memory))
	}
	if e.Derived {
		return page.Namef("nabla.LimitError",
			"the recording passed its limit of %d operations, for which programs take about %s; "+
				"raise the backend's Limit, "+
				"use forwarddiff for few inputs, or differentiate a smaller part of the function", e.Limit,
			Size(int64(e.Bytes)))
	}
	return page.Namef("nabla.LimitError",
		"the recording passed its limit of %d operations (%s); raise the backend's Limit, use "+
			"forwarddiff for few inputs, or differentiate a smaller part of the function",
		e.Limit, Size(int64(e.Bytes)))
}

// Size returns a number of bytes as text, in a binary unit.
func Size(bytes int64) string {
	switch {
	case bytes < 1<<20:
		return fmt.Sprintf("%d KiB", (bytes+1023)>>10)
	case bytes < 10<<30:
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%d GiB", bytes>>30)
}

// Within returns err with a prefix for the place where it occurred. The message contains "nabla: " once, however many
// prefixes there are.
func Within(where string, err error) error { return &within{where, err} }

type within struct {
	where string
	err   error
}

func (w *within) Error() string {
	return "nabla: " + w.where + ": " + strings.TrimPrefix(w.err.Error(), "nabla: ")
}

func (w *within) Unwrap() error { return w.err }
