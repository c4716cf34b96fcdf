package adjoint

import (
	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// Calls of functions with a body. The forward sweep calls the forward sweep of a specialisation of the callee, and the
// adjoint is a call of its reverse sweep: split reversal (Griewank & Walther 2008, chapter 12).
//
// For y = f(x, s) with floats x and y and a slice s:
//
//	forward    y = f_forward(x, s, sBar, ws)
//	consume    t := yBar; yBar = 0
//	propagate  t1 = f_reverse(x, s, sBar, t, ws); xBar += t1
//
// The reverse sweep takes only those of x and s whose values it needs. It finds the values that its forward sweep
// recorded on top of the stacks in ws: all calls between the two have popped theirs.

// pairCall returns the nodes of a call. A callee without derivatives or effects is called as it is. Otherwise the
// specialisation for the activity and the aliasing of the arguments is requested, which analyses the callee first; its
// reverse sweep takes the primal parameters that it needs, the shadows of parameters, and the cotangents of results,
// and returns the cotangents of parameters.
func (sp *specialization) pairCall(s *ir.Call) []*node {
	n := &node{s: s, at: s.At}
	w := sp.writer(s)
	callee := sp.facts.Callee(s)
	if callee == nil {
		return sp.pairRule(s, n, w)
	}
	if callee.Passive() && sp.p.pure(callee.Func) && !(sp.spec.mode == modeAdvance && allocates(callee.Func.Body)) {
		return sp.pairPassiveCall(s, callee, n, w)
	}
	// Request the specialisation of the callee, which analyses it unless it is in progress.
	g := sp.p.normalFormOf(callee.Func)
	c := sp.specializeCallee(spec{g, callee, sp.callAliasing(s), modeSplit}).summary
	if !c.complete {
		c.recursive = true
	}
	n.s = sp.forwardCall(s, callee, c)
	rev, takes, adds := sp.reverseCall(s, callee, c, w)
	// Consume before the restoration, call and accumulate after it.
	n.consume = w.Out
	n.propagate = append(append(takes, rev), adds...)
	n.callee, n.call = c, s
	return []*node{n}
}

// pairPassiveCall returns the nodes of a call without derivatives and effects, which needs no sweeps. Cotangents of
// results are dropped.
func (sp *specialization) pairPassiveCall(s *ir.Call, callee *activity.Facts, n *node, w *writer) []*node {
	for _, r := range s.Results {
		switch {
		case r == nil || !sp.active(r):
		case ownFloats(r.Type):
			w.clearFloats(r.Type, sp.barVar(r).Place())
		}
		if r != nil && sp.hasShadow(r) {
			sp.refuse("", "the result %s of %s, which has no shadow", r.Name, callee.Func.Name)
		}
	}
	plain := *s
	plain.Callee = &ir.Callee{Func: sp.p.primalFunc(sp.p.normalFormOf(callee.Func))}
	n.s, n.consume, n.usesResult = &plain, w.Out, true
	return []*node{n}
}

// forwardCall returns the call of the forward sweep: arguments, shadows, workspace; results, and shadows of results.
func (sp *specialization) forwardCall(s *ir.Call, callee *activity.Facts, c *summary) *ir.Call {
	fwd := &ir.Call{At: s.At, Callee: &ir.Callee{Func: c.fwd}, Args: append([]ir.Expr(nil), s.Args...)}
	for i, a := range s.Args {
		if callee.Params.Has(i) && leadsToFloats(a.Type()) {
			fwd.Args = append(fwd.Args, sp.shadowOf(a))
		}
	}
	fwd.Args = append(fwd.Args, sp.ws.Load())
	fwd.Results = append(fwd.Results, s.Results...)
	for len(fwd.Results) < len(callee.Func.Results) {
		fwd.Results = append(fwd.Results, nil)
	}
	for i, r := range callee.Func.Results {
		if !callee.Results.Has(i) {
			continue
		}
		var v *ir.Var
		if i < len(s.Results) {
			v = s.Results[i]
		}
		if leadsToFloats(r.Type) {
			var sh *ir.Var
			if v != nil && sp.active(v) {
				sh = sp.shadowVar(v)
			}
			fwd.Results = append(fwd.Results, sh)
		}
	}
	return fwd
}

// reverseCall returns the call of the reverse sweep, the declarations of its results, and the statements that add them
// to the bars of the arguments. Arguments are the primal parameters that the callee needs, the shadows of parameters,
// and the cotangents of results, which w consumes.
func (sp *specialization) reverseCall(s *ir.Call, callee *activity.Facts, c *summary, w *writer) (rev *ir.Call,
	takes, adds ir.Block) {
	rev = &ir.Call{At: s.At, Callee: &ir.Callee{Func: c.rev}}
	for i, p := range callee.Func.Params {
		if c.reverseTakes(i) {
			rev.Args = append(rev.Args, s.Args[i])
		}
		if callee.Params.Has(i) && ownFloats(p.Type) {
			var v *ir.Var
			if a := ir.VarOf(s.Args[i]); a != nil && sp.active(a) {
				v = sp.g.local("t", p.Type)
				takes = append(takes, &ir.Let{At: s.At, V: v})
				w.addFloats(p.Type, sp.barVar(a).Place(), v.Place())
			}
			rev.Results = append(rev.Results, v)
		}
	}
	// Then the shadows of parameters, and the cotangents of results, which are consumed.
	adds, w.Out = w.Out, nil
	for i, a := range s.Args {
		if callee.Params.Has(i) && leadsToFloats(a.Type()) {
			rev.Args = append(rev.Args, sp.shadowOf(a))
		}
	}
	for i, r := range callee.Func.Results {
		var v *ir.Var
		if i < len(s.Results) {
			v = s.Results[i]
		}
		has := callee.Results.Has(i) && ownFloats(r.Type)
		if v == nil || !sp.hasBar(v) {
			if has {
				rev.Args = append(rev.Args, ir.Zero(r.Type))
			}
			continue
		}
		t := w.let("t", sp.barVar(v).Load())
		w.clearFloats(v.Type, sp.barVar(v).Place())
		if has {
			rev.Args = append(rev.Args, t)
		}
	}
	rev.Args = append(rev.Args, sp.ws.Load())
	return rev, takes, adds
}

// specializeCallee returns the specialisation k of a callee, adapted to the mode of sp: a function that only advances
// calls functions that only advance, and a segment function is checkpointed if it can be.
func (sp *specialization) specializeCallee(k spec) *specialization {
	switch {
	case sp.spec.mode == modeAdvance:
		k.mode = modeAdvance
	case k.g.segment != nil:
		if c := sp.p.checkpointed(k); c != nil {
			return c
		}
	}
	return sp.p.specialize(k)
}

// callAliasing returns the aliasing of the arguments of s: parameters belong to one group if their arguments have the
// same class in sp.
func (sp *specialization) callAliasing(s *ir.Call) *aliasing {
	byClass := map[any][]int{}
	var order []any
	for i, a := range s.Args {
		v := ir.VarOf(a)
		if v == nil || !ir.HasRefs(a.Type()) {
			continue
		}
		c := sp.locations.class(v)
		if byClass[c] == nil {
			order = append(order, c)
		}
		byClass[c] = append(byClass[c], i)
	}
	var groups [][]int
	for _, c := range order {
		if len(byClass[c]) > 1 {
			groups = append(groups, byClass[c])
		}
	}
	return sp.p.aliasing(groups)
}
