package lower

import (
	"go/constant"
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Dependences between expressions and assignments within a function: which places an expression
// reads, and whether two places may overlap. Indirect places are distinguished by type only.

// eachPlace calls f for the places in e, operands first. taken reports that only the address is
// used.
func eachPlace(e ir.Expr, f func(p *ir.Place, taken bool)) {
	switch e := e.(type) {
	case nil:
	case *ir.Const, *ir.New:
	case *ir.Load:
		eachIndex(e.P, f)
		f(e.P, false)
	case *ir.Addr:
		eachIndex(e.P, f)
		f(e.P, true)
	case *ir.SliceAt:
		eachIndex(e.P, f)
		for _, x := range []ir.Expr{e.Lo, e.Hi, e.Max} {
			eachPlace(x, f)
		}
		f(e.P, true)
	case *ir.Unary:
		eachPlace(e.X, f)
	case *ir.Binary:
		eachPlace(e.X, f)
		eachPlace(e.Y, f)
	case *ir.Math:
		eachPlaceIn(e.Args, f)
	case *ir.Convert:
		eachPlace(e.X, f)
	case *ir.TypeTest:
		eachPlace(e.X, f)
	case *ir.Unbox:
		eachPlace(e.X, f)
	case *ir.Box:
		eachPlace(e.X, f)
	case *ir.Len:
		eachPlace(e.X, f)
	case *ir.Slice:
		eachPlaceIn([]ir.Expr{e.X, e.Lo, e.Hi, e.Max}, f)
	case *ir.Make:
		eachPlaceIn([]ir.Expr{e.N, e.Cap}, f)
	case *ir.Literal:
		eachPlaceIn(e.Elems, f)
	case *ir.Opaque:
		eachPlaceIn(e.Args, f)
	}
}

// eachPlaceIn calls eachPlace for each expression.
func eachPlaceIn(es []ir.Expr, f func(p *ir.Place, taken bool)) {
	for _, e := range es {
		eachPlace(e, f)
	}
}

// eachIndex calls eachPlace for the indices of p.
func eachIndex(p *ir.Place, f func(p *ir.Place, taken bool)) {
	for _, s := range p.Path {
		eachPlace(s.Index, f)
	}
}

// placeType returns the type at the end of p and whether p is indirect. header, if it is not nil,
// is called for each reference that the path crosses, which using the place reads.
func placeType(p *ir.Place, header func(*ir.Place)) (t types.Type, memory bool) {
	t = p.Root.Type
	for i, s := range p.Path {
		through := false
		switch u := t.Underlying().(type) {
		case *types.Pointer:
			t, through = u.Elem(), true
		case *types.Slice:
			t, through = u.Elem(), true
		case *types.Array:
			t = u.Elem()
		case *types.Struct:
			t = u.Field(s.Field).Type()
		case *types.Basic: // a string
			t = types.Typ[types.Uint8]
		}
		if through {
			memory = true
			if header != nil {
				header(&ir.Place{Root: p.Root, Path: p.Path[:i]})
			}
		}
	}
	return t, memory
}

// readBy reports whether e may read memory at w.
func (l *lowerer) readBy(w *ir.Place, e ir.Expr) bool {
	found := false
	eachPlace(e, func(r *ir.Place, taken bool) {
		_, _ = placeType(r, func(h *ir.Place) { found = found || l.overlap(w, h) })
		if !taken {
			found = found || l.overlap(w, r)
		}
	})
	return found
}

// readByPlace reports whether resolving the place p may read memory at w.
func (l *lowerer) readByPlace(w, p *ir.Place) bool {
	return l.readBy(w, &ir.Addr{P: p})
}

// overlap reports whether two places may share memory.
func (l *lowerer) overlap(a, b *ir.Place) bool {
	ta, ma := placeType(a, nil)
	tb, mb := placeType(b, nil)
	if ma || mb {
		if !ma && !l.isAddressed(a.Root) || !mb && !l.isAddressed(b.Root) {
			return false
		}
		// Type-based: indirect places overlap only if the type of one contains that of the other.
		return contains(ta, tb) || contains(tb, ta)
	}
	if a.Root != b.Root {
		return false
	}
	for i := range min(len(a.Path), len(b.Path)) {
		s, t := a.Path[i], b.Path[i]
		if s.Field != t.Field {
			return false
		}
		i, ok := constInt(s.Index)
		j, both := constInt(t.Index)
		if ok && both && i != j {
			return false
		}
	}
	return true
}

// isAddressed reports whether pointers to v may exist.
func (l *lowerer) isAddressed(v *ir.Var) bool {
	if l.addressed[v] || v.Kind == ir.Global {
		return true
	}
	byReference := func(f *facts) bool { return f.byReference(v.Object) }
	return v.Object != nil && slices.ContainsFunc(l.inlining.facts, byReference)
}

// contains reports whether a value of type t contains one of type u. Types are compared by their
// underlying types, since pointers can be converted.
func contains(t, u types.Type) bool {
	if types.Identical(t.Underlying(), u.Underlying()) {
		return true
	}
	switch t := t.Underlying().(type) {
	case *types.Array:
		return contains(t.Elem(), u)
	case *types.Struct:
		for i := range t.NumFields() {
			if contains(t.Field(i).Type(), u) {
				return true
			}
		}
	}
	return false
}

// constInt returns the value of an integer constant.
func constInt(e ir.Expr) (int64, bool) {
	c, ok := e.(*ir.Const)
	if !ok || c.Val == nil {
		return 0, false
	}
	v := constant.ToInt(c.Val)
	if v.Kind() != constant.Int {
		return 0, false
	}
	return constant.Int64Val(v)
}
