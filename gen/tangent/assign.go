package tangent

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// let declares the shadow of a variable before the variable.
func (b *builder) let(s *ir.Let) {
	switch {
	case !b.facts.Active(s.V):
		b.emit(s)
	case activity.IsFloat(s.V.Type):
		// The value is computed once where its own derivative reads it.
		var val, dot ir.Expr
		if s.E != nil {
			val, dot = b.linear(s.E)
		}
		if s.E == nil && b.width() == 1 {
			b.emit(&ir.Let{At: s.At, V: b.of(s.V)})
		} else {
			b.declare(s.At, s.V, dot)
		}
		b.emit(&ir.Let{At: s.At, V: s.V, E: val})
	default:
		b.flush()
		val, dot := s.E, ir.Expr(nil)
		if s.E != nil {
			if l, ok := s.E.(*ir.Literal); ok && b.width() > 1 && fixed(l.T) {
				b.emit(&ir.Let{At: s.At, V: b.of(s.V)})
				b.emit(&ir.Let{At: s.At, V: s.V, E: b.filled(s.At, s.V.Place(), l)})
				return
			}
			val, dot = b.pair(s.E)
		}
		b.emit(&ir.Let{At: s.At, V: b.of(s.V), E: dot})
		b.emit(&ir.Let{At: s.At, V: s.V, E: val})
	}
}

// set assigns to the shadow of a place before it assigns to the place.
func (b *builder) set(s *ir.Set) {
	switch {
	case !b.carries(s.P):
		b.assigned(s.P)
		b.emit(s)
	case activity.IsFloat(s.P.Type()):
		val, dot := b.linear(s.E)
		b.store(s.At, s.P, dot)
		b.assigned(s.P)
		b.emit(&ir.Set{At: s.At, P: s.P, E: val})
	default:
		b.flush()
		if l, ok := s.E.(*ir.Literal); ok && b.width() > 1 && fixed(l.T) && !s.P.Behind() && !reads(l, s.P.Root) {
			if len(l.Keys) < size(l.T) {
				b.emit(&ir.Set{At: s.At, P: b.place(s.P), E: zero(b.typed(l.T).T)})
			}
			val := b.filled(s.At, s.P, l)
			b.flush()
			b.emit(&ir.Set{At: s.At, P: s.P, E: val})
			return
		}
		val, dot := b.pair(s.E)
		b.emit(&ir.Set{At: s.At, P: b.place(s.P), E: dot})
		b.emit(&ir.Set{At: s.At, P: s.P, E: val})
	}
}

// fixed reports whether a literal of type t is no slice.
func fixed(t types.Type) bool {
	_, slice := t.Underlying().(*types.Slice)
	return !slice
}

// size is how many parts a struct or an array has.
func size(t types.Type) int {
	switch t := t.Underlying().(type) {
	case *types.Struct:
		return t.NumFields()
	case *types.Array:
		return int(t.Len())
	}
	return 0
}

// reads reports whether e reads a part of v.
func reads(e ir.Expr, v *ir.Var) (found bool) {
	ir.WalkExpr(e, func(e ir.Expr) bool {
		if p := ir.PlaceOf(e); p != nil && p.Root == v {
			found = true
		}
		return !found
	})
	return found
}

// filled assigns to the parts of the shadow at p those of a literal, whose values it
// gives.
func (b *builder) filled(at ir.At, p *ir.Place, l *ir.Literal) *ir.Literal {
	out := &ir.Literal{Typed: l.Typed, Keys: l.Keys, Elems: append([]ir.Expr(nil), l.Elems...), Len: l.Len}
	_, st := l.T.Underlying().(*types.Struct)
	for i, x := range l.Elems {
		if !activity.HasFloats(x.Type()) {
			continue
		}
		step := ir.FieldStep(l.Keys[i])
		if !st {
			step = ir.IndexStep(lane(l.Keys[i]))
		}
		part := &ir.Place{Root: p.Root, Path: append(p.Path[:len(p.Path):len(p.Path)], step)}
		if activity.IsFloat(x.Type()) {
			val, dot := b.linear(x)
			out.Elems[i] = val
			b.store(at, part, dot)
			continue
		}
		b.flush()
		b.emit(&ir.Set{At: at, P: b.place(part), E: b.shadowOf(x)})
	}
	return out
}
