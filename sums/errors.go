package sums

import (
	"errors"
	"fmt"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/internal/page"
)

// A MergeError reports sums for different queries. Got and Want describe them, and are empty if they differ in the
// numbers of the points or directions only.
type MergeError struct{ Got, Want string }

func (e *MergeError) Error() string {
	if e.Got == e.Want {
		return page.Named("sums.MergeError",
			"sums: Merge: the sums are at different points or in different directions; sum at the same Query")
	}
	return page.Namef("sums.MergeError", "sums: Merge: got a sum at %s, want %s; sum at the same Query", e.Got, e.Want)
}

// An IndexError is the value of a panic: a point or direction that the query of a sum does not have.
type IndexError struct {
	What       string // "point" or "direction"
	Index, Len int
}

func (e *IndexError) Error() string {
	return page.Namef("sums.IndexError", "sums: %s %d of a sum with %d of them", e.What, e.Index, e.Len)
}

// A FormatError reports bytes that are not an encoded [Sum] or [Query].
type FormatError struct {
	What    string // what was decoded
	Problem string
}

func (e *FormatError) Error() string {
	return page.Namef("sums.FormatError", "sums: %s: %s", e.What, e.Problem)
}

// A QueryError reports a query that cannot be answered.
type QueryError struct{ Problem string }

func (e *QueryError) Error() string { return page.Named("sums.QueryError", "sums: "+e.Problem) }

// A RowError reports bad rows, which ended a sum. It unwraps to what is wrong with them: a *[NonFiniteError], a
// *nabla.ReturnedError, a *nabla.PanicError, or the error of a reader. The sum beside it has the rows before.
//
// A [Source] yields a RowError with Err alone for a row that it cannot read; see there.
type RowError struct {
	Row  int64 // the index of the first, from 0
	Rows int64 // how many: those of a block, or 1
	Err  error
}

func (e *RowError) Error() string {
	where := fmt.Sprintf("row %d", e.Row)
	if e.Rows > 1 {
		where = fmt.Sprintf("one of the rows %d to %d", e.Row, e.Row+e.Rows-1)
	}
	text, cause := page.Split(e.Err, "sums.RowError")
	return page.Namef(cause, "sums: %s: %s; Options.Bad: sums.LeaveOut sums the others", where, text)
}

// Unwrap returns Err.
func (e *RowError) Unwrap() error { return e.Err }

// A NonFiniteError reports a NaN or an infinity among the numbers of a row or a block.
type NonFiniteError struct {
	What  string
	Value float64
}

func (e *NonFiniteError) Error() string {
	return page.Namef("sums.NonFiniteError", "%s is %v", e.What, e.Value)
}

// A ReadError reports that a [Source] failed, with all rows before summed. It unwraps to the error of the source.
type ReadError struct {
	Row int64 // the index of the row that was not read; all before are in the sum beside the error or left out
	Err error
}

func (e *ReadError) Error() string {
	text, cause := page.Split(e.Err, "sums.ReadError")
	return page.Namef(cause, "sums: reading row %d: %s; the sum beside this error has the rows before", e.Row, text)
}

// Unwrap returns Err.
func (e *ReadError) Unwrap() error { return e.Err }

// A FileError reports a place in a file.
type FileError struct {
	File   string
	Offset int64 // of the line or the record, in bytes
	Err    error
}

func (e *FileError) Error() string {
	return page.Namef("sums.FileError", "%s: at byte %d: %v", e.File, e.Offset, e.Err)
}

// Unwrap returns Err.
func (e *FileError) Unwrap() error { return e.Err }

// A StoppedError reports that the context of a sum was done before its end. It unwraps to the cause.
type StoppedError struct {
	Rows int64 // summed or left out
	Err  error
}

func (e *StoppedError) Error() string {
	return page.Namef("sums.StoppedError",
		"sums: stopped after %d rows: %v; the sum beside this error has them", e.Rows, e.Err)
}

// Unwrap returns Err.
func (e *StoppedError) Unwrap() error { return e.Err }

// A CountError reports that two passes over the same data had different rows.
type CountError struct {
	Rows, BadRows         int64 // of the pass
	WantRows, WantBadRows int64
}

func (e *CountError) Error() string {
	return page.Namef("sums.CountError",
		"sums: a pass summed %d rows and left out %d, the first one %d and %d, so that their values "+
			"are not those of one function; the source must give the same rows in every pass, and the function be "+
			"finite at all of them",
		e.Rows, e.BadRows, e.WantRows, e.WantBadRows)
}

// isBad reports whether err is about the rows of a block.
func isBad(err error) bool {
	var finite *NonFiniteError
	var returned *nabla.ReturnedError
	var panicked *nabla.PanicError
	return errors.As(err, &finite) || errors.As(err, &returned) || errors.As(err, &panicked)
}
