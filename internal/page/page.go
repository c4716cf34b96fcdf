// Package page ends the texts of errors with the names under which docs/errors.md explains them.
package page

import (
	"errors"
	"fmt"
	"regexp"
)

// ending matches the name at the end of a text.
var ending = regexp.MustCompile(` \(([a-z]+\.(?:Err\w+|\w*Error))\)$`)

// Named returns the text followed by the name, in parentheses, of the error that has it: a type or a variable with its
// package. A text that already ends with a name, because it ends with the text of an error inside, is returned as it
// is: that error is the cause.
func Named(name, text string) string {
	if ending.MatchString(text) {
		return text
	}
	return text + " (" + name + ")"
}

// Namef is Named of a text that is formatted as by fmt.Sprintf.
func Namef(name, format string, args ...any) string { return Named(name, fmt.Sprintf(format, args...)) }

// New is errors.New of a text with a name.
func New(name, text string) error { return errors.New(Named(name, text)) }

// Split returns the text of err and its name, for an error whose text goes on after that of an error inside. If err has
// no name, the second result is name, which is that of the error around.
func Split(err error, name string) (text, cause string) {
	text = err.Error()
	if m := ending.FindStringSubmatchIndex(text); m != nil {
		return text[:m[0]], text[m[2]:m[3]]
	}
	return text, name
}
