package expression

import (
	"fmt"
	"strings"

	"github.com/nabla-ad/nabla/internal/page"
)

// A ProgramError reports a program that is no expression: it compares values, calls a custom rule, or is malformed.
type ProgramError struct{ Problem string }

func (e *ProgramError) Error() string {
	return page.Named("expression.ProgramError", "expression: the program is no expression: "+e.Problem)
}

// A NameError reports a name that is no input, is missing, or is given twice.
type NameError struct {
	Op      string   // the method
	Name    string   // the name in question
	Known   []string // the names that there are
	Problem string   // what is wrong with it
}

func (e *NameError) Error() string {
	known := "there are none"
	if len(e.Known) > 0 {
		known = "inputs are " + strings.Join(e.Known[:min(len(e.Known), 10)], ", ")
		if len(e.Known) > 10 {
			known += fmt.Sprintf(" and %d more", len(e.Known)-10)
		}
	}
	return page.Namef("expression.NameError", "expression: %s: %q %s; %s", e.Op, e.Name, e.Problem, known)
}

// An OptionsError reports a field of Options that does not fit the program.
type OptionsError struct {
	Field string
	Got   int
	Want  string
}

func (e *OptionsError) Error() string {
	return page.Namef("expression.OptionsError", "expression: Options.%s is %d, want %s", e.Field, e.Got, e.Want)
}

// An EmptyError reports a method of an Expression that nothing has made.
type EmptyError struct{ Op string }

func (e *EmptyError) Error() string {
	return page.Namef("expression.EmptyError",
		"expression: %s of an empty Expression; make it with expression.Of", e.Op)
}

// A PointError reports that two expressions cannot be compared: none of the points at which they were evaluated gives
// finite values.
type PointError struct{ Points int }

func (e *PointError) Error() string {
	return page.Namef("expression.PointError",
		"expression: Equal: the values are not finite at any of %d random points; substitute an "+
			"expression that keeps the inputs within the domain", e.Points)
}
