package adjoint

// ownReads are what the statements of the reversal of a node read.
func (f *flow) ownReads(n *node) state {
	out := f.reads(n.pre).with(f.reads(n.post))
	for _, v := range n.reached {
		f.reachable(out, v)
	}
	return out
}

// reversalReads are what the reversal of a node itself reads, not that of its blocks.
func (f *flow) reversalReads(n *node) state {
	out := f.ownReads(n)
	for _, w := range n.writes {
		if w.keep {
			f.restoring(out, w)
		}
	}
	switch {
	case n.cond != nil && (busy(n.then) || busy(n.els)):
		f.readExpr(out, n.cond.Load())
	case n.loop != nil && busy(n.then):
		if n.loop.started != nil {
			f.readExpr(out, n.loop.started.Load())
			if n.loop.lo != nil {
				f.readExpr(out, n.loop.lo)
			}
			break
		}
		f.readExpr(out, n.loop.lo)
		f.readExpr(out, n.loop.hi)
	}
	return out
}

// restoring adds what is read to find a place that is restored.
func (f *flow) restoring(out state, w *write) {
	if w.window != nil {
		f.variable(out, w.window)
		return
	}
	f.readPath(out, w.place)
	if w.inverse != nil {
		f.readExpr(out, w.inverse)
		if v := w.whole(); v != nil {
			delete(out, version{v: v})
		}
	}
}

// reversing is what the reversal of a list of nodes, their blocks included, reads.
func (f *flow) reversing(list ...*node) state {
	out := state{}
	for i, n := range list {
		out = out.with(f.reversalReads(n))
		if c := n.callee; c != nil {
			out = out.with(f.b.calleeState(n, c.flow.exit, !c.analysed))
		}
		if n.left != nil && busy(list[i+1:]) {
			out[version{v: n.left}] = true
		}
		out = out.with(f.reversing(n.then...)).with(f.reversing(n.els...))
	}
	return out
}
