package adjoint

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// Shadows and cotangents of variables, places and values. A value with references has a shadow: the same value with
// each reference to primal memory replaced by one to its shadow. Shadows are computed in the forward sweep, by
// statements paired with those on the primal; in the reverse sweep the floats that they reach are cotangents.
//
// With vBar for the shadow of v:
//
//	value                 shadow
//	v, p.next             vBar, pBar.next
//	s[i:j]                sBar[i:j]
//	&v.f                  &vBar.f
//	make([]T, n), new(T)  the same expression: another allocation, of zeros
//	T{a, x}               T{aBar}: the references only; the cotangents of floats begin as 0
//	package variable      an allocation of zeros of the same size
//	nil, passive values   nil
//
// A load through a shadow reads the reference that a store through it has put there, so that the shadows form the same
// graph as the primal, whatever the program does with its pointers.

// active reports whether v carries derivatives, itself or in memory reachable from it.
func (sp *specialization) active(v *ir.Var) bool { return sp.activeTemps[v] || sp.facts.Active(v) }

// hasBar reports whether v holds floats itself that have cotangents.
func (sp *specialization) hasBar(v *ir.Var) bool { return sp.active(v) && ownFloats(v.Type) }

// hasShadow reports whether v holds references to memory with cotangents.
func (sp *specialization) hasShadow(v *ir.Var) bool { return sp.active(v) && leadsToFloats(v.Type) }

// shadowVar returns the shadow of v, created by the first call. The first call draws the name: calls in another order
// change generated code.
func (sp *specialization) shadowVar(v *ir.Var) *ir.Var {
	s := sp.shadows[v]
	if s == nil {
		s = &ir.Var{Name: sp.g.names.Name(v.Name + "Bar"), Type: v.Type, Kind: v.Kind, Pos: v.Pos}
		sp.shadows[v], sp.primalOf[s] = s, v
	}
	return s
}

// barVar returns the variable of the reverse sweep that holds the cotangents of the floats of v itself. The first call
// creates it and draws its name.
func (sp *specialization) barVar(v *ir.Var) *ir.Var {
	s := sp.bars[v]
	if s == nil {
		s = &ir.Var{Name: sp.g.names.Name(v.Name + "Bar"), Type: v.Type, Pos: v.Pos}
		sp.bars[v] = s
	}
	return s
}

// barPlace returns the place of the cotangent of the floats at p, whose root must be active: in shadow memory if p is
// indirect, otherwise in the bar of the root.
func (sp *specialization) barPlace(p *ir.Place) *ir.Place {
	if p.Indirect() {
		return &ir.Place{Root: sp.shadowVar(p.Root), Path: p.Path}
	}
	return &ir.Place{Root: sp.barVar(p.Root), Path: p.Path}
}

// shadowPlace returns the place of the shadow of the references at p.
func (sp *specialization) shadowPlace(p *ir.Place) *ir.Place {
	return &ir.Place{Root: sp.shadowVar(p.Root), Path: p.Path}
}

// shadowOf returns the shadow of e, a value with references. It may append statements that compute it to sp.pending.
// The shadow of an allocation is an allocation of the same size; passive references have nil as shadow. It panics with
// an Error for values without a shadow.
func (sp *specialization) shadowOf(e ir.Expr) ir.Expr {
	switch e := e.(type) {
	case nil:
		return nil
	// The only constant reference is nil.
	case *ir.Const:
		return ir.Zero(e.T)
	case *ir.Load:
		if e.P.Root.Kind == ir.Global {
			return sp.globalShadow(e, e.P.Root)
		}
		if !sp.active(e.P.Root) {
			return ir.Zero(e.T)
		}
		return ir.LoadOf(sp.shadowPlace(e.P), e.T)
	case *ir.Convert:
		switch from := activity.HasFloats(e.X.Type()); {
		case !from && ir.IsAssertion(e), // of passive contents, see package activity
			from && types.IsInterface(e.T) && !activity.HasFloats(e.T): // to be printed, for example
			return ir.Zero(e.T)
		}
		return ir.ConvertedShadow(sp.shadowOf(e.X), e.T)
	case *ir.Unbox:
		return ir.ConvertedShadow(sp.shadowOf(e.X), e.T)
	case *ir.Box:
		return ir.ConvertedShadow(sp.shadowOf(e.X), e.T)
	// Shadows are sliced with the same bounds as the primal.
	case *ir.Slice:
		return &ir.Slice{Typed: e.Typed, X: sp.shadowOf(e.X), Lo: e.Lo, Hi: e.Hi, Max: e.Max}
	case *ir.SliceAt:
		if e.P.Root.Kind == ir.Global {
			return sp.globalShadow(e, e.P.Root)
		}
		return &ir.SliceAt{Typed: e.Typed, P: sp.shadowPlace(e.P), Lo: e.Lo, Hi: e.Hi, Max: e.Max}
	case *ir.Addr:
		if e.P.Root.Kind == ir.Global {
			return sp.globalShadow(e, e.P.Root)
		}
		return &ir.Addr{Typed: e.Typed, P: sp.shadowPlace(e.P)}
	case *ir.Make, *ir.New:
		return e
	case *ir.Literal:
		s := &ir.Literal{Typed: e.Typed, Len: e.Len}
		for i, x := range e.Elems {
			switch {
			case leadsToFloats(x.Type()) && ownFloats(x.Type()) && ir.ElemOf(e.T) != nil:
				s.Keys, s.Elems = append(s.Keys, e.Keys[i]), append(s.Elems, sp.headersOnly(x))
			case leadsToFloats(x.Type()):
				s.Keys, s.Elems = append(s.Keys, e.Keys[i]), append(s.Elems, sp.shadowOf(x))
			case e.Len > 0 && e.Keys[i] == e.Len-1: // the last key determines the length of the slice
				s.Keys, s.Elems = append(s.Keys, e.Keys[i]), append(s.Elems, ir.Zero(x.Type()))
			}
		}
		return s
	}
	sp.refuse("", "the shadow of a %T", e)
	return nil
}

