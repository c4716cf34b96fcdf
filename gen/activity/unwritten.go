package activity

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Unwritten says of each field of the struct that parameter param of f points to, nil if it
// is no pointer to one, whether the function leaves it alone: neither the field nor memory that
// it leads to is written, by f or by what it calls. Two fields are told apart where they
// are reached by the pointer itself; what else comes from the struct may come from each of
// those that flow together.
//
// With derivative, f is one: functions with a rule that it calls are then derivatives
// themselves, which leave values as they are.
func Unwritten(f *ir.Func, param int, derivative bool) []bool {
	a := &writeAnalysis{summaries: map[*ir.Func]*writeSummary{}, derivative: derivative}
	p := a.summarize(f).memoryOf(f.Params[param])
	if _, is := f.Params[param].Type.Underlying().(*types.Pointer); !is || p.fields == nil {
		return nil
	}
	unwritten := make([]bool, len(p.fields.classes))
	for i, n := range p.fields.classes {
		unwritten[i] = !n.find().written && !p.class.find().written
	}
	return unwritten
}

// accesses are those of functions.
type writeAnalysis struct {
	summaries  map[*ir.Func]*writeSummary // nil where the function is under way
	derivative bool
}

// access is what a function writes, by field of structs. Variables, and fields of those that
// are structs or point to one, are of one class where they may lead to the same memory.
type writeSummary struct {
	analysis *writeAnalysis
	f        *ir.Func
	vars     map[*ir.Var]memory
	unified  map[*ir.Call]*aliasClass // what flows together in one of which a rule is known
	changed  bool
}

// value is what a variable or an expression leads to. A struct and a pointer to one have a
// class for each field, shared by all that may be the same struct or a copy of it.
type memory struct {
	class  *aliasClass
	fields *fields
}

// fields are the classes of the fields of structs of one type.
type fields struct {
	typ     types.Type
	classes []*aliasClass
}

func (a *writeAnalysis) summarize(f *ir.Func) *writeSummary {
	if done, ok := a.summaries[f]; ok {
		return done
	}
	a.summaries[f] = nil
	x := &writeSummary{analysis: a, f: f, vars: map[*ir.Var]memory{}, unified: map[*ir.Call]*aliasClass{}, changed: true}
	for x.changed {
		x.changed = false
		x.block(f.Body)
	}
	a.summaries[f] = x
	return x
}

// value is that of a variable.
func (a *writeSummary) memoryOf(v *ir.Var) memory {
	w, ok := a.vars[v]
	if !ok {
		w.class = new(aliasClass)
		t := v.Type
		if p, is := t.Underlying().(*types.Pointer); is {
			t = p.Elem()
		}
		if s, is := t.Underlying().(*types.Struct); is {
			w.fields = &fields{typ: t, classes: make([]*aliasClass, s.NumFields())}
			for i := range w.fields.classes {
				w.fields.classes[i] = new(aliasClass)
			}
		}
		a.vars[v] = w
	}
	return w
}

func (a *writeSummary) union(x, y *aliasClass) {
	if x, y = x.find(), y.find(); x != y {
		y.parent = x
		x.written = x.written || y.written
		a.changed = true
	}
}

func (a *writeSummary) markWritten(c *aliasClass) {
	if c = c.find(); !c.written {
		c.written, a.changed = true, true
	}
}

// whole is the one class of all that v leads to.
func (a *writeSummary) collapse(v memory) *aliasClass {
	if v.fields != nil {
		for _, c := range v.fields.classes {
			a.union(v.class, c)
		}
	}
	return v.class
}

// join says that v and w may lead to the same memory.
func (a *writeSummary) unify(v, w memory) {
	if v.fields != nil && w.fields != nil && types.Identical(v.fields.typ, w.fields.typ) {
		a.union(v.class, w.class)
		for i, c := range v.fields.classes {
			a.union(c, w.fields.classes[i])
		}
		return
	}
	a.union(a.collapse(v), a.collapse(w))
}

// at is what stands at a place, or behind it.
func (a *writeSummary) memoryAt(p *ir.Place) memory {
	v, path := a.memoryOf(p.Root), p.Path
	if len(path) == 0 || v.fields == nil {
		return v
	}
	if path[0].IsDeref() {
		path = path[1:]
	}
	switch {
	case len(path) == 0:
		return v
	case path[0].Field >= 0:
		return memory{class: v.fields.classes[path[0].Field]}
	}
	return memory{class: a.collapse(v)}
}

// leads visits what the value of e may lead to.
func (a *writeSummary) eachMemory(e ir.Expr, visit func(memory)) {
	place := func(p *ir.Place) {
		if p.Root.Kind != ir.Global {
			visit(a.memoryAt(p))
		}
	}
	switch e := e.(type) {
	case *ir.Load:
		t := e.Type()
		if t == nil {
			t = e.P.Root.Type
		}
		if HasRefs(t) {
			place(e.P)
		}
	case *ir.Addr:
		place(e.P)
	case *ir.SliceAt:
		place(e.P)
	case *ir.Slice:
		a.eachMemory(e.X, visit)
	case *ir.Convert:
		a.eachMemory(e.X, visit)
	case *ir.Opaque: // of what it is given it may keep all
		for _, x := range e.Args {
			a.eachMemory(x, visit)
		}
	case *ir.Literal:
		for _, x := range e.Elems {
			a.eachMemory(x, visit)
		}
	}
}

