package adjoint

// Reads of the reverse sweep, the facts that fusion, recomputation and recording are decided by.

// adjointReads returns the locations that the statement adjoint of n reads: consume and propagate, and memory that a
// pullback may read.
func (f *flow) adjointReads(n *node) locationSet {
	out := f.reads(n.consume).union(f.reads(n.propagate))
	for _, v := range n.readThrough {
		f.addReachable(out, v)
	}
	return out
}

// reversalReads returns the locations that the reversal of n reads, without that of nested nodes: those of its adjoint,
// those read to restore recorded values, and the condition, bounds or trip count if nested nodes have a reversal.
func (f *flow) reversalReads(n *node) locationSet {
	out := f.adjointReads(n)
	for _, w := range n.writes {
		if w.recorded {
			f.addRestoreReads(out, w)
		}
	}
	switch {
	case n.cond != nil && (hasReversal(n.then) || hasReversal(n.els)):
		f.addExprReads(out, n.cond.Load())
	case n.loop != nil && hasReversal(n.then):
		if n.loop.entered != nil {
			f.addExprReads(out, n.loop.entered.Load())
			if n.loop.lo != nil {
				f.addExprReads(out, n.loop.lo)
			}
			break
		}
		f.addExprReads(out, n.loop.lo)
		f.addExprReads(out, n.loop.hi)
	}
	return out
}

// addRestoreReads adds the locations that are read to find the place that w restores, and to evaluate its inverse. The
// new value of the place itself is left out here; transfer accounts for it.
func (f *flow) addRestoreReads(out locationSet, w *write) {
	if w.slice != nil {
		f.addVariable(out, w.slice)
		return
	}
	f.addPathReads(out, w.place)
	if w.inverse != nil {
		f.addExprReads(out, w.inverse)
		if v := w.whole(); v != nil {
			delete(out, location{v: v})
		}
	}
}

// allReversalReads returns the locations that the reversal of list reads, nested nodes and callees included.
func (f *flow) allReversalReads(list ...*node) locationSet {
	out := locationSet{}
	for i, n := range list {
		out = out.union(f.reversalReads(n))
		if c := n.callee; c != nil {
			out = out.union(f.sp.instantiate(n, c.neededAtExit))
		}
		if n.exited != nil && hasReversal(list[i+1:]) {
			out[location{v: n.exited}] = true
		}
		out = out.union(f.allReversalReads(n.then...)).union(f.allReversalReads(n.els...))
	}
	return out
}
