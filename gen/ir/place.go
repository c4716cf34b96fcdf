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

// IsConst reports whether e is a constant, without regard to conversions and operations of constants.
func IsConst(e Expr) bool {
	_, ok := e.(*Const)
	return ok
}
