package tangent

import (
	"fmt"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// rule writes a call of the handwritten tangent of a function with a rule. Passive references have nil shadows, passive
// numbers zero ones.
func (b *builder) rule(s *ir.Call) {
	r := b.facts.RuleOf(s)
	if !b.facts.NeedsRule(s) {
		b.Emit(s)
		for _, v := range s.Results {
			b.zeroResult(s.At, v)
		}
		return
	}
	if r.Tangent == nil {
		b.refuseFor(r.Missing("tangent"))
	}
	shape := r.Shape()
	for i, a := range s.Args {
		if r.LacksDerivative(i) && b.facts.Carries(a) {
			b.refuseFor("the argument "+shape.Params[i].Name()+" of "+r.Name+
				", which carries a derivative: its rule has none with respect to it",
				"pass a constant, or wrap the call in a function with a rule")
		}
	}
	if l := b.program.lanes; l != nil {
		if !isPerLane(r) {
			b.refuseFor(fmt.Sprintf("function %s in %d directions: its rule takes one direction of a slice "+
				"or a struct", r.Name, l.N()),
				"use the tangent in one direction")
		}
		l.CallPerLane(r.Tangent, len(shape.Params), len(shape.Results))
	}
	c := &ir.Call{At: s.At, Callee: r.Tangent, Args: append([]ir.Expr(nil), s.Args...)}
	for _, i := range shape.ActiveParams {
		switch a := s.Args[i]; {
		case ir.IsContinuous(a.Type()):
			val, dot := b.valueAndDot(a)
			c.Args[i] = val
			c.Args = append(c.Args, dot)
		case b.facts.Carries(a):
			c.Args = append(c.Args, b.shadowOf(a))
		default:
			c.Args = append(c.Args, ir.Zero(shape.Params[i].Type()))
		}
	}
	// The tangent returns all results of the function, dropped or not.
	c.Results = make([]*ir.Var, len(shape.Results), len(shape.Results)+len(shape.ActiveResults))
	copy(c.Results, s.Results)
	for _, i := range shape.ActiveResults {
		v := resultOf(s, i)
		if v != nil && b.facts.Active(v) {
			v = b.shadowVar(v)
		} else {
			v = nil
		}
		c.Results = append(c.Results, v)
	}
	b.Emit(c)
}

// refuseFor is refuse with a workaround.
func (b *builder) refuseFor(what, remedy string) {
	panic(&Error{Func: b.facts.Func.Name, What: what, Pos: b.At.Pos, Remedy: remedy})
}

// isPerLane reports whether the tangent of r takes and returns numbers only, so that it can be called once per lane.
func isPerLane(r *ir.Rule) bool {
	shape := r.Shape()
	for _, v := range append(slices.Clone(shape.Params), shape.Results...) {
		if ir.HasRefs(v.Type()) || ir.ContainsFloats(v.Type()) && !ir.IsFloat(v.Type()) {
			return false
		}
	}
	return true
}
