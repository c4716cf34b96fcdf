package core

import (
	"errors"
	"fmt"
	"strings"
)

// Abort is panicked inside a user's function by the number type and turned back
// into Err where the trace was opened.
type Abort struct{ Err error }

func (a Abort) Error() string { return a.Err.Error() }

// The errors a number can meet while it is used.
var (
	// ErrForeignReal says that a number came from a trace that has ended or that
	// cannot be captured.
	ErrForeignReal = errors.New("a Real was used outside the call that made it: it was kept from an earlier call or " +
		"belongs to another trace; compute it again from the arguments")

	// ErrOutputNotWritten says that an output was read or returned before f wrote it.
	ErrOutputNotWritten = errors.New("an output was never written by f, or read before it was written; write every " +
		"y[i] first")
)

// LimitError says that a recording grew beyond its limit, or that something would take
// more memory than its limit.
type LimitError struct {
	Limit int // operations allowed; 0 where memory is limited
	// Bytes is the memory that a recording of that length takes or, if Derived is set,
	// about the memory that deriving programs from it takes, or that What would take; the
	// largest number where that is more.
	Bytes   int
	Derived bool
	What    string // what takes the memory; empty for a recording
	Memory  int64  // bytes allowed; 0 where operations are limited
}

func (e *LimitError) Error() string {
	if e.What != "" {
		return fmt.Sprintf("%s would take %s, and the limit is %s; raise nabla.Policy.Memory or GOMEMLIMIT, use "+
			"nabla.AutoSparse where most entries are zero, "+
			"or products with vectors, which take no matrix", e.What, Size(int64(e.Bytes)), Size(e.Memory))
	}
	if e.Derived {
		return fmt.Sprintf("the recording passed its limit of %d operations, for which programs take about %s; "+
			"raise the backend's Limit, "+
			"use forwarddiff for few inputs, or differentiate a smaller part of the function", e.Limit,
			Size(int64(e.Bytes)))
	}
	return fmt.Sprintf("the recording passed its limit of %d operations (%s); raise the backend's Limit, use "+
		"forwarddiff for few inputs, or differentiate a smaller part of the function",
		e.Limit, Size(int64(e.Bytes)))
}

// Size is a number of bytes in words.
func Size(bytes int64) string {
	switch {
	case bytes < 1<<20:
		return fmt.Sprintf("%d KiB", (bytes+1023)>>10)
	case bytes < 10<<30:
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%d GiB", bytes>>30)
}

// Within is err with where it was met. The message names the project once, however
// deep err comes from.
func Within(where string, err error) error { return &within{where, err} }

type within struct {
	where string
	err   error
}

func (w *within) Error() string {
	return "nabla: " + w.where + ": " + strings.TrimPrefix(w.err.Error(), "nabla: ")
}

func (w *within) Unwrap() error { return w.err }
