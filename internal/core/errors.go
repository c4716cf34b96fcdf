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
	ErrForeignReal = errors.New("a Real was used outside the call that made it: it was kept from an earlier call or belongs to another trace; compute it again from the arguments")

	// ErrOutputNotWritten says that an output was read or returned before f wrote it.
	ErrOutputNotWritten = errors.New("an output was never written by f, or read before it was written; write every y[i] first")
)

// LimitError says that a recording grew beyond its limit.
type LimitError struct {
	Limit int // operations allowed
	Bytes int // memory the recording held when it stopped
}

func (e *LimitError) Error() string {
	size := fmt.Sprintf("%d MiB", e.Bytes>>20)
	if e.Bytes < 1<<20 {
		size = fmt.Sprintf("%d KiB", (e.Bytes+1023)>>10)
	}
	return fmt.Sprintf("the recording passed its limit of %d operations (%s); raise the backend's Limit, use forwarddiff for few inputs, or differentiate a smaller part of the function",
		e.Limit, size)
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
