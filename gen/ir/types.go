package ir

import "go/types"

// Types of values, and predicates on them. The representation has the types of Go but complex numbers, and
// no operations on channels, maps and functions.
//
// A further numeric type is admitted here (checker.typ), gets its arithmetic in arith.go, its conversion from and to Go
// values in govalue.go, and its constants in constfit.go and package print; package lower refuses other types
// (refusedType in its types.go).

// typ checks that values can have type t: tuples, untyped, complex and invalid types are refused.
func (c *checker) typ(t types.Type) {
	if t == nil {
		c.fail("something has no type")
	}
	if _, ok := t.(*types.Tuple); ok {
		c.fail("a list of types is no type")
	}
	if b := basic(t); b != nil {
		switch {
		case b.Info()&types.IsUntyped != 0:
			c.fail("the type %s is untyped", b)
		case b.Info()&types.IsComplex != 0:
			c.fail("complex numbers are not in this form")
		case b.Kind() == types.Invalid:
			c.fail("a type is invalid")
		}
	}
}

// basic returns the underlying basic type of t, or nil if it has another one.
func basic(t types.Type) *types.Basic {
	if t == nil {
		return nil
	}
	b, _ := t.Underlying().(*types.Basic)
	return b
}

// HasInfo reports whether the underlying type of t is basic with at least one of the properties info. It is false for a
// nil t.
func HasInfo(t types.Type, info types.BasicInfo) bool {
	b := basic(t)
	return b != nil && b.Info()&info != 0
}

// IsInteger reports whether the underlying type of t is an integer type. It is false for a nil t.
func IsInteger(t types.Type) bool { return HasInfo(t, types.IsInteger) }

// IsString reports whether the underlying type of t is a string type. It is false for a nil t.
func IsString(t types.Type) bool { return HasInfo(t, types.IsString) }

func isBool(t types.Type) bool { return HasInfo(t, types.IsBoolean) }

// isNumber reports whether t is an integer or a float; complex numbers are not in this form.
func isNumber(t types.Type) bool { return HasInfo(t, types.IsInteger|types.IsFloat) }

// IsFloat reports whether the underlying type of t is a float. It is false for a nil t.
func IsFloat(t types.Type) bool { return HasInfo(t, types.IsFloat) }

// HasRefs reports whether a value of type t contains references (slices, pointers, maps, channels, functions,
// interfaces), so that two of them can lead to the same memory.
func HasRefs(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Array:
		return HasRefs(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if HasRefs(f.Type()) {
				return true
			}
		}
	case *types.Slice, *types.Pointer, *types.Map, *types.Chan, *types.Signature, *types.Interface:
		return true
	}
	return false
}

func isInterface(t types.Type) bool { return t != nil && types.IsInterface(t) }

// ElemOf returns the element type of a slice type t, or nil if t is none.
func ElemOf(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	if s, ok := t.Underlying().(*types.Slice); ok {
		return s.Elem()
	}
	return nil
}

// pointee returns the base type of a pointer type t, or nil if t is none.
func pointee(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return nil
}

// isArray reports whether the underlying type of t is an array; it is false for a nil t.
func isArray(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Array)
	return ok
}

// isStruct reports whether the underlying type of t is a struct; it is false for a nil t.
func isStruct(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Struct)
	return ok
}

// nilable reports whether nil is a value of type t.
func nilable(t types.Type) bool {
	if t == nil {
		return false
	}
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map, *types.Chan, *types.Signature, *types.Interface:
		return true
	}
	return false
}

// same reports whether a and b are identical types; nil is identical to nothing.
func same(a, b types.Type) bool { return a != nil && b != nil && types.Identical(a, b) }
