package engine

import (
	"errors"
	"runtime/debug"
	"strings"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/internal/page"
	"github.com/nabla-ad/nabla/program"
)

// These errors may be returned by every operator. Package nabla exports them under the same names.
var (
	// ErrBusy reports concurrent use of one prepared object by two goroutines.
	ErrBusy = page.New("nabla.ErrBusy",
		"the prepared object is in use by another goroutine; give each goroutine its own with Clone")
	// ErrUnsupported reports that an engine does not implement an operation. It is matched by *UnsupportedError.
	ErrUnsupported = errors.New("unsupported")
	// ErrGuard reports that a function left the recorded branch and that the policy forbids recording again.
	ErrGuard = program.ErrGuard
	// ErrStale reports that a recording no longer computes the function.
	ErrStale = errors.New("the recording no longer agrees with the function: data that it captures has changed; " +
		"bind the data as a context (nabla.Bind) or prepare again")
	// ErrForeignReal reports that a Real was used outside the call that made it.
	ErrForeignReal = core.ErrForeignReal
	// ErrOutputNotWritten reports that an in-place function left an output unwritten.
	ErrOutputNotWritten = core.ErrOutputNotWritten
)

// LimitError reports that a recording exceeded its limit of operations, or that a computation would exceed its memory
// limit.
type LimitError = core.LimitError

// OrderError reports an order of differentiation that is negative or above a limit.
type OrderError = core.OrderError

// ReturnedError reports that the user's function returned an error, in Err.
type ReturnedError = core.ReturnedError

// A Task is a preparation that can be cancelled and reports its progress.
type Task = core.Task

// CanceledError reports that a preparation was cancelled.
type CanceledError = core.CanceledError

// ShapeError reports an argument of the wrong length, or a wrong number of outputs.
type ShapeError struct {
	Op, Arg   string
	Got, Want int
}

func (e *ShapeError) Error() string {
	if e.Arg == outputsOfF {
		s := ""
		if e.Got != 1 {
			s = "s"
		}
		return page.Namef("nabla.ShapeError",
			"nabla: %s: the function has %d output%s, want %d%s", e.Op, e.Got, s, e.Want, e.next())
	}
	return page.Namef("nabla.ShapeError", "nabla: %s: %s is %d, want %d%s", e.Op, e.Arg, e.Got, e.Want, e.next())
}

// outputsOfF is the Arg of an error about the number of outputs.
const outputsOfF = "outputs of f"

// next returns the advice that ends the message, or "".
func (e *ShapeError) next() string {
	switch {
	case e.Arg == "m":
		return " or more"
	case e.Arg == outputsOfF && e.Want == 1 && !manyOutputs(e.Op):
		return "; for several outputs use Jacobian, Pushforward or Pullback"
	case e.Arg == outputsOfF:
		return ", as at Prepare; a function has the same number of outputs at every call"
	case e.Arg == "len(x)" && !strings.Contains(e.Op, "."):
		return "; Prepare fixes the length and Resize changes it, unless the function has a fixed one"
	case e.Arg == "len(dst)" && !strings.Contains(e.Op, "."):
		return "; nil is allocated"
	}
	return ""
}

// manyOutputs reports whether an operator takes functions with any number of outputs.
func manyOutputs(op string) bool {
	for _, name := range []string{"Jacobian", "Pushforward", "Pullback", "CurveDerivative", "CurveSecondDerivative",
		"WeightedHessian"} {
		if strings.HasSuffix(op, name) {
			return true
		}
	}
	return false
}

// PanicError reports a panic of the user's function, or of a custom rule. Value is the value of the panic and Stack the
// stack trace of the goroutine.
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
	return page.Namef("nabla.PanicError", "nabla: %s panicked: %v", what, e.Value)
}

// Unwrap returns the value of the panic if it is an error, and nil otherwise.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// FuncError reports a mistake in a function, or in the struct that is bound to it, that was found before anything was
// computed.
type FuncError struct {
	Op       string // the operator or wrapper
	Function string
	Problem  string // the mistake and the expected form
}

func (e *FuncError) Error() string {
	if e.Function == "" {
		return page.Namef("nabla.FuncError", "nabla: %s: %s", e.Op, e.Problem)
	}
	return page.Namef("nabla.FuncError", "nabla: %s: function %s: %s", e.Op, e.Function, e.Problem)
}

// ContextError reports a problem with a field of a bound struct: a recording would freeze its value, the function
// modified it though it may only read it (Changed), or it cannot be copied for another goroutine (Uncopied).
type ContextError struct {
	Field, Type string
	Changed     bool // the function wrote to the field
	Uncopied    bool // a clone or a worker cannot have a copy
}

func (e *ContextError) Error() string {
	if e.Changed {
		return page.Namef("nabla.ContextError",
			"nabla: the function changed field %s (%s) of its bound struct; that write is lost: "+
				"return the value as an output, or keep workspace in a nabla.Scratch", e.Field, e.Type)
	}
	if e.Uncopied {
		return page.Namef("nabla.ContextError",
			"nabla: field %s of the bound struct leads to a %s, which cannot be copied for a clone or a "+
				"worker; tag the field `nabla:\"fixed\"` if the function only reads it, or prepare an operator with a "+
				"separate struct for each goroutine",
			e.Field,
			e.Type,
		)
	}
	return page.Namef("nabla.ContextError",
		"nabla: field %s of the bound struct has type %s, which a recording would freeze; use "+
			"nabla.Vec, nabla.Real or nabla.Scratch, or tag it `nabla:\"fixed\"` if it never changes", e.Field, e.Type)
}

// UnsupportedError reports an operation that an engine does not implement, in What, and the alternative, in Remedy. It
// matches [ErrUnsupported].
type UnsupportedError struct {
	What, Remedy string
}

func (e *UnsupportedError) Error() string {
	s := "nabla: " + e.What
	if e.Remedy != "" {
		s += "; " + e.Remedy
	}
	return page.Named("nabla.UnsupportedError", s)
}

// Is reports whether target is ErrUnsupported.
func (e *UnsupportedError) Is(target error) bool { return target == ErrUnsupported }

// Recovered turns v, recovered from a panic of the user's function called name, into an error in *err: the error of a
// core.Abort, otherwise a *PanicError with the current stack. It does nothing if v is nil. Engines that call the user's
// code directly use it in a deferred function.
func Recovered(name string, v any, err *error) {
	if v == nil {
		return
	}
	if a, ok := v.(core.Abort); ok {
		if a.Of(name) {
			*err = a.Err
			return
		}
		*err = core.Within("function "+name, a.Err)
		return
	}
	*err = &PanicError{Function: name, Value: v, Stack: debug.Stack()}
}

// PanicHandler returns a function that turns the value of a panic into the error of [Recovered].
func PanicHandler(name string) func(v any) error {
	return func(v any) (err error) {
		Recovered(name, v, &err)
		return err
	}
}
