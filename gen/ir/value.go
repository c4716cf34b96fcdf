package ir

import (
	"fmt"
	"go/types"
	"math"
)

// Values of the evaluator and the operations on their memory.

// A Value is a value of the evaluator, or a variable that holds one: a number, a bool, a string, an
// array, a struct, a slice, a pointer or an interface. It does not hold its type: operations take
// that as an argument. The zero Value is the zero value of all these types but arrays and structs.
type Value struct {
	num uint64 // bits of a number or bool; integers are sign-extended to 64 bits, floats are float64s
	// ref is a complex128, string, slice, pointer, boxed or parts, or nil.
	ref any
}

type (
	// slice is a slice, which shares its elements as Go's slices do.
	slice []Value
	// pointer points to a variable, an element or a field.
	pointer *Value
	// parts are the elements of an array or the fields of a struct. They keep their addresses as
	// long as the variable lives, since an assignment copies into them.
	parts []Value
	// boxed is the content of an interface: a dynamic type and value.
	boxed struct {
		t types.Type
		v Value
	}
)

// boolValue and the functions after it construct values. Empty strings and nil slices are the zero
// Value, so that a zero value compares equal to them without a look at its type.
func boolValue(b bool) Value {
	if b {
		return Value{num: 1}
	}
	return Value{}
}

func intValue(i int64) Value     { return Value{num: uint64(i)} }
func floatValue(x float64) Value { return Value{num: math.Float64bits(x)} }

func complexValue(z complex128) Value { return Value{ref: z} }

func stringValue(s string) Value {
	if s == "" {
		return Value{}
	}
	return Value{ref: s}
}

func sliceValue(s slice) Value {
	if s == nil {
		return Value{}
	}
	return Value{ref: s}
}

func pointerTo(v *Value) Value { return Value{ref: pointer(v)} }

// bool and the methods after it return the content of a value of the type in their names. The zero
// Value has the zero value of each.
func (v Value) bool() bool     { return v.num != 0 }
func (v Value) int() int64     { return int64(v.num) }
func (v Value) float() float64 { return math.Float64frombits(v.num) }

func (v Value) complex() complex128 {
	z, _ := v.ref.(complex128)
	return z
}

func (v Value) string() string {
	s, _ := v.ref.(string)
	return s
}

func (v Value) slice() slice {
	s, _ := v.ref.(slice)
	return s
}

func (v Value) pointer() *Value {
	p, _ := v.ref.(pointer)
	return p
}

func (v Value) parts() parts {
	p, _ := v.ref.(parts)
	return p
}

// maxLen bounds the length of arrays and slices.
const maxLen = 1 << 24

// zeroValue returns the zero value of t, with new memory for its parts.
func zeroValue(t types.Type) Value {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		p := make(parts, u.NumFields())
		for i := range p {
			p[i] = zeroValue(u.Field(i).Type())
		}
		return Value{ref: p}
	case *types.Array:
		if u.Len() > maxLen {
			panic(limitError("array of %d elements", u.Len()))
		}
		return Value{ref: parts(zeros(int(u.Len()), u.Elem()))}
	}
	return Value{}
}

// zeros returns n zero values of type t.
func zeros(n int, t types.Type) []Value {
	list := make([]Value, n)
	if isArray(t) || isStruct(t) {
		for i := range list {
			list[i] = zeroValue(t)
		}
	}
	return list
}

// clone returns v with new memory for its parts; slices and pointers still share theirs.
func (v Value) clone() Value {
	p, ok := v.ref.(parts)
	if !ok {
		return v
	}
	q := make(parts, len(p))
	for i := range p {
		q[i] = p[i].clone()
	}
	return Value{ref: q}
}

// assign copies v into dst, whose parts keep their addresses.
func (dst *Value) assign(v Value) {
	p, ok := v.ref.(parts)
	q := dst.parts()
	if !ok || len(p) != len(q) {
		*dst = v.clone()
		return
	}
	for i := range p {
		q[i].assign(p[i])
	}
}

// copyValues copies elements as copy does, also if the slices overlap, and returns their number.
func copyValues(dst, src slice) int {
	n := min(len(dst), len(src))
	tmp := make([]Value, n)
	for i := range n {
		tmp[i] = src[i].clone()
	}
	for i := range n {
		dst[i].assign(tmp[i])
	}
	return n
}

