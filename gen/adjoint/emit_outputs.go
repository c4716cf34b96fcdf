package adjoint

import (
	"go/token"
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// outputs saves what the function left in the memory of its arguments and results, where
// the reverse sweep undoes it, and brings it back.
type outputs struct {
	e             *emitter
	restored      locationSet // memory in which old values are restored
	start         ir.Block    // what the arguments lead to at first
	save, restore ir.Block
	pastLen       bool    // slices may be written behind their length
	root          *ir.Var // whose memory is gone through
	lists         []*savedList
	onPath        map[types.Type]bool
	untouched     []bool // fields of the struct that root points to which are left alone, with what they lead to
}

// saved is a list of values of one type, and how many of them have been taken.
type savedList struct {
	tapeStack
	next *ir.Var
}

func (e *emitter) outputs(results []*ir.Var) *outputs {
	b, f := e.b, e.b.flow
	o := &outputs{e: e, restored: locationSet{}, onPath: map[types.Type]bool{}}
	each(b.body, func(n *node) {
		for _, w := range n.writes {
			switch {
			case !w.recorded || w.whole() != nil:
			case w.slice != nil:
				f.addMemory(o.restored, w.slice, w.valueType())
			case w.place.Indirect():
				f.addMemory(o.restored, w.place.Root, w.valueType())
			}
		}
		if n.callee != nil {
			for k := range b.instantiate(n, n.callee.flow.modified, false) {
				o.restored[k] = true
			}
		}
	})
	each(b.body, func(n *node) { o.pastLen = o.pastLen || n.callee != nil || mayExtend(n.s) })
	for i, v := range b.g.f.Params {
		if !activity.HasRefs(v.Type) {
			continue
		}
		o.root, o.untouched = v, activity.Unwritten(b.g.f, i, false)
		if !slices.Contains(o.untouched, true) {
			o.untouched = nil
		}
		at := v.Place()
		if f.assignments[v] > 0 {
			first := b.g.local(v.Name, v.Type)
			o.saveHeader(at, first, v.Type)
			at = first.Place()
		}
		o.param(at, v.Type)
		if p, ok := v.Type.Underlying().(*types.Pointer); ok && activity.HasRefs(p.Elem()) {
			o.pointee(v, p)
		}
	}
	for i, v := range b.g.f.Results {
		o.root, o.untouched = v, nil
		o.visit(results[i].Place(), v.Type, false)
	}
	var start, cursors ir.Block
	for _, s := range o.lists {
		start = append(start, &ir.Set{At: e.at, P: s.place(), E: cut(s.load(), nil, count(0))})
		cursors = append(cursors, &ir.Let{At: e.at, V: s.next, E: count(0)})
	}
	o.save, o.restore = append(start, o.save...), append(cursors, o.restore...)
	return o
}

// extends reports whether a statement makes a slice longer.
func mayExtend(s ir.Stmt) (found bool) {
	if s == nil {
		return false
	}
	_, found = s.(*ir.Append)
	ir.EachExpr(s, func(e ir.Expr) {
		ir.WalkExpr(e, func(e ir.Expr) bool {
			c, ok := e.(*ir.Slice)
			found = found || ok && c.Hi != nil
			return !found
		})
	})
	return found
}

// first saves the headers at a place at the beginning.
func (o *outputs) saveHeader(at *ir.Place, to *ir.Var, t types.Type) {
	o.start = append(o.start, &ir.Let{At: o.e.at, V: to, E: load(at, t)})
}

// pointee goes through what that which a parameter points to leads to at first.
func (o *outputs) pointee(v *ir.Var, p *types.Pointer) {
	if !o.headersModified(p.Elem()) {
		return
	}
	at := o.e.at
	first := o.e.b.g.local(v.Name, p.Elem())
	to := step(v.Place(), ir.DerefStep())
	o.start = append(o.start, &ir.Let{At: at, V: first}, &ir.If{At: at,
		Cond: compare(token.NEQ, v.Load(), zero(v.Type)),
		Then: ir.Block{&ir.Set{At: at, P: first.Place(), E: load(to, p.Elem())}}})
	if _, ok := p.Elem().Underlying().(*types.Struct); ok {
		o.fields(first.Place(), p.Elem(), false)
		return
	}
	o.visit(first.Place(), p.Elem(), false)
}

// top goes through the memory that a parameter leads to.
func (o *outputs) param(p *ir.Place, t types.Type) {
	if o.untouched == nil {
		o.visit(p, t, false)
		return
	}
	o.onPath[t] = true
	save, back := o.collect(func() { o.fields(step(p, ir.DerefStep()), t.Underlying().(*types.Pointer).Elem(), true) })
	delete(o.onPath, t)
	o.ifNotNil(p, t, save, back)
}

// fields goes through the fields of the struct of type t at p, and what they lead to, as
// far as they are not left alone. With whole, the fields themselves may have to be saved.
func (o *outputs) fields(p *ir.Place, t types.Type, whole bool) {
	u := t.Underlying().(*types.Struct)
	for i := range u.NumFields() {
		if f := u.Field(i); i >= len(o.untouched) || !o.untouched[i] {
			at := step(p, ir.FieldStep(i))
			if whole && f.Name() != "_" && o.isRestored(f.Type()) {
				o.value(at, f.Type())
			}
			o.visit(at, f.Type(), false)
		}
	}
}

// some adds blocks for where the pointer at p is not nil.
func (o *outputs) ifNotNil(p *ir.Place, t types.Type, save, back ir.Block) {
	if len(save) == 0 {
		return
	}
	cond := func() ir.Expr { return compare(token.NEQ, load(p, t), zero(t)) }
	o.save = append(o.save, &ir.If{At: o.e.at, Cond: cond(), Then: save})
	o.restore = append(o.restore, &ir.If{At: o.e.at, Cond: cond(), Then: back})
}

// rewritten reports whether slices and pointers in a value of type t, in memory, are
// overwritten, so that they may lead to other memory at the end.
func (o *outputs) headersModified(t types.Type) (found bool) {
	ir.EachCell(t, func(t types.Type) {
		s := locationSet{}
		o.e.b.flow.addMemory(s, o.root, t)
		found = found || activity.HasRefs(t) && s.intersects(o.e.b.flow.modified)
	})
	return found
}

// dirty reports whether values of type t in the memory are undone.
func (o *outputs) isRestored(t types.Type) bool {
	s := locationSet{}
	o.e.b.flow.addMemory(s, o.root, t)
	return s.intersects(o.restored)
}

// list is the list of values of type t.
func (o *outputs) list(t types.Type) *savedList {
	for _, s := range o.lists {
		if types.Identical(s.elem, t) {
			return s
		}
	}
	b := o.e.b
	s := &savedList{
		tapeStack: tapeStack{ws: b.ws, field: b.p.work.addStack("left", t), elem: t},
		next:      b.g.local("next", integer),
	}
	o.lists = append(o.lists, s)
	return s
}

// within is what f adds to both blocks.
func (o *outputs) collect(f func()) (save, back ir.Block) {
	s, b := o.save, o.restore
	o.save, o.restore = nil, nil
	f()
	save, back = o.save, o.restore
	o.save, o.restore = s, b
	return save, back
}

// value saves and brings back what stands at p.
func (o *outputs) value(p *ir.Place, t types.Type) {
	s, at := o.list(t), o.e.at
	o.save = append(o.save, s.push(at, load(p, t)))
	o.restore = append(o.restore,
		&ir.Set{At: at, P: p, E: load(s.place(ir.IndexStep(s.next.Load())), t)},
		&ir.Add{At: at, P: s.next.Place(), E: count(1)})
}

// visit goes through the memory that a value of type t at p leads to. With inner there is a
// loop around.
func (o *outputs) visit(p *ir.Place, t types.Type, inner bool) {
	if !activity.HasRefs(t) {
		return
	}
	names := o.e.b.g.names
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for i := range u.NumFields() {
			o.visit(step(p, ir.FieldStep(i)), u.Field(i).Type(), inner)
		}
	case *types.Array:
		o.loop(names, count(u.Len()), func(i ir.Expr) { o.visit(step(p, ir.IndexStep(i)), u.Elem(), true) })
	case *types.Pointer:
		if o.onPath[t] {
			return
		}
		o.onPath[t] = true
		to := step(p, ir.DerefStep())
		save, back := o.collect(func() {
			if o.isRestored(u.Elem()) {
				o.value(to, u.Elem())
			}
			o.visit(to, u.Elem(), inner)
		})
		delete(o.onPath, t)
		o.ifNotNil(p, t, save, back)
	case *types.Slice:
		if o.onPath[t] {
			return
		}
		o.onPath[t] = true
		if o.isRestored(u.Elem()) {
			o.elements(p, t, u.Elem(), inner)
		}
		o.loop(names, length(load(p, t)), func(i ir.Expr) { o.visit(step(p, ir.IndexStep(i)), u.Elem(), true) })
		delete(o.onPath, t)
	}
}

