// Package mmio reads and writes the text of Matrix Market files, entry by entry:
// package sparsity keeps the places, package sparse the values too.
//
// The format is that of R. F. Boisvert, R. Pozo and K. A. Remington, "The Matrix
// Market Exchange Formats: Initial Design", NISTIR 5935 (1996).
package mmio

import "fmt"

// A Header is what a file says before its entries.
type Header struct {
	Array              bool // all values, column by column, instead of entries with their places
	Field              Field
	Symmetry           Symmetry
	Rows, Cols, Listed int // Listed is the number of data lines
}

// A Field is the kind of the values.
type Field string

// A Symmetry says what the entries that are listed tell about those that are not.
type Symmetry string

// The words of the format. "double" is read as [Real].
const (
	Real    Field = "real"
	Integer Field = "integer"
	Complex Field = "complex"
	Pattern Field = "pattern"

	General   Symmetry = "general"
	Symmetric Symmetry = "symmetric"
	Skew      Symmetry = "skew-symmetric"
	Hermitian Symmetry = "hermitian"
)

// An Error says which line is not in the format, from 1, and why.
type Error struct {
	Line   int
	Reason string
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }
