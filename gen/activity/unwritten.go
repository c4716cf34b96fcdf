package activity

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Unwritten returns, for each field of the struct that parameter param of f points to, whether f and its callees write
// neither the field nor memory reachable from it. It returns nil if the parameter is not a pointer to a struct. Fields
// are distinguished where they are accessed through the pointer to the struct; a value of another origin counts for all
// fields that may contain it.
//
// If derivative is set, f is a generated derivative, and so are the functions with a rule that it calls, which do not
// modify primal values.
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

// A writeAnalysis computes write summaries bottom-up over the call graph.
type writeAnalysis struct {
	summaries  map[*ir.Func]*writeSummary // nil while the function is being summarised
	derivative bool                       // see Unwritten
}

// A writeSummary holds the alias classes of one function, separately for each field of a struct, and whether each may
// be written. As in [Facts], classes are merged by unification and the result is a fixed point: classes only merge and
// only become written.
type writeSummary struct {
	analysis *writeAnalysis
	f        *ir.Func
	vars     map[*ir.Var]memory       // variable → classes of its memory
	unified  map[*ir.Call]*aliasClass // call → class of all memory that its arguments and results exchange
	changed  bool                     // in the current visit of the body
}

// A memory describes the memory that a variable or an expression leads to. A struct, or a pointer to one, has a class
// for each field, shared by all variables that may hold the same struct, a copy of it, or a pointer to it. The class is
// that of all other memory, and of the whole if fields is nil.
type memory struct {
	class  *aliasClass
	fields *fields
}

// A fields holds the class of each field of a struct of type typ.
type fields struct {
	typ     types.Type
	classes []*aliasClass
}

// summarize returns the summary of f, visiting its body until nothing changes. It returns nil for a function that is
// being summarised, that is for a recursive call.
func (a *writeAnalysis) summarize(f *ir.Func) *writeSummary {
	if done, ok := a.summaries[f]; ok {
		return done
	}
	a.summaries[f] = nil
	x := &writeSummary{
		analysis: a, f: f, vars: map[*ir.Var]memory{}, unified: map[*ir.Call]*aliasClass{}, changed: true,
	}
	for x.changed {
		x.changed = false
		x.block(f.Body)
	}
	a.summaries[f] = x
	return x
}

// memoryOf returns the memory of v, creating classes at its first use.
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

// union merges two classes.
func (a *writeSummary) union(x, y *aliasClass) {
	if x, y = x.find(), y.find(); x != y {
		y.parent = x
		x.written = x.written || y.written
		a.changed = true
	}
}

// markWritten notes that memory of class c may be written.
func (a *writeSummary) markWritten(c *aliasClass) {
	if c = c.find(); !c.written {
		c.written, a.changed = true, true
	}
}

// collapse merges all classes of v into one, giving up the distinction of fields, and returns it.
func (a *writeSummary) collapse(v memory) *aliasClass {
	if v.fields != nil {
		for _, c := range v.fields.classes {
			a.union(v.class, c)
		}
	}
	return v.class
}

// unify notes that v and w may lead to the same memory. Structs of one type are merged field by field.
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

// memoryAt returns the memory that the value at p leads to. Fields are distinguished only in the first step of the
// path.
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

// eachMemory visits the memories that the value of e may lead to.
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
		if ir.HasRefs(t) {
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
	case *ir.Unbox:
		a.eachMemory(e.X, visit)
	case *ir.Box:
		a.eachMemory(e.X, visit)
	case *ir.Opaque: // it may keep references to all its arguments
		for _, x := range e.Args {
			a.eachMemory(x, visit)
		}
	case *ir.Literal:
		for _, x := range e.Elems {
			a.eachMemory(x, visit)
		}
	}
}

// flow notes that the value of e is stored in v.
func (a *writeSummary) flow(v memory, e ir.Expr) { a.eachMemory(e, func(w memory) { a.unify(v, w) }) }

// noteStore notes a store to p.
func (a *writeSummary) noteStore(p *ir.Place) {
	if p.Root.Kind == ir.Global || !p.Indirect() {
		return
	}
	v := a.memoryAt(p)
	if v.fields == nil {
		a.markWritten(v.class)
		return
	}
	for _, c := range v.fields.classes { // all fields of the struct
		a.markWritten(c)
	}
}

// noteWrites notes that all memory reachable from e may be written.
func (a *writeSummary) noteWrites(e ir.Expr) {
	a.eachMemory(e, func(v memory) { a.markWritten(a.collapse(v)) })
}

// block applies the transfer functions of the statements in b, nested blocks included. Arguments of opaque expressions,
// which call functions of the standard library, count as written.
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

// stmt applies the transfer function of s itself.
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

// isPointer reports whether t is a pointer type.
func isPointer(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

// targetMemory returns the memory that a value assigned to p is stored in. Memory of global variables is not tracked.
func (a *writeSummary) targetMemory(p *ir.Place) memory {
	if p.Root.Kind == ir.Global {
		return memory{class: new(aliasClass)}
	}
	return a.memoryAt(p)
}

// call applies a call. For a function with a summary, written classes and merges of the callee's parameters and results
// are transferred to arguments and results. For a rule or a recursive call the worst is assumed: memory that may be
// written is, and references flow from all arguments to all results and all memory that can hold them.
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
			// The methods of an object of the standard library change it, though never memory that others read.
			changes := r != nil && (r.Effects && isPointer(x.Type()) || r.Stores && i == 0)
			writes := r == nil || r.Writes(i)
			stores := writes && pointsToRefs(x.Type())
			a.eachMemory(x, func(v memory) {
				if changes || writes && (r == nil || !a.analysis.derivative) {
					a.markWritten(a.collapse(v))
				}
				if stores {
					a.union(merged, a.collapse(v))
				}
			})
		}
		for i, v := range s.Results {
			if v == nil || !ir.HasRefs(v.Type) {
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
	// See the same map in Facts.call.
	localClass := map[*aliasClass]*aliasClass{}
	linkClass := func(calleeClass, c *aliasClass) {
		calleeClass = calleeClass.find()
		if calleeClass.written {
			a.markWritten(c)
		}
		if other := localClass[calleeClass]; other != nil {
			a.union(other, c)
		}
		localClass[calleeClass] = c
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
		if p := callee.f.Params[i]; ir.HasRefs(p.Type) {
			a.eachMemory(x, func(v memory) { link(callee.memoryOf(p), v) })
		}
	}
	for i, v := range s.Results {
		if v != nil && ir.HasRefs(v.Type) {
			link(callee.memoryOf(callee.f.Results[i]), a.memoryOf(v))
		}
	}
}
