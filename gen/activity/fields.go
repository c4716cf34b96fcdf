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
	a := &accesses{done: map[*ir.Func]*access{}, derivative: derivative}
	p := a.of(f).value(f.Params[param])
	if _, is := f.Params[param].Type.Underlying().(*types.Pointer); !is || p.fields == nil {
		return nil
	}
	left := make([]bool, len(p.fields.of))
	for i, n := range p.fields.of {
		left[i] = !n.find().written && !p.n.find().written
	}
	return left
}

// accesses are those of functions.
type accesses struct {
	done       map[*ir.Func]*access // nil where the function is under way
	derivative bool
}

// access is what a function writes, by field of structs. Variables, and fields of those that
// are structs or point to one, are of one class where they may lead to the same memory.
type access struct {
	all     *accesses
	f       *ir.Func
	vars    map[*ir.Var]value
	calls   map[*ir.Call]*class // what flows together in one of which a rule is known
	changed bool
}

// value is what a variable or an expression leads to. A struct and a pointer to one have a
// class for each field, shared by all that may be the same struct or a copy of it.
type value struct {
	n      *class
	fields *fields
}

// fields are the classes of the fields of structs of one type.
type fields struct {
	typ types.Type
	of  []*class
}

func (a *accesses) of(f *ir.Func) *access {
	if done, ok := a.done[f]; ok {
		return done
	}
	a.done[f] = nil
	x := &access{all: a, f: f, vars: map[*ir.Var]value{}, calls: map[*ir.Call]*class{}, changed: true}
	for x.changed {
		x.changed = false
		x.block(f.Body)
	}
	a.done[f] = x
	return x
}

// value is that of a variable.
func (a *access) value(v *ir.Var) value {
	w, ok := a.vars[v]
	if !ok {
		w.n = new(class)
		t := v.Type
		if p, is := t.Underlying().(*types.Pointer); is {
			t = p.Elem()
		}
		if s, is := t.Underlying().(*types.Struct); is {
			w.fields = &fields{typ: t, of: make([]*class, s.NumFields())}
			for i := range w.fields.of {
				w.fields.of[i] = new(class)
			}
		}
		a.vars[v] = w
	}
	return w
}

func (a *access) union(x, y *class) {
	if x, y = x.find(), y.find(); x != y {
		y.up = x
		x.written = x.written || y.written
		a.changed = true
	}
}

func (a *access) write(c *class) {
	if c = c.find(); !c.written {
		c.written, a.changed = true, true
	}
}

// whole is the one class of all that v leads to.
func (a *access) whole(v value) *class {
	if v.fields != nil {
		for _, c := range v.fields.of {
			a.union(v.n, c)
		}
	}
	return v.n
}

// join says that v and w may lead to the same memory.
func (a *access) join(v, w value) {
	if v.fields != nil && w.fields != nil && types.Identical(v.fields.typ, w.fields.typ) {
		a.union(v.n, w.n)
		for i, c := range v.fields.of {
			a.union(c, w.fields.of[i])
		}
		return
	}
	a.union(a.whole(v), a.whole(w))
}

// at is what stands at a place, or behind it.
func (a *access) at(p *ir.Place) value {
	v, path := a.value(p.Root), p.Path
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
		return value{n: v.fields.of[path[0].Field]}
	}
	return value{n: a.whole(v)}
}

