package adjoint

import (
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// decide finds out which variables the reverse sweep reads and which of them it computes
// again. Depth is that of loops around, and 0 where variables live on into the reverse
// sweep.
func (f *flow) decide(list []*node, depth int) {
	f.deps, f.wanted, f.reruns = map[*ir.Var]*node{}, map[*ir.Var]bool{}, map[*ir.Var]bool{}
	if f.b.key.mode == split {
		depth++
	}
	f.candidates(list, depth)
	f.wants(list)
}

func (f *flow) candidates(list []*node, depth int) {
	for _, n := range list {
		inner := depth
		switch {
		case n.fused:
			inner = 0
		case n.loop != nil:
			inner++
		}
		if l, ok := n.s.(*ir.Let); ok && depth > 0 && !f.b.p.opts.NoRerun && l.E != nil && f.writes[l.V] == 1 {
			if cost, ok := f.cheap(l.E); ok && cost <= limit {
				f.deps[l.V] = n
			}
		}
		f.candidates(n.then, inner)
		f.candidates(n.els, inner)
	}
}

// limit is up to how many operations are done again rather than kept.
const limit = 6

// cheap reports whether e can be computed again at any later time of the iteration it
// stands in, and with how many operations.
func (f *flow) cheap(e ir.Expr) (cost int, ok bool) {
	ok = true
	ir.WalkExpr(e, func(e ir.Expr) bool {
		switch e := e.(type) {
		case *ir.Math:
			if e.Name != "min" && e.Name != "max" && e.Name != "math.Abs" {
				cost += limit
			}
			cost++
		case *ir.Binary:
			if e.Op == token.QUO || e.Op == token.REM {
				cost += 3
			}
			cost++
		case *ir.Unary, *ir.Convert:
			cost++
		case *ir.Load:
			ok = ok && f.steady(e.P, true)
			if _, aggregate := e.T.Underlying().(*types.Array); aggregate {
				cost += limit
			}
		case *ir.Make, *ir.New, *ir.Literal, *ir.Opaque:
			ok = false
		case *ir.Addr:
			ok = ok && f.steady(e.P, false)
		case *ir.SliceAt:
			ok = ok && f.steady(e.P, false)
		}
		return ok
	})
	return cost, ok
}

// steady reports whether the place that p is does not change while the variable does not,
// and with content nor does what stands there.
func (f *flow) steady(p *ir.Place, content bool) bool {
	v := p.Root
	if v.Kind == ir.Global || f.index[v] {
		return true
	}
	n, known := f.writes[v]
	if !known || n > 1 || n == 1 && v.Kind == ir.Param || v.Kind == ir.Result {
		return false
	}
	s := state{}
	f.readPath(s, p)
	if content && p.Indirect() {
		f.memory(s, v, p.Type())
	}
	for k := range s {
		if k.v == nil && f.written[k] {
			return false
		}
	}
	return true
}

// wants finds the variables that are read, all nodes together.
func (f *flow) wants(list []*node) {
	var read func(s state)
	read = func(s state) {
		for k := range s {
			if k.v == nil || f.reruns[k.v] {
				continue
			}
			if n := f.deps[k.v]; n != nil {
				f.reruns[k.v] = true
				f.b.p.matter.NoRerun = true
				read(f.reads(ir.Block{n.s}))
				continue
			}
			f.wanted[k.v] = true
		}
	}
	var visit func(list []*node)
	visit = func(list []*node) {
		for i, n := range list {
			read(f.reversalReads(n))
			visit(n.then)
			visit(n.els)
			if n.left != nil && busy(list[i+1:]) {
				read(f.reads(ir.Block{&ir.Panic{E: n.left.Load()}}))
			}
		}
	}
	visit(list)
}

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
