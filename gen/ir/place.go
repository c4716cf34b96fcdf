package ir

import "go/types"

// Places and types: the type at the end of a path, predicates on types that accept nil, and the
// distinction between direct places, parts of a variable, and indirect ones, which may be aliased.

// Place returns a new place that is the whole variable v.
func (v *Var) Place() *Place { return &Place{Root: v} }

// Load returns a new expression that reads v.
func (v *Var) Load() *Load { return &Load{Typed{v.Type}, v.Place()} }

// Type returns the type of the value at p, or nil if a step does not apply to the type before it.
// An element of a string is a byte.
func (p *Place) Type() types.Type {
	if p == nil || p.Root == nil {
		return nil
	}
	t := p.Root.Type
	for _, s := range p.Path {
		if t = s.typeFrom(t); t == nil {
			return nil
		}
	}
	return t
}

// typeFrom returns the type of the part of a value of type t that s selects, or nil if s does not
// apply to t.
func (s Step) typeFrom(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		if s.Field >= 0 && s.Field < u.NumFields() {
			return u.Field(s.Field).Type()
		}
	case *types.Pointer:
		if s.IsDeref() {
			return u.Elem()
		}
	case *types.Slice:
		if s.isIndex() {
			return u.Elem()
		}
	case *types.Array:
		if s.isIndex() {
			return u.Elem()
		}
	case *types.Basic:
		if s.isIndex() && u.Info()&types.IsString != 0 {
			return types.Universe.Lookup("byte").Type()
		}
	}
	return nil
}

// isIndex reports whether s selects an element. AnyStep does not count: it has no index.
func (s Step) isIndex() bool { return s.Field < 0 && s.Index != nil }

// prefix returns the place of the first n steps of p, which shares p's path.
func (p *Place) prefix(n int) *Place { return &Place{Root: p.Root, Path: p.Path[:n]} }

// Indirect reports whether the path of p crosses a pointer or a slice, so that other places may
// alias it. Otherwise p is its root variable or a part of it. A path that does not fit its types
// counts as indirect.
func (p *Place) Indirect() bool {
	t := p.Root.Type
	for _, s := range p.Path {
		if t == nil {
			return true
		}
		switch t.Underlying().(type) {
		case *types.Pointer, *types.Slice:
			return true
		}
		t = s.typeFrom(t)
	}
	return false
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

// IsConst reports whether e is a constant, without regard to conversions and operations of constants.
func IsConst(e Expr) bool {
	_, ok := e.(*Const)
	return ok
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
