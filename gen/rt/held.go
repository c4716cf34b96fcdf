package rt

import (
	"reflect"
	"unsafe"

	"github.com/nabla-ad/nabla/internal/page"
)

// Shadows of interface values. A shadow is an interface value of the same type that holds a pointer: if the value is a
// pointer, one of the same type, to the shadow of its target; if it is a T that leads to floats, a *T, since the
// value in an interface cannot be changed. Two interface values with equal contents of the second kind are separate.

// A ShadowTypeError is the panic of generated code that gets a shadow of another type than that of a value in an
// interface.
type ShadowTypeError struct {
	Interface string // the interface type
	Type      string // the type of the value in it, as fmt's %T
	Got, Want string // the types of the shadow
}

// Error returns the types.
func (e *ShadowTypeError) Error() string {
	return page.Namef("rt.ShadowTypeError",
		"rt: the shadow of a value of type %s in a %s has type %s, want %s, or nil", e.Type, e.Interface,
		e.Got, e.Want)
}

// words are the two words of an interface value.
type words [2]unsafe.Pointer

// holds reports whether interface values of type t may have shadows: it is not error, and has methods.
func holds(t reflect.Type) bool {
	return t.Kind() == reflect.Interface && t.NumMethod() > 0 && t != reflect.TypeFor[error]()
}

// held returns the value in the interface value of type t at an address, and the type that its shadow points to; nil if
// it has no shadow.
func held(at unsafe.Pointer, t reflect.Type) (v reflect.Value, to reflect.Type) {
	v = reflect.NewAt(t, at).Elem().Elem()
	switch {
	case !v.IsValid() || !has(v.Type()):
		return v, nil
	case v.Kind() == reflect.Pointer:
		return v, v.Type().Elem()
	}
	return v, v.Type()
}

// A box is memory for a copy of a value in an interface, which has an address.
type box struct {
	pointer reflect.Value
	used    bool // since the last update
}

// boxed returns the address of a copy of v. Copies of values of one type are reused in the order in which they are
// asked
// for, so that equal structures have equal addresses.
func (s *shadows) boxed(v reflect.Value) unsafe.Pointer {
	list := s.boxes[v.Type()]
	i := 0
	for i < len(list) && list[i].used {
		i++
	}
	if i == len(list) {
		if s.boxes == nil {
			s.boxes = map[reflect.Type][]box{}
		}
		list = append(list, box{pointer: reflect.New(v.Type())})
		s.boxes[v.Type()] = list
	}
	list[i].used = true
	list[i].pointer.Elem().Set(v)
	return list[i].pointer.UnsafePointer()
}

// releaseBoxes makes the copies available again.
func (s *shadows) releaseBoxes() {
	for _, list := range s.boxes {
		for i := range list {
			list[i].used = false
		}
	}
	clear(s.boxOf)
}

// below returns the address and the layout of the value in the interface value at an address, or of its target if it is
// a pointer. The address is that of a copy if the value is no pointer. It returns nil if the interface value has no
// shadow.
func (s *shadows) below(at unsafe.Pointer, t reflect.Type) (unsafe.Pointer, *typeLayout, int) {
	v, to := held(at, t)
	if to == nil {
		return nil, nil, 0
	}
	n := 1
	elem := to
	for elem.Kind() == reflect.Array {
		n *= elem.Len()
		elem = elem.Elem()
	}
	l := s.layout(elem, elem)
	if v.Kind() == reflect.Pointer {
		return v.UnsafePointer(), l, n
	}
	if s.boxOf == nil {
		s.boxOf = map[unsafe.Pointer]unsafe.Pointer{}
	}
	if s.boxOf[at] == nil {
		s.boxOf[at] = s.boxed(v)
	}
	return s.boxOf[at], l, n
}

// setHeld makes the interface value of type t at to the shadow of that at from, whose contents have the given shadow.
func setHeld(from, to unsafe.Pointer, t reflect.Type, shadow unsafe.Pointer) {
	v, elem := held(from, t)
	p := reflect.Zero(t)
	if v.IsValid() && elem != nil {
		p = reflect.NewAt(elem, shadow)
	} else if v.IsValid() { // without floats, or a nil pointer
		p = v
	}
	reflect.NewAt(t, to).Elem().Set(p)
}

// givenHeld returns the address that the shadow at an address holds, of the interface value at another one. It panics
// if
// the shadow is of another type than it has to be.
func givenHeld(at, shadow unsafe.Pointer, t reflect.Type) unsafe.Pointer {
	v, to := held(at, t)
	s := reflect.NewAt(t, shadow).Elem().Elem()
	if to == nil || !s.IsValid() {
		return nil
	}
	if want := reflect.PointerTo(to); s.Type() != want {
		panic(&ShadowTypeError{Interface: t.String(), Type: v.Type().String(), Got: s.Type().String(),
			Want: want.String()})
	}
	return s.UnsafePointer()
}
