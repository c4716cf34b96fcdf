package ir

import "go/types"

// Types of values, and predicates on them. The representation has the types of Go, and no operations on channels, maps
// and functions.
//
// A further numeric type gets its predicates here, its arithmetic in arith.go, its conversion from and to Go values in
// govalue.go, and its constants in constfit.go; CONTRIBUTING.md lists the steps in the other packages.

// typ checks that values can have type t: tuples, untyped and invalid types are refused.
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

// IsBool reports whether the underlying type of t is a boolean type. It is false for a nil t.
func IsBool(t types.Type) bool { return HasInfo(t, types.IsBoolean) }

// isNumber reports whether t is an integer, a float or a complex number.
func isNumber(t types.Type) bool { return HasInfo(t, types.IsNumeric) }

// IsFloat reports whether the underlying type of t is a float. It is false for a nil t.
func IsFloat(t types.Type) bool { return HasInfo(t, types.IsFloat) }

// IsComplex reports whether the underlying type of t is complex64 or complex128. It is false for a nil t.
func IsComplex(t types.Type) bool { return HasInfo(t, types.IsComplex) }

// IsContinuous reports whether values of type t can carry derivatives: the underlying type is a float or a complex
// number. It is false for a nil t.
func IsContinuous(t types.Type) bool { return HasInfo(t, types.IsFloat|types.IsComplex) }

// PartType returns the type of the real and the imaginary part of a complex type t.
func PartType(t types.Type) types.Type {
	if same(t, Complex) {
		return Real
	}
	if basic(t).Kind() == types.Complex64 {
		return types.Typ[types.Float32]
	}
	return types.Typ[types.Float64]
}

// complexType returns the complex type whose parts are of the floating-point type t.
func complexType(t types.Type) types.Type {
	if same(t, Real) {
		return Complex
	}
	if basic(t).Kind() == types.Float32 {
		return types.Typ[types.Complex64]
	}
	return types.Typ[types.Complex128]
}

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

// WalkType calls visit for t and the types it is made of, each once: type arguments, underlying types, elements, keys,
// fields, parameters and results, but not the methods of interfaces. Aliases are resolved. A nil t is ignored.
func WalkType(t types.Type, visit func(types.Type)) {
	WalkTypeUntil(t, func(u types.Type) bool {
		visit(u)
		return true
	})
}

// WalkTypeUntil is [WalkType] without the types that those for which visit returns false are made of.
func WalkTypeUntil(t types.Type, visit func(types.Type) bool) {
	seen := map[types.Type]bool{}
	var walk func(t types.Type)
	walk = func(t types.Type) {
		t = types.Unalias(t)
		if t == nil || seen[t] {
			return
		}
		seen[t] = true
		if !visit(t) {
			return
		}
		switch t := t.(type) {
		case *types.Named:
			for arg := range t.TypeArgs().Types() {
				walk(arg)
			}
			walk(t.Underlying())
		case *types.Map:
			walk(t.Key())
			walk(t.Elem())
		case *types.Struct:
			for f := range t.Fields() {
				walk(f.Type())
			}
		case *types.Signature:
			walk(t.Params())
			walk(t.Results())
		case *types.Tuple:
			for v := range t.Variables() {
				walk(v.Type())
			}
		case interface{ Elem() types.Type }: // pointers, slices, arrays, channels
			walk(t.Elem())
		}
	}
	walk(t)
}
