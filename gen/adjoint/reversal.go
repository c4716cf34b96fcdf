package adjoint

import (
	"fmt"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// nodes makes the forward sweep of statements.
func (b *builder) pairBlock(in ir.Block) (out []*node) {
	for _, s := range in {
		list := b.pairStmt(s)
		out = append(out, b.pending...)
		b.pending = nil
		out = append(out, list...)
	}
	return out
}

func (b *builder) pairStmt(s ir.Stmt) []*node {
	at := ir.At{Pos: s.Position()}
	b.at = at
	switch s := s.(type) {
	case *ir.Let:
		return b.pairLet(s)
	case *ir.Set:
		return b.pairSet(s)
	case *ir.Add:
		n := &node{s: s, at: at}
		if b.active(s.P.Root) {
			w := b.writer(s)
			bar := b.barPlace(s.P)
			w.propagate(s.E, load(bar, s.P.Type()))
			n.propagate = w.Out
		}
		return []*node{n}
	case *ir.Append:
		return b.pairAppend(s)
	case *ir.Copy:
		return b.pairCopy(s)
	case *ir.Clear:
		return b.pairClear(s)
	case *ir.Call:
		return b.pairCall(s)
	case *ir.If:
		return []*node{{s: s, at: at, cond: b.g.conds[s], then: b.pairBlock(s.Then), els: b.pairBlock(s.Else)}}
	case *ir.Scope:
		return []*node{{s: s, at: at, exited: b.g.exited[s], then: b.pairBlock(s.Body)}}
	case *ir.Loop:
		return []*node{{s: s, at: at, exited: b.g.exited[s], loop: b.g.loops[s], then: b.pairBlock(s.Body)}}
	}
	return forwardOnly(s)
}

func (b *builder) pairLet(s *ir.Let) (out []*node) {
	if b.hasShadow(s.V) {
		out = forwardOnly(&ir.Let{At: s.At, V: b.shadowVar(s.V), E: b.shadowOf(s.E)})
	}
	n := &node{s: s, at: s.At, usesResult: true}
	if b.hasBar(s.V) && s.E != nil {
		w := b.writer(s)
		bar := b.barVar(s.V)
		switch e := s.E.(type) {
		case *ir.Math:
			if w.active(e) {
				w.propagateMath(e, s.V.Load(), bar.Load())
			}
		case *ir.Binary:
			if !ir.IsFloat(e.T) || !w.active(e) {
				break
			}
			if e.Op.String() == "/" {
				w.propagateQuotient(e, s.V.Load(), bar.Load())
			} else {
				w.propagate(e, bar.Load())
			}
		default:
			w.propagateValue(s.E, bar.Place())
		}
		n.propagate = w.Out
	}
	if l, ok := s.E.(*ir.Literal); ok && b.hasShadow(s.V) {
		take, give := b.literalElements(l, b.shadowVar(s.V).Place())
		n.propagate = append(append(n.propagate, take...), give...)
	}
	return append(out, n)
}

// elements takes the adjoints of the numbers in the literal of a slice, whose shadow is
// at p, and gives them to what they are computed from.
func (b *builder) literalElements(l *ir.Literal, p *ir.Place) (take, give ir.Block) {
	of := elemOf(l.T)
	if of == nil || !ownFloats(of) {
		return nil, nil
	}
	w := b.writerAt(b.at)
	for i, k := range l.Keys {
		v := b.g.local("t", of)
		give = append(give, w.Nested(func() {
			if ir.IsFloat(of) {
				w.propagate(l.Elems[i], v.Load())
			} else {
				w.propagateValue(l.Elems[i], v.Place())
			}
		})...)
		take = append(take, &ir.Let{At: b.at, V: v, E: load(step(p, ir.IndexStep(count(int64(k)))), of)})
	}
	return take, give
}

func (b *builder) pairSet(s *ir.Set) (out []*node) {
	t := s.P.Type()
	if !b.active(s.P.Root) {
		return forwardOnly(s)
	}
	if leadsToFloats(t) {
		out = b.setShadow(s, t)
	}
	n := &node{s: s, at: s.At}
	if ownFloats(t) {
		w := b.writer(s)
		bar := b.barPlace(s.P)
		if ir.IsFloat(t) {
			if w.active(s.E) {
				old := w.let("t", load(bar, t))
				w.clearFloats(t, bar)
				n.consume, w.Out = w.Out, nil
				w.propagate(s.E, old)
				n.propagate = w.Out
			} else {
				w.clearFloats(t, bar)
				n.consume = w.Out
			}
		} else {
			v := &ir.Var{Name: b.g.names.Name("t"), Type: t}
			w.Emit(&ir.Let{At: s.At, V: v, E: load(bar, t)})
			w.clearFloats(t, bar)
			n.consume, w.Out = w.Out, nil
			w.propagateValue(s.E, v.Place())
			n.propagate = w.Out
			if len(n.propagate) == 0 {
				n.consume = n.consume[1:]
			}
		}
	}
	if l, ok := s.E.(*ir.Literal); ok && leadsToFloats(t) {
		take, give := b.literalElements(l, b.shadowPlace(s.P))
		n.consume, n.propagate = append(n.consume, take...), append(n.propagate, give...)
	}
	if leadsToFloats(t) && len(n.propagate) > 0 {
		// What is given back goes by the shadows that there were before.
		first := &node{at: s.At, propagate: n.propagate, linked: true}
		n.propagate, n.linked = nil, true
		out = append([]*node{first}, out...)
	}
	return append(out, n)
}

// loose are nodes for statements of the forward sweep that have no reversal but to be
// undone. The loops among them are counted by bounds that are constants or variables.
func (b *builder) restoredOnly(in ir.Block) (out []*node) {
	for _, s := range in {
		switch s := s.(type) {
		case *ir.Loop:
			out = append(out, &node{s: s, at: s.At, loop: &loopInfo{lo: s.Lo, hi: s.Hi}, then: b.restoredOnly(s.Body)})
		case *ir.If:
			c := s.Cond.(*ir.Load).P.Root
			out = append(out, &node{s: s, at: s.At, cond: c, then: b.restoredOnly(s.Then), els: b.restoredOnly(s.Else)})
		default:
			out = append(out, forwardOnly(s)...)
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