// headersOnly returns the shadow of e with its own floats set to 0, for shadow memory in which these are cotangents and
// initially 0. It appends the statements that build it to sp.pending.
func (sp *specialization) headersOnly(e ir.Expr) ir.Expr {
	t := e.Type()
	from, ok := sp.shadowOf(e).(*ir.Load)
	if !ok {
		return ir.Zero(t)
	}
	v := &ir.Var{Name: sp.g.names.Name("header"), Type: t}
	sp.primalOf[v] = from.P.Root
	sp.pending = append(sp.pending, forwardOnly(&ir.Let{At: sp.at, V: v})...)
	sp.pending = append(sp.pending, sp.copyRefs(sp.at, t, v.Place(), from.P)...)
	return v.Load()
}

// globalShadow returns the shadow of package variable e, which activity joined with memory that carries derivatives:
// fresh zeros of the shape of its memory. The cotangents that accumulate there are not read.
func (sp *specialization) globalShadow(e ir.Expr, root *ir.Var) ir.Expr {
	var fresh ir.Expr
	typed := ir.Typed{T: e.Type()}
	switch u := typed.T.Underlying().(type) {
	case *types.Slice:
		if !ir.HasRefs(u.Elem()) {
			fresh = &ir.Make{Typed: typed, N: ir.LenOf(e), Cap: &ir.Len{Typed: ir.Typed{T: integer}, X: e, Cap: true}}
		}
	case *types.Pointer:
		if !ir.HasRefs(u.Elem()) {
			fresh = &ir.New{Typed: typed}
		}
	default:
		if !ir.HasRefs(typed.T) {
			return ir.Zero(typed.T)
		}
	}
	if fresh == nil {
		fresh = ir.ZeroShadow(e)
	}
	v := &ir.Var{Name: sp.g.names.Name("zeros"), Type: typed.T}
	sp.primalOf[v] = root
	sp.pending = append(sp.pending, forwardOnly(&ir.Let{At: sp.at, V: v, E: fresh})...)
	return v.Load()
}

// setShadow returns the nodes that assign the shadow of the value of s, of type t.
func (sp *specialization) setShadow(s *ir.Set, t types.Type) []*node {
	to, e := sp.shadowPlace(s.P), sp.shadowOf(s.E)
	if !s.P.Indirect() || refs.only(t) {
		return forwardOnly(&ir.Set{At: s.At, P: to, E: e})
	}
	// In shadow memory the floats next to the references are cotangents: leave them.
	from, ok := e.(*ir.Load)
	var out []*node
	if !ok {
		v := &ir.Var{Name: sp.g.names.Name("header"), Type: t}
		sp.primalOf[v] = s.P.Root
		out = forwardOnly(&ir.Let{At: s.At, V: v, E: e})
		from = v.Load()
	}
	return append(out, sp.copyRefs(s.At, t, to, from.P)...)
}

// copyRefs returns nodes that copy the references in a value of type t from src to dst, places of shadows. The floats
// at dst are unchanged.
func (sp *specialization) copyRefs(at ir.At, t types.Type, dst, src *ir.Place) []*node {
	set := func(t types.Type, p []*ir.Place) ir.Block {
		return ir.Block{&ir.Set{At: at, P: p[0], E: ir.LoadOf(p[1], t)}}
	}
	return sp.restoredOnly(refs.each(sp.g.names, at, t, []*ir.Place{dst, src}, set))
}

// letShadow returns the declaration of the shadow of v, a temporary of the forward sweep, as e, and marks v active.
func (sp *specialization) letShadow(at ir.At, v *ir.Var, e ir.Expr) ir.Stmt {
	sp.activeTemps[v] = true
	return &ir.Let{At: at, V: sp.shadowVar(v), E: e}
}
