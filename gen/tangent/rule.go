package tangent

import (
	"fmt"
	"slices"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// rule calls the tangent of a function whose derivative is written by hand. What does not
// move has a nil shadow.
func (b *builder) rule(s *ir.Call) {
	r := s.Callee.Rule
	if !b.facts.CallsRule(s) {
		b.emit(s)
		for _, v := range s.Results {
			b.still(s.At, v)
		}
		return
	}
	if r.Tangent == nil {
		b.refuseRule("function "+r.Name+", of which no tangent is known", "name one with //nabla:rule tangent=…")
	}
	shape := r.Shape()
	for i, a := range s.Args {
		if r.IsFixed(i) && b.facts.Carries(a) {
			b.refuseRule("the argument "+shape.Params[i].Name()+" of "+r.Name+", which carries a derivative: its rule has none by it",
				"pass what is constant, or call a function with a rule of its own")
		}
	}
	calls := make([]*ir.Call, 1)
	if n := b.width(); n > 1 {
		b.severalLanes(s, shape)
		calls = make([]*ir.Call, n)
	}
	for k := range calls {
		calls[k] = &ir.Call{At: s.At, Callee: r.Tangent, Args: append([]ir.Expr(nil), s.Args...)}
	}
	for _, i := range shape.Moving {
		a := s.Args[i]
		switch {
		case activity.IsFloat(a.Type()):
			val, dot := b.linear(a)
			for k, d := range b.spread(dot, a.Type()) {
				calls[k].Args[i] = val
				calls[k].Args = append(calls[k].Args, d)
			}
		case b.facts.Carries(a):
			calls[0].Args = append(calls[0].Args, b.shadowOf(a))
		default:
			for _, c := range calls {
				c.Args = append(c.Args, zero(shape.Params[i].Type()))
			}
		}
	}
	for k, c := range calls {
		c.Results = make([]*ir.Var, len(shape.Results), len(shape.Results)+len(shape.Moved))
		if k == 0 {
			copy(c.Results, s.Results)
		}
	}
	var after ir.Block
	for _, i := range shape.Moved {
		v := resultOf(s, i)
		switch {
		case v == nil || !b.facts.Active(v):
			for _, c := range calls {
				c.Results = append(c.Results, nil)
			}
		case len(calls) > 1 && !b.scalar(v): // the lanes are in an array
			for k, c := range calls {
				t := &ir.Var{Name: b.names.Name("t"), Type: v.Type}
				b.emit(&ir.Let{At: s.At, V: t})
				c.Results = append(c.Results, t)
				after = append(after, &ir.Set{At: s.At, P: (&leaf{place: b.of(v).Place()}).at(k), E: t.Load()})
			}
		default:
			for k, sh := range b.shadows(v) {
				calls[k].Results = append(calls[k].Results, sh)
			}
		}
	}
	for k := len(calls) - 1; k >= 0; k-- { // the first sets the results, which may be arguments
		b.emit(calls[k])
	}
	b.out = append(b.out, after...)
}

func (b *builder) refuseRule(what, remedy string) {
	panic(&Error{Func: b.facts.Func.Name, What: what, Pos: b.at.Pos, Remedy: remedy})
}

// eachLane reports whether the tangent of r takes and gives numbers only, so that it can be
// called once for each lane.
func eachLane(r *ir.Rule) bool {
	shape := r.Shape()
	for _, v := range append(slices.Clone(shape.Params), shape.Results...) {
		if activity.HasRefs(v.Type()) || ir.OwnFloats(v.Type()) && !activity.IsFloat(v.Type()) {
			return false
		}
	}
	return true
}

// severalLanes refuses rules that cannot be called once for each lane.
func (b *builder) severalLanes(s *ir.Call, shape *ir.Shape) {
	r := s.Callee.Rule
	refuse := func() {
		b.refuseRule(fmt.Sprintf("function %s in %d directions at once: its rule takes one direction of a slice or a struct", r.Name, b.width()),
			"use the tangent in one direction")
	}
	for i, a := range s.Args {
		if activity.HasRefs(a.Type()) && r.Writes(i) || b.facts.Carries(a) && !activity.IsFloat(a.Type()) {
			refuse()
		}
	}
	for _, i := range shape.Moved {
		if !activity.IsFloat(shape.Results[i].Type()) {
			refuse()
		}
	}
}