// appendValues returns append(s, list...): it writes beyond the length of s if the capacity allows
// it and reallocates otherwise.
func appendValues(s slice, of types.Type, list []Value) slice {
	n := len(s)
	if len(list) == 0 {
		return s
	}
	need := n + len(list)
	for i := range list {
		list[i] = list[i].clone() // before the append overwrites elements that list shares
	}
	if need > cap(s) {
		size := max(need, 2*cap(s))
		if size > maxLen {
			panic(limitError("slice of %d elements", size))
		}
		moved := slice(zeros(size, of))[:need]
		for i := range s {
			moved[i].assign(s[i])
		}
		s = moved
	} else {
		s = s[:need]
	}
	for i, v := range list {
		s[n+i].assign(v)
	}
	return s
}

// equal reports whether a == b for two values of type t. It panics as Go does for interfaces with
// incomparable dynamic types.
func equal(a, b Value, t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch {
		case IsFloat(t):
			return a.float() == b.float()
		case IsComplex(t):
			return a.complex() == b.complex()
		case IsString(t):
			return a.string() == b.string()
		}
		return a.num == b.num
	case *types.Struct:
		p, q := a.parts(), b.parts()
		for i := range p {
			if u.Field(i).Name() != "_" && !equal(p[i], q[i], u.Field(i).Type()) {
				return false
			}
		}
		return true
	case *types.Array:
		p, q := a.parts(), b.parts()
		for i := range p {
			if !equal(p[i], q[i], u.Elem()) {
				return false
			}
		}
		return true
	case *types.Pointer:
		return a.pointer() == b.pointer()
	case *types.Interface:
		x, xok := a.ref.(boxed)
		y, yok := b.ref.(boxed)
		if !xok || !yok {
			return xok == yok
		}
		if !types.Identical(x.t, y.t) {
			return false
		}
		if !types.Comparable(x.t) {
			panic(runtimePanic("comparing uncomparable type " + typeText(x.t)))
		}
		return equal(x.v, y.v, x.t)
	}
	// Slices, maps and functions can only be compared with nil.
	return a.ref == nil && b.ref == nil
}

// Text formats v, a value of type t, like fmt's %v; a pointer is & and its target, to a depth of 4.
func (v Value) Text(t types.Type) string { return fmt.Sprint(v.show(t, 4)) }

// show returns v as a value that package fmt prints like the Go value.
func (v Value) show(t types.Type, depth int) any {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch {
		case IsBool(t):
			return v.bool()
		case IsString(t):
			return v.string()
		case IsFloat(t):
			if u.Kind() == types.Float32 {
				return float32(v.float())
			}
			return v.float()
		case IsComplex(t):
			if u.Kind() == types.Complex64 {
				return complex64(v.complex())
			}
			return v.complex()
		}
		if _, signed := bitsOf(u.Kind()); signed {
			return v.int()
		}
		return v.num
	case *types.Slice:
		return showAll(v.slice(), depth, func(int) types.Type { return u.Elem() })
	case *types.Array:
		return showAll(v.parts(), depth, func(int) types.Type { return u.Elem() })
	case *types.Struct:
		list := showAll(v.parts(), depth, func(i int) types.Type { return u.Field(i).Type() })
		s := fmt.Sprint(list)
		return verbatim("{" + s[1:len(s)-1] + "}")
	case *types.Pointer:
		p := v.pointer()
		if p == nil {
			return verbatim("<nil>")
		}
		if depth == 0 {
			return verbatim("&…")
		}
		return verbatim("&" + fmt.Sprint(p.show(u.Elem(), depth-1)))
	case *types.Interface:
		if b, ok := v.ref.(boxed); ok {
			return b.v.show(b.t, depth)
		}
	}
	return verbatim("<nil>")
}

// verbatim is text that fmt prints unquoted.
type verbatim string

// showAll returns show of each value; of(i) is the type of the i-th.
func showAll(list []Value, depth int, of func(int) types.Type) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v.show(of(i), depth)
	}
	return out
}
