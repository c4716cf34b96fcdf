package export

import (
	"fmt"

	"github.com/nabla-ad/nabla/internal/page"
)

// RuleError reports a custom rule, of which there is no source to export.
type RuleError struct {
	Rule   string
	Format string
}

func (e *RuleError) Error() string {
	return page.Namef("export.RuleError",
		"export: the program calls the custom rule %q, which cannot be written as %s; write the "+
			"rule over nabla.Real, or export the parts before and after it", e.Rule, e.Format)
}

// NameError reports a name that is not valid in a format.
type NameError struct {
	What, Name string
	Format     string
}

func (e *NameError) Error() string {
	return page.Namef("export.NameError",
		"export: the name of the %s is %q, want an identifier of %s that is no keyword", e.What, e.Name,
		e.Format)
}

// FormatError reports a format that does not exist.
type FormatError struct{ Format string }

func (e *FormatError) Error() string {
	return page.Namef("export.FormatError", "export: got the format %q, want one of %v", e.Format, Formats)
}

// PatternError reports a pattern with another number of entries than the outputs, or the last group of them.
type PatternError struct{ Entries, Outputs int }

func (e *PatternError) Error() string {
	return page.Namef("export.PatternError",
		"export: the pattern has %d entries and the program %d outputs, want as many", e.Entries,
		e.Outputs)
}

// Causes of a [LoadError].
var (
	// ErrCutShort reports that the data end too early.
	ErrCutShort = page.New("export.ErrCutShort", "the data are cut short")
	// ErrSyntax reports data that are no JSON, or JSON of another form.
	ErrSyntax = page.New("export.ErrSyntax", "the data are no program")
	// ErrVersion reports a later version of the format.
	ErrVersion = page.New("export.ErrVersion", "the data have a later version")
	// ErrOperation reports an operation that does not exist.
	ErrOperation = page.New("export.ErrOperation", "unknown operation")
	// ErrRule reports a custom rule that was not given to Load.
	ErrRule = page.New("export.ErrRule", "unknown custom rule")
	// ErrMalformed reports a program that program.Check rejects, such as one with an operand out of range.
	ErrMalformed = page.New("export.ErrMalformed", "malformed program")
)

// LoadError reports data that [Load] cannot read. It unwraps to one of the causes above.
type LoadError struct {
	Statement int // index of the statement, -1 if it is none
	Problem   string
	Err       error
}

func (e *LoadError) Error() string {
	where := ""
	if e.Statement >= 0 {
		where = fmt.Sprintf("statement %d: ", e.Statement)
	}
	text, cause := page.Split(e.Err, "export.LoadError")
	return page.Namef(cause, "export: %s%s: %s", where, text, e.Problem)
}

func (e *LoadError) Unwrap() error { return e.Err }
