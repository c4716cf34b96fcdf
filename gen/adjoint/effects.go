package adjoint

import (
	"cmp"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Mod/ref sets of nodes: the locations that their forward sweep may read, write, or accumulate into. They are
// flow-insensitive within the nodes; calls count with the summary of the callee.

// A write is a place that a node overwrites.
type write struct {
	place *ir.Place // the place, or
	slice *ir.Var   // a slice of which all elements may be overwritten
	// Inverse is the old value as an expression of the new one, or nil: n - k after n += k. Such a value is not
	// recorded but computed.
	inverse ir.Expr
	// Exchanged means that the write is one of a run that permutes variables. The old value is that of another variable
	// after the run, and is not recorded either.
	exchanged bool
}

// stored reports whether the old value is stored if it is recorded.
func (w *write) stored() bool { return w.inverse == nil && !w.exchanged }

// valueType returns the type of the overwritten value, that of an element for a slice.
func (w *write) valueType() types.Type {
	if w.slice != nil {
		return ir.ElemOf(w.slice.Type)
	}
	return w.place.Type()
}

// whole returns the variable that w overwrites as a whole, or nil if it overwrites a part of a variable or memory.
func (w *write) whole() *ir.Var {
	if w.place != nil && len(w.place.Path) == 0 {
		return w.place.Root
	}
	return nil
}

// writesOf returns the places that the statement of n assigns, apart from memory that a called function writes. An
// integer += has an inverse: wrap-around makes it exact.
func writesOf(n *node) (out []*write) {
	place := func(p *ir.Place) { out = append(out, &write{place: p}) }
	variable := func(v *ir.Var) { place(v.Place()) }
	if s, ok := n.s.(*ir.Let); ok {
		variable(s.V)
	}
	if p := ir.Target(n.s); p != nil {
		place(p)
	}
	ir.EachResult(n.s, variable)
	if s, ok := n.s.(*ir.Add); ok && ir.IsInteger(s.P.Type()) {
		t := s.P.Type()
		out[0].inverse = ir.NewBinary(t, opSub, ir.LoadOf(s.P, t), s.E)
	}
	// Memory that statements on slices, or rules, may overwrite.
	if n.writtenSlice != nil {
		out = append(out, &write{slice: n.writtenSlice})
	}
	for _, v := range n.moreSlices {
		out = append(out, &write{slice: v})
	}
	return out
}

// mergeDeclarations corrects the assignment count of variables that are declared without a value directly before the
// call that assigns them: both together are one assignment.
func (ls *locations) mergeDeclarations(list []*node) {
	for i, n := range list {
		ls.mergeDeclarations(n.then)
		ls.mergeDeclarations(n.els)
		if _, ok := n.s.(*ir.Call); !ok {
			continue
		}
		for _, w := range n.writes {
			// The normal form declares the results of a call directly before it.
			for j := i - 1; j >= 0; j-- {
				l, ok := list[j].s.(*ir.Let)
				if !ok || l.E != nil {
					break
				}
				if l.V == w.whole() {
					ls.assignments[l.V]--
				}
			}
		}
	}
}

// An effects value is the mod/ref set of some nodes.
type effects struct {
	reads       locationSet // locations that may be read
	writes      locationSet // locations that may be assigned
	accumulates locationSet // locations to which floats are added, without another read
	declares    locationSet // variables declared in the nodes, which writes has too
}

// modified returns all locations that may change.
func (a *effects) modified() locationSet { return a.writes.union(a.accumulates) }

// effects returns the mod/ref set of list, with nested nodes. Accumulation into a float counts as such; accumulation
// into an integer reads and writes it. Memory that is passed to a callee counts as read.
func (ls *locations) effects(list ...*node) *effects {
	a := &effects{locationSet{}, locationSet{}, locationSet{}, locationSet{}}
	each(list, func(n *node) {
		// Reads. Nested statements are visited on their own, so only heads are read here.
		switch s := n.s.(type) {
		case nil:
		case *ir.If:
			ls.addExprReads(a.reads, s.Cond)
		case *ir.Loop:
			ls.addExprReads(a.reads, s.Lo)
			ls.addExprReads(a.reads, s.Hi)
		case *ir.Scope:
		case *ir.Add:
			ls.addExprReads(a.reads, s.E)
			ls.addPathReads(a.reads, s.P)
			to := a.accumulates
			if !ir.IsContinuous(s.P.Type()) {
				to = a.writes
				ls.addRead(a.reads, s.P)
			}
			ls.addTarget(to, s.P)
			return
		default:
			for k := range ls.reads(ir.Block{s}) {
				a.reads[k] = true
			}
		}
		// Assignments.
		for _, w := range n.writes {
			if w.slice != nil {
				ls.addMemory(a.writes, w.slice, w.valueType())
				continue
			}
			ls.addTarget(a.writes, w.place)
		}
		if l, ok := n.s.(*ir.Let); ok {
			a.declares[location{v: l.V}] = true
		}
		// Effects of callees on memory.
		if c, ok := n.s.(*ir.Call); ok {
			if primal := cmp.Or(n.call, c); hasEffects(ir.Block{primal}) {
				a.reads[outside], a.writes[outside] = true, true
			}
			for _, e := range c.Args {
				if v := ir.VarOf(e); v != nil && v != ls.sp.ws && ir.HasRefs(v.Type) && ls.sp.primalOf[v] == nil {
					ls.addReachable(a.reads, v)
				}
			}
			if n.callee != nil {
				for k := range ls.sp.instantiate(n, n.callee.modified) {
					a.writes[k] = true
				}
			}
		}
	})
	return a
}

// outside is a location for the state that calls of rules with effects read and write, such as files and clocks.
var outside = location{v: &ir.Var{Name: "outside", Type: types.Typ[types.Bool]}}

// hasEffects reports whether b, or a function that it calls, calls a rule with effects.
func hasEffects(b ir.Block) bool {
	return anywhere(b, func(s ir.Stmt) bool {
		c, ok := s.(*ir.Call)
		return ok && c.Callee.Rule != nil && c.Callee.Rule.Effects
	})
}

// addTarget adds the location that an assignment to p writes.
func (ls *locations) addTarget(into locationSet, p *ir.Place) {
	if p.Indirect() {
		ls.addMemory(into, p.Root, p.Type())
	} else {
		into[location{v: p.Root}] = true
	}
}
