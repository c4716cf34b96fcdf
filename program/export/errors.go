package export

import (
	"errors"
	"fmt"
)

// RuleError reports a custom rule, of which there is no source to export.
type RuleError struct {
	Rule   string
	Format string
}

func (e *RuleError) Error() string {
	return fmt.Sprintf("export: the program calls the custom rule %q, which cannot be written as %s; write the "+
		"rule over nabla.Real, or export the parts before and after it", e.Rule, e.Format)
}

// NameError reports a name that is not valid in a format.
type NameError struct {
	What, Name string
	Format     string
}

func (e *NameError) Error() string {
	return fmt.Sprintf("export: the name of the %s is %q, want an identifier of %s that is no keyword", e.What, e.Name,
		e.Format)
}

// FormatError reports a format that does not exist.
type FormatError struct{ Format string }

func (e *FormatError) Error() string {
	return fmt.Sprintf("export: got the format %q, want one of %v", e.Format, Formats)
}

// PatternError reports a pattern with another number of entries than the outputs, or the last group of them.
type PatternError struct{ Entries, Outputs int }

func (e *PatternError) Error() string {
	return fmt.Sprintf("export: the pattern has %d entries and the program %d outputs, want as many", e.Entries,
		e.Outputs)
}

// Causes of a [LoadError].
var (
	// ErrCutShort reports that the data end too early.
	ErrCutShort = errors.New("the data are cut short")
	// ErrSyntax reports data that are no JSON, or JSON of another form.
	ErrSyntax = errors.New("the data are no program")
	// ErrVersion reports a later version of the format.
	ErrVersion = errors.New("the data have a later version")
	// ErrOperation reports an operation that does not exist.
	ErrOperation = errors.New("unknown operation")
	// ErrRule reports a custom rule that was not given to Load.
	ErrRule = errors.New("unknown custom rule")
	// ErrMalformed reports a program that program.Check rejects, such as one with an operand out of range.
	ErrMalformed = errors.New("malformed program")
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
	return fmt.Sprintf("export: %s%v: %s", where, e.Err, e.Problem)
}

func (e *LoadError) Unwrap() error { return e.Err }
