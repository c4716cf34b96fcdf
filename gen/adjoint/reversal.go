package adjoint

import (
	"fmt"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// nodes makes the forward sweep of statements.
func (b *builder) nodes(in ir.Block) (out []*node) {
	for _, s := range in {
		list := b.stmt(s)
		out = append(out, b.pending...)
		b.pending = nil
		out = append(out, list...)
	}
	return out
}

func (b *builder) stmt(s ir.Stmt) []*node {
	at := ir.At{Pos: s.Position()}
	b.at = at
	switch s := s.(type) {
	case *ir.Let:
		return b.let(s)
	case *ir.Set:
		return b.set(s)
	case *ir.Add:
		n := &node{s: s, at: at}
		if b.active(s.P.Root) {
			w := b.writer(s)
			bar := b.bar(s.P)
			w.float(s.E, load(bar, s.P.Type()))
			n.post = w.Out
		}
		return []*node{n}
	case *ir.Append:
		return b.append(s)
	case *ir.Copy:
		return b.copy(s)
	case *ir.Clear:
		return b.clear(s)
	case *ir.Call:
		return b.call(s)
	case *ir.If:
		return []*node{{s: s, at: at, cond: b.g.conds[s], then: b.nodes(s.Then), els: b.nodes(s.Else)}}
	case *ir.Scope:
		return []*node{{s: s, at: at, left: b.g.left[s], then: b.nodes(s.Body)}}
	case *ir.Loop:
		return []*node{{s: s, at: at, left: b.g.left[s], loop: b.g.loops[s], then: b.nodes(s.Body)}}
	}
	return plain(s)
}

func (b *builder) let(s *ir.Let) (out []*node) {
	if b.leads(s.V) {
		out = plain(&ir.Let{At: s.At, V: b.of(s.V), E: b.shadowOf(s.E)})
	}
	n := &node{s: s, at: s.At, late: true}
	if b.carries(s.V) && s.E != nil {
		w := b.writer(s)
		bar := b.own(s.V)
		switch e := s.E.(type) {
		case *ir.Math:
			if w.active(e) {
				w.math(e, s.V.Load(), bar.Load())
			}
		case *ir.Binary:
			if !ir.IsFloat(e.T) || !w.active(e) {
				break
			}
			if e.Op.String() == "/" {
				w.quotient(e, s.V.Load(), bar.Load())
			} else {
				w.float(e, bar.Load())
			}
		default:
			w.value(s.E, bar.Place())
		}
		n.post = w.Out
	}
	if l, ok := s.E.(*ir.Literal); ok && b.leads(s.V) {
		take, give := b.elements(l, b.of(s.V).Place())
		n.post = append(append(n.post, take...), give...)
	}
	return append(out, n)
}

// elements takes the adjoints of the numbers in the literal of a slice, whose shadow is
// at p, and gives them to what they are computed from.
func (b *builder) elements(l *ir.Literal, p *ir.Place) (take, give ir.Block) {
	of := elemOf(l.T)
	if of == nil || !ownFloats(of) {
		return nil, nil
	}
	w := b.writerAt(b.at)
	for i, k := range l.Keys {
		v := b.g.local("t", of)
		give = append(give, w.Nested(func() {
			if ir.IsFloat(of) {
				w.float(l.Elems[i], v.Load())
			} else {
				w.value(l.Elems[i], v.Place())
			}
		})...)
		take = append(take, &ir.Let{At: b.at, V: v, E: load(step(p, ir.IndexStep(count(int64(k)))), of)})
	}
	return take, give
}

func (b *builder) set(s *ir.Set) (out []*node) {
	t := s.P.Type()
	if !b.active(s.P.Root) {
		return plain(s)
	}
	if leads(t) {
		out = b.setShadow(s, t)
	}
	n := &node{s: s, at: s.At}
	if ownFloats(t) {
		w := b.writer(s)
		bar := b.bar(s.P)
		if ir.IsFloat(t) {
			if w.active(s.E) {
				old := w.let("t", load(bar, t))
				w.clearFloats(t, bar)
				n.pre, w.Out = w.Out, nil
				w.float(s.E, old)
				n.post = w.Out
			} else {
				w.clearFloats(t, bar)
				n.pre = w.Out
			}
		} else {
			v := &ir.Var{Name: b.g.names.Name("t"), Type: t}
			w.Emit(&ir.Let{At: s.At, V: v, E: load(bar, t)})
			w.clearFloats(t, bar)
			n.pre, w.Out = w.Out, nil
			w.value(s.E, v.Place())
			n.post = w.Out
			if len(n.post) == 0 {
				n.pre = n.pre[1:]
			}
		}
	}
	if l, ok := s.E.(*ir.Literal); ok && leads(t) {
		take, give := b.elements(l, b.shadowPlace(s.P))
		n.pre, n.post = append(n.pre, take...), append(n.post, give...)
	}
	if leads(t) && len(n.post) > 0 {
		// What is given back goes by the shadows that there were before.
		first := &node{at: s.At, post: n.post, coupled: true}
		n.post, n.coupled = nil, true
		out = append([]*node{first}, out...)
	}
	return append(out, n)
}

// loose are nodes for statements of the forward sweep that have no reversal but to be
// undone. The loops among them are counted by bounds that are constants or variables.
func (b *builder) loose(in ir.Block) (out []*node) {
	for _, s := range in {
		switch s := s.(type) {
		case *ir.Loop:
			out = append(out, &node{s: s, at: s.At, loop: &loopInfo{lo: s.Lo, hi: s.Hi}, then: b.loose(s.Body)})
		case *ir.If:
			c := s.Cond.(*ir.Load).P.Root
			out = append(out, &node{s: s, at: s.At, cond: c, then: b.loose(s.Then), els: b.loose(s.Else)})
		default:
			out = append(out, plain(s)...)
		}
	}
	return out
}

// let is a variable of the forward sweep that is no shadow.
func (b *builder) newLet(at ir.At, base string, t types.Type, e ir.Expr) (*ir.Var, ir.Stmt) {
	v := b.g.local(base, t)
	return v, &ir.Let{At: at, V: v, E: e}
}

// refuse says what has no adjoint, and the way round if it is not that of all.
func (b *builder) refuse(remedy, format string, args ...any) {
	panic(&Error{Func: b.g.f.Name, What: fmt.Sprintf(format, args...), Pos: b.at.Pos, Remedy: remedy})
}

func (b *builder) writerAt(at ir.At) *writer { return &writer{Writer: ir.Writer{At: at}, b: b} }

func (b *builder) writer(s ir.Stmt) *writer { return b.writerAt(ir.At{Pos: s.Position()}) }
