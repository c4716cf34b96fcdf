package adjoint

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// reverse writes the reverse sweep of a block: what is behind a statement that may have
// been left for somewhere else is reversed if it was not.
func (e *emitter) reverse(list []*node) ir.Block {
	if !busy(list) {
		return nil
	}
	var head, tail ir.Block
	k := fusedAt(list)
	if k >= 0 { // the rest is reversed already
		list = list[:k]
	}
	for i, n := range list {
		if n.left != nil && busy(list[i+1:]) {
			rest := e.reverse(list[i+1:])
			tail = ir.Block{&ir.If{At: n.at, Cond: n.left.Load(), Else: rest}}
			list = list[:i+1]
			break
		}
	}
	for _, n := range list {
		l, ok := n.s.(*ir.Let)
		if !ok {
			continue
		}
		if e.b.flow.reruns[l.V] {
			head = append(head, &ir.Let{At: n.at, V: e.renamed(l.V), E: l.E})
		}
		if !e.early[l.V] && e.b.carries(l.V) && e.b.twins[l.V] == nil {
			head = append(head, &ir.Let{At: n.at, V: e.b.own(l.V)})
		}
	}
	out := append(head, tail...)
	for i := len(list) - 1; i >= 0; i-- {
		out = append(out, e.undo(list[i])...)
	}
	return out
}

func (e *emitter) renamed(v *ir.Var) *ir.Var {
	w := e.b.g.local(v.Name, v.Type)
	e.fresh[v] = w
	return w
}

func (e *emitter) undo(n *node) (out ir.Block) {
	switch s := n.s.(type) {
	case *ir.If:
		then, els := e.reverse(n.then), e.reverse(n.els)
		if len(then)+len(els) > 0 {
			out = append(out, &ir.If{At: n.at, Cond: n.cond.Load(), Then: then, Else: els})
		}
		return out
	case *ir.Scope:
		return e.reverse(n.then)
	case *ir.Loop:
		return e.backwards(n, s)
	}
	var restored ir.Block
	for i := len(n.writes) - 1; i >= 0; i-- {
		if w := n.writes[i]; w.keep {
			restored = append(restored, e.restore(n.at, w)...)
		}
	}
	out = append(out, e.recycled(n.pre)...)
	post := e.recycled(n.post)
	if n.late {
		return append(append(out, post...), restored...)
	}
	return append(append(out, restored...), post...)
}

// backwards is the reverse of a loop.
func (e *emitter) backwards(n *node, s *ir.Loop) ir.Block {
	body := e.reverse(n.then)
	if len(body) == 0 {
		return nil
	}
	names := e.b.g.names
	if n.loop.started == nil && basicKind(s.V.Type) == types.Int {
		v := e.renamed(s.V)
		free := s.Step == 1 && anyOrder(body, e.b.flow.isShadow)
		e.b.p.matter.NoOrder = e.b.p.matter.NoOrder || free
		if free && !e.b.p.opts.NoOrder {
			return ir.Block{upward(names, n.at, v, n.loop.lo, n.loop.hi, body)}
		}
		switch s.Step {
		case 1:
			return ir.Block{downward(names, n.at, v, n.loop.lo, n.loop.hi, body)}
		case -1:
			return ir.Block{upward(names, n.at, v, plus1(n.loop.hi), plus1(n.loop.lo), body)}
		}
	}
	var out ir.Block
	k := e.b.g.local("k", integer)
	var many ir.Expr
	if n.loop.started != nil {
		many = n.loop.started.Load()
	} else {
		m := e.b.g.local("n", integer)
		out = append(out, e.iterations(n, s, m)...)
		many = m.Load()
	}
	if s.V != nil {
		v := e.renamed(s.V)
		t := s.V.Type
		by := binary(t, opMul, convert(t, k.Load()), integerOf(t, s.Step))
		body = append(ir.Block{&ir.Let{At: n.at, V: v, E: binary(t, opAdd, n.loop.lo, by)}}, body...)
	}
	return append(out, downward(names, n.at, k, count(0), many, body))
}

// iterations computes how often a counted loop runs.
func (e *emitter) iterations(n *node, s *ir.Loop, m *ir.Var) ir.Block {
	t := s.V.Type
	lo, hi, by := n.loop.lo, n.loop.hi, s.Step
	cond := compare(opLss, lo, hi)
	if by < 0 {
		lo, hi, by = hi, lo, -by
		cond = compare(opLss, lo, hi)
	}
	// The first of the numbers that the last one may be away from the bound is left out.
	span := binary(t, opSub, binary(t, opSub, hi, lo), integerOf(t, 1))
	some := binary(integer, opAdd, convert(integer, binary(t, opQuo, span, integerOf(t, by))), count(1))
	return ir.Block{
		&ir.Let{At: n.at, V: m},
		&ir.If{At: n.at, Cond: cond, Then: ir.Block{&ir.Set{At: n.at, P: m.Place(), E: some}}},
	}
}

// rename gives variables that are made again in the reverse sweep names of their own.
func (e *emitter) rename(b ir.Block) ir.Block {
	m := &ir.Map{Var: ir.Renaming(e.fresh)}
	return m.Block(b)
}

func (e *emitter) declare(list []*ir.Var) (out ir.Block) {
	for _, v := range list {
		out = append(out, &ir.Let{At: e.at, V: v})
	}
	return out
}

// raised are the variables that are declared before a list of nodes, in the order of the
// function.
func (e *emitter) raised(list []*node) (out []*ir.Var) {
	for _, n := range list {
		if l, ok := n.s.(*ir.Let); ok && e.raise[l.V] {
			out = append(out, l.V)
		}
		if !n.fused {
			out = append(out, e.raised(n.then)...)
			out = append(out, e.raised(n.els)...)
		}
	}
	return out
}

// fusedLoop is a loop whose iterations run forward and back.
func (e *emitter) fusedLoop(n *node) ir.Stmt {
	s := *n.s.(*ir.Loop)
	e.depth++
	body := e.forward(n.then)
	e.depth--
	if ir.LeavesBeyond(body) {
		end := &ir.Label{Name: e.b.g.names.Name("end")}
		m := &ir.Map{Label: func(l *ir.Label) *ir.Label {
			if l == s.Next {
				return end
			}
			return l
		}}
		body = ir.Block{&ir.Scope{At: n.at, L: end, Body: m.Block(body)}}
	}
	body = append(e.declare(e.raised(n.then)), body...)
	s.Body = append(body, e.rename(e.reverse(n.then))...)
	return &s
}

// around makes a scope of the forward sweep, whose returns go to its end.
func (e *emitter) around(body ir.Block) ir.Block {
	exit := e.b.g.f.Exit
	if !ir.LeavesBeyond(body) {
		return body
	}
	end := &ir.Label{Name: e.b.g.names.Name("end")}
	m := &ir.Map{Label: func(l *ir.Label) *ir.Label {
		if l == exit {
			return end
		}
		return l
	}}
	return ir.Block{&ir.Scope{At: e.at, L: end, Body: m.Block(body)}}
}
