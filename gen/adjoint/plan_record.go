package adjoint

import (
	"github.com/nabla-ad/nabla/gen/ir"
)

// To-be-recorded analysis (Hascoët, Naumann & Pascual 2005), a forward may-analysis. The fact at a point of the forward
// sweep is the set of locations whose current value is read when the statements executed before the point are reversed.
// Branches and exits are joined by union; loops are iterated to a fixed point, which exists since transfer functions
// are monotone and there are finitely many locations. A write that may overwrite a location in the set is marked
// recorded.
//
// It is not liveness, which runs backward and asks for later reads of the primal.
//
// For example, with the fact after each statement:
//
//	let a = x[0] * x[0]   {x[]}        its adjoint reads x[0]
//	let b = sin(a)        {x[], a}     its adjoint reads a, for the cosine
//	x[0] = b              {x[], a}     overwrites x[], in the fact before it: x[0] is recorded
//	a = 2 * b             {x[]}        overwrites a: recorded; the new value of a is not needed

// recordFunc analyses the whole function, from the fact entry at its beginning, and returns the fact at its end.
func (pl *planner) recordFunc(entry locationSet) locationSet {
	labels := map[*ir.Label]locationSet{}
	end := pl.recordBlock(pl.body, entry, labels)
	return locationSet{}.merge(end).merge(labels[pl.sp.g.f.Exit])
}

// neededAtEntry returns the fact at the beginning of the function: for a callee in split mode all memory reachable from
// its parameters, whose values the reversal of its callers may read; otherwise nothing.
func (pl *planner) neededAtEntry() locationSet {
	out := locationSet{}
	if pl.sp.spec.mode != modeSplit { // no callers, or a checkpointed loop, which restores memory itself
		return out
	}
	for _, v := range pl.sp.g.f.Params {
		pl.addReachable(out, v)
	}
	return out
}

// recordBlock returns the fact after list, or nil if its end is unreachable. Facts at exits are merged into labels. It
// consumes in, which may be nil.
func (pl *planner) recordBlock(list []*node, in locationSet, labels map[*ir.Label]locationSet) locationSet {
	if k := pl.fusedAt(list); k >= 0 {
		return pl.recordFused(list, k, in, labels)
	}
	for i, n := range list {
		if in == nil {
			return nil
		}
		in = pl.recordStmt(n, in, labels)
		if in != nil && n.exited != nil && pl.hasReversal(list[i+1:]) {
			pl.addNeeded(in, locationSet{location{v: n.exited}: true})
		}
	}
	return in
}

// addNeeded adds reads to s, except variables that are recomputed.
func (pl *planner) addNeeded(s, reads locationSet) {
	for k := range reads {
		if k.isMemory() || pl.needed[k.v] {
			s[k] = true
		}
	}
}

// recordStmt returns the fact after n, given the fact in before it; see recordBlock.
func (pl *planner) recordStmt(n *node, in locationSet, labels map[*ir.Label]locationSet) locationSet {
	// Leave merges the fact at an exit into that of its label.
	leave := func(l *ir.Label, s locationSet) {
		if s != nil {
			labels[l] = labels[l].merge(s)
		}
	}
	outer := labels
	switch s := n.s.(type) {
	case *ir.If:
		if pl.hasReversal(n.then) || pl.hasReversal(n.els) {
			pl.addNeeded(in, pl.reversalReads(n))
		}
		a, b := pl.recordBlock(n.then, in.union(nil), labels), pl.recordBlock(n.els, in, labels)
		switch {
		case a == nil:
			return b
		case b == nil:
			return a
		}
		return a.merge(b)
	case *ir.Scope:
		leave(s.L, pl.recordBlock(n.then, in, labels))
		return labels[s.L]
	case *ir.Loop:
		// Iterate to the least fixed point of the fact at the head: entry joined with the ends of iterations.
		head := in
		for {
			labels = map[*ir.Label]locationSet{} // facts at exits in the body
			leave(s.Next, pl.recordBlock(n.then, head.union(nil), labels))
			if head.includes(labels[s.Next]) {
				break
			}
			head = head.merge(labels[s.Next])
		}
		head = pl.afterKill(n, head)
		// A counted loop ends at its head; one without index only by an exit.
		if s.V != nil {
			leave(s.L, head)
		}
		// Wherever the loop was left for, its reversal comes first: it reads trip count and bounds.
		if pl.hasReversal(n.then) {
			reads := pl.reversalReads(n)
			for _, s := range labels {
				pl.addNeeded(s, reads)
			}
		}
		for l, more := range labels {
			if l != s.L && l != s.Next {
				outer[l] = outer[l].merge(more)
			}
		}
		return labels[s.L]
	case *ir.Leave:
		leave(s.L, in)
		return nil
	case *ir.Panic:
		return nil
	}
	return pl.transfer(n, in)
}

