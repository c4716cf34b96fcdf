package coloring

import (
	"fmt"
	"strings"

	"github.com/nabla-ad/nabla/internal/page"
	"github.com/nabla-ad/nabla/sparsity"
)

// A ProblemError says why a combination of settings is not a problem.
type ProblemError struct {
	Problem Problem
	Reason  string
}

func (e *ProblemError) Error() string {
	return page.Namef("coloring.ProblemError", "coloring: no %v problem: %s", e.Problem, e.Reason)
}

// A PatternError says why a pattern does not fit a problem.
type PatternError struct {
	Problem    Problem
	Rows, Cols int
	Reason     string
}

func (e *PatternError) Error() string {
	return page.Namef("coloring.PatternError",
		"coloring: a %d×%d pattern for the %v problem: %s", e.Rows, e.Cols, e.Problem, e.Reason)
}

// patternError returns a *PatternError for the pattern s with a formatted reason.
func patternError(p Problem, s *sparsity.Pattern, format string, args ...any) error {
	rows, cols := s.Dims()
	return &PatternError{Problem: p, Rows: rows, Cols: cols, Reason: fmt.Sprintf(format, args...)}
}

// A LengthError is returned for a slice of the wrong length, a stride that is too short, or a colour out of range.
type LengthError struct {
	Op, Arg   string
	Got, Want int
}

func (e *LengthError) Error() string {
	return page.Namef("coloring.LengthError", "coloring: %s: %s = %d, want %d", e.Op, e.Arg, e.Got, e.Want)
}

// An InvalidColoringError says where colours do not determine the matrix: it names the rows and columns involved or, if
// both have one element, the entry.
type InvalidColoringError struct {
	Rows, Columns []int
	Reason        string
}

func (e *InvalidColoringError) Error() string {
	var at []string
	switch {
	case len(e.Rows) == 1 && len(e.Columns) == 1:
		at = append(at, fmt.Sprintf("entry (%d, %d)", e.Rows[0], e.Columns[0]))
	default:
		at = append(list(at, "row", e.Rows), list(nil, "column", e.Columns)...)
	}
	return page.Named("coloring.InvalidColoringError",
		"coloring: invalid colours: "+strings.Join(at, ", ")+": "+e.Reason)
}

// list appends to at the word what, in the plural if needed, and the numbers of, unless there are none.
func list(at []string, what string, of []int) []string {
	switch len(of) {
	case 0:
		return at
	case 1:
		return append(at, fmt.Sprintf("%s %d", what, of[0]))
	}
	return append(at, fmt.Sprintf("%ss %s", what, strings.Trim(fmt.Sprint(of), "[]")))
}

// invalid returns an *InvalidColoringError with a formatted reason.
func invalid(rows, cols []int, format string, args ...any) error {
	return &InvalidColoringError{Rows: rows, Columns: cols, Reason: fmt.Sprintf(format, args...)}
}

// An UnsupportedError is returned for an operation that a colouring does not support; its reason names an alternative.
type UnsupportedError struct{ Op, Reason string }

func (e *UnsupportedError) Error() string {
	return page.Named("coloring.UnsupportedError", "coloring: "+e.Op+": "+e.Reason)
}

// A BudgetError is returned if [Optimal] has used up its budget. Best is the best colouring found so far: it is valid,
// and may be optimal, but is not proved to be.
type BudgetError struct {
	Budget int
	Best   *Coloring
}

func (e *BudgetError) Error() string {
	colors := 0
	if e.Best != nil {
		colors = e.Best.Colors()
	}
	return page.Namef("coloring.BudgetError",
		"coloring: no proof that %d colours are optimal within %d steps; use the Best of this error, "+
			"a larger Budget, or Greedy", colors, e.Budget)
}
