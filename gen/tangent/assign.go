package tangent

import (
	"github.com/nabla-ad/nabla/gen/ir"
)

// let declares the shadow of a variable before the variable.
func (b *builder) let(s *ir.Let) {
	if !b.facts.Active(s.V) {
		b.Emit(s)
		return
	}
	val, dot := s.E, ir.Expr(nil)
	if s.E != nil {
		// The value is computed once where its own derivative reads it.
		val, dot = b.valueAndDot(s.E)
	}
	b.Emit(&ir.Let{At: s.At, V: b.shadowVar(s.V), E: dot})
	b.Emit(&ir.Let{At: s.At, V: s.V, E: val})
}

// set assigns to the shadow of a place before it assigns to the place.
func (b *builder) set(s *ir.Set) {
	if !b.isActive(s.P) {
		b.Emit(s)
		return
	}
	val, dot := b.valueAndDot(s.E)
	b.Emit(&ir.Set{At: s.At, P: b.shadowPlace(s.P), E: dot})
	b.Emit(&ir.Set{At: s.At, P: s.P, E: val})
}

// both is a value and the expression that gives its shadow.
func (b *builder) valueAndDot(e ir.Expr) (val, dot ir.Expr) {
	if !ir.IsFloat(e.Type()) {
		return b.valueAndShadow(e)
	}
	if val, dot = b.derivative(e); dot == nil {
		dot = zero(e.Type())
	}
	return val, dot
}
