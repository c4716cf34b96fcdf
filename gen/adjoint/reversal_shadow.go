package adjoint

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// active reports whether a variable carries derivatives.
func (b *builder) active(v *ir.Var) bool { return b.activeTemps[v] || b.facts.Active(v) }

// carries reports whether a variable has numbers of its own with adjoints.
func (b *builder) hasBar(v *ir.Var) bool { return b.active(v) && ownFloats(v.Type) }

// leads reports whether a variable leads to numbers with adjoints.
func (b *builder) hasShadow(v *ir.Var) bool { return b.active(v) && leadsToFloats(v.Type) }

// of is the shadow of v.
func (b *builder) shadowVar(v *ir.Var) *ir.Var {
	s := b.shadows[v]
	if s == nil {
		s = &ir.Var{Name: b.g.names.Name(v.Name + "Bar"), Type: v.Type, Kind: v.Kind, Pos: v.Pos}
		b.shadows[v], b.primalOf[s] = s, v
	}
	return s
}

// own is the adjoint of the numbers of v itself.
func (b *builder) barVar(v *ir.Var) *ir.Var {
	s := b.bars[v]
	if s == nil {
		s = &ir.Var{Name: b.g.names.Name(v.Name + "Bar"), Type: v.Type, Pos: v.Pos}
		b.bars[v] = s
	}
	return s
}

// bar is where the adjoint of the numbers at p is; the root of p is active.
func (b *builder) barPlace(p *ir.Place) *ir.Place {
	if p.Indirect() {
		return &ir.Place{Root: b.shadowVar(p.Root), Path: p.Path}
	}
	return &ir.Place{Root: b.barVar(p.Root), Path: p.Path}
}

// shadowPlace is where the shadow of the slices and pointers at p is.
func (b *builder) shadowPlace(p *ir.Place) *ir.Place {
	return &ir.Place{Root: b.shadowVar(p.Root), Path: p.Path}
}

// shadowOf is the shadow of a value that leads to numbers.
func (b *builder) shadowOf(e ir.Expr) ir.Expr {
	switch e := e.(type) {
	case nil:
		return nil
	case *ir.Const:
		return zero(e.T)
	case *ir.Load:
		if e.P.Root.Kind == ir.Global {
			return b.globalShadow(e)
		}
		if !b.active(e.P.Root) {
			return zero(e.T)
		}
		return load(b.shadowPlace(e.P), e.T)
	case *ir.Convert:
		return &ir.Convert{Typed: e.Typed, X: b.shadowOf(e.X)}
	case *ir.Slice:
		return &ir.Slice{Typed: e.Typed, X: b.shadowOf(e.X), Lo: e.Lo, Hi: e.Hi, Max: e.Max}
	case *ir.SliceAt:
		return &ir.SliceAt{Typed: e.Typed, P: b.shadowPlace(e.P), Lo: e.Lo, Hi: e.Hi, Max: e.Max}
	case *ir.Addr:
		return &ir.Addr{Typed: e.Typed, P: b.shadowPlace(e.P)}
	case *ir.Make, *ir.New:
		return e
	case *ir.Literal:
		s := &ir.Literal{Typed: e.Typed, Len: e.Len}
		for i, x := range e.Elems {
			switch {
			case leadsToFloats(x.Type()) && ownFloats(x.Type()) && elemOf(e.T) != nil:
				s.Keys, s.Elems = append(s.Keys, e.Keys[i]), append(s.Elems, b.headersOnly(x))
			case leadsToFloats(x.Type()):
				s.Keys, s.Elems = append(s.Keys, e.Keys[i]), append(s.Elems, b.shadowOf(x))
			case e.Len > 0 && e.Keys[i] == e.Len-1: // it says how long a slice is
				s.Keys, s.Elems = append(s.Keys, e.Keys[i]), append(s.Elems, zero(x.Type()))
			}
		}
		return s
	}
	b.refuse("", "the shadow of a %T", e)
	return nil
}

// headers is the shadow of a value in which its own numbers are 0, for memory that will
// hold their adjoints.
func (b *builder) headersOnly(e ir.Expr) ir.Expr {
	t := e.Type()
	from, ok := b.shadowOf(e).(*ir.Load)
	if !ok {
		return zero(t)
	}
	v := &ir.Var{Name: b.g.names.Name("header"), Type: t}
	b.primalOf[v] = from.P.Root
	b.pending = append(b.pending, forwardOnly(&ir.Let{At: b.at, V: v})...)
	b.pending = append(b.pending, b.copyRefs(b.at, t, v.Place(), from.P)...)
	return v.Load()
}

// ofGlobal is zeros in the shape of what a package variable leads to, where that is joined
// with memory that carries derivatives. Nobody reads the adjoints that gather there.
func (b *builder) globalShadow(e *ir.Load) ir.Expr {
	var fresh ir.Expr
	switch u := e.T.Underlying().(type) {
	case *types.Slice:
		if !activity.HasRefs(u.Elem()) {
			fresh = &ir.Make{Typed: e.Typed, N: length(e), Cap: &ir.Len{Typed: ir.Typed{T: integer}, X: e, Cap: true}}
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
		b.refuse("pass it as an argument",
			"package variable %s, whose memory leads to more memory, where some carries derivatives", e.P.Root.Name)
	}
	v := &ir.Var{Name: b.g.names.Name("zeros"), Type: e.T}
	b.primalOf[v] = e.P.Root
	b.pending = append(b.pending, forwardOnly(&ir.Let{At: b.at, V: v, E: fresh})...)
	return v.Load()
}

// setShadow assigns the shadow of a value that leads to numbers.
func (b *builder) setShadow(s *ir.Set, t types.Type) []*node {
	to, e := b.shadowPlace(s.P), b.shadowOf(s.E)
	if !s.P.Indirect() || refs.only(t) {
		return forwardOnly(&ir.Set{At: s.At, P: to, E: e})
	}
	// What stands behind a pointer or in a slice has adjoints in the same memory.
	from, ok := e.(*ir.Load)
	var out []*node
	if !ok {
		v := &ir.Var{Name: b.g.names.Name("header"), Type: t}
		b.primalOf[v] = s.P.Root
		out = forwardOnly(&ir.Let{At: s.At, V: v, E: e})
		from = v.Load()
	}
	return append(out, b.copyRefs(s.At, t, to, from.P)...)
}

// copyRefs copies the slices and pointers of what stands at src to dst.
func (b *builder) copyRefs(at ir.At, t types.Type, dst, src *ir.Place) []*node {
	set := func(t types.Type, p []*ir.Place) ir.Block {
		return ir.Block{&ir.Set{At: at, P: p[0], E: load(p[1], t)}}
	}
	return b.restoredOnly(refs.each(b.g.names, at, t, []*ir.Place{dst, src}, set))
}

// letShadow is a variable of the forward sweep that is the shadow of v.
func (b *builder) letShadow(at ir.At, v *ir.Var, e ir.Expr) ir.Stmt {
	b.activeTemps[v] = true
	return &ir.Let{At: at, V: b.shadowVar(v), E: e}
}
