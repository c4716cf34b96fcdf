package activity

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// A Program holds the facts about functions that call one another. Further calls of Analyze add to it. It must not be
// used by several goroutines at once.
type Program struct {
	facts  map[key]*Facts
	order  []*Facts                // all facts, in the order of creation
	rounds int                     // calls of Analyze so far
	source func(*ir.Rule) *ir.Func // see NewFollowing; nil if rules are never followed
	// plainInterfaces is set if values behind interfaces carry no derivatives, whatever their types.
	plainInterfaces bool
}

// NewOverReals returns an empty Program for forms over Reals, which interfaces do not hold: it is like [NewFollowing],
// and
// numbers behind interfaces carry no derivatives.
func NewOverReals(source func(*ir.Rule) *ir.Func) *Program {
	p := NewFollowing(source)
	p.plainInterfaces = true
	return p
}

// A key identifies the facts about f: its active parameters, and the results that only the caller makes active.
type key struct {
	f            *ir.Func
	params       Mask
	callerActive Mask // see Facts.CallerActive
}

// New returns an empty Program.
func New() *Program { return NewFollowing(nil) }

// NewFollowing returns an empty Program that analyses the function that source returns for a rule instead of applying
// the rule; if it returns nil, the rule is applied. If a parameter with respect to which a rule has no derivative is
// active, the source of the rule's function is analysed in any case.
func NewFollowing(source func(*ir.Rule) *ir.Func) *Program {
	return &Program{facts: map[key]*Facts{}, source: source}
}

// Facts are the results for one function with some of its parameters active. They are complete once the Analyze that
// created them has returned, and may still grow in later calls of Analyze for functions that call this one.
type Facts struct {
	Func *ir.Func
	// Params are the active parameters: the given ones and those that share memory with active numbers.
	Params Mask
	// Results are the active results: those that are varied, and those in CallerActive.
	Results Mask
	// CallerActive are results whose memory holds active numbers only because the caller stores them there, as in
	// memory that the function allocates. They need shadows, too.
	CallerActive Mask
	// Written are the parameters whose memory, the elements of a slice or the target of a pointer, f or a callee may
	// write.
	Written Mask

	program *Program
	classes map[*ir.Var]*aliasClass // variable → a node of its class
	callees map[*ir.Call]*Facts     // call → facts of the callee; missing for calls with a rule
	changed bool                    // the last update, or a union since, changed a fact
	round   int                     // number of the last call of Analyze that reached the function
}

// An aliasClass is a node of a union-find forest. The properties hold for the class if the node is its root.
type aliasClass struct {
	parent  *aliasClass // nil at the root
	active  bool        // some number in the class may be varied
	written bool        // memory behind a reference may be written
}

// find returns the root of the class, halving the path on the way.
func (c *aliasClass) find() *aliasClass {
	for c.parent != nil {
		if c.parent.parent != nil {
			c.parent = c.parent.parent
		}
		c = c.parent
	}
	return c
}

// Analyze returns the facts about f with the given active parameters. It visits f and the functions that it calls
// until no fact changes. The error, of type *[Error], is that a passive function handles memory with derivatives, or
// that
// numbers behind an interface would carry them.
func (p *Program) Analyze(f *ir.Func, params Mask) (*Facts, error) {
	p.rounds++
	facts := p.factsFor(f, params, Mask{})
	facts.round = p.rounds
	for again := true; again; {
		again = false
		for i := 0; i < len(p.order); i++ { // update may append
			if p.order[i].round == p.rounds {
				p.order[i].update()
				again = again || p.order[i].changed
			}
		}
	}
	return facts, facts.checkPassive(map[*Facts]bool{})
}

