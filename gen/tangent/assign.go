package tangent

import (
	"github.com/nabla-ad/nabla/gen/ir"
)

// let writes the declaration of a variable, after that of its shadow if it is active.
func (b *builder) let(s *ir.Let) {
	if !b.facts.Active(s.V) {
		b.Emit(s)
		return
	}
	val, dot := s.E, ir.Expr(nil)
	if s.E != nil {
		val, dot = b.valueAndDot(s.E)
	}
	b.Emit(&ir.Let{At: s.At, V: b.shadowVar(s.V), E: dot})
	b.Emit(&ir.Let{At: s.At, V: s.V, E: val})
}

// set writes an assignment, after that to the shadow of the place if it is active.
func (b *builder) set(s *ir.Set) {
	if !b.isActive(s.P) {
		b.Emit(s)
		return
	}
	val, dot := b.valueAndDot(s.E)
	b.Emit(&ir.Set{At: s.At, P: b.shadowPlace(s.P), E: dot})
	b.Emit(&ir.Set{At: s.At, P: s.P, E: val})
}

// valueAndDot returns a value and its shadow, which is an explicit zero if the derivative vanishes.
func (b *builder) valueAndDot(e ir.Expr) (val, dot ir.Expr) {
	if !ir.IsContinuous(e.Type()) {
		return b.valueAndShadow(e)
	}
	if val, dot = b.derivative(e); dot == nil {
		dot = ir.Zero(e.Type())
	}
	return val, dot
}
