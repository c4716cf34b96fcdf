package adjoint

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// emitter writes the sweeps of an analysed function.
type emitter struct {
	b     *builder
	at    ir.At
	top   ir.Block // declarations of what both sweeps know, in a function of both
	fresh map[*ir.Var]*ir.Var
	local bool             // both sweeps are in one function
	depth int              // of loops around
	raise map[*ir.Var]bool // variables that are declared at the top
	// results are the variables that stand for results in a function of both sweeps.
	results map[*ir.Var]*ir.Var
	// early are the variables whose adjoints are there before the forward sweep ends.
	early map[*ir.Var]bool
}

func (b *builder) emitter() *emitter {
	e := &emitter{b: b, at: ir.At{Pos: b.g.f.Pos}, fresh: map[*ir.Var]*ir.Var{},
		local: b.key.mode == joint || b.key.mode == together, raise: map[*ir.Var]bool{}, results: map[*ir.Var]*ir.Var{},
		early: map[*ir.Var]bool{}}
	each(b.body, func(n *node) {
		for _, w := range n.writes {
			if l, ok := n.s.(*ir.Let); ok && b.flow.wanted[l.V] {
				e.raise[l.V] = true
			}
			if w.keep && w.whole() != nil {
				e.raise[w.whole()] = true
			}
		}
	})
	if e.local && !b.p.opts.KeepAll && !ir.LeavesBeyond(b.g.f.Body) {
		e.lower(b.body)
	}
	each(b.body, func(n *node) {
		if n.fused && !leavesIn(n) {
			e.lower(n.then)
		}
	})
	for _, v := range b.g.f.Params {
		delete(e.raise, v)
	}
	for _, v := range b.g.f.Results {
		delete(e.raise, v)
	}
	e.slots(b.body, 0)
	e.adjoints(b.body)
	return e
}

// adjoints declares, at the top, the adjoints of variables around loops that are fused.
func (e *emitter) adjoints(list []*node) {
	if !anyFused(list) {
		return
	}
	k := fusedAt(list)
	head := list
	if k >= 0 {
		head = list[:k]
		e.adjoints(list[k].then)
	}
	for _, n := range head {
		if l, ok := n.s.(*ir.Let); ok && e.b.carries(l.V) && e.b.twins[l.V] == nil {
			e.early[l.V] = true
			e.top = append(e.top, &ir.Let{At: n.at, V: e.b.own(l.V)})
		}
		e.adjoints(n.then)
		e.adjoints(n.els)
	}
}

// lower declares variables where they are: the reverse sweep stands in the same block.
func (e *emitter) lower(list []*node) {
	for _, n := range list {
		if l, ok := n.s.(*ir.Let); ok {
			delete(e.raise, l.V)
		}
	}
}

// slots chooses where old values are kept: in a variable where there is one at most, and
// in frames where several are kept together.
func (e *emitter) slots(list []*node, depth int) {
	var run []*write
	for _, n := range list {
		for _, w := range n.writes {
			if !w.keep || w.inverse != nil {
				continue
			}
			local := e.local && depth == 0 && w.window == nil
			e.b.p.matter.NoLocals = e.b.p.matter.NoLocals || local
			if local && !e.b.p.opts.NoLocals {
				w.saved = e.b.g.local("old", w.t())
				e.top = append(e.top, &ir.Let{At: n.at, V: w.saved})
				continue
			}
			base := baseName(w)
			if e.framable(w) {
				run = append(run, w)
				continue
			}
			w.slot = e.stack(base, w.t())
		}
		if n.left != nil || n.fused || callsInside(n) {
			e.frame(run)
			run = nil
		}
		inner := depth
		switch {
		case n.fused:
			inner = 0
		case n.loop != nil:
			inner++
		}
		e.slots(n.then, inner)
		e.slots(n.els, inner)
	}
	e.frame(run)
}

// baseName is what a slot for a write is named after.
func baseName(w *write) string {
	switch {
	case w.place != nil:
		return w.place.Root.Name
	case w.window != nil:
		return w.window.Name
	}
	return "kept"
}

// stack is a new stack of the workspace.
func (e *emitter) stack(base string, t types.Type) *stack {
	s := stack{ws: e.b.ws, field: e.b.p.work.stack(base, t), of: t}
	e.b.stacks = append(e.b.stacks, s)
	return &s
}

// forward writes the forward sweep.
func (e *emitter) forward(list []*node) (out ir.Block) {
	if k := fusedAt(list); k >= 0 {
		head, tail := list[:k:k], list[k+1:]
		out = e.forward(head)
		out = append(out, e.rename(e.reverse(tail))...)
		out = append(out, e.fusedLoop(list[k]))
		return append(out, e.forward(tail)...)
	}
	for _, n := range list {
		for _, w := range n.writes {
			if w.keep {
				out = append(out, e.keep(n.at, w)...)
			}
		}
		switch s := n.s.(type) {
		case nil:
		case *ir.If:
			out = append(out, &ir.If{At: s.At, Cond: s.Cond, Then: e.forward(n.then), Else: e.forward(n.els)})
		case *ir.Scope:
			out = append(out, &ir.Scope{At: s.At, L: s.L, Body: e.forward(n.then)})
		case *ir.Loop:
			loop := *s
			e.depth++
			loop.Body = e.forward(n.then)
			e.depth--
			out = append(out, &loop)
		case *ir.Let:
			if e.early[s.V] {
				out = append(out, &ir.Set{At: n.at, P: e.b.own(s.V).Place(), E: zeroOf(s.V.Type)})
			}
			if isNew(s.E) && !e.b.flow.escapes(s.V) && e.recycles() {
				out = append(out, e.memory(s.At, s.V, s.E, !e.raise[s.V], !e.local || e.depth > 0)...)
				break
			}
			if !e.raise[s.V] {
				out = append(out, s)
				break
			}
			v := s.E
			if v == nil {
				v = zero(s.V.Type)
			}
			out = append(out, &ir.Set{At: s.At, P: s.V.Place(), E: v})
		default:
			out = append(out, s)
		}
	}
	return out
}

func (e *emitter) keep(at ir.At, w *write) []ir.Stmt {
	switch {
	case w.inverse != nil:
		return nil
	case w.saved != nil:
		return []ir.Stmt{&ir.Set{At: at, P: w.saved.Place(), E: load(w.place, w.t())}}
	case w.frame != nil:
		return w.frame.keep(e.b.g, at, w)
	case w.window == nil:
		return []ir.Stmt{w.slot.push(at, load(w.place, w.t()))}
	}
	i := e.b.g.local("i", integer)
	body := ir.Block{w.slot.push(at, load(step(w.window.Place(), ir.IndexStep(i.Load())), w.t()))}
	return []ir.Stmt{upward(e.b.g.names, at, i, count(0), length(w.window.Load()), body)}
}

func (e *emitter) restore(at ir.At, w *write) []ir.Stmt {
	switch {
	case w.inverse != nil:
		return []ir.Stmt{&ir.Set{At: at, P: w.place, E: w.inverse}}
	case w.saved != nil:
		return []ir.Stmt{&ir.Set{At: at, P: w.place, E: w.saved.Load()}}
	case w.frame != nil:
		return w.frame.restore(e.b.g, at, w)
	case w.window == nil:
		return w.slot.pop(at, w.place)
	}
	i := e.b.g.local("i", integer)
	body := ir.Block(w.slot.pop(at, step(w.window.Place(), ir.IndexStep(i.Load()))))
	return []ir.Stmt{downward(e.b.g.names, at, i, count(0), length(w.window.Load()), body)}
}
