package engine

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/program"
)

// Errors that every operator may return; package nabla shows them under the same
// names.
var (
	// ErrBusy says that two goroutines used one prepared object.
	ErrBusy = errors.New("the prepared object is in use by another goroutine; give each goroutine its own with Clone")
	// ErrUnsupported says that an engine cannot do what was asked.
	ErrUnsupported = errors.New("unsupported")
	// ErrGuard says that a function took another branch than the recorded one,
	// where the policy forbids recording again.
	ErrGuard = program.ErrGuard
	// ErrStale says that a recording no longer computes what the function does.
	ErrStale = errors.New("the recording no longer agrees with the function: data that it captures has changed; " +
		"bind the data as a context (nabla.Bind) or prepare again")
	// ErrForeignReal says that a Real was used outside the call that made it.
	ErrForeignReal = core.ErrForeignReal
	// ErrOutputNotWritten says that an in-place function left an output unwritten.
	ErrOutputNotWritten = core.ErrOutputNotWritten
)

// LimitError says that a recording grew beyond its limit, or that something would take
// more memory than its limit.
type LimitError = core.LimitError

// A Task is a preparation that can be cancelled and says how far it is.
type Task = core.Task

// CanceledError says that a preparation was cancelled.
type CanceledError = core.CanceledError

// ShapeError says that an argument has the wrong length.
type ShapeError struct {
	Op, Arg   string
	Got, Want int
}

func (e *ShapeError) Error() string {
	return fmt.Sprintf("nabla: %s: %s is %d, want %d%s", e.Op, e.Arg, e.Got, e.Want, e.next())
}

// next says what to do where the numbers do not.
func (e *ShapeError) next() string {
	switch {
	case e.Arg == "m":
		return " or more"
	case e.Arg == "outputs of f" && e.Want == 1:
		return "; for several outputs use Jacobian, Pushforward or Pullback"
	case e.Arg == "outputs of f":
		return "; a function has the same number of outputs at every call"
	case e.Arg == "len(x)" && !strings.Contains(e.Op, "."):
		return "; Prepare fixes the length and Resize changes it, unless the function has one of its own"
	case e.Arg == "len(dst)" && !strings.Contains(e.Op, "."):
		return "; nil is allocated"
	}
	return ""
}

// PanicError says that the user's function panicked.
type PanicError struct {
	Function string
	Value    any
	Stack    []byte
}

func (e *PanicError) Error() string {
	what := e.Function
	if !strings.HasPrefix(what, "rule ") {
		what = "function " + what
	}
	return fmt.Sprintf("nabla: %s panicked: %v", what, e.Value)
}

// Unwrap is the value of the panic where that is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// FuncError reports a mistake in a function, or in the struct that is bound to it, found before anything is computed.
type FuncError struct {
	Op       string // the operator or wrapper
	Function string
	Problem  string // what was found and what is wanted
}

func (e *FuncError) Error() string {
	if e.Function == "" {
		return fmt.Sprintf("nabla: %s: %s", e.Op, e.Problem)
	}
	return fmt.Sprintf("nabla: %s: function %s: %s", e.Op, e.Function, e.Problem)
}

// ContextError says that a bound struct has a field that a recording would
// freeze, that a function changed a field that it may only read, or that there is no
// copy of the struct for another goroutine.
type ContextError struct {
	Field, Type string
	Changed     bool // the function wrote to the field
	Uncopied    bool // a clone or a worker cannot have a copy of its own
}

func (e *ContextError) Error() string {
	if e.Changed {
		return fmt.Sprintf("nabla: the function changed field %s (%s) of its bound struct; that write is lost: "+
			"return the value as an output, or keep workspace in a nabla.Scratch", e.Field, e.Type)
	}
	if e.Uncopied {
		return fmt.Sprintf("nabla: field %s of the bound struct leads to a %s, of which a clone or a worker cannot "+
			"have a copy of its own; tag the field `nabla:\"fixed\"` if the function only reads it, or prepare an "+
			"operator with a struct of its own for each goroutine", e.Field, e.Type)
	}
	return fmt.Sprintf("nabla: field %s of the bound struct has type %s, which a recording would freeze; use "+
		"nabla.Vec, nabla.Real or nabla.Scratch, or tag it `nabla:\"fixed\"` if it never changes", e.Field, e.Type)
}

// UnsupportedError says what an engine cannot do and what can be done instead. It
// matches ErrUnsupported.
type UnsupportedError struct {
	What, Remedy string
}

func (e *UnsupportedError) Error() string {
	s := "nabla: " + e.What
	if e.Remedy != "" {
		s += "; " + e.Remedy
	}
	return s
}

// Is reports whether target is ErrUnsupported.
func (e *UnsupportedError) Is(target error) bool { return target == ErrUnsupported }

// Recovered turns v, recovered from a panic out of the user's function of that name,
// into an error. It is for engines that call code of the user's themselves.
func Recovered(name string, v any, err *error) {
	if v == nil {
		return
	}
	if a, ok := v.(core.Abort); ok {
		*err = core.Within("function "+name, a.Err)
		return
	}
	*err = &PanicError{Function: name, Value: v, Stack: debug.Stack()}
}
