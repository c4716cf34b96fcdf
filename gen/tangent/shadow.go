package tangent

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// zero is the zero value of a type.
func zero(t types.Type) ir.Expr { return &ir.Const{Typed: ir.Typed{T: t}} }

// shadowOf is the expression that gives the shadow of a value that is no number.
func (b *builder) shadowOf(e ir.Expr) ir.Expr {
	_, dot := b.valueAndShadow(e)
	return dot
}

// pair is a value that is no number, with what its derivative reads computed once, and
// the expression that gives its shadow.
func (b *builder) valueAndShadow(e ir.Expr) (val, dot ir.Expr) {
	typed := ir.Typed{T: e.Type()}
	switch e := e.(type) {
	case *ir.Const:
		return e, zero(typed.T)
	case *ir.Load:
		if e.P.Root.Kind == ir.Global {
			return e, b.zeroShadow(e)
		}
		if !b.facts.Active(e.P.Root) {
			return e, zero(typed.T)
		}
		return e, &ir.Load{Typed: typed, P: b.shadowPlace(e.P)}
	case *ir.Convert:
		return e, &ir.Convert{Typed: typed, X: b.shadowOf(e.X)}
	case *ir.Slice:
		return e, &ir.Slice{Typed: typed, X: b.shadowOf(e.X), Lo: e.Lo, Hi: e.Hi, Max: e.Max}
	case *ir.SliceAt:
		if !b.facts.Active(e.P.Root) {
			return e, zero(typed.T)
		}
		return e, &ir.SliceAt{Typed: typed, P: b.shadowPlace(e.P), Lo: e.Lo, Hi: e.Hi, Max: e.Max}
	case *ir.Addr:
		if !b.facts.Active(e.P.Root) {
			return e, zero(typed.T)
		}
		return e, &ir.Addr{Typed: typed, P: b.shadowPlace(e.P)}
	case *ir.Make: // of the same length and capacity
		return e, &ir.Make{Typed: typed, N: e.N, Cap: e.Cap}
	case *ir.New:
		return e, &ir.New{Typed: typed}
	case *ir.Literal:
		return b.literal(e)
	}
	b.refuse("the shadow of a %T", e)
	return nil, nil
}

// literal is a composite literal and its shadow.
func (b *builder) literal(e *ir.Literal) (val, dot *ir.Literal) {
	val = &ir.Literal{Typed: e.Typed, Keys: e.Keys, Elems: append([]ir.Expr(nil), e.Elems...), Len: e.Len}
	dot = &ir.Literal{Typed: e.Typed, Len: e.Len}
	st, _ := e.T.Underlying().(*types.Struct)
	for i, x := range e.Elems {
		var part ir.Expr
		switch t := x.Type(); {
		case !activity.HasFloats(t):
		case ir.IsFloat(t):
			var d ir.Expr
			if val.Elems[i], d = b.derivative(x); d != nil {
				part = d
			}
		default:
			part = b.shadowOf(x)
		}
		if part == nil && st == nil && e.Len > 0 && e.Keys[i] == e.Len-1 {
			part = zero(x.Type()) // the last element says how long a slice is
		}
		if part == nil {
			continue
		}
		dot.Keys, dot.Elems = append(dot.Keys, e.Keys[i]), append(dot.Elems, part)
	}
	return val, dot
}

// ofGlobal is zeros in the shape of what a package variable holds, where that is joined
// with memory that carries derivatives. Nobody writes to either.
func (b *builder) zeroShadow(e *ir.Load) ir.Expr {
	var fresh ir.Expr
	typed := e.Typed
	switch u := e.T.Underlying().(type) {
	case *types.Slice:
		if !activity.HasRefs(u.Elem()) {
			fresh = &ir.Make{Typed: typed, N: length(e),
				Cap: &ir.Len{Typed: ir.Typed{T: types.Typ[types.Int]}, X: e, Cap: true}}
		}
	case *types.Pointer:
		if !activity.HasRefs(u.Elem()) {
			fresh = &ir.New{Typed: typed}
		}
	default:
		if !activity.HasRefs(e.T) {
			return zero(typed.T)
		}
	}
	if fresh == nil {
		b.refuseFor("package variable "+e.P.Root.Name+
			", whose memory leads to more memory, where some carries derivatives", "pass it as an argument")
	}
	v := &ir.Var{Name: b.names.Name("zeros"), Type: typed.T}
	b.Emit(&ir.Let{At: b.At, V: v, E: fresh})
	return v.Load()
}

// memory is the shadow of a slice, nil if it has none.
func (b *builder) sliceShadow(s ir.Expr) ir.Expr {
	active := false
	ir.WalkExpr(s, func(e ir.Expr) bool {
		if !activity.HasRefs(e.Type()) {
			return false // a bound, which may be the length of another slice
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

// appended appends to the shadow as to the slice: both grow alike.
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
			if sh == nil { // as many zeros
				typed := ir.Typed{T: e.Type()}
				v := &ir.Var{Name: b.names.Name("zeros"), Type: typed.T}
				b.Emit(&ir.Let{At: s.At, V: v, E: &ir.Make{Typed: typed, N: length(e)}})
				sh = v.Load()
			}
			d.Elems = append(d.Elems, sh)
			t.Elems = append(t.Elems, e)
		case ir.IsFloat(e.Type()):
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

func length(s ir.Expr) ir.Expr {
	return &ir.Len{Typed: ir.Typed{T: types.Typ[types.Int]}, X: s}
}

// copied copies the shadow as the slice; elements without a derivative bring zeros.
func (b *builder) copyStmt(s *ir.Copy) {
	if dst := b.sliceShadow(s.Dst); dst != nil {
		if src := b.sliceShadow(s.Src); src != nil {
			b.Emit(&ir.Copy{At: s.At, Dst: dst, Src: src})
		} else {
			n := &ir.Math{Typed: ir.Typed{T: types.Typ[types.Int]}, Name: "min",
				Args: []ir.Expr{length(s.Dst), length(s.Src)}}
			b.Emit(&ir.Clear{At: s.At, S: &ir.Slice{Typed: ir.Typed{T: dst.Type()}, X: dst, Hi: n}})
		}
	}
	b.Emit(s)
}
