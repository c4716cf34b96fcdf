package tangent

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// shadowOf returns the shadow of e, a value other than a number.
func (b *builder) shadowOf(e ir.Expr) ir.Expr {
	_, dot := b.valueAndShadow(e)
	return dot
}

// valueAndShadow returns a value other than a number and its shadow. The value differs from e if operands that both
// need have been hoisted into variables.
func (b *builder) valueAndShadow(e ir.Expr) (val, dot ir.Expr) {
	typed := ir.Typed{T: e.Type()}
	switch e := e.(type) {
	case *ir.Const:
		return e, ir.Zero(typed.T)
	case *ir.Load:
		// Global variables have no shadows, but may flow where one is needed.
		if e.P.Root.Kind == ir.Global {
			return e, b.zeroShadow(e, e.P.Root)
		}
		if !b.facts.Active(e.P.Root) {
			return e, ir.Zero(typed.T)
		}
		return e, &ir.Load{Typed: typed, P: b.shadowPlace(e.P)}
	// A conversion of references converts the shadow likewise.
	case *ir.Convert:
		switch from := activity.HasFloats(e.X.Type()); {
		case !from && ir.IsAssertion(e), // of passive contents, see package activity
			from && types.IsInterface(e.T) && !activity.HasFloats(e.T): // to be printed, for example
			return e, ir.Zero(typed.T)
		}
		return e, ir.ConvertedShadow(b.shadowOf(e.X), typed.T)
	case *ir.Unbox:
		return e, ir.ConvertedShadow(b.shadowOf(e.X), typed.T)
	case *ir.Box:
		return e, ir.ConvertedShadow(b.shadowOf(e.X), typed.T)
	case *ir.Slice:
		return e, &ir.Slice{Typed: typed, X: b.shadowOf(e.X), Lo: e.Lo, Hi: e.Hi, Max: e.Max}
	case *ir.SliceAt:
		if e.P.Root.Kind == ir.Global {
			return e, b.zeroShadow(e, e.P.Root)
		}
		if !b.facts.Active(e.P.Root) {
			return e, ir.Zero(typed.T)
		}
		return e, &ir.SliceAt{Typed: typed, P: b.shadowPlace(e.P), Lo: e.Lo, Hi: e.Hi, Max: e.Max}
	case *ir.Addr:
		if e.P.Root.Kind == ir.Global {
			return e, b.zeroShadow(e, e.P.Root)
		}
		if !b.facts.Active(e.P.Root) {
			return e, ir.Zero(typed.T)
		}
		return e, &ir.Addr{Typed: typed, P: b.shadowPlace(e.P)}
	case *ir.Make: // with the same length and capacity
		return e, &ir.Make{Typed: typed, N: e.N, Cap: e.Cap}
	case *ir.New:
		return e, &ir.New{Typed: typed}
	case *ir.Literal:
		return b.literal(e)
	case *ir.Opaque:
		if ir.IsZeroShadow(e) {
			return e, e
		}
	}
	b.refuse("the shadow of a %T", e)
	return nil, nil
}

// literal returns a composite literal and its shadow, in which elements with a zero derivative are left out.
func (b *builder) literal(e *ir.Literal) (val, dot *ir.Literal) {
	// Elements of val refer to hoisted operands.
	val = &ir.Literal{Typed: e.Typed, Keys: e.Keys, Elems: append([]ir.Expr(nil), e.Elems...), Len: e.Len}
	dot = &ir.Literal{Typed: e.Typed, Len: e.Len}
	st, _ := e.T.Underlying().(*types.Struct)
	for i, x := range e.Elems {
		var part ir.Expr
		switch t := x.Type(); {
		case !activity.HasFloats(t):
		case ir.IsContinuous(t):
			var d ir.Expr
			if val.Elems[i], d = b.derivative(x); d != nil {
				part = d
			}
		default:
			part = b.shadowOf(x)
		}
		if part == nil && st == nil && e.Len > 0 && e.Keys[i] == e.Len-1 {
			part = ir.Zero(x.Type()) // the last element determines the length
		}
		if part == nil {
			continue
		}
		dot.Keys, dot.Elems = append(dot.Keys, e.Keys[i]), append(dot.Elems, part)
	}
	return val, dot
}

