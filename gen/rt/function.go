package rt

import (
	"fmt"
	"reflect"
	"runtime"

	"github.com/nabla-ad/nabla/internal/page"
)

// Function values that other code has made, such as those in fields of parameters. Generated code has a case for each
// declared function that the program assigns there; another function ends the call with an [UnknownFunctionError].

// IsFunction reports whether f is the declared function known: functions have the same code only if they are the same,
// and a closure has other code than any declared function. It is false for nil.
func IsFunction[F any](f, known F) bool {
	return reflect.ValueOf(f).Pointer() == reflect.ValueOf(known).Pointer()
}

// An UnknownFunctionError is the panic of generated code that meets a function value that it has no case for: no
// package that the code was generated from assigns the function to the place. Engines return it.
type UnknownFunctionError struct {
	Place    string // the place that holds the function, as field F of package.T
	Function string // the function, as in stack traces
	Known    string // the functions that have a case, separated by commas
}

// Error returns the place, the functions, and the remedy.
func (e *UnknownFunctionError) Error() string {
	return page.Namef("rt.UnknownFunctionError",
		"generated code has no case for the function %s in %s, but for %s: assign a declared function "+
			"in a package that nabla gen loads, and run it again", e.Function, e.Place, e.Known)
}

// UnknownFunction returns the error for the function f, held by place, which is none of those known. For nil it panics
// with the run-time error of a nil dereference, as the call of f would.
func UnknownFunction(f any, place, known string) error {
	v := reflect.ValueOf(f)
	if !v.IsValid() || v.IsNil() {
		var p *int
		return fmt.Errorf("%d", *p) // panics
	}
	return &UnknownFunctionError{Place: place, Function: runtime.FuncForPC(v.Pointer()).Name(), Known: known}
}
