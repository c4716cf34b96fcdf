package adjoint

import (
	"github.com/nabla-ad/nabla/gen/ir"
)

// Kills of arrays and privatization (Tu & Padua, Automatic array privatization, 1993). A loop that assigns every
// element of an array kills its old contents; an array without an upward-exposed read in an iteration can be private to
// the iteration, so that it does not prevent fusion.

// killedArrays returns the variables of arrays that loop n kills: it counts from 0 by 1 without an early exit, each
// iteration assigns the element at its index, unconditionally, and the trip count has the same value number as the
// length in the only allocation of the class.
func (ls *locations) killedArrays(n *node) (out []*ir.Var) {
	s, ok := n.s.(*ir.Loop)
	if !ok || s.V == nil || s.Step != 1 || n.loop.entered != nil || n.exited != nil ||
		ls.valueNumber(s.Lo) != "0" {
		return nil
	}
	for _, m := range n.then {
		v := assignedElement(m, s.V)
		if v == nil {
			// Later assignments may be skipped.
			if mayExit(m) {
				return out
			}
			continue
		}
		a := ls.allocSites[ls.class(v)]
		if a == nil || a.multiple || a.variable != v {
			continue
		}
		n := ls.valueNumber(a.length)
		if ls.sp.p.apply(arrayKills, n != "" && n == ls.valueNumber(s.Hi)) {
			out = append(out, v)
		}
	}
	return out
}

// assignedElement returns the slice v if n is the assignment v[i] = …, and nil otherwise.
func assignedElement(n *node, i *ir.Var) *ir.Var {
	s, ok := n.s.(*ir.Set)
	if !ok || len(s.P.Path) != 1 || ir.ElemOf(s.P.Root.Type) == nil {
		return nil
	}
	if ir.VarOf(s.P.Path[0].Index) != i {
		return nil
	}
	return s.P.Root
}

// privatizable returns the alias classes that are private to one execution of list: allocated at a single site outside
// of it, written in it, and without an upward-exposed read.
func (ls *locations) privatizable(list []*node) map[any]bool {
	out := map[any]bool{}
	bad := map[any]bool{}
	a := ls.effects(list...)
	for k := range a.writes {
		if k.isMemory() {
			m := ls.allocSites[k.class]
			if m != nil && !m.multiple && m.variable != nil && !k.shadow && !a.declares[location{v: m.variable}] {
				out[k.class] = true
			}
		}
	}
	ls.upwardExposed(list, map[any]bool{}, bad)
	for c := range bad {
		delete(out, c)
	}
	if !ls.sp.p.apply(privatization, len(out) > 0) {
		return map[any]bool{}
	}
	return out
}

// upwardExposed adds to bad the classes that list may read before it has killed them, and returns the classes that are
// killed at its end. It is a forward must-analysis: in holds the classes killed on every path to list, branches are
// joined by intersection, and kills within a scope, which may be left early, do not count after it. A kill is never
// undone, so one pass over a loop body suffices.
func (ls *locations) upwardExposed(list []*node, in, bad map[any]bool) map[any]bool {
	have := map[any]bool{}
	for c := range in {
		have[c] = true
	}
	// A read of a class that has not been killed is upward-exposed. Memory of shadows is not privatized.
	read := func(s locationSet, but *ir.Var) {
		for k := range s {
			if k.isMemory() && !k.shadow && !have[k.class] && (but == nil || ls.class(but) != k.class) {
				bad[k.class] = true
			}
		}
	}
	for _, n := range list {
		switch s := n.s.(type) {
		case nil, *ir.Leave, *ir.Panic:
		case *ir.If:
			read(ls.effects(&node{s: &ir.If{Cond: s.Cond}}).reads, nil)
			// Both branches must kill the class.
			x, y := ls.upwardExposed(n.then, have, bad), ls.upwardExposed(n.els, have, bad)
			both := map[any]bool{}
			for c := range x {
				if y[c] {
					both[c] = true
				}
			}
			have = both
		case *ir.Scope:
			ls.upwardExposed(n.then, have, bad)
		case *ir.Loop:
			read(ls.effects(&node{s: &ir.Loop{V: s.V, Lo: s.Lo, Hi: s.Hi}}).reads, nil)
			ls.upwardExposedLoop(n, s, have, bad)
			for _, v := range ls.killedArrays(n) {
				have[ls.class(v)] = true
			}
		default:
			a := ls.effects(n)
			read(a.reads.union(a.accumulates), nil)
		}
	}
	return have
}

// upwardExposedLoop is upwardExposed for the body of loop n, where reads of the element at the loop index count as
// private once the iteration has assigned it.
func (ls *locations) upwardExposedLoop(n *node, s *ir.Loop, have, bad map[any]bool) {
	covers := map[*ir.Var]bool{}
	for _, v := range ls.killedArrays(n) {
		covers[v] = true
	}
	if len(covers) == 0 {
		ls.upwardExposed(n.then, have, bad)
		return
	}
	// Set are the arrays whose element at the index has been assigned by the current iteration.
	set := map[*ir.Var]bool{}
	for i, m := range n.then {
		if len(m.then)+len(m.els) > 0 {
			have = ls.upwardExposed(n.then[i:i+1], have, bad)
			continue
		}
		a := ls.effects(ls.withoutReadsOf(m, set, s.V))
		for k := range a.reads.union(a.accumulates) {
			if k.isMemory() && !k.shadow && !have[k.class] {
				bad[k.class] = true
			}
		}
		if v := assignedElement(m, s.V); v != nil && covers[v] {
			set[v] = true
		}
	}
}

// withoutReadsOf returns a copy of n without reads of element i of the slices in set.
func (ls *locations) withoutReadsOf(n *node, set map[*ir.Var]bool, i *ir.Var) *node {
	m := &ir.Map{Expr: func(e ir.Expr) ir.Expr {
		if l, ok := e.(*ir.Load); ok && len(l.P.Path) == 1 && set[l.P.Root] && l.P.Path[0].Index != nil &&
			ir.VarOf(l.P.Path[0].Index) == i {
			return ir.Zero(l.T)
		}
		return e
	}}
	c := *n
	if n.s != nil {
		c.s = m.Block(ir.Block{n.s})[0]
	}
	if a, ok := c.s.(*ir.Add); ok && len(a.P.Path) == 1 && set[a.P.Root] && a.P.Path[0].Index != nil &&
		ir.VarOf(a.P.Path[0].Index) == i {
		c.s = &ir.Let{At: a.At, V: a.P.Root, E: a.E} // keeps the read of the summand only
		c.writes = nil
	}
	return &c
}