// flow says that e comes to stand in v.
func (a *writeSummary) flow(v memory, e ir.Expr) { a.eachMemory(e, func(w memory) { a.unify(v, w) }) }

// store says that p is written.
func (a *writeSummary) noteStore(p *ir.Place) {
	if p.Root.Kind == ir.Global || !p.Indirect() {
		return
	}
	v := a.memoryAt(p)
	if v.fields == nil {
		a.markWritten(v.class)
		return
	}
	for _, c := range v.fields.classes { // the struct as a whole
		a.markWritten(c)
	}
}

// behind says that what e leads to is written.
func (a *writeSummary) noteWrites(e ir.Expr) {
	a.eachMemory(e, func(v memory) { a.markWritten(a.collapse(v)) })
}

func (a *writeSummary) block(b ir.Block) {
	for _, s := range b {
		a.stmt(s)
		ir.EachExpr(s, func(e ir.Expr) {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				if o, ok := e.(*ir.Opaque); ok {
					for _, x := range o.Args {
						a.noteWrites(x)
					}
				}
				return true
			})
		})
		for _, in := range ir.Blocks(s) {
			a.block(*in)
		}
	}
}

func (a *writeSummary) stmt(s ir.Stmt) {
	switch s := s.(type) {
	case *ir.Let:
		if s.E != nil {
			a.flow(a.memoryOf(s.V), s.E)
		}
	case *ir.Set:
		a.noteStore(s.P)
		a.flow(a.targetMemory(s.P), s.E)
	case *ir.Add:
		a.noteStore(s.P)
	case *ir.Append:
		a.noteStore(s.P)
		a.noteWrites(s.S)
		to := a.targetMemory(s.P)
		a.flow(to, s.S)
		for _, e := range s.Elems {
			if !s.Spread || pointsToRefs(e.Type()) {
				a.flow(memory{class: a.collapse(to)}, e)
			}
		}
	case *ir.Clear:
		a.noteWrites(s.S)
	case *ir.Copy:
		a.noteWrites(s.Dst)
		if pointsToRefs(s.Src.Type()) {
			a.eachMemory(s.Dst, func(v memory) { a.flow(memory{class: a.collapse(v)}, s.Src) })
		}
	case *ir.Call:
		a.call(s)
	}
}

// target is what a value that is assigned to p comes to stand in.
func (a *writeSummary) targetMemory(p *ir.Place) memory {
	if p.Root.Kind == ir.Global {
		return memory{class: new(aliasClass)}
	}
	return a.memoryAt(p)
}

// call brings together what is known here and in the callee. Of a function with a rule, and
// of one that calls itself, that is what may be: all that comes in flows together.
func (a *writeSummary) call(s *ir.Call) {
	r := s.Callee.Rule
	var callee *writeSummary
	if r == nil {
		callee = a.analysis.summarize(s.Callee.Func)
	}
	if callee == nil {
		merged := a.unified[s]
		if merged == nil {
			merged = new(aliasClass)
			a.unified[s] = merged
		}
		for i, x := range s.Args {
			writes := r == nil || r.Writes(i)
			stores := writes && pointsToRefs(x.Type())
			a.eachMemory(x, func(v memory) {
				if writes && (r == nil || !a.analysis.derivative) {
					a.markWritten(a.collapse(v))
				}
				if stores {
					a.union(merged, a.collapse(v))
				}
			})
		}
		for i, v := range s.Results {
			if v == nil || !HasRefs(v.Type) {
				continue
			}
			k := -1
			if r != nil {
				k = r.Returned(i)
			}
			for j, x := range s.Args {
				if k < 0 || j == k {
					a.flow(a.memoryOf(v), x)
				}
			}
			if k < 0 {
				a.union(merged, a.collapse(a.memoryOf(v)))
			}
		}
		return
	}
	localClass := map[*aliasClass]*aliasClass{}
	linkClass := func(calleeMemory, c *aliasClass) {
		calleeMemory = calleeMemory.find()
		if calleeMemory.written {
			a.markWritten(c)
		}
		if other := localClass[calleeMemory]; other != nil {
			a.union(other, c)
		}
		localClass[calleeMemory] = c
	}
	link := func(calleeMemory, v memory) {
		if calleeMemory.fields != nil && v.fields != nil && types.Identical(calleeMemory.fields.typ, v.fields.typ) {
			linkClass(calleeMemory.class, v.class)
			for i, c := range calleeMemory.fields.classes {
				linkClass(c, v.fields.classes[i])
			}
			return
		}
		linkClass(calleeMemory.class, a.collapse(v))
		if calleeMemory.fields != nil {
			for _, c := range calleeMemory.fields.classes {
				linkClass(c, v.class)
			}
		}
	}
	for i, x := range s.Args {
		if p := callee.f.Params[i]; HasRefs(p.Type) {
			a.eachMemory(x, func(v memory) { link(callee.memoryOf(p), v) })
		}
	}
	for i, v := range s.Results {
		if v != nil && HasRefs(v.Type) {
			link(callee.memoryOf(callee.f.Results[i]), a.memoryOf(v))
		}
	}
}
