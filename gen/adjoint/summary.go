package adjoint

import (
	"fmt"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// Function summaries: what callers read of the specialisation of a callee. Locations are translated from the callee to
// the caller by instantiate. All answers are conservative while the callee has not been analysed, which happens only in
// recursion.

// reverseTakes reports whether the reverse sweep of sp takes parameter i of the primal. It is true for all parameters
// in recursion, since the calls are written before the answer is known.
func (sp *specialization) reverseTakes(i int) bool {
	if !sp.analysed {
		return true
	}
	return sp.recursive || sp.flow.needed[sp.g.f.Params[i]]
}

// instantiate translates s, locations in the callee of n, to locations in sp: memory of a parameter's or result's class
// becomes memory of the class of the argument or result of the call. Variables of the callee are dropped. If all is
// set, the result also holds all memory that the callee can reach, which is right for a callee that has not been
// analysed.
func (sp *specialization) instantiate(n *node, s locationSet, all bool) locationSet {
	f, c := sp.flow, n.callee
	out := locationSet{}
	// Match the references of the callee's parameters and results with those of the call.
	type pair struct{ mine, theirs *ir.Var }
	var pairs []pair
	for i, p := range c.g.f.Params {
		if v := variable(n.call.Args[i]); v != nil && activity.HasRefs(p.Type) {
			pairs = append(pairs, pair{v, p})
			if all {
				f.addReachable(out, v)
			}
		}
	}
	for i, r := range c.g.f.Results {
		if i < len(n.call.Results) && n.call.Results[i] != nil && activity.HasRefs(r.Type) {
			pairs = append(pairs, pair{n.call.Results[i], r})
			if all {
				f.addReachable(out, n.call.Results[i])
			}
		}
	}
	// A class of the callee may be reached by several arguments; each adds its own class.
	for k := range s {
		if !k.isMemory() {
			continue
		}
		for _, p := range pairs {
			if c.flow.class(p.theirs) == k.class {
				out[location{class: f.class(p.mine), shadow: k.shadow, cell: k.cell}] = true
			}
		}
	}
	return out
}

// usesTape reports whether the reverse sweep of sp pops values that its forward sweep pushed. It is conservative for
// recursive and checkpointed functions. A call behind a fused loop must not use the tape: such a call is reversed
// before it is run.
func (sp *specialization) usesTape() (found bool) {
	if !sp.analysed || sp.recursive || sp.checkpointed != nil {
		return true
	}
	for k := range sp.flow.neededAtExit {
		found = found || !k.isMemory()
	}
	each(sp.body, func(n *node) {
		for _, w := range n.writes {
			found = found || w.recorded && w.inverse == nil
		}
		found = found || n.callee != nil && n.callee.usesTape()
	})
	return found
}

// leaksAllocation returns why memory that sp allocates may be reachable by its caller, or "" if it is not. A
// checkpointed loop must not leak: the shadow of the memory would have to survive in the snapshots.
//
// In recursion the answers for functions that call each other depend on each other. They are the least fixed point: all
// start as "", and those that are found to leak are kept until none is added.
func (sp *specialization) leaksAllocation() string {
	if sp.allocationLeak != nil {
		return *sp.allocationLeak
	}
	var unknown []*specialization
	sp.addUnknownLeaks(&unknown)
	for again := true; again; {
		again = false
		for _, c := range unknown {
			if *c.allocationLeak == "" {
				*c.allocationLeak = c.findLeak()
				again = again || *c.allocationLeak != ""
			}
		}
	}
	return *sp.allocationLeak
}

// addUnknownLeaks adds sp and the callees on whose answers that of sp depends to list, unless their leak is known, and
// sets the leak of each to "".
func (sp *specialization) addUnknownLeaks(list *[]*specialization) {
	if sp.allocationLeak != nil {
		return
	}
	sp.allocationLeak = new(string)
	*list = append(*list, sp)
	if sp.checkpointed != nil {
		sp.checkpointed.segment.addUnknownLeaks(list)
	}
	each(sp.body, func(n *node) {
		if n.callee != nil {
			n.callee.addUnknownLeaks(list)
		}
	})
}

// findLeak computes the result of leaksAllocation: the last statement, in textual order, that assigns new memory to an
// escaping class or passes such a class to a callee that leaks.
func (sp *specialization) findLeak() (why string) {
	if sp.checkpointed != nil {
		return sp.checkpointed.segment.leaksAllocation()
	}
	f := sp.flow
	each(sp.body, func(n *node) {
		// V is the variable that references are assigned to, e the value.
		var v *ir.Var
		var e ir.Expr
		fresh := false
		switch s := n.s.(type) {
		case *ir.Let:
			v, e = s.V, s.E
		case *ir.Set:
			v, e = s.P.Root, s.E
		case *ir.Append:
			v, fresh = s.P.Root, true
		case *ir.Call:
			name := "a call"
			if n.call != nil {
				name = n.call.Callee.Func.Name
			}
			for i, r := range s.Results {
				if r != nil && !f.isShadow(r) && activity.HasRefs(r.Type) && f.escapes(r) && mayReturnNew(n, s, i) {
					why = fmt.Sprintf("%s gets new memory from %s in it", sourceName(f.visibleAs(r)), name)
				}
			}
			for _, a := range s.Args {
				if x := variable(a); x != nil && x != sp.ws && !f.isShadow(x) && activity.HasRefs(x.Type) &&
					f.escapes(x) && n.callee != nil && n.callee.leaksAllocation() != "" {
					why = fmt.Sprintf("%s puts new memory behind %s in it", name, sourceName(f.visibleAs(x)))
				}
			}
			return
		}
		switch x := e.(type) {
		case *ir.Make, *ir.New:
			fresh = true
		case *ir.Literal:
			fresh = elemOf(x.T) != nil
		}
		if fresh && !f.isShadow(v) && f.escapes(v) {
			why = sourceName(f.visibleAs(v)) + " gets new memory in it"
		}
	})
	return why
}

// mayReturnNew reports whether result i of call s, a statement of n, may be memory that the callee allocates.
func mayReturnNew(n *node, s *ir.Call, i int) bool {
	switch {
	case n.callee != nil:
		return n.callee.leaksAllocation() != ""
	case s.Callee.Func == nil:
		return s.Callee.Rule.Returned(i) < 0
	}
	return allocates(s.Callee.Func.Body)
}

// visibleAs returns the result or parameter of the function from which the memory of v's class is reached, or v if
// there is none. It serves messages.
func (f *flow) visibleAs(v *ir.Var) *ir.Var {
	for _, list := range [][]*ir.Var{f.sp.g.f.Results, f.sp.g.f.Params} {
		for _, p := range list {
			if activity.HasRefs(p.Type) && f.class(p) == f.class(v) {
				return p
			}
		}
	}
	return v
}

// pure reports whether f and the functions that it calls write only their own variables, so that calling f instead of
// its sweeps loses no update that would have to be reversed. The answer for f alone is cached: in mutual recursion that
// of a callee is unknown until all functions of the cycle have been examined.
func (p *Program) pure(f *ir.Func) bool {
	pure, ok := p.purity[f]
	if !ok {
		pure = isPure(f, map[*ir.Func]bool{})
		p.purity[f] = pure
	}
	return pure
}

// isPure is pure without the cache. Functions in seen are not examined again.
func isPure(f *ir.Func, seen map[*ir.Func]bool) bool {
	if seen[f] {
		return true
	}
	seen[f] = true
	pure := true
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		switch s := s.(type) {
		case *ir.Set:
			pure = pure && !s.P.Indirect()
		case *ir.Add:
			pure = pure && !s.P.Indirect()
		case *ir.Append, *ir.Copy, *ir.Clear:
			pure = false
		case *ir.Call:
			if s.Callee.Func != nil {
				pure = pure && isPure(s.Callee.Func, seen)
			} else {
				for i, a := range s.Args {
					pure = pure && (!activity.HasRefs(a.Type()) || !s.Callee.Rule.Writes(i))
				}
			}
		}
		return pure
	})
	return pure
}

// memoryCounters returns the fields of the workspace that count the allocations of sp and its callees, as places of sp.
func (sp *specialization) memoryCounters() (out []*ir.Place) {
	for _, c := range sp.reach() {
		for _, p := range c.counters {
			out = append(out, &ir.Place{Root: sp.ws, Path: p.Path})
		}
	}
	return out
}
