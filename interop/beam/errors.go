package nablabeam

import "fmt"

// A RegisterError reports a term that is not registered under a name, or one for blocks of another type.
type RegisterError struct {
	Name      string
	Got, Want string // types, empty if there is no term
}

func (e *RegisterError) Error() string {
	if e.Got == "" {
		return fmt.Sprintf("nablabeam: no term is registered as %q; call Register in an init function "+
			"(nablabeam.RegisterError)", e.Name)
	}
	return fmt.Sprintf("nablabeam: the term registered as %q is a %s, want a %s (nablabeam.RegisterError)", e.Name,
		e.Got, e.Want)
}

// A JobError reports that a pipeline failed, and unwraps to the error of Beam. The text of that error contains the one
// of a worker.
type JobError struct {
	Job string
	Err error
}

func (e *JobError) Error() string {
	return fmt.Sprintf("nablabeam: job %s: %v (nablabeam.JobError)", e.Job, e.Err)
}

// Unwrap returns Err.
func (e *JobError) Unwrap() error { return e.Err }

// A RowsError reports that a sum does not have the rows that Options.Rows asks for.
type RowsError struct{ Got, Want int64 }

func (e *RowsError) Error() string {
	return fmt.Sprintf("nablabeam: %d rows were summed or left out, want %d: a reader has lost or repeated rows "+
		"(nablabeam.RowsError)", e.Got,
		e.Want)
}

// An OptionError reports a mistake in [Options].
type OptionError struct{ Problem string }

func (e *OptionError) Error() string {
	return "nablabeam: Options." + e.Problem + " (nablabeam.OptionError)"
}
