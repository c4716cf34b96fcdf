package lower

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Mod/ref summaries: whether memory reachable from a parameter is written or read. Aliases are
// tracked by unification of variables into classes (Steensgaard 1996), insensitive to control flow
// and to calling context, and summaries of recursive functions iterate to a fixed point.

// effects returns the mod/ref summary of f: for each parameter whether f or a callee may write, and
// may read, memory reachable from it. It is conservative. Iterations only merge classes and set
// bits, so they terminate.
func effects(f *ir.Func) (write, read []bool) {
	e := &modRef{done: map[*ir.Func]*modRefSummary{}}
	// Functions may call each other, so passes are repeated until no summary changes.
	for again := true; again; again = e.changed {
		e.changed, e.visited = false, map[*ir.Func]bool{}
		e.function(f)
	}
	s := e.done[f]
	for _, v := range f.Params {
		c := s.classOf(v)
		write, read = append(write, c.write), append(read, c.read)
	}
	return write, read
}

// A modRef computes the summaries of a function and of all its direct and indirect callees. done
// maps functions to their summaries so far, visited holds the functions that the current pass has
// analysed or is analysing, and changed is set if the pass changed a summary.
type modRef struct {
	done    map[*ir.Func]*modRefSummary
	visited map[*ir.Func]bool
	changed bool
}

// A modRefSummary maps the variables of a function to their alias classes.
type modRefSummary struct{ classes map[*ir.Var]*aliasClass }

// An aliasClass is a node of a union-find forest. At a root, write and read report whether memory
// that variables of the class can reach is written or read.
type aliasClass struct {
	up          *aliasClass
	write, read bool
}

// classOf returns the root of the class of v, creating it if v is new.
func (s *modRefSummary) classOf(v *ir.Var) *aliasClass {
	c := s.classes[v]
	if c == nil {
		c = &aliasClass{}
		s.classes[v] = c
	}
	for c.up != nil {
		c = c.up
	}
	return c
}

// unify merges the classes of v and w: they may reach the same memory.
func (e *modRef) unify(s *modRefSummary, v, w *ir.Var) {
	if a, b := s.classOf(v), s.classOf(w); a != b {
		b.up, e.changed = a, true
		a.write, a.read = a.write || b.write, a.read || b.read
	}
}

// addMod marks memory reachable from v as written.
func (e *modRef) addMod(s *modRefSummary, v *ir.Var) {
	if c := s.classOf(v); !c.write {
		c.write, e.changed = true, true
	}
}

// addRef marks memory reachable from v as read.
func (e *modRef) addRef(s *modRefSummary, v *ir.Var) {
	if c := s.classOf(v); !c.read {
		c.read, e.changed = true, true
	}
}

// function returns the summary of f and updates it, once per pass.
func (e *modRef) function(f *ir.Func) *modRefSummary {
	s := e.done[f]
	if s == nil {
		s = &modRefSummary{classes: map[*ir.Var]*aliasClass{}}
		e.done[f] = s
	}
	if e.visited[f] {
		return s
	}
	e.visited[f] = true
	ir.Walk(f.Body, func(st ir.Stmt) bool {
		e.stmt(s, st)
		return true
	})
	return s
}

// assign unifies v with the variables from which the references in x may come.
func (e *modRef) assign(s *modRefSummary, v *ir.Var, x ir.Expr) {
	eachReferenceRoot(x, func(w *ir.Var) { e.unify(s, v, w) })
}

// stmt adds the effects of one statement, and the aliases that it creates.
func (e *modRef) stmt(s *modRefSummary, st ir.Stmt) {
	fx := ir.EffectOf(st)
	for _, p := range fx.Reads {
		if n := len(p.Path); n > 0 && p.Path[n-1].Field == ir.AnyStep().Field || p.Indirect() {
			e.addRef(s, p.Root)
		}
	}
	for _, p := range fx.Writes {
		if p.Indirect() {
			e.addMod(s, p.Root)
		}
	}
	call, isCall := st.(*ir.Call)
	if isCall {
		e.call(s, call)
		return
	}
	for _, x := range fx.Through {
		eachReferenceRoot(x, func(v *ir.Var) { e.addMod(s, v) })
	}
	switch st := st.(type) {
	case *ir.Let:
		e.assign(s, st.V, st.E)
	case *ir.Set:
		e.assign(s, st.P.Root, st.E)
	case *ir.Append:
		e.assign(s, st.P.Root, st.S)
		for _, x := range st.Elems {
			// Elements of a spread slice are copied; only references in them alias.
			if !st.Spread || elementsHaveReferences(x) {
				e.assign(s, st.P.Root, x)
			}
		}
	case *ir.Copy:
		if elementsHaveReferences(st.Src) {
			eachReferenceRoot(st.Dst, func(v *ir.Var) { e.assign(s, v, st.Src) })
		}
	}
}

// elementsHaveReferences reports whether x is a slice whose elements contain references.
func elementsHaveReferences(x ir.Expr) bool {
	s, ok := x.Type().Underlying().(*types.Slice)
	return ok && hasReferences(s.Elem())
}

// call adds the effects of a call from the summary of the callee. Arguments and results that the
// callee puts into one class are unified.
func (e *modRef) call(s *modRefSummary, c *ir.Call) {
	if c.Callee.Func == nil {
		e.rule(s, c)
		return
	}
	f := c.Callee.Func
	t := e.function(f)
	mine := map[*aliasClass]*ir.Var{} // class of the callee → a variable of the caller in it
	share := func(theirs, v *ir.Var) {
		if !hasReferences(theirs.Type) {
			return
		}
		// Within the callee, parameters of one class may alias on return, and so may the arguments.
		k := t.classOf(theirs)
		if k.write {
			e.addMod(s, v)
		}
		if k.read {
			e.addRef(s, v)
		}
		if w := mine[k]; w != nil {
			e.unify(s, w, v)
		}
		mine[k] = v
	}
	for i, a := range c.Args {
		eachReferenceRoot(a, func(v *ir.Var) { share(f.Params[i], v) })
	}
	for i, v := range c.Results {
		if v != nil {
			share(f.Results[i], v)
		}
	}
}

// rule adds the effects of a call of a rule. If it may store or return references, all its
// arguments and results are unified.
func (e *modRef) rule(s *modRefSummary, c *ir.Call) {
	var last *ir.Var
	// all reports whether the rule may store a reference where another argument or result can reach
	// it.
	all := false
	for _, v := range c.Results {
		all = all || v != nil && hasReferences(v.Type)
	}
	for i, a := range c.Args {
		all = all || c.Callee.Rule.Writes(i) && hasReferences(a.Type()) && !reachesNoReferences(a.Type())
	}
	together := func(v *ir.Var) {
		if last != nil && all {
			e.unify(s, last, v)
		}
		last = v
	}
	for i, a := range c.Args {
		eachReferenceRoot(a, func(v *ir.Var) {
			if c.Callee.Rule.Writes(i) {
				e.addMod(s, v)
			}
			e.addRef(s, v)
			together(v)
		})
	}
	for _, v := range c.Results {
		if v != nil && hasReferences(v.Type) {
			together(v)
		}
	}
}

// reachesNoReferences reports whether memory reachable from a value of type t contains no
// references.
func reachesNoReferences(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return !hasReferences(u.Elem())
	case *types.Pointer:
		return !hasReferences(u.Elem())
	case *types.Array:
		return reachesNoReferences(u.Elem())
	case *types.Struct:
		for v := range u.Fields() {
			if !reachesNoReferences(v.Type()) {
				return false
			}
		}
		return true
	}
	return !hasReferences(t)
}
