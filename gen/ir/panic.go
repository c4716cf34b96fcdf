package ir

import (
	"errors"
	"fmt"
	"go/token"
	"go/types"
)

// A PanicError is a panic of the evaluated function.
type PanicError struct {
	// Value is the operand of the panic, of dynamic type Type. Both are zero for a runtime error,
	// such as an index out of range.
	Value Value
	Type  types.Type
	Text  string // the value as text, or the message of the runtime error
	Func  string // the function that panicked
	Pos   token.Position
}

// Error returns the message that Go prints for an unrecovered panic.
func (p *PanicError) Error() string { return "panic: " + p.Text }

// Runtime reports whether p is a runtime error rather than a panic statement.
func (p *PanicError) Runtime() bool { return p.Type == nil }

// runtimePanic returns a runtime error without a position.
func runtimePanic(text string) *PanicError { return &PanicError{Text: "runtime error: " + text} }

// A LimitError reports that an evaluation exceeded a limit or needs a feature the evaluator lacks.
type LimitError struct{ Reason string }

// Error returns the reason.
func (e *LimitError) Error() string { return "ir: evaluation stopped: " + e.Reason }

// limitError returns a LimitError with a formatted reason.
func limitError(format string, args ...any) *LimitError {
	return &LimitError{fmt.Sprintf(format, args...)}
}

// errIllFormed is returned for a function that Check does not accept.
var errIllFormed = errors.New("ir: the function is not well-formed, see Check")
