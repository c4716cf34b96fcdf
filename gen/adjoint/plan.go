package adjoint

// ownReads are what the statements of the reversal of a node read.
func (f *flow) adjointReads(n *node) locationSet {
	out := f.reads(n.consume).union(f.reads(n.propagate))
	for _, v := range n.readThrough {
		f.addReachable(out, v)
	}
	return out
}

// reversalReads are what the reversal of a node itself reads, not that of its blocks.
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

// restoring adds what is read to find a place that is restored.
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

// reversing is what the reversal of a list of nodes, their blocks included, reads.
func (f *flow) allReversalReads(list ...*node) locationSet {
	out := locationSet{}
	for i, n := range list {
		out = out.union(f.reversalReads(n))
		if c := n.callee; c != nil {
			out = out.union(f.b.instantiate(n, c.flow.neededAtExit, !c.analysed))
		}
		if n.exited != nil && hasReversal(list[i+1:]) {
			out[location{v: n.exited}] = true
		}
		out = out.union(f.allReversalReads(n.then...)).union(f.allReversalReads(n.els...))
	}
	return out
}