// zeroShadow returns zeros in the shape of e, a load of a global variable whose value flows into active memory. Neither
// the variable nor the zeros are ever written.
func (b *builder) zeroShadow(e ir.Expr, root *ir.Var) ir.Expr {
	var fresh ir.Expr
	typed := ir.Typed{T: e.Type()}
	switch u := typed.T.Underlying().(type) {
	case *types.Slice:
		if !ir.HasRefs(u.Elem()) {
			fresh = &ir.Make{Typed: typed, N: ir.LenOf(e),
				Cap: &ir.Len{Typed: ir.Typed{T: types.Typ[types.Int]}, X: e, Cap: true}}
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
	v := &ir.Var{Name: b.names.Name("zeros"), Type: typed.T}
	b.Emit(&ir.Let{At: b.At, V: v, E: fresh})
	return v.Load()
}

// sliceShadow returns the shadow of a slice, or nil if it has none.
func (b *builder) sliceShadow(s ir.Expr) ir.Expr {
	active := false
	ir.WalkExpr(s, func(e ir.Expr) bool {
		if !ir.HasRefs(e.Type()) {
			return false // a bound may contain the length of another slice
		}
		switch e := e.(type) {
		case *ir.Load:
			active = active || b.facts.Active(e.P.Root)
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

// appendStmt writes an append to a slice and the same append to its shadow, so that both grow alike.
func (b *builder) appendStmt(s *ir.Append) {
	if !b.isActive(s.P) {
		b.Emit(s)
		return
	}
	d := &ir.Append{At: s.At, P: b.shadowPlace(s.P), S: b.shadowOf(s.S), Spread: s.Spread}
	t := *s
	t.Elems = nil
	for _, e := range s.Elems {
		switch {
		case s.Spread:
			sh := b.sliceShadow(e)
			if sh == nil { // passive elements have zero derivatives
				typed := ir.Typed{T: e.Type()}
				v := &ir.Var{Name: b.names.Name("zeros"), Type: typed.T}
				b.Emit(&ir.Let{At: s.At, V: v, E: &ir.Make{Typed: typed, N: ir.LenOf(e)}})
				sh = v.Load()
			}
			d.Elems = append(d.Elems, sh)
			t.Elems = append(t.Elems, e)
		case ir.IsContinuous(e.Type()):
			val, dot := b.valueAndDot(e)
			d.Elems = append(d.Elems, dot)
			t.Elems = append(t.Elems, val)
		default:
			d.Elems = append(d.Elems, b.shadowOf(e))
			t.Elems = append(t.Elems, e)
		}
	}
	b.Emit(d)
	b.Emit(&t)
}

// copyStmt writes a copy and the same copy of the shadows. Passive elements have zero derivatives, so the shadow of
// their destination is cleared.
func (b *builder) copyStmt(s *ir.Copy) {
	if dst := b.sliceShadow(s.Dst); dst != nil {
		if src := b.sliceShadow(s.Src); src != nil {
			b.Emit(&ir.Copy{At: s.At, Dst: dst, Src: src})
		} else {
			// copy copies min(len(dst), len(src)) elements.
			n := &ir.Math{Typed: ir.Typed{T: types.Typ[types.Int]}, Name: "min",
				Args: []ir.Expr{ir.LenOf(s.Dst), ir.LenOf(s.Src)}}
			b.Emit(&ir.Clear{At: s.At, S: &ir.Slice{Typed: ir.Typed{T: dst.Type()}, X: dst, Hi: n}})
		}
	}
	b.Emit(s)
}
