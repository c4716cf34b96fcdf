// Package activity finds out which variables of a function carry derivatives, given
// which of its parameters do.
//
// Variables that can lead to the same memory are one class, and carry derivatives
// together; so are those of structs with their fields. A class is active if a number that
// depends on an active parameter can come to stand in it, on some path. This says too
// much rather than too little: what is passive is so in every execution.
package activity

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Program is what is known of the functions that call each other.
type Program struct {
	facts  map[key]*Facts
	order  []*Facts
	source func(*ir.Rule) *ir.Func // nil for none
}

type key struct {
	f            *ir.Func
	params       Mask
	callerActive Mask // that the caller makes active
}

// New returns an empty Program.
func New() *Program { return NewFollowing(nil) }

// Following returns an empty Program that looks into what source gives for a rule, as if
// there were none, and takes the rule where that is nil. Where a parameter by which a rule has
// no derivative is active, it looks into the source of the function.
func NewFollowing(source func(*ir.Rule) *ir.Func) *Program {
	return &Program{facts: map[key]*Facts{}, source: source}
}

// Facts is what holds for one function with some of its parameters active.
type Facts struct {
	Func *ir.Func
	// Params are the active parameters: those that were given, and those that share
	// memory with active numbers.
	Params Mask
	// Results are the results that depend on them, and those in Wanted.
	Results Mask
	// Wanted are results that lead to memory in which the caller puts active numbers,
	// although the function puts none there: they need a shadow too.
	CallerActive Mask
	// Written are the parameters behind which f or a function it calls may write: in the
	// elements of a slice or in what a pointer leads to.
	Written Mask

	program *Program
	classes map[*ir.Var]*aliasClass
	callees map[*ir.Call]*Facts
	changed bool
}

// class is a node of a union-find forest.
type aliasClass struct {
	parent  *aliasClass
	active  bool
	written bool // behind a pointer or in a slice
}

func (c *aliasClass) find() *aliasClass {
	for c.parent != nil {
		if c.parent.parent != nil {
			c.parent = c.parent.parent
		}
		c = c.parent
	}
	return c
}

// Of is what holds for f where the parameters in m are active.
func (p *Program) Analyze(f *ir.Func, params Mask) (*Facts, error) {
	facts := p.factsFor(f, params, Mask{})
	for again := true; again; {
		again = false
		for i := 0; i < len(p.order); i++ { // update adds to it
			p.order[i].update()
			again = again || p.order[i].changed
		}
	}
	return facts, facts.checkPassive(map[*Facts]bool{})
}

func (p *Program) factsFor(f *ir.Func, params, callerActive Mask) *Facts {
	k := key{f, params, callerActive}
	if facts := p.facts[k]; facts != nil {
		return facts
	}
	facts := &Facts{Func: f, CallerActive: callerActive, program: p, classes: map[*ir.Var]*aliasClass{}, callees: map[*ir.Call]*Facts{},
		changed: true}
	for i, v := range f.Params {
		if params.Has(i) && HasFloats(v.Type) {
			facts.classOf(v).active = true
		}
	}
	for i, v := range f.Results {
		if callerActive.Has(i) {
			facts.classOf(v).active = true
		}
	}
	p.facts[k] = facts
	p.order = append(p.order, facts)
	return facts
}

// Passive reports whether no parameter and no result of the function is active.
func (f *Facts) Passive() bool { return f.Params.Empty() && f.Results.Empty() }

// Active reports whether v carries a derivative: it has a shadow.
func (f *Facts) Active(v *ir.Var) bool {
	return v.Kind != ir.Global && HasFloats(v.Type) && f.classOf(v).active
}

// Memory stands for the memory that v leads to: two variables that can lead to the same
// have the same, in what is known now.
func (f *Facts) AliasClass(v *ir.Var) any { return f.classOf(v) }

// Callee is what holds for the function that a statement calls, nil where it is a rule.
func (f *Facts) Callee(c *ir.Call) *Facts { return f.callees[c] }

func (f *Facts) classOf(v *ir.Var) *aliasClass {
	c := f.classes[v]
	if c == nil {
		c = new(aliasClass)
		f.classes[v] = c
	}
	return c.find()
}

func (f *Facts) activate(c *aliasClass) {
	if c = c.find(); !c.active {
		c.active, f.changed = true, true
	}
}

func (f *Facts) union(a, b *aliasClass) {
	if a, b = a.find(), b.find(); a != b {
		b.parent = a
		a.active = a.active || b.active
		a.written = a.written || b.written
		f.changed = true
	}
}

// update goes over the function once.
func (f *Facts) update() {
	f.changed = false
	f.block(f.Func.Body)
	mask := func(vars []*ir.Var) (m Mask) {
		for i, v := range vars {
			if f.Active(v) {
				m = m.With(i)
			}
		}
		return m
	}
	params, results := mask(f.Func.Params), mask(f.Func.Results)
	var written Mask
	for i, v := range f.Func.Params {
		if HasRefs(v.Type) && f.classOf(v).written {
			written = written.With(i)
		}
	}
	if params != f.Params || results != f.Results || written != f.Written {
		f.Params, f.Results, f.Written, f.changed = params, results, written, true
	}
}

func (f *Facts) block(b ir.Block) {
	for _, s := range b {
		f.stmt(s)
	}
}

