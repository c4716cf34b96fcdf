package adjoint

import (
	"github.com/nabla-ad/nabla/gen/ir"
)

// run goes through the function from a state at its beginning to the one at its end.
func (f *flow) recordFunc(entry locationSet) locationSet {
	labels := map[*ir.Label]locationSet{}
	end := f.recordBlock(f.b.body, entry, labels)
	return locationSet{}.merge(end).merge(labels[f.b.g.f.Exit])
}

// entry is what the reverse sweeps of callers may read.
func (f *flow) neededAtEntry() locationSet {
	out := locationSet{}
	if f.b.spec.mode != modeSplit { // nobody, or a loop that brings back all itself
		return out
	}
	for _, v := range f.b.g.f.Params {
		f.addReachable(out, v)
	}
	return out
}

// list goes through nodes from a state before them to the one behind, nil if control
// does not come there. What is at leaves is added to labels. The state before becomes the
// one behind: it is not used afterwards.
func (f *flow) recordBlock(list []*node, in locationSet, labels map[*ir.Label]locationSet) locationSet {
	if k := fusedAt(list); k >= 0 {
		return f.recordFused(list, k, in, labels)
	}
	for i, n := range list {
		if in == nil {
			return nil
		}
		in = f.recordStmt(n, in, labels)
		if in != nil && n.exited != nil && hasReversal(list[i+1:]) {
			f.addNeeded(in, locationSet{location{v: n.exited}: true})
		}
	}
	return in
}

// plus adds to a state what is read; variables that are computed again are not.
func (f *flow) addNeeded(s, reads locationSet) {
	for k := range reads {
		if k.v == nil || f.needed[k.v] {
			s[k] = true
		}
	}
}

func (f *flow) recordStmt(n *node, in locationSet, labels map[*ir.Label]locationSet) locationSet {
	leave := func(l *ir.Label, s locationSet) {
		if s != nil {
			labels[l] = labels[l].merge(s)
		}
	}
	outer := labels
	switch s := n.s.(type) {
	case *ir.If:
		if hasReversal(n.then) || hasReversal(n.els) {
			f.addNeeded(in, f.reversalReads(n))
		}
		a, b := f.recordBlock(n.then, in.union(nil), labels), f.recordBlock(n.els, in, labels)
		switch {
		case a == nil:
			return b
		case b == nil:
			return a
		}
		return a.merge(b)
	case *ir.Scope:
		leave(s.L, f.recordBlock(n.then, in, labels))
		return labels[s.L]
	case *ir.Loop:
		head := in
		for {
			labels = map[*ir.Label]locationSet{} // of leaves in the body
			leave(s.Next, f.recordBlock(n.then, head.union(nil), labels))
			if head.includes(labels[s.Next]) {
				break
			}
			head = head.merge(labels[s.Next])
		}
		head = f.afterKill(n, head)
		if s.V != nil {
			leave(s.L, head)
		}
		// The reversal of the loop comes first wherever it was left for.
		if hasReversal(n.then) {
			reads := f.reversalReads(n)
			for _, s := range labels {
				f.addNeeded(s, reads)
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
	return f.transfer(n, in)
}

// overwritten is the state behind a counted loop, where it is that at the beginning of an
// iteration besides: of memory that the loop sets all of, only what it sets is read.
func (f *flow) afterKill(n *node, head locationSet) locationSet {
	list := f.killedArrays(n)
	if len(list) == 0 {
		return head
	}
	covered := map[any]bool{}
	for _, v := range list {
		covered[f.class(v)] = true
	}
	less := locationSet{}
	for k := range head {
		if k.v != nil || !covered[k.class] || k.shadow {
			less[k] = true
		}
	}
	was := f.frozen
	f.frozen = true
	labels := map[*ir.Label]locationSet{}
	end := f.recordBlock(n.then, less.union(nil), labels)
	f.frozen = was
	return less.merge(end).merge(labels[n.s.(*ir.Loop).Next])
}

func (f *flow) transfer(n *node, in locationSet) locationSet {
	reads := f.adjointReads(n)
	if l, ok := n.s.(*ir.Let); ok && f.recomputed[l.V] {
		reads = reads.union(f.reads(ir.Block{l}))
		delete(reads, location{v: l.V})
	}
	if !n.usesResult {
		f.addNeeded(in, reads)
	}
	for _, w := range n.writes {
		if !f.frozen && !w.recorded && f.overwritesNeeded(in, w) {
			w.recorded, f.changed = true, true
		}
	}
	f.addNeeded(in, reads)
	for _, w := range n.writes {
		if w.recorded {
			s := locationSet{}
			f.addRestoreReads(s, w)
			f.addNeeded(in, s)
		}
	}
	out := in
	for _, w := range n.writes {
		v := w.whole()
		switch {
		case v == nil || n.usesResult && reads[location{v: v}]:
		case w.recorded && w.inverse != nil: // it is found from the new value
			out[location{v: v}] = true
		default:
			delete(out, location{v: v})
		}
	}
	if n.callee != nil {
		c := n.callee
		out = out.merge(f.b.instantiate(n, c.flow.neededAtExit, !c.analysed))
	}
	return out
}

// conflict reports whether a write destroys what is read later.
func (f *flow) overwritesNeeded(s locationSet, w *write) bool {
	if v := w.whole(); v != nil {
		if f.b.p.opts.KeepAll {
			return f.needed[v]
		}
		return s[location{v: v}]
	}
	if w.place != nil && !w.place.Indirect() {
		v := w.place.Root
		return s[location{v: v}] || f.b.p.opts.KeepAll && f.needed[v]
	}
	if f.b.p.opts.KeepAll {
		return true
	}
	root := w.slice
	if root == nil {
		root = w.place.Root
	}
	t := locationSet{}
	f.addMemory(t, root, w.valueType())
	for k := range t {
		if s[k] {
			return true
		}
	}
	return false
}
