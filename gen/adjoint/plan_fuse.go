package adjoint

import (
	"github.com/nabla-ad/nabla/gen/ir"
)

// A loop is fused if its iterations are reversed at once, each behind itself. That can be
// done where no iteration needs what a later one gives it back: what iterations leave to
// others and to what follows are sums, and memory that each sets before it reads it. What
// follows the loop is reversed before the loop is run, which can be done where its
// reversal reads nothing that the loop or it itself computes.

// fuse chooses the loops that are fused among nodes that nothing follows, and moves what
// follows them and does not need them in front of them.
func (f *flow) fuse(list []*node) []*node {
	if f.b.p.opts.NoFuse || f.b.p.opts.KeepAll || f.b.seededLate() {
		return list
	}
	best, weight := -1, 0
	var order []*node
	for i, n := range list {
		if w := weigh(n); w > weight {
			if l, ok := f.fusable(list, i); ok {
				best, weight, order = i, w, l
			}
		}
	}
	if best < 0 {
		if k := len(list) - 1; k >= 0 {
			if _, ok := list[k].s.(*ir.If); ok {
				list[k].then, list[k].els = f.fuse(list[k].then), f.fuse(list[k].els)
			}
		}
		return list
	}
	f.b.p.matter.NoFuse = true
	n := list[best]
	n.fused = true
	n.private = f.private(n.then)
	n.then = f.fuse(n.then)
	return order
}

// fusable reports whether loop i of a list can be fused, and in which order the list
// stands then.
func (f *flow) fusable(list []*node, i int) ([]*node, bool) {
	n := list[i]
	s, ok := n.s.(*ir.Loop)
	if !ok || s.V == nil || n.loop.started != nil || n.left != nil || !busy(n.then) {
		return nil, false
	}
	for _, m := range list[:i] { // what follows may not be reached
		if m.left != nil {
			return nil, false
		}
	}
	in := f.accesses(n.then...)
	private := f.private(n.then)
	for k := range in.sets {
		switch {
		case in.own[k]:
		case k.v != nil:
			if f.b.active(k.v) || f.isShadow(k.v) {
				return nil, false
			}
		case private[k.class]:
		case k.shadow || f.activeClass[k.class]:
			return nil, false
		}
	}
	for k := range in.adds {
		if in.own[k] || k.v == nil && private[k.class] {
			continue
		}
		if in.reads[k] || in.sets[k] {
			return nil, false
		}
	}
	// What follows and has nothing to do with the loop, nor with its reversal, comes before
	// it.
	before := append([]*node(nil), list[:i]...)
	var behind []*node
	loop := f.accesses(n)
	done := loop.writes()
	touched := done.with(loop.reads).with(f.reversing(n))
	reached := true // whatever way is taken
	for _, m := range list[i+1:] {
		a := f.accesses(m)
		w := a.writes()
		if reached && !m.coupled && !leavesIn(m) && !a.reads.meets(done) && !w.meets(touched) {
			before = append(before, m)
			continue
		}
		reached = reached && !leavesList(m)
		behind = append(behind, m)
		done, touched = done.with(w), touched.with(w).with(a.reads).with(f.reversing(m))
	}
	remembers := false
	each(behind, func(m *node) { remembers = remembers || m.callee != nil && m.callee.remembers() })
	if remembers || f.reversing(behind...).meets(done) {
		return nil, false
	}
	for k := range f.accesses(behind...).reads { // private memory is not what it was
		if k.v == nil && private[k.class] {
			return nil, false
		}
	}
	order := append(before, n)
	return append(order, behind...), true
}

// seededLate reports whether adjoints come when the function is at its end: those of a
// slice that it gives, wherever that leads then.
func (b *builder) seededLate() bool {
	for i, r := range b.g.f.Results {
		if b.facts.Results.Has(i) && leads(r.Type) {
			return true
		}
	}
	return false
}

// weigh is how much there is in a loop, loops in it more.
func weigh(n *node) int {
	if n.loop == nil {
		return 0
	}
	w := 1
	for _, m := range n.then {
		w += 1 + 20*weigh(m)
	}
	return w
}

// fused goes through a list with a loop that is fused. The loop must not destroy what is
// read when what stands before it is reversed.
func (f *flow) fused(list []*node, k int, in state, labels map[*ir.Label]state) state {
	n := list[k]
	if in = f.list(list[:k], in, labels); in == nil {
		return nil
	}
	own := f.accesses(n.then...).own
	each(list[k:], func(m *node) {
		for _, w := range m.writes {
			if v := w.whole(); v != nil && own[version{v: v}] {
				continue
			}
			if !f.frozen && f.conflict(in, w) {
				f.unfuse(n)
			}
		}
	})
	f.list(n.then, state{}, map[*ir.Label]state{})
	each(n.then, func(m *node) {
		for _, w := range m.writes {
			if w.keep && !f.restorable(n, own, w) {
				f.unfuse(n)
			}
		}
	})
	return in
}

// restorable reports whether the next iteration does not mind that a write is undone.
func (f *flow) restorable(n *node, own state, w *write) bool {
	if w.place != nil && !w.place.Indirect() {
		return own[version{v: w.place.Root}]
	}
	root := w.window
	if root == nil {
		root = w.place.Root
	}
	c := f.class(root)
	if n.private[c] {
		return true
	}
	a := f.made[c]
	return a != nil && !a.others && a.v != nil && own[version{v: a.v}]
}

// unfuse has the sweeps of a loop run apart, and so those of the loops in it.
func (f *flow) unfuse(n *node) {
	if n.fused {
		f.changed = true
		each([]*node{n}, func(m *node) { m.fused = false })
	}
}
