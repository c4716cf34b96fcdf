package adjoint

import (
	"fmt"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// needs reports whether the reverse sweep has parameter i of the function.
func (b *builder) reverseTakes(i int) bool {
	if !b.analysed {
		return true
	}
	return b.recursive || b.flow.needed[b.g.f.Params[i]]
}

// calleeState is a state of a callee as one of the caller. All stands for all memory that
// the callee can reach.
func (b *builder) instantiate(n *node, s locationSet, all bool) locationSet {
	f, c := b.flow, n.callee
	out := locationSet{}
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
	for k := range s {
		if k.v != nil {
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

// remembers reports whether the reverse sweep of a function that is called takes something
// out of the workspace that its forward sweep has put there.
func (b *builder) usesTape() (found bool) {
	if !b.analysed || b.recursive || b.checkpointed != nil {
		return true
	}
	for k := range b.flow.neededAtExit {
		found = found || k.v != nil
	}
	each(b.body, func(n *node) {
		for _, w := range n.writes {
			found = found || w.recorded && w.inverse == nil
		}
		found = found || n.callee != nil && n.callee.usesTape()
	})
	return found
}

// freshBehind says why iterations leave new memory to those that follow, if they do: its
// shadow would have to live as long.
func (b *builder) leaksAllocation() string {
	if b.allocationLeak == nil {
		b.allocationLeak = new(string) // a recursive function calls it
		*b.allocationLeak = b.findLeak()
	}
	return *b.allocationLeak
}

func (b *builder) findLeak() (why string) {
	if b.checkpointed != nil {
		return b.checkpointed.segment.leaksAllocation()
	}
	f := b.flow
	each(b.body, func(n *node) {
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
				if x := variable(a); x != nil && x != b.ws && !f.isShadow(x) && activity.HasRefs(x.Type) &&
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

// makes reports whether result i of a call may be memory that it makes.
func mayReturnNew(n *node, s *ir.Call, i int) bool {
	switch {
	case n.callee != nil:
		return n.callee.leaksAllocation() != ""
	case s.Callee.Func == nil:
		return s.Callee.Rule.Returned(i) < 0
	}
	return allocates(s.Callee.Func.Body)
}

// outside is the parameter or result that leads to the memory that v leads to.
func (f *flow) visibleAs(v *ir.Var) *ir.Var {
	for _, list := range [][]*ir.Var{f.b.g.f.Results, f.b.g.f.Params} {
		for _, p := range list {
			if activity.HasRefs(p.Type) && f.class(p) == f.class(v) {
				return p
			}
		}
	}
	return v
}

// pure reports whether a function writes nothing but its own variables.
func (p *Program) pure(f *ir.Func) bool {
	if pure, ok := p.purity[f]; ok {
		return pure
	}
	p.purity[f] = true // a recursive function calls it
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
				pure = pure && p.pure(s.Callee.Func)
			} else {
				for i, a := range s.Args {
					pure = pure && (!activity.HasRefs(a.Type()) || !s.Callee.Rule.Writes(i))
				}
			}
		}
		return pure
	})
	p.purity[f] = pure
	return pure
}

// used are the places of the workspace that say how much of its memory b and what it
// calls use.
func (b *builder) memoryCounters() (out []*ir.Place) {
	for _, c := range b.reach() {
		for _, p := range c.counters {
			out = append(out, &ir.Place{Root: b.ws, Path: p.Path})
		}
	}
	return out
}
