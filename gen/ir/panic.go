package ir

import (
	"errors"
	"fmt"
	"go/token"
	"go/types"
)

// PanicError is what a function of Go would panic with.
type PanicError struct {
	// Value is what panic was called with, of type Type. Both are zero if the evaluator
	// panics, as Go's runtime does for an index out of range.
	Value Value
	Type  types.Type
	Text  string // of the value, or of the runtime's error
	Func  string // in which it panics
	Pos   token.Position
}

// Error is the text as Go prints it for a program that panics.
func (p *PanicError) Error() string { return "panic: " + p.Text }

// Runtime reports whether the runtime panics, and not a panic statement.
func (p *PanicError) Runtime() bool { return p.Type == nil }

func runtimePanic(text string) *PanicError { return &PanicError{Text: "runtime error: " + text} }

// LimitError says that an evaluation was too long or too deep for the evaluator.
type LimitError struct{ Reason string }

func (e *LimitError) Error() string { return "ir: evaluation stopped: " + e.Reason }

func limitError(format string, args ...any) *LimitError {
	return &LimitError{fmt.Sprintf(format, args...)}
}

var errIllFormed = errors.New("ir: the function is not well-formed, see Check")
