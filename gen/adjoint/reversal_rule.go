package adjoint

import (
	"fmt"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Calls of functions with a rule: a hand-written or registered derivative. The forward sweep calls the function, and
// the adjoint its pullback.
//
// For y = f(x, s) with a pullback fPullback(x, s, sBar, yBar) that adds to sBar and returns the cotangent of x:
//
//	forward    y = f(x, s)
//	consume    t := yBar; yBar = 0
//	propagate  t1 = fPullback(x, s, sBar, t); xBar += t1
//
// The pullback sees the arguments as they were before the call. So slices that f may write are recorded, all their
// elements, if the reversal of this or an earlier statement reads them.

// pairRule returns the nodes of s, a call by a rule; n is the node of the call and w its writer. The pullback is called
// with the arguments and their memory as they were before the call; shadows and seeds that are not active are nil or 0.
// It panics with an Error if the rule has no pullback, an argument that the rule declares constant is active, or an
// active result is memory other than an argument's.
func (sp *specialization) pairRule(s *ir.Call, n *node, w *writer) (out []*node) {
	r := sp.facts.RuleOf(s)
	refuse := func(what, remedy string) { panic(&Error{Func: sp.g.f.Name, What: what, Pos: s.Pos, Remedy: remedy}) }
	out = sp.slicesWritten(s, n)
	active := sp.facts.NeedsRule(s)
	if active && r.Pullback == nil {
		refuse(r.Missing("pullback"))
	}
	// A passive call only drops the cotangents of its results.
	if !active {
		for _, v := range s.Results {
			if v == nil || !sp.active(v) {
				continue
			}
			if leadsToFloats(v.Type) {
				refuse("the result "+v.Name+" of "+r.Name+", which has no shadow", "")
			}
			w.clearFloats(v.Type, sp.barVar(v).Place())
		}
		n.consume, n.usesResult = w.Out, true
		return append(out, n)
	}
	shape := r.Shape()
	// The arguments of the pullback: those of the call, shadows, seeds.
	pull := &ir.Call{At: s.At, Callee: r.Pullback, Args: append([]ir.Expr(nil), s.Args...)}
	for i, a := range s.Args {
		if r.LacksDerivative(i) && sp.facts.Carries(a) {
			refuse("the argument "+shape.Params[i].Name()+" of "+r.Name+
				", which carries a derivative: its rule has none with respect to it",
				"pass a constant, or wrap the call in a function with a rule")
		}
		if v := ir.VarOf(a); v != nil && ir.HasRefs(v.Type) && r.Reads(i) {
			n.readThrough = append(n.readThrough, v)
		}
	}
	for _, i := range shape.Shadows {
		if sp.facts.Carries(s.Args[i]) {
			pull.Args = append(pull.Args, sp.shadowOf(s.Args[i]))
		} else {
			pull.Args = append(pull.Args, ir.Zero(shape.Params[i].Type()))
		}
	}
	for _, i := range shape.Seeds {
		v := resultAt(s, i)
		if v == nil || !sp.hasBar(v) {
			pull.Args = append(pull.Args, zeroOf(shape.Results[i].Type()))
			continue
		}
		pull.Args = append(pull.Args, w.let("t", sp.barVar(v).Load()))
		w.clearFloats(v.Type, sp.barVar(v).Place())
	}
	n.consume, w.Out = w.Out, nil
	// Its results: cotangents of scalar arguments, which are accumulated.
	var takes ir.Block
	for _, i := range shape.Cotangents {
		var t *ir.Var
		if v := ir.VarOf(s.Args[i]); v != nil && sp.hasBar(v) {
			t = sp.g.local("t", shape.Params[i].Type())
			takes = append(takes, &ir.Let{At: s.At, V: t})
			w.addFloats(v.Type, sp.barVar(v).Place(), t.Place())
		}
		pull.Results = append(pull.Results, t)
	}
	n.propagate = append(append(takes, pull), w.Out...)
	out = append(out, n)
	// Results that are memory share it with an argument, and the shadow with the shadow of that.
	for i, v := range s.Results {
		if v == nil || !sp.hasShadow(v) {
			continue
		}
		k := r.Returned(i)
		if k < 0 {
			refuse(fmt.Sprintf("result %d of %s, which leads to memory: that has to be one of its arguments", i+1,
				r.Name),
				"let it write to a slice that it is passed")
		}
		out = append(out, forwardOnly(&ir.Set{At: s.At, P: sp.shadowVar(v).Place(), E: sp.shadowOf(s.Args[k])})...)
	}
	return out
}

// resultAt returns the variable of result i of s, or nil if it is discarded.
func resultAt(s *ir.Call, i int) *ir.Var {
	if i < len(s.Results) {
		return s.Results[i]
	}
	return nil
}

// slicesWritten sets n.moreSlices to the slices of floats that the rule of s may write. A slice in a field of an
// argument is first assigned to a variable, in the nodes that it returns. It panics with an Error for memory of other
// shapes.
func (sp *specialization) slicesWritten(s *ir.Call, n *node) (out []*node) {
	r := s.Callee.Rule
	for i, a := range s.Args {
		v := ir.VarOf(a)
		if v == nil || !ir.HasRefs(v.Type) || !r.Writes(i) {
			continue
		}
		// Walk through structs of slices.
		var visit func(p *ir.Place, t types.Type)
		visit = func(p *ir.Place, t types.Type) {
			of := ir.ElemOf(t)
			st, _ := t.Underlying().(*types.Struct)
			switch {
			case !ir.HasRefs(t):
			case of != nil && !ir.HasRefs(of) && len(p.Path) == 0:
				n.moreSlices = append(n.moreSlices, v)
			case of != nil && !ir.HasRefs(of):
				view, let := sp.newLet(s.At, "view", t, ir.LoadOf(p, t))
				sp.setAlias(view, v)
				out = append(out, forwardOnly(let)...)
				n.moreSlices = append(n.moreSlices, view)
			case st != nil:
				for k := range st.NumFields() {
					visit(ir.Extend(p, ir.FieldStep(k)), st.Field(k).Type())
				}
			default:
				panic(&Error{Func: sp.g.f.Name,
					What: fmt.Sprintf("the argument %s of %s, of type %s, whose memory it may write", v.Name, r.Name,
						t),
					Pos: s.Pos, Remedy: "pass slices of numbers to functions with rules"})
			}
		}
		visit(v.Place(), v.Type)
	}
	return out
}
