package tangent

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// shadowOf is the expression that gives the shadow of a value that is no number.
func (b *builder) shadowOf(e ir.Expr) ir.Expr {
	switch e := e.(type) {
	case *ir.Const:
		return zero(e.T)
	case *ir.Load:
		if e.P.Root.Kind == ir.Global {
			return b.ofGlobal(e)
		}
		if !b.facts.Active(e.P.Root) {
			return zero(e.T)
		}
		return &ir.Load{Typed: e.Typed, P: b.place(e.P)}
	case *ir.Convert:
		return &ir.Convert{Typed: e.Typed, X: b.shadowOf(e.X)}
	case *ir.Slice:
		return &ir.Slice{Typed: e.Typed, X: b.shadowOf(e.X), Lo: e.Lo, Hi: e.Hi, Max: e.Max}
	case *ir.SliceAt:
		if !b.facts.Active(e.P.Root) {
			return zero(e.T)
		}
		return &ir.SliceAt{Typed: e.Typed, P: b.place(e.P), Lo: e.Lo, Hi: e.Hi, Max: e.Max}
	case *ir.Addr:
		if !b.facts.Active(e.P.Root) {
			return zero(e.T)
		}
		return &ir.Addr{Typed: e.Typed, P: b.place(e.P)}
	case *ir.Make, *ir.New:
		return e // of the same length and capacity
	case *ir.Literal:
		s := &ir.Literal{Typed: e.Typed, Len: e.Len}
		for i, x := range e.Elems {
			dot := b.part(x)
			if dot == nil && e.Len > 0 && e.Keys[i] == e.Len-1 {
				dot = zero(x.Type()) // the last element says how long a slice is
			}
			if dot != nil {
				s.Keys, s.Elems = append(s.Keys, e.Keys[i]), append(s.Elems, dot)
			}
		}
		return s
	}
	b.refuse("the shadow of a %T", e)
	return nil
}

// ofGlobal is zeros in the shape of what a package variable holds, where that is joined
// with memory that carries derivatives. Nobody writes to either.
func (b *builder) ofGlobal(e *ir.Load) ir.Expr {
	var fresh ir.Expr
	switch u := e.T.Underlying().(type) {
	case *types.Slice:
		if !activity.HasRefs(u.Elem()) {
			fresh = &ir.Make{Typed: e.Typed, N: length(e), Cap: &ir.Len{Typed: ir.Typed{T: types.Typ[types.Int]}, X: e, Cap: true}}
		}
	case *types.Pointer:
		if !activity.HasRefs(u.Elem()) {
			fresh = &ir.New{Typed: e.Typed}
		}
	default:
		if !activity.HasRefs(e.T) {
			return zero(e.T)
		}
	}
	if fresh == nil {
		b.refuse("package variable %s, whose memory leads to more memory, where some carries derivatives; pass it as an argument", e.P.Root.Name)
	}
	v := &ir.Var{Name: b.names.Name("zeros"), Type: e.T}
	b.emit(&ir.Let{At: b.at, V: v, E: fresh})
	return v.Load()
}

// part is the shadow of an element of a literal or an argument, nil for zero.
func (b *builder) part(e ir.Expr) ir.Expr {
	t := e.Type()
	switch {
	case !activity.HasFloats(t):
		return nil
	case activity.IsFloat(t):
		_, dot := b.linear(e)
		return dot
	}
	return b.shadowOf(e)
}

// memory is the shadow of a slice, nil if it has none.
func (b *builder) memory(s ir.Expr) ir.Expr {
	active := false
	ir.WalkExpr(s, func(e ir.Expr) bool {
		switch e := e.(type) {
		case *ir.Load:
			active = active || activity.HasRefs(e.T) && b.facts.Active(e.P.Root)
		case *ir.SliceAt:
			active = active || b.facts.Active(e.P.Root)
		}
		return !active
	})
	if !active || !activity.HasFloats(s.Type()) {
		return nil
	}
	return b.shadowOf(s)
}
