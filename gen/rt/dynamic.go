package rt

import (
	"fmt"

	"github.com/nabla-ad/nabla/internal/page"
)

// Dynamic types of interface values. Generated code has a case for each type that the program converts to an interface;
// a value of another type ends the call with an [UnknownTypeError].

// Is reports whether the dynamic type of x is T, or implements T if that is an interface type.
func Is[T any](x any) bool {
	_, ok := x.(T)
	return ok
}

// An UnknownTypeError is the panic of generated code that meets an interface value of a type that it has no case for:
// the type was not converted to the interface in the packages that the code was generated from. Engines return it.
type UnknownTypeError struct {
	Interface string // the interface, as package.Name
	Type      string // the dynamic type of the value, as fmt's %T
}

// Error returns the two types and the remedy.
func (e *UnknownTypeError) Error() string {
	return page.Namef("rt.UnknownTypeError",
		"generated code has no case for the type %s of a value of interface %s: run nabla gen again "+
			"with the package that converts it to %s", e.Type, e.Interface, e.Interface)
}

// UnknownType returns the error for the interface value x, whose type is none of the cases. For nil it panics with the
// run-time error of a nil dereference, as the call of a method of x would.
func UnknownType(x any, name string) error {
	if x == nil {
		var p *int
		return fmt.Errorf("%d", *p) // panics
	}
	return &UnknownTypeError{Interface: name, Type: fmt.Sprintf("%T", x)}
}

// Unbox returns a pointer to a copy of the value of type T in x, where derivatives can refer to it.
func Unbox[T any](x any) *T {
	v := x.(T)
	return &v
}
