package adjoint

import (
	"fmt"
	"go/types"

	"github.com/nabla-ad/nabla/gen/elementary"
	"github.com/nabla-ad/nabla/gen/ir"
)

// Pairing: each statement of the normal form becomes one or more nodes of the forward sweep with their statement
// adjoints (Griewank & Walther 2008, chapter 4; for arrays and pointers, shadows as in Enzyme, Moses & Churavy 2020).
// The input is the normal form with its activity, the output a tree of nodes. pairStmt dispatches to the other files of
// the group: slices, calls, rules, and expressions, whose partial derivatives are written by a writer.
//
// With xBar for the cotangent of x and t for a new variable, the statement adjoints are:
//
//	statement       consume                        propagate
//	let x = a * b                                  aBar += xBar * b; bBar += xBar * a
//	x = a * b       t := xBar; xBar = 0            aBar += t * b; bBar += t * a
//	x += a * b                                     aBar += xBar * b; bBar += xBar * a
//	s[i] = a        t := sBar[i]; sBar[i] = 0      aBar += t
//	if, for, scope  none: the nodes in them are reversed, under the same condition and in the opposite order
//	leave, panic    none
//
// An assignment has to consume the cotangent before anything is propagated, since x may occur on the right-hand side,
// and to zero it, since the value before the assignment has a cotangent of its own. A declaration need not: no earlier
// statement sees the variable.

// A pairing holds the statements of a function with their adjoints, and the variables of the adjoint. The nodes do not
// change after pairFunc. Shadows and bars are created when they are first asked for, by later phases too.
type pairing struct {
	body    []*node
	shadows map[*ir.Var]*ir.Var // primal variable → its shadow, a variable of the forward sweep
	bars    map[*ir.Var]*ir.Var // primal variable → its cotangent, a variable of the reverse sweep
	// shadow, or temporary that holds references of a shadow → primal variable
	primalOf    map[*ir.Var]*ir.Var
	activeTemps map[*ir.Var]bool // temporaries of the forward sweep with a shadow, unknown to the activity
	addressed   map[*ir.Var]bool // variables that pointers may write

	at      ir.At   // the position of the statement that is being paired
	pending []*node // nodes to be placed before those of the statement that is being paired
}

// pairFunc returns the nodes of the function, with the places that they write.
func (sp *specialization) pairFunc() []*node {
	sp.addressed = elementary.Addressed(sp.g.f.Body)
	body := sp.pairBlock(sp.g.f.Body)
	each(body, func(n *node) {
		n.writes = writesOf(n)
		if !sp.p.enabled(inversion) {
			for _, w := range n.writes {
				w.inverse = nil
			}
		}
	})
	if sp.p.enabled(inversion) {
		sp.findExchanges(body)
	}
	return body
}

// pairBlock returns the nodes of the statements in. Nodes that a statement needs before it, pending ones, come before
// all nodes of the statement.
func (sp *specialization) pairBlock(in ir.Block) (out []*node) {
	var last *node
	for _, s := range elementary.JoinPartners(in, sp.addressed) {
		list := sp.pairStmt(s)
		out = append(out, sp.pending...)
		sp.pending = nil
		out = append(out, list...)
		var n *node
		if len(list) > 0 {
			n = list[len(list)-1]
		}
		usePartner(last, n)
		last = n
	}
	return out
}

// usePartner lets the adjoints of two declarations that follow one another use each other's value, if one is the sine
// of a variable and the other its cosine or the like: that of the first moves to that of the second, where both values
// are there.
func usePartner(first, second *node) {
	if first == nil || second == nil {
		return
	}
	if m := elementary.Partners(first.s, second.s); m != nil {
		second.propagate = append(m.Block(second.propagate), m.Block(first.propagate)...)
		first.propagate = nil
	}
}

// pairStmt returns the nodes of s.
func (sp *specialization) pairStmt(s ir.Stmt) []*node {
	at := ir.At{Pos: s.Position()}
	sp.at = at
	switch s := s.(type) {
	case *ir.Let:
		return sp.pairLet(s)
	case *ir.Set:
		return sp.pairSet(s)
	case *ir.Add:
		n := &node{s: s, at: at}
		// p += e leaves the cotangent of p and propagates it to e.
		if sp.active(s.P.Root) {
			w := sp.writer(s)
			bar := sp.barPlace(s.P)
			w.propagate(s.E, ir.LoadOf(bar, s.P.Type()))
			n.propagate = w.Out
		}
		return []*node{n}
	case *ir.Append:
		return sp.pairAppend(s)
	case *ir.Copy:
		return sp.pairCopy(s)
	case *ir.Clear:
		return sp.pairClear(s)
	case *ir.Call:
		return sp.pairCall(s)
	case *ir.If:
		return []*node{{s: s, at: at, cond: sp.g.conds[s], then: sp.pairBlock(s.Then), els: sp.pairBlock(s.Else)}}
	case *ir.Scope:
		return []*node{{s: s, at: at, exited: sp.g.exited[s], then: sp.pairBlock(s.Body)}}
	case *ir.Loop:
		return []*node{{s: s, at: at, exited: sp.g.exited[s], loop: sp.g.loops[s], then: sp.pairBlock(s.Body)}}
	}
	return forwardOnly(s)
}

