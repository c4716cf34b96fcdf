package adjoint

import (
	"slices"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/simplify"
)

// Of builds the adjoint of f with the parameters in m active.
func (p *Program) Of(f *ir.Func, m activity.Mask) (a *Adjoint, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			a, err = nil, e
		}
	}()
	g := p.prepare(f)
	facts, err := p.activity.Of(g.f, m)
	if err != nil {
		return nil, err
	}
	b := p.builder(key{g, facts, p.overlap(g.f), joint})
	reached := b.reach()
	for _, c := range p.order {
		if c != b && slices.Contains(reached, c) {
			p.emit(c)
		}
	}
	a = b.joint(f)
	a.Plan = b.plan()
	p.matter.KeepAll, p.matter.NoSimplify, p.matter.Overlap = true, true, true
	a.Matter = p.matter
	p.simplify(a.Func, b)
	return a, nil
}

// analyse makes the nodes and decides what is kept and what is computed again.
func (b *builder) analyse() {
	f := b.flow0()
	b.body = b.nodes(b.g.f.Body)
	f.writes, f.index, f.written = map[*ir.Var]int{}, map[*ir.Var]bool{}, state{}
	f.lets, f.activeClass = map[*ir.Var]*ir.Let{}, map[any]bool{}
	for _, v := range b.g.f.Params {
		f.writes[v] = 0
		if b.leads(v) {
			f.activeClass[f.class(v)] = true
			f.writes[b.of(v)] = 0
		}
	}
	for _, v := range b.g.f.Results {
		f.writes[v] = 1
		if b.leads(v) { // no loop is fused then, see seededLate
			f.writes[b.of(v)] = 1
		}
	}
	each(b.body, func(n *node) {
		n.writes = writesOf(n)
		switch s := n.s.(type) {
		case *ir.Loop:
			if s.V != nil {
				f.index[s.V] = true
			}
		case *ir.Let:
			f.lets[s.V] = s
			if b.leads(s.V) {
				f.activeClass[f.class(s.V)] = true
			}
		}
		for _, w := range n.writes {
			if b.p.opts.NoInverse {
				w.inverse = nil
			}
			if w.window != nil {
				f.memory(f.written, w.window, w.t())
				continue
			}
			if w.place.Indirect() {
				f.memory(f.written, w.place.Root, w.t())
			} else {
				f.writes[w.place.Root]++
			}
		}
		if n.callee != nil {
			for k := range b.calleeState(n, n.callee.flow.written, !n.callee.analysed) {
				f.written[k] = true
			}
		}
	})
	f.declared(b.body)
	f.allocations()
	if b.key.mode == joint || b.key.mode == together {
		b.body = f.fuse(b.body)
	}
	if b.key.mode == onward { // nothing is reversed
		f.wanted, f.reruns, f.exit, b.analysed = map[*ir.Var]bool{}, map[*ir.Var]bool{}, state{}, true
		return
	}
	for {
		f.changed = false
		f.decide(b.body, 0)
		f.run(f.entry())
		if !f.changed {
			break
		}
	}
	f.exit = f.run(state{})
	each(b.body, func(n *node) {
		for _, w := range n.writes {
			b.p.matter.NoInverse = b.p.matter.NoInverse || w.keep && w.inverse != nil
		}
	})
	b.analysed = true
}

// emit writes the functions of b.
func (p *Program) emit(b *builder) {
	if b.emitted {
		return
	}
	b.emitted = true
	if b.key.mode == onward || b.key.mode == chained {
		for _, c := range b.reach()[1:] { // how much of the workspace they use has to be known
			p.emit(c)
		}
	}
	switch b.key.mode {
	case split:
		b.split()
		p.simplify(b.fwd, b)
		p.simplify(b.rev, b)
	case onward:
		b.run()
		p.simplify(b.fwd, b)
	case together:
		b.together()
		p.simplify(b.rev, b)
	case chained:
		b.forwardChain()
		b.reverseChain()
		p.simplify(b.fwd, b)
		p.simplify(b.rev, b)
	}
}

// simplify makes a function that b has built fast. Its parameters may lead to the same
// memory only where the key says so.
func (p *Program) simplify(f *ir.Func, b *builder) {
	if p.opts.NoSimplify {
		return
	}
	adjoint := map[string]bool{} // the variables are copies
	for _, vars := range []map[*ir.Var]*ir.Var{b.shadow, b.bars} {
		for _, v := range vars {
			adjoint[v.Name] = true
		}
	}
	simplify.Adjoint(f, p.work.pkg, b.key.alias == "", f.Params[len(f.Params)-1],
		func(v *ir.Var) bool { return adjoint[v.Name] })
}

// overlap joins all parameters that lead to memory, if they may overlap.
func (p *Program) overlap(f *ir.Func) string {
	if !p.opts.Overlap {
		return ""
	}
	all := ""
	for i, v := range f.Params {
		if activity.HasRefs(v.Type) {
			all += string(rune('a' + i))
		}
	}
	return all
}
