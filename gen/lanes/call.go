package lanes

import (
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// call writes the lane form of a call. Callees with a body are replaced by their lane forms; a callee without divergent
// cells is called once as it is, and its results are broadcast to the lanes where they are stored in divergent
// variables.
func (b *builder) call(s *ir.Call) {
	f := s.Callee.Func
	b.refuseInBranch(true)
	if (f == nil || b.isPerLane(s.Callee)) && slices.ContainsFunc(s.Args, b.exprDivergent) {
		b.callPerLane(s)
		return
	}
	// All arguments are uniform, or the callee has no divergent cells.
	if f == nil || b.isPerLane(s.Callee) || b.laneFunc(f) == f {
		c := &ir.Call{At: s.At, Callee: s.Callee}
		for _, a := range s.Args {
			c.Args = append(c.Args, b.uniform(a))
		}
		var after ir.Block
		for _, v := range s.Results {
			if v != nil && b.divergent[v] {
				var set ir.Block
				v, set = b.broadcastResult(v)
				after = append(after, set...)
			}
			c.Results = append(c.Results, v)
		}
		b.Emit(c)
		b.Emit(after...)
		return
	}
	c := &ir.Call{At: s.At, Callee: &ir.Callee{Func: b.laneFunc(f)}}
	for i, a := range s.Args {
		switch {
		case !b.divergent[f.Params[i]]:
			c.Args = append(c.Args, b.uniform(a))
		case ir.IsFloat(a.Type()):
			e := b.laneExpr(a)
			for k := range b.types.n {
				c.Args = append(c.Args, forLane(e, k))
			}
		default:
			c.Args = append(c.Args, b.laneValue(a))
		}
	}
	var after ir.Block
	for i, r := range f.Results {
		var v *ir.Var
		if i < len(s.Results) {
			v = s.Results[i]
		}
		switch {
		case !b.divergent[r]:
			if v != nil && b.divergent[v] {
				var set ir.Block
				v, set = b.broadcastResult(v)
				after = append(after, set...)
			}
			c.Results = append(c.Results, v)
		case !ir.IsFloat(r.Type):
			if v != nil {
				v = b.laneVar(v)
			}
			c.Results = append(c.Results, v)
		// Results that are dropped are dropped per lane.
		case v == nil:
			c.Results = append(c.Results, make([]*ir.Var, b.types.n)...)
		case b.hasScalars(v):
			c.Results = append(c.Results, b.scalars(v)...)
		default: // an array holds the lanes
			to := &laneNumber{Typed: ir.Typed{T: v.Type}, place: b.laneVar(v).Place()}
			for k := range b.types.n {
				t := &ir.Var{Name: b.names.Name("t"), Type: r.Type}
				b.Emit(&ir.Let{At: s.At, V: t})
				c.Results = append(c.Results, t)
				after = append(after, to.setLane(s.At, k, t.Load()))
			}
		}
	}
	b.Emit(c)
	b.Emit(after...)
}

// broadcastResult returns a variable for a uniform result, and the statements that assign it to all lanes of v.
func (b *builder) broadcastResult(v *ir.Var) (*ir.Var, ir.Block) {
	if !ir.IsFloat(v.Type) {
		b.refuse("%s, a result that all lanes share, where each needs one", v.Name)
	}
	t := &ir.Var{Name: b.names.Name("t"), Type: v.Type}
	b.Emit(&ir.Let{At: b.At, V: t})
	var set ir.Block
	to := b.laneNumber(v.Place())
	for k := range b.types.n {
		set = append(set, to.setLane(b.At, k, t.Load()))
	}
	return t, set
}

// callPerLane writes one call per lane of a callee that takes and returns numbers. It refuses callees that take memory.
func (b *builder) callPerLane(s *ir.Call) {
	for _, a := range s.Args {
		// The callee would see memory with arrays instead of numbers.
		if ir.HasRefs(a.Type()) || b.exprDivergent(a) && !ir.IsFloat(a.Type()) {
			b.refuse("function %s, which takes memory and has no form for several lanes",
				calleeName(s.Callee))
		}
	}
	args := make([]ir.Expr, len(s.Args))
	for i, a := range s.Args {
		if b.exprDivergent(a) {
			args[i] = b.laneExpr(a)
		} else {
			args[i] = b.uniform(a)
		}
	}
	var after ir.Block
	for k := range b.types.n {
		c := &ir.Call{At: s.At, Callee: s.Callee}
		for _, a := range args {
			c.Args = append(c.Args, forLane(a, k))
		}
		for i, v := range s.Results {
			switch {
			case v == nil || !b.divergent[v] && !b.read[v]:
				c.Results = append(c.Results, nil)
			// A primal result is the same in all calls; the last call assigns it.
			case !b.divergent[v] && i < b.perLane[calleeKey(s.Callee)].results:
				if k < b.types.n-1 {
					v = nil
				}
				c.Results = append(c.Results, v)
			case !b.divergent[v] || !ir.IsFloat(v.Type):
				b.refuse("%s, a result of %s that differs between lanes, is used where all lanes share one",
					v.Name, calleeName(s.Callee))
			default:
				t := &ir.Var{Name: b.names.Name("t"), Type: v.Type}
				b.Emit(&ir.Let{At: s.At, V: t})
				c.Results = append(c.Results, t)
				after = append(after, b.laneNumber(v.Place()).setLane(s.At, k, t.Load()))
			}
		}
		b.Emit(c)
	}
	b.Emit(after...)
}

// calleeName returns the name of a callee for messages.
func calleeName(c *ir.Callee) string {
	if c.Func != nil {
		return c.Func.Name
	}
	return c.Rule.Name
}
