package adjoint

import (
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// A plan holds the decisions about one specialisation, which the emission carries out: the output of the planner.
type plan struct {
	body []*node // the nodes in execution order: fusion moves statements and replaces nodes by copies
	// loop each iteration of which is reversed right after it ran → alias classes of arrays that iterations do not
	// share
	fused        map[*node]map[any]bool
	recorded     map[*write]bool  // the forward sweep records the old value, the reverse sweep restores it
	needed       map[*ir.Var]bool // variables that the reverse sweep reads and does not recompute
	recomputed   map[*ir.Var]bool // variables that the reverse sweep recomputes
	neededAtExit locationSet      // locations whose values on exit the reverse sweep may read
}

// newPlan returns a plan in which nothing is fused, recorded or recomputed.
func newPlan(body []*node) *plan {
	return &plan{
		body: body, fused: map[*node]map[any]bool{}, recorded: map[*write]bool{}, needed: map[*ir.Var]bool{},
		recomputed: map[*ir.Var]bool{}, neededAtExit: locationSet{},
	}
}

// isFused reports whether n is a loop each iteration of which is reversed right after it ran.
func (pl *plan) isFused(n *node) bool { return pl.fused[n] != nil }

// fusedAt returns the index of the fused loop in list, or -1. A list has at most one.
func (pl *plan) fusedAt(list []*node) int { return slices.IndexFunc(list, pl.isFused) }

// anyFused reports whether list, or a branch of an If in it, has a fused loop. Loops are not searched: a loop inside a
// fused loop is found when the body of that is emitted.
func (pl *plan) anyFused(list []*node) bool {
	for _, n := range list {
		if pl.isFused(n) {
			return true
		}
		if _, ok := n.s.(*ir.If); ok && (pl.anyFused(n.then) || pl.anyFused(n.els)) {
			return true
		}
	}
	return false
}

// hasReversal reports whether reversing list emits any statement: an update of cotangents or a restoration.
func (pl *plan) hasReversal(list []*node) bool {
	for _, n := range list {
		if len(n.consume)+len(n.propagate) > 0 || pl.records(n) || pl.hasReversal(n.then) || pl.hasReversal(n.els) {
			return true
		}
	}
	return false
}

// records reports whether a value that n overwrites is recorded. It does not look at nested nodes.
func (pl *plan) records(n *node) bool {
	return slices.ContainsFunc(n.writes, func(w *write) bool { return pl.recorded[w] })
}

// A planner makes the decisions about one specialisation. The locations are its input; the plan is its output, which it
// reads meanwhile: recorded only grows and fused only shrinks after fuse, needed and recomputed are computed afresh in
// each round.
type planner struct {
	*locations
	*plan
	// variable → its declaration, if it is cheap and its operands are invariant
	recomputable map[*ir.Var]*node
	changed      bool // recorded or fused changed in the current round
	frozen       bool // transfer computes facts and changes no marks
}

// decide returns the plan for sp, whose locations must be complete.
//
// Recording and recomputation depend on each other: recording a value makes the address of its place needed in the
// reverse sweep, which may make further variables needed. And a loop whose forward sweep would overwrite needed values
// cannot stay fused. So decide iterates to a fixed point. In each round needed and recomputed variables are computed
// from scratch; values are only ever added to plan.recorded and loops only removed from plan.fused, which bounds the
// number of rounds.
func (sp *specialization) decide() *plan {
	pl := &planner{locations: sp.locations, plan: newPlan(sp.body)}
	// Fusion comes first, since it decides which values are needed at all.
	if sp.spec.mode == modeEntry || sp.spec.mode == modeJoint {
		pl.body = pl.fuse(pl.body)
	}
	if sp.spec.mode == modeAdvance { // nothing is reversed
		return pl.plan
	}
	// Recomputation is chosen for the current marks, and the marks are updated for that choice.
	for {
		pl.changed = false
		pl.chooseRecomputed(pl.body, 0)
		pl.recordFunc(pl.neededAtEntry())
		if !pl.changed {
			break
		}
	}
	// Callers add their own needs; the summary holds the needs of this function alone. The entry fact is a subset of
	// that above, so this pass sets no further marks.
	pl.neededAtExit = pl.recordFunc(locationSet{})
	each(pl.body, func(n *node) {
		for _, w := range n.writes {
			if pl.recorded[w] && !w.stored() {
				sp.p.reportApplicable(inversion)
			}
		}
	})
	return pl.plan
}

// adjointReads returns the locations that the statement adjoint of n reads: consume and propagate, and memory that a
// pullback may read.
func (pl *planner) adjointReads(n *node) locationSet {
	out := pl.reads(n.consume).union(pl.reads(n.propagate))
	for _, v := range n.readThrough {
		pl.addReachable(out, v)
	}
	return out
}

// reversalReads returns the locations that the reversal of n reads, without that of nested nodes: those of its adjoint,
// those read to restore recorded values, and the condition, bounds or trip count if nested nodes have a reversal.
func (pl *planner) reversalReads(n *node) locationSet {
	out := pl.adjointReads(n)
	for _, w := range n.writes {
		if pl.recorded[w] {
			pl.addRestoreReads(out, w)
		}
	}
	for _, x := range pl.exchanged(n) {
		pl.addVariable(out, x.now)
	}
	switch {
	case n.cond != nil && (pl.hasReversal(n.then) || pl.hasReversal(n.els)):
		pl.addExprReads(out, n.cond.Load())
	case n.loop != nil && pl.hasReversal(n.then):
		if n.loop.entered != nil {
			pl.addExprReads(out, n.loop.entered.Load())
			if n.loop.lo != nil {
				pl.addExprReads(out, n.loop.lo)
			}
			break
		}
		pl.addExprReads(out, n.loop.lo)
		pl.addExprReads(out, n.loop.hi)
	}
	return out
}

// addRestoreReads adds the locations that are read to find the place that w restores, and to evaluate its inverse. The
// new value of the place itself is left out here; transfer accounts for it.
func (pl *planner) addRestoreReads(out locationSet, w *write) {
	if w.slice != nil {
		pl.addVariable(out, w.slice)
		return
	}
	pl.addPathReads(out, w.place)
	if w.inverse != nil {
		pl.addExprReads(out, w.inverse)
		if v := w.whole(); v != nil {
			delete(out, location{v: v})
		}
	}
}

// allReversalReads returns the locations that the reversal of list reads, nested nodes and callees included.
func (pl *planner) allReversalReads(list ...*node) locationSet {
	out := locationSet{}
	for i, n := range list {
		out = out.union(pl.reversalReads(n))
		if c := n.callee; c != nil {
			out = out.union(pl.sp.instantiate(n, c.neededAtExit))
		}
		if n.exited != nil && pl.hasReversal(list[i+1:]) {
			out[location{v: n.exited}] = true
		}
		out = out.union(pl.allReversalReads(n.then...)).union(pl.allReversalReads(n.els...))
	}
	return out
}
