// Package mmio reads and writes Matrix Market files, entry by entry. Packages sparsity and sparse build on it.
//
// The format is that of R. F. Boisvert, R. Pozo and K. A. Remington, "The Matrix Market Exchange Formats: Initial
// Design", NISTIR 5935 (1996).
package mmio

import "fmt"

// A Header is the first line and the line of sizes of a file.
type Header struct {
	Array              bool // all values, column by column, instead of entries with their positions
	Field              Field
	Symmetry           Symmetry
	Rows, Cols, Listed int // Listed is the number of data lines
}

// A Field is the kind of the values.
type Field string

// A Symmetry relates entries that are not listed to those that are.
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

// An Error is a violation of the format in a line, counted from 1.
type Error struct {
	Line   int
	Reason string
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }
