package adjoint

import (
	"go/token"
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// Side effects of the primal. The reverse sweep restores overwritten memory to its state at entry, so the final
// contents of all restored memory that the caller can reach are saved before it, in lists of the workspace, and written
// back after it. The code is derived from the types of parameters and results.
//
// For a function that overwrites the elements of its argument s:
//
//	forward sweep               // s has its final elements
//	left = append(left[:0], s...)
//	reverse sweep               // s has its elements at entry
//	copy(s, left)
//
// Pointers in the arguments are followed by nested loops and conditions of the same kind, once for each type on the
// way: memory behind a second value of a recursive type is not written back.

// An outputs builds the statements that preserve the side effects of a function.
type outputs struct {
	e        *emitter
	restored locationSet         // memory that the reverse sweep restores
	start    ir.Block            // at entry: copies of references that the primal may overwrite
	save     ir.Block            // before the reverse sweep
	restore  ir.Block            // after the reverse sweep, in the order of save
	pastLen  bool                // slices may be written between length and capacity
	root     *ir.Var             // the parameter or result that is being walked through
	lists    []*savedList        // one list per type
	onPath   map[types.Type]bool // types that enclose the current place, where recursion ends
	// fields of the struct that root points to through which nothing is written
	untouched []bool
}

// A savedList is a list of saved values of one type and the variable that counts those written back.
type savedList struct {
	tapeStack
	next *ir.Var
}

// outputs returns the statements that preserve the side effects of e.sp, whose results are the given variables.
func (e *emitter) outputs(results []*ir.Var) *outputs {
	sp, ls := e.sp, e.sp.locations
	o := &outputs{e: e, restored: locationSet{}, onPath: map[types.Type]bool{}}
	// Which memory is restored, here and in callees.
	each(sp.plan.body, func(n *node) {
		for _, w := range n.writes {
			switch {
			case !sp.plan.recorded[w] || w.whole() != nil:
			case w.slice != nil:
				ls.addMemory(o.restored, w.slice, w.valueType())
			case w.place.Indirect():
				ls.addMemory(o.restored, w.place.Root, w.valueType())
			}
		}
		if n.callee != nil {
			for k := range sp.instantiate(n, n.callee.modified) {
				o.restored[k] = true
			}
		}
	})
	each(sp.plan.body, func(n *node) { o.pastLen = o.pastLen || n.callee != nil || mayExtend(n.s) })
	// Walk through the memory of parameters. A parameter that is assigned leads elsewhere at exit: walk from a copy
	// made at entry.
	for i, v := range sp.g.f.Params {
		if !ir.HasRefs(v.Type) {
			continue
		}
		o.root, o.untouched = v, activity.Unwritten(sp.g.f, i, false)
		if !slices.Contains(o.untouched, true) {
			o.untouched = nil
		}
		at := v.Place()
		if ls.assignments[v] > 0 {
			first := sp.g.local(v.Name, v.Type)
			o.saveHeader(at, first, v.Type)
			at = first.Place()
		}
		o.param(at, v.Type)
		if p, ok := v.Type.Underlying().(*types.Pointer); ok && ir.HasRefs(p.Elem()) {
			o.pointee(v, p)
		}
	}
	// Memory of results, as far as it is restored, may be that of parameters.
	for i, v := range sp.g.f.Results {
		o.root, o.untouched = v, nil
		o.visit(results[i].Place(), v.Type, false)
	}
	// Lists are emptied before saving, and their cursors start at 0 for writing back.
	var start, cursors ir.Block
	for _, s := range o.lists {
		start = append(start, &ir.Set{At: e.at, P: s.place(), E: cut(s.load(), nil, ir.Count(0))})
		cursors = append(cursors, &ir.Let{At: e.at, V: s.next, E: ir.Count(0)})
	}
	o.save, o.restore = append(start, o.save...), append(cursors, o.restore...)
	return o
}

// mayExtend reports whether s appends to a slice or slices with an upper bound, which may exceed the length.
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

// saveHeader declares to at entry and assigns it the value at the place at.
func (o *outputs) saveHeader(at *ir.Place, to *ir.Var, t types.Type) {
	o.start = append(o.start, &ir.Let{At: o.e.at, V: to, E: ir.LoadOf(at, t)})
}

// pointee walks through the memory that the value pointed to by parameter v referred to at entry, if the references in
// it may be overwritten.
func (o *outputs) pointee(v *ir.Var, p *types.Pointer) {
	if !o.headersModified(p.Elem()) {
		return
	}
	at := o.e.at
	first := o.e.sp.g.local(v.Name, p.Elem())
	to := ir.Extend(v.Place(), ir.DerefStep())
	o.start = append(o.start, &ir.Let{At: at, V: first}, &ir.If{At: at,
		Cond: ir.Compare(token.NEQ, v.Load(), ir.Zero(v.Type)),
		Then: ir.Block{&ir.Set{At: at, P: first.Place(), E: ir.LoadOf(to, p.Elem())}}})
	if _, ok := p.Elem().Underlying().(*types.Struct); ok {
		o.fields(first.Place(), p.Elem(), false)
		return
	}
	o.visit(first.Place(), p.Elem(), false)
}

// param walks through the memory reachable from a parameter whose value is at p.
func (o *outputs) param(p *ir.Place, t types.Type) {
	if o.untouched == nil {
		o.visit(p, t, false)
		return
	}
	o.onPath[t] = true
	of := t.Underlying().(*types.Pointer).Elem()
	save, back := o.collect(func() { o.fields(ir.Extend(p, ir.DerefStep()), of, true) })
	delete(o.onPath, t)
	o.ifNotNil(p, t, save, back)
}

// fields walks through the fields of the struct of type t at p that are not untouched, and the memory reachable from
// them. If whole is set, p is in memory, and the fields themselves are saved too.
func (o *outputs) fields(p *ir.Place, t types.Type, whole bool) {
	u := t.Underlying().(*types.Struct)
	for i := range u.NumFields() {
		if f := u.Field(i); i >= len(o.untouched) || !o.untouched[i] {
			at := ir.Extend(p, ir.FieldStep(i))
			if whole && f.Name() != "_" && o.isRestored(f.Type()) {
				o.value(at, f.Type())
			}
			o.visit(at, f.Type(), false)
		}
	}
}

// ifNotNil adds save and back, conditional on the pointer at p being non-nil at each of the two times.
func (o *outputs) ifNotNil(p *ir.Place, t types.Type, save, back ir.Block) {
	if len(save) == 0 {
		return
	}
	cond := func() ir.Expr { return ir.Compare(token.NEQ, ir.LoadOf(p, t), ir.Zero(t)) }
	o.save = append(o.save, &ir.If{At: o.e.at, Cond: cond(), Then: save})
	o.restore = append(o.restore, &ir.If{At: o.e.at, Cond: cond(), Then: back})
}

// headersModified reports whether references in a value of type t, in memory reached from root, may be overwritten, so
// that other memory is reachable at exit than at entry.
func (o *outputs) headersModified(t types.Type) (found bool) {
	ir.EachCell(t, func(t types.Type) {
		s := locationSet{}
		o.e.sp.locations.addMemory(s, o.root, t)
		found = found || ir.HasRefs(t) && s.intersects(o.e.sp.locations.modified)
	})
	return found
}

// isRestored reports whether the reverse sweep may restore cells of type t reached from root.
func (o *outputs) isRestored(t types.Type) bool {
	s := locationSet{}
	o.e.sp.locations.addMemory(s, o.root, t)
	return s.intersects(o.restored)
}

// list returns the list of values of type t.
func (o *outputs) list(t types.Type) *savedList {
	for _, s := range o.lists {
		if types.Identical(s.elem, t) {
			return s
		}
	}
	sp := o.e.sp
	s := &savedList{
		tapeStack: tapeStack{ws: sp.ws, field: sp.p.work.addStack("left", t), elem: t},
		next:      sp.g.local("next", integer),
	}
	o.lists = append(o.lists, s)
	return s
}

// collect returns the statements that f adds, instead of adding them.
func (o *outputs) collect(f func()) (save, back ir.Block) {
	s, b := o.save, o.restore
	o.save, o.restore = nil, nil
	f()
	save, back = o.save, o.restore
	o.save, o.restore = s, b
	return save, back
}

// value saves and writes back the value of type t at p.
func (o *outputs) value(p *ir.Place, t types.Type) {
	s, at := o.list(t), o.e.at
	o.save = append(o.save, s.push(at, ir.LoadOf(p, t)))
	o.restore = append(o.restore,
		&ir.Set{At: at, P: p, E: ir.LoadOf(s.place(ir.IndexStep(s.next.Load())), t)},
		&ir.Add{At: at, P: s.next.Place(), E: ir.Count(1)})
}

// visit walks through the memory reachable from the value of type t at p. If inner is set it is in a loop.
func (o *outputs) visit(p *ir.Place, t types.Type, inner bool) {
	if !ir.HasRefs(t) {
		return
	}
	names := o.e.sp.g.names
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for i := range u.NumFields() {
			o.visit(ir.Extend(p, ir.FieldStep(i)), u.Field(i).Type(), inner)
		}
	case *types.Array:
		o.loop(names, ir.Count(u.Len()), func(i ir.Expr) { o.visit(ir.Extend(p, ir.IndexStep(i)), u.Elem(), true) })
	// A type within itself ends the walk: deeper memory of recursive types is not preserved.
	case *types.Pointer:
		if o.onPath[t] {
			return
		}
		o.onPath[t] = true
		to := ir.Extend(p, ir.DerefStep())
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
		o.loop(names, ir.LenOf(ir.LoadOf(p, t)),
			func(i ir.Expr) { o.visit(ir.Extend(p, ir.IndexStep(i)), u.Elem(), true) })
		delete(o.onPath, t)
	}
}

// loop adds the statements of f for an index below n, in a loop each for saving and writing back.
func (o *outputs) loop(names *ir.Namer, n ir.Expr, f func(i ir.Expr)) {
	v := o.e.sp.g.local("i", integer)
	save, back := o.collect(func() { f(v.Load()) })
	if len(save) == 0 {
		return
	}
	w := o.e.sp.g.local("i", integer)
	m := &ir.Map{Var: func(x *ir.Var) *ir.Var {
		if x == v {
			return w
		}
		return x
	}}
	o.save = append(o.save, upward(names, o.e.at, v, ir.Count(0), n, save))
	o.restore = append(o.restore, upward(names, o.e.at, w, ir.Count(0), n, m.Block(back)))
}

// elements saves and writes back the elements of the slice at p: in one append and one copy, or one by one within a
// loop.
func (o *outputs) elements(p *ir.Place, t, of types.Type, inner bool) {
	at := o.e.at
	full := func() ir.Expr {
		if !o.pastLen {
			return ir.LoadOf(p, t)
		}
		return cut(ir.LoadOf(p, t), nil, &ir.Len{Typed: ir.Typed{T: integer}, X: ir.LoadOf(p, t), Cap: true})
	}
	if inner {
		o.loop(o.e.sp.g.names, ir.LenOf(ir.LoadOf(p, t)),
			func(i ir.Expr) { o.value(ir.Extend(p, ir.IndexStep(i)), of) })
		return
	}
	s := tapeStack{ws: o.e.sp.ws, field: o.e.sp.p.work.addStack("left", of), elem: of}
	o.save = append(o.save,
		&ir.Append{At: at, P: s.place(), S: cut(s.load(), nil, ir.Count(0)), Elems: []ir.Expr{full()}, Spread: true})
	o.restore = append(o.restore, &ir.Copy{At: at, Dst: full(), Src: s.load()})
}