// leads visits what the value of e may lead to.
func (a *access) leads(e ir.Expr, visit func(value)) {
	place := func(p *ir.Place) {
		if p.Root.Kind != ir.Global {
			visit(a.at(p))
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
		a.leads(e.X, visit)
	case *ir.Convert:
		a.leads(e.X, visit)
	case *ir.Opaque: // of what it is given it may keep all
		for _, x := range e.Args {
			a.leads(x, visit)
		}
	case *ir.Literal:
		for _, x := range e.Elems {
			a.leads(x, visit)
		}
	}
}

// flow says that e comes to stand in v.
func (a *access) flow(v value, e ir.Expr) { a.leads(e, func(w value) { a.join(v, w) }) }

// store says that p is written.
func (a *access) store(p *ir.Place) {
	if p.Root.Kind == ir.Global || !p.Indirect() {
		return
	}
	v := a.at(p)
	if v.fields == nil {
		a.write(v.n)
		return
	}
	for _, c := range v.fields.of { // the struct as a whole
		a.write(c)
	}
}

// behind says that what e leads to is written.
func (a *access) behind(e ir.Expr) { a.leads(e, func(v value) { a.write(a.whole(v)) }) }

func (a *access) block(b ir.Block) {
	for _, s := range b {
		a.stmt(s)
		ir.EachExpr(s, func(e ir.Expr) {
			ir.WalkExpr(e, func(e ir.Expr) bool {
				if o, ok := e.(*ir.Opaque); ok {
					for _, x := range o.Args {
						a.behind(x)
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

func (a *access) stmt(s ir.Stmt) {
	switch s := s.(type) {
	case *ir.Let:
		if s.E != nil {
			a.flow(a.value(s.V), s.E)
		}
	case *ir.Set:
		a.store(s.P)
		a.flow(a.target(s.P), s.E)
	case *ir.Add:
		a.store(s.P)
	case *ir.Append:
		a.store(s.P)
		a.behind(s.S)
		to := a.target(s.P)
		a.flow(to, s.S)
		for _, e := range s.Elems {
			if !s.Spread || leadsToRefs(e.Type()) {
				a.flow(value{n: a.whole(to)}, e)
			}
		}
	case *ir.Clear:
		a.behind(s.S)
	case *ir.Copy:
		a.behind(s.Dst)
		if leadsToRefs(s.Src.Type()) {
			a.leads(s.Dst, func(v value) { a.flow(value{n: a.whole(v)}, s.Src) })
		}
	case *ir.Call:
		a.call(s)
	}
}

// target is what a value that is assigned to p comes to stand in.
func (a *access) target(p *ir.Place) value {
	if p.Root.Kind == ir.Global {
		return value{n: new(class)}
	}
	return a.at(p)
}

// call brings together what is known here and in the callee. Of a function with a rule, and
// of one that calls itself, that is what may be: all that comes in flows together.
func (a *access) call(s *ir.Call) {
	r := s.Callee.Rule
	var callee *access
	if r == nil {
		callee = a.all.of(s.Callee.Func)
	}
	if callee == nil {
		all := a.calls[s]
		if all == nil {
			all = new(class)
			a.calls[s] = all
		}
		for i, x := range s.Args {
			writes := r == nil || r.Writes(i)
			stores := writes && leadsToRefs(x.Type())
			a.leads(x, func(v value) {
				if writes && (r == nil || !a.all.derivative) {
					a.write(a.whole(v))
				}
				if stores {
					a.union(all, a.whole(v))
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
					a.flow(a.value(v), x)
				}
			}
			if k < 0 {
				a.union(all, a.whole(a.value(v)))
			}
		}
		return
	}
	mine := map[*class]*class{}
	class := func(theirs, c *class) {
		theirs = theirs.find()
		if theirs.written {
			a.write(c)
		}
		if other := mine[theirs]; other != nil {
			a.union(other, c)
		}
		mine[theirs] = c
	}
	share := func(theirs, v value) {
		if theirs.fields != nil && v.fields != nil && types.Identical(theirs.fields.typ, v.fields.typ) {
			class(theirs.n, v.n)
			for i, c := range theirs.fields.of {
				class(c, v.fields.of[i])
			}
			return
		}
		class(theirs.n, a.whole(v))
		if theirs.fields != nil {
			for _, c := range theirs.fields.of {
				class(c, v.n)
			}
		}
	}
	for i, x := range s.Args {
		if p := callee.f.Params[i]; HasRefs(p.Type) {
			a.leads(x, func(v value) { share(callee.value(p), v) })
		}
	}
	for i, v := range s.Results {
		if v != nil && HasRefs(v.Type) {
			share(callee.value(callee.f.Results[i]), a.value(v))
		}
	}
}
