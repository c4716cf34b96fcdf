package adjoint

import (
	"github.com/nabla-ad/nabla/gen/ir"
)

// run goes through the function from a state at its beginning to the one at its end.
func (f *flow) run(entry state) state {
	labels := map[*ir.Label]state{}
	end := f.list(f.b.body, entry, labels)
	return state{}.join(end).join(labels[f.b.g.f.Exit])
}

// entry is what the reverse sweeps of callers may read.
func (f *flow) entry() state {
	out := state{}
	if f.b.key.mode != split { // nobody, or a loop that brings back all itself
		return out
	}
	for _, v := range f.b.g.f.Params {
		f.reachable(out, v)
	}
	return out
}

// list goes through nodes from a state before them to the one behind, nil if control
// does not come there. What is at leaves is added to labels. The state before becomes the
// one behind: it is not used afterwards.
func (f *flow) list(list []*node, in state, labels map[*ir.Label]state) state {
	if k := fusedAt(list); k >= 0 {
		return f.fused(list, k, in, labels)
	}
	for i, n := range list {
		if in == nil {
			return nil
		}
		in = f.node(n, in, labels)
		if in != nil && n.left != nil && busy(list[i+1:]) {
			f.plus(in, state{version{v: n.left}: true})
		}
	}
	return in
}

// plus adds to a state what is read; variables that are computed again are not.
func (f *flow) plus(s, reads state) {
	for k := range reads {
		if k.v == nil || f.wanted[k.v] {
			s[k] = true
		}
	}
}

func (f *flow) node(n *node, in state, labels map[*ir.Label]state) state {
	leave := func(l *ir.Label, s state) {
		if s != nil {
			labels[l] = labels[l].join(s)
		}
	}
	outer := labels
	switch s := n.s.(type) {
	case *ir.If:
		if busy(n.then) || busy(n.els) {
			f.plus(in, f.reversalReads(n))
		}
		a, b := f.list(n.then, in.with(nil), labels), f.list(n.els, in, labels)
		switch {
		case a == nil:
			return b
		case b == nil:
			return a
		}
		return a.join(b)
	case *ir.Scope:
		leave(s.L, f.list(n.then, in, labels))
		return labels[s.L]
	case *ir.Loop:
		head := in
		for {
			labels = map[*ir.Label]state{} // of leaves in the body
			leave(s.Next, f.list(n.then, head.with(nil), labels))
			if head.covers(labels[s.Next]) {
				break
			}
			head = head.join(labels[s.Next])
		}
		head = f.overwritten(n, head)
		if s.V != nil {
			leave(s.L, head)
		}
		// The reversal of the loop comes first wherever it was left for.
		if busy(n.then) {
			reads := f.reversalReads(n)
			for _, s := range labels {
				f.plus(s, reads)
			}
		}
		for l, more := range labels {
			if l != s.L && l != s.Next {
				outer[l] = outer[l].join(more)
			}
		}
		return labels[s.L]
	case *ir.Leave:
		leave(s.L, in)
		return nil
	case *ir.Panic:
		return nil
	}
	return f.simple(n, in)
}

// overwritten is the state behind a counted loop, where it is that at the beginning of an
// iteration besides: of memory that the loop sets all of, only what it sets is read.
func (f *flow) overwritten(n *node, head state) state {
	list := f.covers(n)
	if len(list) == 0 {
		return head
	}
	covered := map[any]bool{}
	for _, v := range list {
		covered[f.class(v)] = true
	}
	less := state{}
	for k := range head {
		if k.v != nil || !covered[k.class] || k.shadow {
			less[k] = true
		}
	}
	was := f.frozen
	f.frozen = true
	labels := map[*ir.Label]state{}
	end := f.list(n.then, less.with(nil), labels)
	f.frozen = was
	return less.join(end).join(labels[n.s.(*ir.Loop).Next])
}

func (f *flow) simple(n *node, in state) state {
	reads := f.ownReads(n)
	if l, ok := n.s.(*ir.Let); ok && f.reruns[l.V] {
		reads = reads.with(f.reads(ir.Block{l}))
		delete(reads, version{v: l.V})
	}
	if !n.late {
		f.plus(in, reads)
	}
	for _, w := range n.writes {
		if !f.frozen && !w.keep && f.conflict(in, w) {
			w.keep, f.changed = true, true
		}
	}
	f.plus(in, reads)
	for _, w := range n.writes {
		if w.keep {
			s := state{}
			f.restoring(s, w)
			f.plus(in, s)
		}
	}
	out := in
	for _, w := range n.writes {
		v := w.whole()
		switch {
		case v == nil || n.late && reads[version{v: v}]:
		case w.keep && w.inverse != nil: // it is found from the new value
			out[version{v: v}] = true
		default:
			delete(out, version{v: v})
		}
	}
	if n.callee != nil {
		c := n.callee
		out = out.join(f.b.calleeState(n, c.flow.exit, !c.analysed))
	}
	return out
}

// conflict reports whether a write destroys what is read later.
func (f *flow) conflict(s state, w *write) bool {
	if v := w.whole(); v != nil {
		if f.b.p.opts.KeepAll {
			return f.wanted[v]
		}
		return s[version{v: v}]
	}
	if w.place != nil && !w.place.Indirect() {
		v := w.place.Root
		return s[version{v: v}] || f.b.p.opts.KeepAll && f.wanted[v]
	}
	if f.b.p.opts.KeepAll {
		return true
	}
	root := w.window
	if root == nil {
		root = w.place.Root
	}
	t := state{}
	f.memory(t, root, w.t())
	for k := range t {
		if s[k] {
			return true
		}
	}
	return false
}
