package sums

import (
	"errors"
	"fmt"
)

// ErrBusy reports that a second goroutine called a [Local] or a [Worker] during a call.
var ErrBusy = errors.New("sums: a second goroutine called during a call; give each goroutine one of its own")

// A RowError reports rows at which the sum cannot be computed: the loss panics, returns an error or has a result that is
// not finite, or the data are malformed. It unwraps to what was wrong. An iterator that yields a RowError may go on
// afterwards; after any other error it ends.
type RowError struct {
	Row  int64 // the index of the first row, from 0, counted by the sum
	Rows int64 // how many rows, 1 unless a block cannot be divided
	Err  error
}

func (e *RowError) Error() string {
	if e.Rows <= 1 {
		return fmt.Sprintf("sums: row %d: %v; set LeaveOut to sum the other rows", e.Row, e.Err)
	}
	return fmt.Sprintf("sums: a block of %d rows from row %d: %v; set LeaveOut to sum the other blocks, and Row to find "+
		"the row", e.Rows, e.Row, e.Err)
}

// Unwrap returns what was wrong.
func (e *RowError) Unwrap() error { return e.Err }

// A ReadError reports that the data ended with an error. It unwraps to that.
type ReadError struct {
	Row int64 // the number of rows read before
	Err error
}

func (e *ReadError) Error() string {
	return fmt.Sprintf("sums: reading failed after %d rows: %v; the sum has the rows before", e.Row, e.Err)
}

// Unwrap returns the error of the iterator.
func (e *ReadError) Unwrap() error { return e.Err }

// A StoppedError reports that a context or the progress function ended a pass. It unwraps to the error of that, such as
// context.Canceled.
type StoppedError struct {
	Row int64 // the sum has the rows before this one
	Err error
}

func (e *StoppedError) Error() string {
	return fmt.Sprintf("sums: stopped before row %d: %v; the sum has the rows before", e.Row, e.Err)
}

// Unwrap returns the error of the context or the progress function.
func (e *StoppedError) Unwrap() error { return e.Err }

// A NonFiniteError reports a result for some rows that is NaN or infinite. It is inside a [RowError].
type NonFiniteError struct {
	What  string // "value", "gradient", "product" or "Gauss–Newton matrix"
	Index int    // of the point or the direction
	Value float64
}

func (e *NonFiniteError) Error() string {
	if e.What == "product" {
		return fmt.Sprintf("the product with direction %d has an element %v", e.Index, e.Value)
	}
	return fmt.Sprintf("the %s at point %d is or has %v", e.What, e.Index, e.Value)
}

// A MergeError reports sums for different queries. Got and Want describe them, and are empty if they differ in the
// numbers of the points or directions only.
type MergeError struct{ Got, Want string }

func (e *MergeError) Error() string {
	if e.Got == e.Want {
		return "sums: Merge: the sums are at different points or in different directions; sum at the same Query"
	}
	return fmt.Sprintf("sums: Merge: got a sum at %s, want %s; sum at the same Query", e.Got, e.Want)
}

// An IndexError is the value of a panic: a point or direction that the query of a sum does not have.
type IndexError struct {
	What       string // "point" or "direction"
	Index, Len int
}

func (e *IndexError) Error() string {
	return fmt.Sprintf("sums: %s %d of a sum with %d of them", e.What, e.Index, e.Len)
}

// A FormatError reports bytes that are not an encoded [Sum] or [Query], or a file that has not the announced form.
type FormatError struct {
	What    string // what was decoded
	Problem string
}

func (e *FormatError) Error() string { return fmt.Sprintf("sums: %s: %s", e.What, e.Problem) }