func (f *Facts) stmt(s ir.Stmt) {
	switch s := s.(type) {
	case *ir.Let:
		f.assign(f.classOf(s.V), s.E)
	case *ir.Set:
		f.noteStore(s.P)
		f.assign(f.classOf(s.P.Root), s.E)
	case *ir.Add:
		f.noteStore(s.P)
		f.assign(f.classOf(s.P.Root), s.E)
	case *ir.Append:
		f.noteStore(s.P)
		f.noteWrites(s.S) // it may write behind the length
		c := f.classOf(s.P.Root)
		f.assign(c, s.S)
		for _, e := range s.Elems {
			if s.Spread {
				f.copyElements(c, e)
			} else {
				f.assign(c, e)
			}
		}
	case *ir.Clear:
		f.noteWrites(s.S)
	case *ir.Copy:
		f.noteWrites(s.Dst)
		f.eachRoot(s.Dst, func(dst *ir.Var, _ types.Type) { f.copyElements(f.classOf(dst), s.Src) })
	case *ir.Call:
		f.call(s)
	case *ir.If:
		f.block(s.Then)
		f.block(s.Else)
	case *ir.Scope:
		f.block(s.Body)
	case *ir.Loop:
		f.block(s.Body)
	}
}

// assign says that e comes to stand in the memory of class c.
func (f *Facts) assign(c *aliasClass, e ir.Expr) {
	f.eachRoot(e, func(v *ir.Var, t types.Type) { f.flow(c, v, t) })
}

// flow says that what v leads to, of type t, comes to stand in c.
func (f *Facts) flow(c *aliasClass, v *ir.Var, t types.Type) {
	switch {
	case v.Kind == ir.Global:
	case HasRefs(t):
		f.union(c, f.classOf(v))
	case HasFloats(t) && f.classOf(v).active:
		f.activate(c)
	}
}

// elements says that the elements of slice e are copied to c.
func (f *Facts) copyElements(c *aliasClass, e ir.Expr) {
	s, ok := e.Type().Underlying().(*types.Slice)
	if !ok { // the bytes of a string
		return
	}
	f.eachRoot(e, func(v *ir.Var, _ types.Type) { f.flow(c, v, s.Elem()) })
}

// roots visits the variables whose memory the value of e is taken from or leads to, with
// the type of what is taken.
func (f *Facts) eachRoot(e ir.Expr, visit func(v *ir.Var, t types.Type)) {
	switch e := e.(type) {
	case *ir.Load:
		t := e.Type()
		if t == nil {
			t = e.P.Root.Type
		}
		visit(e.P.Root, t)
	case *ir.Unary:
		f.eachRoot(e.X, visit)
	case *ir.Binary:
		f.eachRoot(e.X, visit)
		f.eachRoot(e.Y, visit)
	case *ir.Math:
		for _, a := range e.Args {
			f.eachRoot(a, visit)
		}
	case *ir.Convert:
		f.eachRoot(e.X, visit)
	case *ir.Slice:
		f.eachRoot(e.X, visit)
	case *ir.SliceAt:
		visit(e.P.Root, e.Type())
	case *ir.Addr:
		visit(e.P.Root, e.Type())
	case *ir.Literal:
		for _, x := range e.Elems {
			f.eachRoot(x, visit)
		}
	}
}

// call brings together what is known here and in the callee.
func (f *Facts) call(s *ir.Call) {
	callee := f.analyzedFunc(s)
	if callee == nil {
		f.ruleCall(s)
		return
	}
	var params Mask
	for i, a := range s.Args {
		if !HasFloats(a.Type()) || callee.Passive {
			continue
		}
		f.eachRoot(a, func(v *ir.Var, t types.Type) {
			if HasFloats(t) && v.Kind != ir.Global && f.classOf(v).active {
				params = params.With(i)
			}
		})
	}
	facts := f.program.factsFor(callee, params, Mask{})
	var callerActive Mask
	for i, r := range s.Results {
		if r != nil && HasRefs(r.Type) && f.Active(r) && !facts.Results.Has(i) {
			callerActive = callerActive.With(i)
		}
	}
	if !callerActive.Empty() {
		facts = f.program.factsFor(callee, params, callerActive)
	}
	if f.callees[s] != facts {
		f.callees[s], f.changed = facts, true
	}
	// What the callee makes active or joins is so here.
	localClass := map[*aliasClass]*aliasClass{}
	link := func(of *ir.Var, c *aliasClass) {
		calleeClass := facts.classOf(of)
		if calleeClass.active {
			f.activate(c)
		}
		if !HasRefs(of.Type) {
			return
		}
		if calleeClass.written {
			f.markWritten(c)
		}
		if other := localClass[calleeClass]; other != nil {
			f.union(other, c)
		}
		localClass[calleeClass] = c
	}
	for i, a := range s.Args {
		p := facts.Func.Params[i]
		if !HasRefs(p.Type) {
			continue
		}
		f.eachRoot(a, func(v *ir.Var, t types.Type) {
			if HasRefs(t) && v.Kind != ir.Global {
				link(p, f.classOf(v))
			}
		})
	}
	for i, r := range s.Results {
		if r != nil {
			link(facts.Func.Results[i], f.classOf(r))
		}
	}
}
