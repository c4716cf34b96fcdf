package adjoint

import (
	"fmt"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// Function summaries: all that callers read of the specialisation of a callee. Locations are translated from the callee
// to the caller by instantiate.

// A summary is the interface of a specialisation to its callers. While the specialisation is being analysed, which its
// callers see only in recursion, the answers are conservative.
type summary struct {
	of *specialization // its emission precedes that of callers; nothing else of it is read through here
	// The functions that callers call: forward and reverse sweep. They are empty until emit fills them in place, since
	// callers hold the pointers; nil for modeEntry.
	fwd, rev *ir.Func

	class     func(v *ir.Var) any // parameter or result with references → alias class, in the terms of the callee
	complete  bool                // the analysis is complete
	recursive bool                // a call was paired before the analysis was complete
	// memory that the function or its callees may write, without floats of shadows
	modified     locationSet
	neededAtExit locationSet   // locations whose values on exit the reverse sweep may read
	needsParam   activity.Mask // parameters of the primal that the reverse sweep reads
	tape         bool          // the reverse sweep pops values that the forward sweep pushed
	// LeakSites are the statements that may make memory that the function allocates reachable by its caller, in textual
	// order.
	leakSites []leakSite
	leak      *string // cached result of leaksAllocation; nil if unknown
}

// A leakSite is a statement that leaks an allocation: always, or if a callee leaks one.
type leakSite struct {
	why    string   // for the user; if empty, the reason of the callee
	callee *summary // nil if the statement allocates
}

// reverseTakes reports whether the reverse sweep takes parameter i of the primal. It is true for all parameters in
// recursion, since the calls are written before the answer is known.
func (c *summary) reverseTakes(i int) bool { return !c.complete || c.recursive || c.needsParam.Has(i) }

// usesTape reports whether the reverse sweep pops values that the forward sweep pushed. It is conservative for
// recursive functions. A call behind a fused loop must not use the tape: such a call is reversed before it is run.
func (c *summary) usesTape() bool { return !c.complete || c.recursive || c.tape }

// summarize completes the summary of sp when its analysis is complete.
func (sp *specialization) summarize() {
	c, ls := sp.summary, sp.locations
	c.complete, c.neededAtExit = true, sp.plan.neededAtExit
	for i, v := range sp.g.f.Params {
		if sp.plan.needed[v] {
			c.needsParam = c.needsParam.With(i)
		}
	}
	for k := range sp.plan.neededAtExit {
		c.tape = c.tape || !k.isMemory()
	}
	each(sp.plan.body, func(n *node) {
		for _, w := range n.writes {
			c.tape = c.tape || sp.plan.recorded[w] && w.stored()
		}
		c.tape = c.tape || n.callee != nil && n.callee.usesTape()
	})
	c.leakSites = ls.leakSites()
}

// instantiate translates s, locations in the callee of n, to locations in sp: memory of a parameter's or result's class
// becomes memory of the class of the argument or result of the call. Variables of the callee are dropped. If the callee
// has not been analysed, the result also holds all memory that it can reach.
func (sp *specialization) instantiate(n *node, s locationSet) locationSet {
	ls, c := sp.locations, n.callee
	out := locationSet{}
	// Match the references of the callee's parameters and results with those of the call.
	type pair struct{ mine, theirs *ir.Var }
	var pairs []pair
	for i, p := range c.of.g.f.Params {
		if v := ir.VarOf(n.call.Args[i]); v != nil && ir.HasRefs(p.Type) {
			pairs = append(pairs, pair{v, p})
			if !c.complete {
				ls.addReachable(out, v)
			}
		}
	}
	for i, r := range c.of.g.f.Results {
		if i < len(n.call.Results) && n.call.Results[i] != nil && ir.HasRefs(r.Type) {
			pairs = append(pairs, pair{n.call.Results[i], r})
			if !c.complete {
				ls.addReachable(out, n.call.Results[i])
			}
		}
	}
	// A class of the callee may be reached by several arguments; each adds its own class.
	for k := range s {
		if !k.isMemory() {
			continue
		}
		for _, p := range pairs {
			if c.class(p.theirs) == k.class {
				out[location{class: ls.class(p.mine), shadow: k.shadow, cell: k.cell}] = true
			}
		}
	}
	return out
}

// leaksAllocation returns why memory that the function allocates may be reachable by its caller, or "" if it is not. A
// checkpointed loop must not leak: the shadow of the memory would have to survive in the snapshots.
//
// In recursion the answers for functions that call each other depend on each other. They are the least fixed point: all
// start as "", and those that are found to leak are kept until none is added.
func (c *summary) leaksAllocation() string {
	var unknown []*summary
	c.addUnknownLeaks(&unknown)
	for again := true; again; {
		again = false
		for _, d := range unknown {
			if *d.leak == "" {
				*d.leak = d.findLeak()
				again = again || *d.leak != ""
			}
		}
	}
	return *c.leak
}

// addUnknownLeaks adds c and the callees on whose answers that of c depends to list, unless their leak is known, and
// sets the leak of each to "".
func (c *summary) addUnknownLeaks(list *[]*summary) {
	if c.leak != nil {
		return
	}
	c.leak = new(string)
	*list = append(*list, c)
	for _, s := range c.leakSites {
		if s.callee != nil {
			s.callee.addUnknownLeaks(list)
		}
	}
}

// findLeak returns the reason of the last leak site that leaks, given the current answers for callees.
func (c *summary) findLeak() (why string) {
	for _, s := range c.leakSites {
		switch {
		case s.callee == nil:
			why = s.why
		case *s.callee.leak != "" && s.why == "":
			why = *s.callee.leak
		case *s.callee.leak != "":
			why = s.why
		}
	}
	return why
}

// leakSites returns the statements that assign new memory to an escaping class, and those that take it from a callee or
// pass such a class to one.
func (ls *locations) leakSites() (out []leakSite) {
	each(ls.sp.plan.body, func(n *node) {
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
			if n.call != nil && n.call.Callee.Func != nil { // a rule may be followed into its source
				name = n.call.Callee.Func.Name
			}
			for i, r := range s.Results {
				if r != nil && !ls.isShadow(r) && ir.HasRefs(r.Type) && ls.escapes(r) && mayReturnNew(n, s, i) {
					why := fmt.Sprintf("%s gets new memory from %s in it", sourceName(ls.visibleAs(r)), name)
					out = append(out, leakSite{why, n.callee})
				}
			}
			for _, a := range s.Args {
				if x := ir.VarOf(a); x != nil && x != ls.sp.ws && !ls.isShadow(x) && ir.HasRefs(x.Type) &&
					ls.escapes(x) && n.callee != nil {
					why := fmt.Sprintf("%s stores new memory in memory of %s in it", name, sourceName(ls.visibleAs(x)))
					out = append(out, leakSite{why, n.callee})
				}
			}
			return
		}
		switch x := e.(type) {
		case *ir.Make, *ir.New:
			fresh = true
		case *ir.Literal:
			fresh = ir.ElemOf(x.T) != nil
		}
		if fresh && !ls.isShadow(v) && ls.escapes(v) {
			out = append(out, leakSite{sourceName(ls.visibleAs(v)) + " gets new memory in it", nil})
		}
	})
	return out
}

// mayReturnNew reports whether result i of call s, a statement of n, may be memory that the callee allocates. It is
// true for calls with sweeps: they depend on the summary of the callee.
func mayReturnNew(n *node, s *ir.Call, i int) bool {
	switch {
	case n.callee != nil:
		return true
	case s.Callee.Func == nil:
		return s.Callee.Rule.Returned(i) < 0
	}
	return allocates(s.Callee.Func.Body)
}

// visibleAs returns the result or parameter of the function from which the memory of v's class is reached, or v if
// there is none. It serves messages.
func (ls *locations) visibleAs(v *ir.Var) *ir.Var {
	for _, list := range [][]*ir.Var{ls.sp.g.f.Results, ls.sp.g.f.Params} {
		for _, p := range list {
			if ir.HasRefs(p.Type) && ls.class(p) == ls.class(v) {
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
					pure = pure && (!ir.HasRefs(a.Type()) || !s.Callee.Rule.Writes(i))
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
