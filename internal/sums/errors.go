package sums

import "fmt"

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

// A FormatError reports bytes that are not an encoded [Sum] or [Query].
type FormatError struct {
	What    string // what was decoded
	Problem string
}

func (e *FormatError) Error() string { return fmt.Sprintf("sums: %s: %s", e.What, e.Problem) }