// pairLet returns the nodes of a declaration: the shadow is declared first. The cotangent of the declared variable is
// not zeroed by the adjoint, since the reverse sweep declares it in the block that holds the declaration. An elementary
// function or division reuses its value, the declared variable.
func (sp *specialization) pairLet(s *ir.Let) (out []*node) {
	if sp.hasShadow(s.V) {
		out = forwardOnly(&ir.Let{At: s.At, V: sp.shadowVar(s.V), E: sp.shadowOf(s.E)})
	}
	n := &node{s: s, at: s.At, usesResult: true}
	if sp.hasBar(s.V) && s.E != nil {
		w := sp.writer(s)
		bar := sp.barVar(s.V)
		// The value of a function or quotient is that of the variable: the partial derivatives use it.
		switch e := s.E.(type) {
		case *ir.Math:
			if w.active(e) {
				w.propagateMath(e, s.V.Load(), bar.Load())
			}
		case *ir.Binary:
			if !ir.IsContinuous(e.T) || !w.active(e) {
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
	// A slice literal: the cotangents of its elements are in its shadow.
	if l, ok := s.E.(*ir.Literal); ok && sp.hasShadow(s.V) {
		take, give := sp.literalElements(l, sp.shadowVar(s.V).Place())
		n.propagate = append(append(n.propagate, take...), give...)
	}
	return append(out, n)
}

// literalElements returns the adjoint of the slice literal l, whose shadow is at p: take reads the cotangents of its
// elements out of the shadow, and give propagates them to the elements. Both are empty if the elements hold no floats.
func (sp *specialization) literalElements(l *ir.Literal, p *ir.Place) (take, give ir.Block) {
	of := ir.ElemOf(l.T)
	if of == nil || !ownFloats(of) {
		return nil, nil
	}
	w := sp.writerAt(sp.at)
	for i, k := range l.Keys {
		v := sp.g.local("t", of)
		give = append(give, w.Nested(func() {
			if ir.IsContinuous(of) {
				w.propagate(l.Elems[i], v.Load())
			} else {
				w.propagateValue(l.Elems[i], v.Place())
			}
		})...)
		take = append(take, &ir.Let{At: sp.at, V: v, E: ir.LoadOf(ir.Extend(p, ir.IndexStep(ir.Count(int64(k)))), of)})
	}
	return take, give
}

// pairSet returns the nodes of an assignment. Its adjoint takes the cotangent of the assigned place, zeroes it, and
// propagates it to the operands, which may include the place itself.
func (sp *specialization) pairSet(s *ir.Set) (out []*node) {
	t := s.P.Type()
	if !sp.active(s.P.Root) {
		return forwardOnly(s)
	}
	// The shadow is assigned in the forward sweep, before the primal.
	if leadsToFloats(t) {
		out = sp.setShadow(s, t)
	}
	n := &node{s: s, at: s.At}
	if ownFloats(t) {
		w := sp.writer(s)
		bar := sp.barPlace(s.P)
		// Take the cotangent before it is zeroed: the place may occur in the value.
		if ir.IsContinuous(t) {
			if w.active(s.E) {
				old := w.let("t", ir.LoadOf(bar, t))
				w.clearFloats(t, bar)
				n.consume, w.Out = w.Out, nil
				w.propagate(s.E, old)
				n.propagate = w.Out
			} else {
				w.clearFloats(t, bar)
				n.consume = w.Out
			}
		} else {
			// A struct or array: take the cotangents of all floats in it.
			v := &ir.Var{Name: sp.g.names.Name("t"), Type: t}
			w.Emit(&ir.Let{At: s.At, V: v, E: ir.LoadOf(bar, t)})
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
		take, give := sp.literalElements(l, sp.shadowPlace(s.P))
		n.consume, n.propagate = append(n.consume, take...), append(n.propagate, give...)
	}
	if leadsToFloats(t) && len(n.propagate) > 0 {
		// Cotangents are propagated through the shadows before the assignment: in the reverse sweep, after their
		// restoration.
		first := &node{at: s.At, propagate: n.propagate, linked: true}
		n.propagate, n.linked = nil, true
		out = append([]*node{first}, out...)
	}
	return append(out, n)
}

// restoredOnly returns nodes for statements of the forward sweep, on shadows, that have no adjoint but may be recorded
// and restored. Bounds of loops among them must be constants or variables, and conditions variables.
func (sp *specialization) restoredOnly(in ir.Block) (out []*node) {
	for _, s := range in {
		switch s := s.(type) {
		case *ir.Loop:
			out = append(out, &node{s: s, at: s.At, loop: &loopInfo{lo: s.Lo, hi: s.Hi}, then: sp.restoredOnly(s.Body)})
		case *ir.If:
			c := s.Cond.(*ir.Load).P.Root
			out = append(out, &node{s: s, at: s.At, cond: c, then: sp.restoredOnly(s.Then),
				els: sp.restoredOnly(s.Else)})
		default:
			out = append(out, forwardOnly(s)...)
		}
	}
	return out
}

// newLet returns a new variable of the forward sweep, without a shadow, and its declaration.
func (sp *specialization) newLet(at ir.At, base string, t types.Type, e ir.Expr) (*ir.Var, ir.Stmt) {
	v := sp.g.local(base, t)
	return v, &ir.Let{At: at, V: v, E: e}
}

// refuse panics with an Error about a construct at sp.at. An empty remedy stands for the general one.
func (sp *specialization) refuse(remedy, format string, args ...any) {
	panic(&Error{Func: sp.g.f.Name, What: fmt.Sprintf(format, args...), Pos: sp.at.Pos, Remedy: remedy})
}

// writerAt returns a writer for statements at the given position.
func (sp *specialization) writerAt(at ir.At) *writer {
	return &writer{Writer: ir.Writer{At: at}, sp: sp}
}

// writer returns a writer for the adjoint of s.
func (sp *specialization) writer(s ir.Stmt) *writer { return sp.writerAt(ir.At{Pos: s.Position()}) }
