package adjoint

import (
	"go/token"
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Statement adjoints of the built-in functions on slices: clear, copy and append. Elements that they overwrite are
// recorded through node.writtenSlice.
//
// For slices of floats, with sBar for the shadow of s:
//
//	clear(s)        consume    clear(sBar)
//
//	copy(dst, src)  forward    n := min(len(dst), len(src)); window := dst[:n]; windowBar := dstBar[:n]
//	                           copy(dst, src)
//	                consume    t := make([]float64, n); copy(t, windowBar); clear(windowBar)
//	                propagate  for i := range n { srcBar[i] += t[i] }
//
//	p = append(s, e)
//	                forward    n := len(s); end := n + 1; moved := end > cap(s)
//	                           if !moved { tail = s[n:end] }     // recorded: append overwrites it
//	                           grown := append(s, e)
//	                           if moved { grownBar = make([]float64, end, cap(grown)) } else { grownBar = sBar[:end] }
//	                           p, pBar = grown, grownBar
//	                consume    t := grownBar[n]; grownBar[n] = 0
//	                           if moved { for i := range n { sBar[i] += grownBar[i] } }
//	                propagate  eBar += t
//
// The shadow has to move if and only if the slice does: afterwards other slices of the old memory share elements with p
// or do not, and so must the shadows. Elements that hold references have them copied in the shadow as well, in the
// forward sweep.

// pairClear returns the nodes of clear: the adjoint zeroes the cotangents of all elements.
func (sp *specialization) pairClear(s *ir.Clear) []*node {
	v := ir.VarOf(s.S)
	if v == nil {
		return forwardOnly(s)
	}
	n := &node{s: s, at: s.At, writtenSlice: v}
	if !sp.hasShadow(v) {
		return []*node{n}
	}
	var out []*node
	of := ir.ElemOf(v.Type)
	if ownFloats(of) {
		w := sp.writer(s)
		w.clearElements(sp.shadowVar(v))
		n.consume = w.Out
	}
	if leadsToFloats(of) {
		out = sp.eachElement(s.At, of, ir.LenOf(v.Load()), func(i ir.Expr) []*node {
			element := ir.Extend(sp.shadowVar(v).Place(), ir.IndexStep(i))
			return sp.restoredOnly(refs.each(sp.g.names, s.At, of, []*ir.Place{element},
				func(t types.Type, p []*ir.Place) ir.Block {
					return ir.Block{&ir.Set{At: s.At, P: p[0], E: ir.Zero(t)}}
				}))
		})
	}
	return append(out, n)
}

// eachElement returns nodes for a loop of the forward sweep over indices below n, whose body the function body returns.
func (sp *specialization) eachElement(at ir.At, of types.Type, n ir.Expr, body func(i ir.Expr) []*node) []*node {
	m, let := sp.newLet(at, "n", integer, n)
	v := sp.g.local("i", integer)
	loop := upward(sp.g.names, at, v, ir.Count(0), m.Load(), nil)
	info := &loopInfo{lo: loop.Lo, hi: loop.Hi}
	return append(forwardOnly(let), &node{s: loop, at: at, loop: info, then: body(v.Load())})
}

// pairCopy returns the nodes of copy. The slices may overlap, so the adjoint takes the cotangents of all copied
// elements into a temporary before it adds them to those of the source.
func (sp *specialization) pairCopy(s *ir.Copy) (out []*node) {
	dst, src := ir.VarOf(s.Dst), ir.VarOf(s.Src)
	if dst == nil {
		return forwardOnly(s)
	}
	n := &ir.Math{Typed: ir.Typed{T: integer}, Name: "min", Args: []ir.Expr{ir.LenOf(s.Dst), ir.LenOf(s.Src)}}
	// The number of copied elements, and the slice that they overwrite.
	m, let := sp.newLet(s.At, "n", integer, n)
	window, cutting := sp.newLet(s.At, "window", dst.Type, cut(dst.Load(), nil, m.Load()))
	sp.setAlias(window, dst)
	out = forwardOnly(let, cutting)
	node := &node{s: s, at: s.At, writtenSlice: window}
	if !sp.hasShadow(dst) {
		return append(out, node)
	}
	out = append(out, forwardOnly(sp.letShadow(s.At, window, cut(sp.shadowVar(dst).Load(), nil, m.Load())))...)
	to, of := sp.shadowVar(window), ir.ElemOf(dst.Type)
	from := src
	if src != nil && !sp.hasShadow(src) {
		from = nil
	}
	// References are copied in the forward sweep, floats are cotangents.
	if leadsToFloats(of) {
		out = append(out, sp.copyHeaders(s.At, of, m.Load(), to, from)...)
	}
	if ownFloats(of) {
		w := sp.writer(s)
		if from == nil {
			w.clearElements(to)
			node.consume = w.Out
		} else {
			// The adjoint takes the cotangents of the destination, then adds them to those of the source.
			t := ir.VarOf(w.let("t", &ir.Make{Typed: ir.Typed{T: dst.Type}, N: m.Load()}))
			w.Emit(&ir.Copy{At: s.At, Dst: t.Load(), Src: to.Load()})
			w.clearElements(to)
			node.consume, w.Out = w.Out, nil
			w.loop(m.Load(), func(i ir.Expr) {
				w.addFloats(of, ir.Extend(sp.shadowVar(from).Place(), ir.IndexStep(i)),
					ir.Extend(t.Place(), ir.IndexStep(i)))
			})
			node.propagate = w.Out
		}
	}
	return append(out, node)
}

// setAlias records that v refers to memory of the class of s.
func (sp *specialization) setAlias(v, s *ir.Var) { sp.locations.aliasOf[v] = s }

// copyHeaders returns nodes that copy the references in the first n elements from the shadow of src to dst, a shadow of
// element type of. If src is nil the references in dst become nil.
func (sp *specialization) copyHeaders(at ir.At, of types.Type, n ir.Expr, dst, src *ir.Var) []*node {
	if refs.only(of) && src != nil {
		return []*node{{s: &ir.Copy{At: at, Dst: dst.Load(), Src: sp.shadowVar(src).Load()}, at: at, writtenSlice: dst}}
	}
	return sp.eachElement(at, of, n, func(i ir.Expr) []*node {
		to := ir.Extend(dst.Place(), ir.IndexStep(i))
		if src != nil {
			return sp.copyRefs(at, of, to, ir.Extend(sp.shadowVar(src).Place(), ir.IndexStep(i)))
		}
		return sp.restoredOnly(refs.each(sp.g.names, at, of, []*ir.Place{to},
			func(t types.Type, p []*ir.Place) ir.Block {
				return ir.Block{&ir.Set{At: at, P: p[0], E: ir.Zero(t)}}
			}))
	})
}

// pairAppend returns the nodes of append. If the capacity suffices, the shadow is extended in place; otherwise primal
// and shadow move, and the adjoint adds the cotangents in the new shadow to the old one. The variable moved, a
// temporary of the forward sweep, tells the reverse sweep which case it was. The elements beyond the old length may
// overwrite memory, which is recorded through the slice tail.
func (sp *specialization) pairAppend(s *ir.Append) (out []*node) {
	src := ir.VarOf(s.S) // nil if s.S is nil
	t := s.S.Type()
	of := ir.ElemOf(t)
	active := sp.active(s.P.Root) && leadsToFloats(t)
	if src != nil && active && !sp.active(src) {
		sp.refuse("", "append to %s, which has no shadow", src.Name)
	}
	add := func(list ...ir.Stmt) { out = append(out, forwardOnly(list...)...) }
	at := s.At
	// Old length, new length, and whether the slice moves.
	n, let := sp.newLet(at, "n", integer, ir.LenOf(s.S))
	add(let)
	var more ir.Expr = ir.Count(int64(len(s.Elems)))
	if s.Spread {
		more = ir.LenOf(s.Elems[0])
	}
	end, let := sp.newLet(at, "n", integer, ir.NewBinary(integer, token.ADD, n.Load(), more))
	add(let)
	capacity := &ir.Len{Typed: ir.Typed{T: integer}, X: s.S, Cap: true}
	moved, let := sp.newLet(at, "moved", boolean, ir.Compare(token.GTR, end.Load(), capacity))
	add(let)
	// Tail is the memory between old and new length, if the slice stays: append overwrites it.
	tail, let := sp.newLet(at, "tail", t, nil)
	add(let)
	stays, let := sp.newLet(at, "stays", boolean,
		&ir.Unary{Typed: ir.Typed{T: boolean}, Op: token.NOT, X: moved.Load()})
	add(let)
	if src != nil {
		sp.setAlias(tail, src)
		inPlace := ir.Block{&ir.Set{At: at, P: tail.Place(), E: cut(s.S, n.Load(), end.Load())}}
		out = append(out, sp.restoredOnly(ir.Block{&ir.If{At: at, Cond: stays.Load(), Then: inPlace}})...)
	}
	// Append to a temporary, so that s.S is still there for the shadow.
	grown, let := sp.newLet(at, "grown", t, nil)
	sp.setAlias(grown, s.P.Root)
	add(let)
	appended := &node{s: &ir.Append{At: at, P: grown.Place(), S: s.S, Elems: s.Elems, Spread: s.Spread}, at: at,
		writtenSlice: tail}
	out = append(out, appended)
	if !active {
		return append(out, forwardOnly(&ir.Set{At: at, P: s.P, E: grown.Load()})...)
	}
	// The shadow moves if and only if the slice does.
	sh := sp.shadowVar(grown)
	add(sp.letShadow(at, grown, nil))
	fresh := ir.Block{&ir.Set{At: at, P: sh.Place(), E: &ir.Make{Typed: ir.Typed{T: t}, N: end.Load(),
		Cap: &ir.Len{Typed: ir.Typed{T: integer}, X: grown.Load(), Cap: true}}}}
	var same ir.Block
	if src != nil {
		same = ir.Block{&ir.Set{At: at, P: sh.Place(), E: cut(sp.shadowVar(src).Load(), nil, end.Load())}}
	}
	out = append(out, sp.restoredOnly(ir.Block{&ir.If{At: at, Cond: moved.Load(), Then: fresh, Else: same}})...)
	if leadsToFloats(of) {
		out = append(out, sp.grownHeaders(s, of, n, end, moved, grown, src)...)
	}
	// The adjoint of taken runs while sh is the shadow after the append.
	taken := &node{at: at, linked: true}
	appended.linked = true
	out = append(out, taken)
	sp.grownFloats(s, appended, taken, of, n, moved, sh, src)
	return append(out, sp.pairSet(&ir.Set{At: at, P: s.P, E: grown.Load()})...)
}

// grownHeaders returns nodes that complete the references in the shadow of grown: those of the first n elements if the
// slice moved, and those of the appended elements.
func (sp *specialization) grownHeaders(s *ir.Append, of types.Type, n, end, moved, grown, src *ir.Var) (out []*node) {
	at, sh := s.At, sp.shadowVar(grown)
	if src != nil {
		old := sp.copyHeaders(at, of, n.Load(), sh, src)
		out = append(out, &node{s: &ir.If{At: at, Cond: moved.Load()}, at: at, cond: moved, then: old})
	}
	if s.Spread {
		rest, let := sp.newLet(at, "rest", grown.Type, cut(grown.Load(), n.Load(), end.Load()))
		sp.setAlias(rest, grown)
		out = append(out, forwardOnly(let, sp.letShadow(at, rest, cut(sh.Load(), n.Load(), end.Load())))...)
		from := ir.VarOf(s.Elems[0])
		if from != nil && !sp.hasShadow(from) {
			from = nil
		}
		m := ir.NewBinary(integer, token.SUB, end.Load(), n.Load())
		return append(out, sp.copyHeaders(at, of, m, sp.shadowVar(rest), from)...)
	}
	for i, e := range s.Elems {
		to := ir.Extend(sh.Place(), ir.IndexStep(plus(n.Load(), ir.Count(i))))
		h := &ir.Var{Name: sp.g.names.Name("header"), Type: of}
		sp.primalOf[h] = grown
		out = append(out, forwardOnly(&ir.Let{At: at, V: h, E: sp.shadowOf(e)})...)
		out = append(out, sp.copyRefs(at, of, to, h.Place())...)
	}
	return out
}

// grownFloats writes the adjoint of append for the floats of the elements. Node taken consumes the cotangents of the
// new elements and, if the slice moved, returns those of the old ones to the shadow of src; node appended propagates
// the former to the appended values.
func (sp *specialization) grownFloats(s *ir.Append, appended, taken *node, of types.Type, n, moved, sh, src *ir.Var) {
	if !ownFloats(of) {
		return
	}
	w := sp.writer(s)
	// Statements that propagate the cotangents taken here, to run after the restoration.
	var after []func()
	if s.Spread {
		from := ir.VarOf(s.Elems[0])
		more := ir.LenOf(s.Elems[0])
		if from != nil {
			t := ir.VarOf(w.let("t", &ir.Make{Typed: ir.Typed{T: sh.Type}, N: more}))
			tail := ir.VarOf(w.let("tail", cut(sh.Load(), n.Load(), nil)))
			w.Emit(&ir.Copy{At: s.At, Dst: t.Load(), Src: tail.Load()})
			w.clearElements(tail)
			if sp.hasShadow(from) {
				after = append(after, func() {
					w.loop(more, func(i ir.Expr) {
						w.addFloats(of, ir.Extend(sp.shadowVar(from).Place(), ir.IndexStep(i)),
							ir.Extend(t.Place(), ir.IndexStep(i)))
					})
				})
			}
		}
	} else {
		for i, e := range s.Elems {
			at := ir.Extend(sh.Place(), ir.IndexStep(ir.NewBinary(integer, token.ADD, n.Load(), ir.Count(int64(i)))))
			v := ir.VarOf(w.let("t", ir.LoadOf(at, of)))
			w.clearFloats(of, at)
			after = append(after, func() {
				if ir.IsContinuous(of) {
					w.propagate(e, v.Load())
				} else {
					w.propagateValue(e, v.Place())
				}
			})
		}
	}
	// If the slice moved, the old elements have their cotangents in the new memory.
	if src != nil {
		back := w.Nested(func() {
			w.loop(n.Load(), func(i ir.Expr) {
				w.addFloats(of, ir.Extend(sp.shadowVar(src).Place(), ir.IndexStep(i)),
					ir.Extend(sh.Place(), ir.IndexStep(i)))
			})
		})
		w.Emit(&ir.If{At: s.At, Cond: moved.Load(), Then: back})
	}
	taken.consume, w.Out = w.Out, nil
	for _, f := range after {
		f()
	}
	appended.propagate = w.Out
}
