package adjoint

import (
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Phase 5, fusion of forward and reverse sweep: each iteration of a fused loop is reversed right after it ran, so that
// its values need no tape (the II-LOOP of Tapenade; Hascoët, Fidanova & Held, Adjoining independent computations,
// 2001).
//
// This is possible if no iteration needs cotangents that a later one produces: iterations communicate only through sums
// and share no memory but privatizable arrays. The statements after the loop are reversed before the loop is run, which
// is possible if their reversal reads nothing that the loop or they themselves compute.
//
// For the loop of plan_recompute.go, followed by r = 2 * s:
//
//	s := 0
//	sBar := 2 * rBar              // the statement after the loop is reversed first
//	for i := range x {
//		u := x[i] - c             // forward sweep of the iteration
//		s += u * u
//		uBar := (sBar + sBar) * u // and its reverse sweep
//		xBar[i] += uBar
//		cBar -= uBar
//	}
//	r = 2 * s
//
// With r = s * s the loop could not be fused: the adjoint of that statement, which has to run first, reads s.

// fuse selects at most one loop in list, the one with the greatest benefit, marks it fused and returns list in an order
// in which independent statements after the loop precede it. Nothing but the end of the function, or of the iteration
// of an enclosing fused loop, may follow list. Inside the loop, and in the branches of an If that ends list, fuse is
// applied recursively.
func (pl *planner) fuse(list []*node) []*node {
	if !pl.sp.p.enabled(selectiveRecording) || pl.sp.seedsResultShadows() {
		return list
	}
	// Choose the loop with the greatest benefit.
	best, weight := -1, 0
	var order []*node
	for i, n := range list {
		if w := fusionBenefit(n); w > weight {
			if l, ok := pl.fusable(list, i); ok {
				best, weight, order = i, w, l
			}
		}
	}
	if !pl.sp.p.apply(fusion, best >= 0) {
		// Without a loop here, a branch at the end may have one.
		if k := len(list) - 1; k >= 0 {
			if _, ok := list[k].s.(*ir.If); ok {
				last := *list[k]
				last.then, last.els = pl.fuse(last.then), pl.fuse(last.els)
				list = append(list[:k:k], &last)
			}
		}
		return list
	}
	loop := *list[best]
	pl.fused[&loop] = pl.privatizable(loop.then)
	loop.then = pl.fuse(loop.then)
	order[slices.Index(order, list[best])] = &loop
	return order
}

// fusable reports whether list[i] is a loop that can be fused, and returns list in the order that this requires:
// statements after the loop that are independent of it, and of its reversal, move before it. It refuses:
//
//   - loops without index or with an early exit, and loops after a statement that may exit;
//   - loops that assign active variables, shadows or active memory from outside, unless it is privatizable;
//   - loops that read or assign memory or variables that they also accumulate into;
//   - loops that are followed by statements whose reversal uses the tape, or reads values computed by the loop or by
//     those statements.
func (pl *planner) fusable(list []*node, i int) ([]*node, bool) {
	n := list[i]
	s, ok := n.s.(*ir.Loop)
	if !ok || s.V == nil || n.loop.entered != nil || n.exited != nil || !pl.hasReversal(n.then) {
		return nil, false
	}
	for _, m := range list[:i] { // statements after m may be skipped
		if m.exited != nil {
			return nil, false
		}
	}
	// Communication between iterations: variables and memory that are declared outside may be accumulated into, and
	// otherwise only assigned if they are passive or privatizable.
	in := pl.effects(n.then...)
	private := pl.privatizable(n.then)
	for k := range in.writes {
		switch {
		case in.declares[k]:
		case !k.isMemory():
			if pl.sp.active(k.v) || pl.isShadow(k.v) {
				return nil, false
			}
		case private[k.class]:
		case k.shadow || pl.activeClass[k.class]:
			return nil, false
		}
	}
	// A sum must not be read or assigned by an iteration: it would see a partial sum.
	for k := range in.accumulates {
		if in.declares[k] || k.isMemory() && private[k.class] {
			continue
		}
		if in.reads[k] || in.writes[k] {
			return nil, false
		}
	}
	// Statements that are independent of the loop, of its reversal, and of the statements that stay behind it move
	// before it.
	before := append([]*node(nil), list[:i]...)
	var behind []*node
	loop := pl.effects(n)
	done := loop.modified()
	touched := done.union(loop.reads).union(pl.allReversalReads(n))
	reached := true // the statement is executed on every path
	for _, m := range list[i+1:] {
		a := pl.effects(m)
		w := a.modified()
		if reached && !m.linked && !containsExit(m) && !a.reads.intersects(done) && !w.intersects(touched) {
			before = append(before, m)
			continue
		}
		reached = reached && !mayExit(m)
		behind = append(behind, m)
		done, touched = done.union(w), touched.union(w).union(a.reads).union(pl.allReversalReads(m))
	}
	// The reversal of the statements behind the loop runs before the loop: it must not depend on them or the loop.
	tape := false
	each(behind, func(m *node) { tape = tape || m.callee != nil && m.callee.usesTape() })
	if tape || pl.allReversalReads(behind...).intersects(done) {
		return nil, false
	}
	for k := range pl.effects(behind...).reads { // restoration changes privatized memory
		if k.isMemory() && private[k.class] {
			return nil, false
		}
	}
	// The new order has the same effect as the old one.
	order := append(before, n)
	return append(order, behind...), true
}

// seedsResultShadows reports whether cotangents are seeded only after the forward sweep: those in the memory of a
// result, which is not known before. Then no loop is fused.
func (sp *specialization) seedsResultShadows() bool {
	for i, r := range sp.g.f.Results {
		if sp.facts.Results.Has(i) && leadsToFloats(r.Type) {
			return true
		}
	}
	return false
}

// fusionBenefit returns an estimate of the work in loop n, growing with its depth, and 0 for other nodes.
func fusionBenefit(n *node) int {
	if n.loop == nil {
		return 0
	}
	w := 1
	for _, m := range n.then {
		w += 1 + 20*fusionBenefit(m)
	}
	return w
}

// recordFused is recordBlock for a list with a fused loop, list[k]. The loop and the statements after it are reversed
// before the statements before it, without restoring all that they wrote: they must not overwrite locations that the
// reversal of those reads. Within the loop an iteration starts with no needed locations, and recorded writes must be
// restorable. If one of these conditions fails the loop is unfused, for another round of decide.
func (pl *planner) recordFused(list []*node, k int, in locationSet, labels map[*ir.Label]locationSet) locationSet {
	n := list[k]
	if in = pl.recordBlock(list[:k], in, labels); in == nil {
		return nil
	}
	// Variables declared in an iteration are dead when the statements before the loop are reversed.
	own := pl.effects(n.then...).declares
	each(list[k:], func(m *node) {
		for _, w := range m.writes {
			if v := w.whole(); v != nil && own[location{v: v}] {
				continue
			}
			if !pl.frozen && pl.overwritesNeeded(in, w) {
				pl.unfuse(n)
			}
		}
	})
	// Analyse the body. Nothing is needed at its beginning: earlier iterations have been reversed.
	pl.recordBlock(n.then, locationSet{}, map[*ir.Label]locationSet{})
	each(n.then, func(m *node) {
		for _, w := range m.writes {
			if pl.recorded[w] && !pl.restorable(n, own, w) {
				pl.unfuse(n)
			}
		}
	})
	return in
}

// restorable reports whether the next iteration of the fused loop n tolerates that w is undone: w writes a variable
// declared in the iteration, a privatized array, or memory allocated in the iteration.
func (pl *planner) restorable(n *node, own locationSet, w *write) bool {
	if w.place != nil && !w.place.Indirect() {
		return own[location{v: w.place.Root}]
	}
	root := w.slice
	if root == nil {
		root = w.place.Root
	}
	c := pl.class(root)
	if pl.fused[n][c] {
		return true
	}
	a := pl.allocSites[c]
	return a != nil && !a.multiple && a.variable != nil && own[location{v: a.variable}]
}

// unfuse removes n, and the loops in it, from the fused loops.
func (pl *planner) unfuse(n *node) {
	if pl.isFused(n) {
		pl.changed = true
		each([]*node{n}, func(m *node) { delete(pl.fused, m) })
	}
}
