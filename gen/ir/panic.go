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

// An EvaluatorError reports that the evaluator failed although all functions are well-formed: an
// argument, a global variable or a result of a rule is not of the type that the function declares,
// or the evaluator has a mistake.
type EvaluatorError struct {
	Func string         // the function that was being evaluated
	Pos  token.Position // its statement, if that has a position
	Err  error          // the failure, such as a runtime.Error
}

// Error returns the function, the position, the failure and its possible causes.
func (e *EvaluatorError) Error() string {
	at := ""
	if e.Pos.IsValid() {
		at = " at " + e.Pos.String()
	}
	return fmt.Sprintf("ir: the evaluator failed in %s%s: %v; the function is well-formed: check the types of the "+
		"arguments, globals and results of rules, or report a mistake of package ir", e.Func, at, e.Err)
}

// Unwrap returns the failure.
func (e *EvaluatorError) Unwrap() error { return e.Err }

// errIllFormed is returned for a function that Check does not accept.
var errIllFormed = errors.New("ir: the function is not well-formed, see Check")