func (o *outputs) loop(names *ir.Namer, n ir.Expr, f func(i ir.Expr)) {
	v := o.e.b.g.local("i", integer)
	save, back := o.collect(func() { f(v.Load()) })
	if len(save) == 0 {
		return
	}
	w := o.e.b.g.local("i", integer)
	m := &ir.Map{Var: func(x *ir.Var) *ir.Var {
		if x == v {
			return w
		}
		return x
	}}
	o.save = append(o.save, upward(names, o.e.at, v, count(0), n, save))
	o.restore = append(o.restore, upward(names, o.e.at, w, count(0), n, m.Block(back)))
}

// elements saves and brings back the elements of a slice.
func (o *outputs) elements(p *ir.Place, t, of types.Type, inner bool) {
	at := o.e.at
	full := func() ir.Expr {
		if !o.pastLen {
			return load(p, t)
		}
		return cut(load(p, t), nil, &ir.Len{Typed: ir.Typed{T: integer}, X: load(p, t), Cap: true})
	}
	if inner {
		o.loop(o.e.b.g.names, length(load(p, t)), func(i ir.Expr) { o.value(step(p, ir.IndexStep(i)), of) })
		return
	}
	s := tapeStack{ws: o.e.b.ws, field: o.e.b.p.work.addStack("left", of), elem: of}
	o.save = append(o.save,
		&ir.Append{At: at, P: s.place(), S: cut(s.load(), nil, count(0)), Elems: []ir.Expr{full()}, Spread: true})
	o.restore = append(o.restore, &ir.Copy{At: at, Dst: full(), Src: s.load()})
}
