package adjoint

import (
	"fmt"
	"go/types"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// active reports whether a variable carries derivatives.
func (b *builder) active(v *ir.Var) bool { return b.made[v] || b.facts.Active(v) }

// carries reports whether a variable has numbers of its own with adjoints.
func (b *builder) carries(v *ir.Var) bool { return b.active(v) && ownFloats(v.Type) }

// leads reports whether a variable leads to numbers with adjoints.
func (b *builder) leads(v *ir.Var) bool { return b.active(v) && leads(v.Type) }

// of is the shadow of v.
func (b *builder) of(v *ir.Var) *ir.Var {
	s := b.shadow[v]
	if s == nil {
		s = &ir.Var{Name: b.g.names.Name(v.Name + "Bar"), Type: v.Type, Kind: v.Kind, Pos: v.Pos}
		b.shadow[v], b.twins[s] = s, v
	}
	return s
}

// own is the adjoint of the numbers of v itself.
func (b *builder) own(v *ir.Var) *ir.Var {
	s := b.bars[v]
	if s == nil {
		s = &ir.Var{Name: b.g.names.Name(v.Name + "Bar"), Type: v.Type, Pos: v.Pos}
		b.bars[v] = s
	}
	return s
}

// bar is where the adjoint of the numbers at p is; the root of p is active.
func (b *builder) bar(p *ir.Place) *ir.Place {
	if p.Indirect() {
		return &ir.Place{Root: b.of(p.Root), Path: p.Path}
	}
	return &ir.Place{Root: b.own(p.Root), Path: p.Path}
}

// shadowPlace is where the shadow of the slices and pointers at p is.
func (b *builder) shadowPlace(p *ir.Place) *ir.Place {
	return &ir.Place{Root: b.of(p.Root), Path: p.Path}
}

// shadowOf is the shadow of a value that leads to numbers.
func (b *builder) shadowOf(e ir.Expr) ir.Expr {
	switch e := e.(type) {
	case nil:
		return nil
	case *ir.Const:
		return zero(e.T)
	case *ir.Load:
		if e.P.Root.Kind == ir.Global {
			return b.ofGlobal(e)
		}
		if !b.active(e.P.Root) {
			return zero(e.T)
		}
		return load(b.shadowPlace(e.P), e.T)
	case *ir.Convert:
		return &ir.Convert{Typed: e.Typed, X: b.shadowOf(e.X)}
	case *ir.Slice:
		return &ir.Slice{Typed: e.Typed, X: b.shadowOf(e.X), Lo: e.Lo, Hi: e.Hi, Max: e.Max}
	case *ir.SliceAt:
		return &ir.SliceAt{Typed: e.Typed, P: b.shadowPlace(e.P), Lo: e.Lo, Hi: e.Hi, Max: e.Max}
	case *ir.Addr:
		return &ir.Addr{Typed: e.Typed, P: b.shadowPlace(e.P)}
	case *ir.Make, *ir.New:
		return e
	case *ir.Literal:
		s := &ir.Literal{Typed: e.Typed, Len: e.Len}
		for i, x := range e.Elems {
			switch {
			case leads(x.Type()) && ownFloats(x.Type()) && elemOf(e.T) != nil:
				s.Keys, s.Elems = append(s.Keys, e.Keys[i]), append(s.Elems, b.headers(x))
			case leads(x.Type()):
				s.Keys, s.Elems = append(s.Keys, e.Keys[i]), append(s.Elems, b.shadowOf(x))
			case e.Len > 0 && e.Keys[i] == e.Len-1: // it says how long a slice is
				s.Keys, s.Elems = append(s.Keys, e.Keys[i]), append(s.Elems, zero(x.Type()))
			}
		}
		return s
	}
	b.refuse("", "the shadow of a %T", e)
	return nil
}

// refuse says what has no adjoint, and the way round if it is not that of all.
func (b *builder) refuse(remedy, format string, args ...any) {
	panic(&Error{Func: b.g.f.Name, What: fmt.Sprintf(format, args...), Pos: b.at.Pos, Remedy: remedy})
}

// headers is the shadow of a value in which its own numbers are 0, for memory that will
// hold their adjoints.
func (b *builder) headers(e ir.Expr) ir.Expr {
	t := e.Type()
	from, ok := b.shadowOf(e).(*ir.Load)
	if !ok {
		return zero(t)
	}
	v := &ir.Var{Name: b.g.names.Name("header"), Type: t}
	b.twins[v] = from.P.Root
	b.pending = append(b.pending, plain(&ir.Let{At: b.at, V: v})...)
	b.pending = append(b.pending, b.copyRefs(b.at, t, v.Place(), from.P)...)
	return v.Load()
}

// ofGlobal is zeros in the shape of what a package variable leads to, where that is joined
// with memory that carries derivatives. Nobody reads the adjoints that gather there.
func (b *builder) ofGlobal(e *ir.Load) ir.Expr {
	var fresh ir.Expr
	switch u := e.T.Underlying().(type) {
	case *types.Slice:
		if !activity.HasRefs(u.Elem()) {
			fresh = &ir.Make{Typed: e.Typed, N: length(e), Cap: &ir.Len{Typed: ir.Typed{T: integer}, X: e, Cap: true}}
		}
	case *types.Pointer:
		if !activity.HasRefs(u.Elem()) {
			fresh = &ir.New{Typed: e.Typed}
		}
	default:
		if !activity.HasRefs(e.T) {
			return zero(e.T)
		}
	}
	if fresh == nil {
		b.refuse("pass it as an argument",
			"package variable %s, whose memory leads to more memory, where some carries derivatives", e.P.Root.Name)
	}
	v := &ir.Var{Name: b.g.names.Name("zeros"), Type: e.T}
	b.twins[v] = e.P.Root
	b.pending = append(b.pending, plain(&ir.Let{At: b.at, V: v, E: fresh})...)
	return v.Load()
}

func (b *builder) writerAt(at ir.At) *writer { return &writer{Writer: ir.Writer{At: at}, b: b} }

func (b *builder) writer(s ir.Stmt) *writer { return b.writerAt(ir.At{Pos: s.Position()}) }

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

// setShadow assigns the shadow of a value that leads to numbers.
func (b *builder) setShadow(s *ir.Set, t types.Type) []*node {
	to, e := b.shadowPlace(s.P), b.shadowOf(s.E)
	if !s.P.Indirect() || refs.only(t) {
		return plain(&ir.Set{At: s.At, P: to, E: e})
	}
	// What stands behind a pointer or in a slice has adjoints in the same memory.
	from, ok := e.(*ir.Load)
	var out []*node
	if !ok {
		v := &ir.Var{Name: b.g.names.Name("header"), Type: t}
		b.twins[v] = s.P.Root
		out = plain(&ir.Let{At: s.At, V: v, E: e})
		from = v.Load()
	}
	return append(out, b.copyRefs(s.At, t, to, from.P)...)
}

// copyRefs copies the slices and pointers of what stands at src to dst.
func (b *builder) copyRefs(at ir.At, t types.Type, dst, src *ir.Place) []*node {
	return b.loose(refs.each(b.g.names, at, t, []*ir.Place{dst, src}, func(t types.Type, p []*ir.Place) ir.Block {
		return ir.Block{&ir.Set{At: at, P: p[0], E: load(p[1], t)}}
	}))
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