// afterKill returns the fact after counted loop n, given the fact head at the beginning of its iterations. Memory that
// the loop kills holds only values that the loop assigned, so the facts about it from before the loop are dropped, and
// the body is analysed once more without them. Marks are frozen meanwhile: they follow from head.
func (pl *planner) afterKill(n *node, head locationSet) locationSet {
	list := pl.killedArrays(n)
	// The fact at the head holds at the end too: the last iteration ends there.
	if len(list) == 0 {
		return head
	}
	covered := map[any]bool{}
	for _, v := range list {
		covered[pl.class(v)] = true
	}
	less := locationSet{}
	for k := range head {
		if !k.isMemory() || !covered[k.class] || k.shadow {
			less[k] = true
		}
	}
	was := pl.frozen
	pl.frozen = true
	labels := map[*ir.Label]locationSet{}
	end := pl.recordBlock(n.then, less.union(nil), labels)
	pl.frozen = was
	return less.merge(end).merge(labels[n.s.(*ir.Loop).Next])
}

// transfer returns the fact after n, a node without nested nodes, given the fact in before it, and marks writes that
// may overwrite a needed location as recorded. Marks are never removed, so the iteration in decide terminates. A
// variable that is overwritten as a whole is no longer needed, unless the adjoint, or the inverse of a restoration,
// reads its new value.
func (pl *planner) transfer(n *node, in locationSet) locationSet {
	reads := pl.adjointReads(n)
	// The reverse sweep declares a recomputed variable again: it reads the operands instead of the variable.
	if l, ok := n.s.(*ir.Let); ok && pl.recomputed[l.V] {
		reads = reads.union(pl.reads(ir.Block{l}))
		delete(reads, location{v: l.V})
	}
	// Propagate runs after the restoration, with the values before n: those must survive n.
	if !n.usesResult {
		pl.addNeeded(in, reads)
	}
	for _, w := range n.writes {
		if !pl.frozen && !pl.recorded[w] && pl.overwritesNeeded(in, w) {
			pl.recorded[w], pl.changed = true, true
		}
	}
	// Consume, and propagate if it uses the result, run before the restoration, with the values after n: later
	// statements must preserve those.
	pl.addNeeded(in, reads)
	for _, w := range n.writes {
		if pl.recorded[w] {
			s := locationSet{}
			pl.addRestoreReads(s, w)
			pl.addNeeded(in, s)
		}
	}
	// Kill: the old value of a variable that is overwritten is no longer current.
	out := in
	for _, w := range n.writes {
		v := w.whole()
		switch {
		case v == nil || n.usesResult && reads[location{v: v}]:
		case pl.recorded[w] && w.inverse != nil: // the inverse reads the new value
			out[location{v: v}] = true
		default:
			delete(out, location{v: v})
		}
	}
	for _, x := range pl.exchanged(n) { // the reversal reads the new values
		out[location{v: x.now}] = true
	}
	if n.callee != nil {
		c := n.callee
		out = out.merge(pl.sp.instantiate(n, c.neededAtExit))
	}
	return out
}

// overwritesNeeded reports whether w may overwrite a location in s. Memory is compared by class and cell type.
func (pl *planner) overwritesNeeded(s locationSet, w *write) bool {
	if v := w.whole(); v != nil {
		if !pl.sp.p.enabled(selectiveRecording) {
			return pl.needed[v]
		}
		return s[location{v: v}]
	}
	if w.place != nil && !w.place.Indirect() {
		v := w.place.Root
		return s[location{v: v}] || !pl.sp.p.enabled(selectiveRecording) && pl.needed[v]
	}
	if !pl.sp.p.enabled(selectiveRecording) {
		return true
	}
	// Compare memory by location: two places of one location may be the same.
	root := w.slice
	if root == nil {
		root = w.place.Root
	}
	t := locationSet{}
	pl.addMemory(t, root, w.valueType())
	for k := range t {
		if s[k] {
			return true
		}
	}
	return false
}
