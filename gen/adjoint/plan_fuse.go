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
	if f.b.p.opts.NoFuse || f.b.p.opts.KeepAll || f.b.seedsResultShadows() {
		return list
	}
	best, weight := -1, 0
	var order []*node
	for i, n := range list {
		if w := fusionBenefit(n); w > weight {
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
	n.privatized = f.privatizable(n.then)
	n.then = f.fuse(n.then)
	return order
}

// fusable reports whether loop i of a list can be fused, and in which order the list
// stands then.
func (f *flow) fusable(list []*node, i int) ([]*node, bool) {
	n := list[i]
	s, ok := n.s.(*ir.Loop)
	if !ok || s.V == nil || n.loop.entered != nil || n.exited != nil || !hasReversal(n.then) {
		return nil, false
	}
	for _, m := range list[:i] { // what follows may not be reached
		if m.exited != nil {
			return nil, false
		}
	}
	in := f.effects(n.then...)
	private := f.privatizable(n.then)
	for k := range in.writes {
		switch {
		case in.declares[k]:
		case k.v != nil:
			if f.b.active(k.v) || f.isShadow(k.v) {
				return nil, false
			}
		case private[k.class]:
		case k.shadow || f.activeClass[k.class]:
			return nil, false
		}
	}
	for k := range in.accumulates {
		if in.declares[k] || k.v == nil && private[k.class] {
			continue
		}
		if in.reads[k] || in.writes[k] {
			return nil, false
		}
	}
	// What follows and has nothing to do with the loop, nor with its reversal, comes before
	// it.
	before := append([]*node(nil), list[:i]...)
	var behind []*node
	loop := f.effects(n)
	done := loop.modified()
	touched := done.union(loop.reads).union(f.allReversalReads(n))
	reached := true // whatever way is taken
	for _, m := range list[i+1:] {
		a := f.effects(m)
		w := a.modified()
		if reached && !m.linked && !containsExit(m) && !a.reads.intersects(done) && !w.intersects(touched) {
			before = append(before, m)
			continue
		}
		reached = reached && !mayExit(m)
		behind = append(behind, m)
		done, touched = done.union(w), touched.union(w).union(a.reads).union(f.allReversalReads(m))
	}
	remembers := false
	each(behind, func(m *node) { remembers = remembers || m.callee != nil && m.callee.usesTape() })
	if remembers || f.allReversalReads(behind...).intersects(done) {
		return nil, false
	}
	for k := range f.effects(behind...).reads { // private memory is not what it was
		if k.v == nil && private[k.class] {
			return nil, false
		}
	}
	order := append(before, n)
	return append(order, behind...), true
}

// seededLate reports whether adjoints come when the function is at its end: those of a
// slice that it gives, wherever that leads then.
func (b *builder) seedsResultShadows() bool {
	for i, r := range b.g.f.Results {
		if b.facts.Results.Has(i) && leadsToFloats(r.Type) {
			return true
		}
	}
	return false
}

// weigh is how much there is in a loop, loops in it more.
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

// fused goes through a list with a loop that is fused. The loop must not destroy what is
// read when what stands before it is reversed.
func (f *flow) recordFused(list []*node, k int, in locationSet, labels map[*ir.Label]locationSet) locationSet {
	n := list[k]
	if in = f.recordBlock(list[:k], in, labels); in == nil {
		return nil
	}
	own := f.effects(n.then...).declares
	each(list[k:], func(m *node) {
		for _, w := range m.writes {
			if v := w.whole(); v != nil && own[location{v: v}] {
				continue
			}
			if !f.frozen && f.overwritesNeeded(in, w) {
				f.unfuse(n)
			}
		}
	})
	f.recordBlock(n.then, locationSet{}, map[*ir.Label]locationSet{})
	each(n.then, func(m *node) {
		for _, w := range m.writes {
			if w.recorded && !f.restorable(n, own, w) {
				f.unfuse(n)
			}
		}
	})
	return in
}

// restorable reports whether the next iteration does not mind that a write is undone.
func (f *flow) restorable(n *node, own locationSet, w *write) bool {
	if w.place != nil && !w.place.Indirect() {
		return own[location{v: w.place.Root}]
	}
	root := w.slice
	if root == nil {
		root = w.place.Root
	}
	c := f.class(root)
	if n.privatized[c] {
		return true
	}
	a := f.allocSites[c]
	return a != nil && !a.multiple && a.variable != nil && own[location{v: a.variable}]
}

// unfuse has the sweeps of a loop run apart, and so those of the loops in it.
func (f *flow) unfuse(n *node) {
	if n.fused {
		f.changed = true
		each([]*node{n}, func(m *node) { m.fused = false })
	}
}