// factsFor returns the facts for a key, creating them if needed. New facts are incomplete until update has visited
// them.
func (p *Program) factsFor(f *ir.Func, params, callerActive Mask) *Facts {
	k := key{f, params, callerActive}
	if facts := p.facts[k]; facts != nil {
		return facts
	}
	facts := &Facts{
		Func: f, CallerActive: callerActive, program: p, classes: map[*ir.Var]*aliasClass{},
		callees: map[*ir.Call]*Facts{}, changed: true,
	}
	for i, v := range f.Params {
		if params.Has(i) && carries(v.Type) {
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

// Passive reports whether no parameter and no result of the function is active, so that no derivative of it is needed.
func (f *Facts) Passive() bool { return f.Params.Empty() && f.Results.Empty() }

// Active reports whether v carries derivatives, so that it has a shadow. Global variables never do.
func (f *Facts) Active(v *ir.Var) bool {
	return v.Kind != ir.Global && f.hasFloats(v.Type) && f.classOf(v).active
}

// AliasClass returns a value that identifies the alias class of v: it is equal for two variables that may lead to the
// same memory. It may change while the program is analysed.
func (f *Facts) AliasClass(v *ir.Var) any { return f.classOf(v) }

// Callee returns the facts about the callee of c in this context, or nil if a rule is applied to c.
func (f *Facts) Callee(c *ir.Call) *Facts { return f.callees[c] }

// classOf returns the root of the class of v, creating a class if v has none.
func (f *Facts) classOf(v *ir.Var) *aliasClass {
	c := f.classes[v]
	if c == nil {
		c = new(aliasClass)
		f.classes[v] = c
	}
	return c.find()
}

// activate makes class c active.
func (f *Facts) activate(c *aliasClass) {
	if c = c.find(); !c.active {
		c.active, f.changed = true, true
	}
}

// union merges two classes; the result has the properties of both.
func (f *Facts) union(a, b *aliasClass) {
	if a, b = a.find(), b.find(); a != b {
		b.parent = a
		a.active = a.active || b.active
		a.written = a.written || b.written
		f.changed = true
	}
}

// update visits the body of the function once and recomputes the masks from the classes. It sets f.changed if any fact
// has changed.
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
		if ir.HasRefs(v.Type) && f.classOf(v).written {
			written = written.With(i)
		}
	}
	if params != f.Params || results != f.Results || written != f.Written {
		f.Params, f.Results, f.Written, f.changed = params, results, written, true
	}
}

// block applies the transfer functions of the statements in b, nested blocks included.
func (f *Facts) block(b ir.Block) {
	for _, s := range b {
		f.stmt(s)
	}
}

// stmt applies the transfer function of s. Control flow is ignored; so are conditions, since a derivative does not
// depend on how a branch was chosen.
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
		f.noteWrites(s.S) // an append may write behind the length
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

// assign notes that the value of e is stored in a variable, or in memory, of class c.
func (f *Facts) assign(c *aliasClass, e ir.Expr) {
	f.eachRoot(e, func(v *ir.Var, t types.Type) { f.flow(c, v, t) })
}

// flow notes that a value of type t, loaded from v or referring to it, is stored in class c. References merge the
// classes; a number carries only its activity.
func (f *Facts) flow(c *aliasClass, v *ir.Var, t types.Type) {
	switch {
	case v.Kind == ir.Global:
	case ir.HasRefs(t):
		f.union(c, f.classOf(v))
	case f.hasFloats(t) && f.classOf(v).active:
		f.activate(c)
	}
}

// copyElements notes that the elements of the slice e are stored in class c.
func (f *Facts) copyElements(c *aliasClass, e ir.Expr) {
	s, ok := e.Type().Underlying().(*types.Slice)
	if !ok { // the bytes of a string
		return
	}
	f.eachRoot(e, func(v *ir.Var, _ types.Type) { f.flow(c, v, s.Elem()) })
}

// eachRoot visits the roots of the places that the value of e is computed from or refers to, each with the type of the
// value taken from the place. Integer operands such as indices do not contribute.
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
		if ir.IsAssertion(e) {
			f.eachRoot(e.X, func(v *ir.Var, _ types.Type) { visit(v, e.T) })
			break
		}
		f.eachRoot(e.X, visit)
	case *ir.Unbox:
		f.eachRoot(e.X, func(v *ir.Var, _ types.Type) { visit(v, e.T) })
	case *ir.Box:
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

// calleeFacts returns the facts for a callee, which are then updated in this call of Analyze too.
func (f *Facts) calleeFacts(callee *ir.Func, params, callerActive Mask) *Facts {
	facts := f.program.factsFor(callee, params, callerActive)
	if facts.round != f.round {
		facts.round, f.changed = f.round, true
	}
	return facts
}

// call applies a call of a function with a body: it determines the context of the callee from the arguments, and
// transfers the facts about the callee's parameters and results to the arguments and results of the call. Memory that
// is written, and classes that are merged, in the callee are so here, too.
func (f *Facts) call(s *ir.Call) {
	callee := f.analyzedFunc(s)
	if callee == nil {
		f.ruleCall(s)
		return
	}
	var params Mask
	for i, a := range s.Args {
		if !carries(a.Type()) || callee.Passive {
			continue
		}
		f.eachRoot(a, func(v *ir.Var, t types.Type) {
			if carries(t) && v.Kind != ir.Global && f.classOf(v).active {
				params = params.With(i)
			}
		})
	}
	facts := f.calleeFacts(callee, params, Mask{})
	var callerActive Mask
	for i, r := range s.Results {
		if r != nil && ir.HasRefs(r.Type) && f.Active(r) && !facts.Results.Has(i) {
			callerActive = callerActive.With(i)
		}
	}
	if !callerActive.Empty() {
		facts = f.calleeFacts(callee, params, callerActive)
	}
	if f.callees[s] != facts {
		f.callees[s], f.changed = facts, true
	}
	// Two parameters or results of one class in the callee have one class here: localClass maps the callee's class to
	// one of ours.
	localClass := map[*aliasClass]*aliasClass{}
	link := func(of *ir.Var, c *aliasClass) {
		calleeClass := facts.classOf(of)
		if calleeClass.active {
			f.activate(c)
		}
		if !ir.HasRefs(of.Type) {
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
		if !ir.HasRefs(p.Type) {
			continue
		}
		f.eachRoot(a, func(v *ir.Var, t types.Type) {
			if ir.HasRefs(t) && v.Kind != ir.Global {
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
