package ir

import "go/types"

// Place is the place that is the variable v as a whole.
func (v *Var) Place() *Place { return &Place{Root: v} }

// Load is the expression that reads v.
func (v *Var) Load() *Load { return &Load{Typed{v.Type}, v.Place()} }

// Type is the type of what is at p, nil if a step of the path does not fit what it
// stands behind. An element of a string is a byte.
func (p *Place) Type() types.Type {
	if p == nil || p.Root == nil {
		return nil
	}
	t := p.Root.Type
	for _, s := range p.Path {
		if t = s.from(t); t == nil {
			return nil
		}
	}
	return t
}

// from is the type that the step leads to from a value of type t, nil if there is none.
func (s Step) from(t types.Type) types.Type {
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

func (s Step) isIndex() bool { return s.Field < 0 && s.Index != nil }

// prefix is the place that the first n steps of p lead to.
func (p *Place) prefix(n int) *Place { return &Place{Root: p.Root, Path: p.Path[:n]} }

// Indirect reports whether p is behind a pointer or in a slice, so that it is reached by
// other names too, rather than a part of its variable.
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
		t = s.from(t)
	}
	return false
}

func basic(t types.Type) *types.Basic {
	if t == nil {
		return nil
	}
	b, _ := t.Underlying().(*types.Basic)
	return b
}

// has reports whether t is a basic type with one of the properties.
func has(t types.Type, info types.BasicInfo) bool {
	b := basic(t)
	return b != nil && b.Info()&info != 0
}

func isInteger(t types.Type) bool { return has(t, types.IsInteger) }
func isBool(t types.Type) bool    { return has(t, types.IsBoolean) }
func isString(t types.Type) bool  { return has(t, types.IsString) }
func isNumber(t types.Type) bool  { return has(t, types.IsInteger|types.IsFloat) }

// IsFloat reports whether the underlying type of t is a float. It is false for a nil t.
func IsFloat(t types.Type) bool { return has(t, types.IsFloat) }

// IsConst reports whether e is a constant, without regard to conversions and operations of constants.
func IsConst(e Expr) bool {
	_, ok := e.(*Const)
	return ok
}

func isInterface(t types.Type) bool { return t != nil && types.IsInterface(t) }

// elem is the type of the elements of a slice, nil of anything else.
func elem(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	if s, ok := t.Underlying().(*types.Slice); ok {
		return s.Elem()
	}
	return nil
}

// pointee is the type that a pointer of type t points to, nil of anything else.
func pointee(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return nil
}

func isArray(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Array)
	return ok
}

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

func same(a, b types.Type) bool { return a != nil && b != nil && types.Identical(a, b) }
