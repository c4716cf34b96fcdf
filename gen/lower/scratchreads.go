package lower

import (
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// Which numbers of package variables a function may read before it has stored them in the same call. If it stores them
// depending on numbers of the last call, they are a cache, whose derivative would be 0.
//
// Arrays and slices are followed as wholes: what is stored in one element counts for all, except that a read at a
// constant index needs a store at this index or at one that is not constant. A number must be stored on all paths to a
// read of it, with exceptions for loops (see loop) that hold while their control flow does not depend on numbers of
// earlier calls.

// A readAnalysis finds the cells that functions read before something is stored there.
type readAnalysis struct {
	tracked   map[*ir.Var]bool
	summaries map[*ir.Func]*readSummary
	// decided holds the loops and branches whose control flow may depend on numbers of earlier calls.
	decided map[ir.Stmt]bool

	f      *ir.Func
	s      *readSummary
	leaves map[*ir.Label]*memoryState // the knowledge where a label is left
	quiet  bool                       // reads are not noted
	// pending holds the cells that earlier iterations of loops around the statement have stored, earlier those of them
	// that count as stored since the statement is guarded by a condition on the number of the iteration.
	earlier, pending cellSet
	counters         map[*ir.Var]bool // variables that count iterations of loops around the statement
	// partly holds the elements that are read where only those with constant indices are stored.
	partly []*ir.Place
}

// A read is the statement at which a cell is read or added to first.
type read struct {
	at ir.Stmt
	in *ir.Func
}

// A readSummary is the effect of a function, by cells of package variables and of memory behind its parameters.
type readSummary struct {
	exposed map[cell]read // the cells that may be read first
	added   map[cell]read // those that something is added to first
	read    cellSet       // those that are read at all
	stored  cellSet       // those that are stored in any case
	results []cellSet     // the memory that results lead to
	running bool
	asked   bool // a call of the function in itself has used the summary
}

// exposedScratch returns refusals for the numbers that f may read before it stores them. A number that is added to and
// not read otherwise counts something and is permitted, and so are numbers that carry no derivative. g is f with local
// variables, those of locals, in place of the package variables.
func exposedScratch(f, g *ir.Func, locals map[*ir.Var]*ir.Var) (out Refusals) {
	tracked := map[*ir.Var]bool{}
	for v := range locals {
		tracked[v] = true
	}
	carries := carriesDerivative(g, locals)
	refused := map[string]read{}
	states := map[*ir.Var]bool{} // with numbers of earlier calls that carry no derivative
	for n := -1; n < len(states); {
		n = len(states)
		a := &readAnalysis{tracked: tracked, summaries: map[*ir.Func]*readSummary{}, decided: decidedBy(f, states)}
		s := a.function(f)
		for c, at := range s.added {
			if _, ok := s.exposed[c]; !ok && s.read.has(c) {
				s.exposed[c] = at
			}
		}
		for c, at := range s.exposed {
			if !tracked[c.root] {
				continue // behind a parameter of f
			}
			name, t := c.describe()
			if c.isElement() {
				name = "elements of package variable " + name
			} else {
				name = "package variable " + name
			}
			if !carries(c.root, t) {
				states[c.root] = true
			} else if old, ok := refused[name]; !ok || comparePositions(at.at.Position(), old.at.Position()) < 0 {
				refused[name] = at
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(refused)) {
		at := refused[name]
		out = append(out, &Refusal{at.at.Position(), at.in.Name, "read of " + name,
			"the function writes it, but may read it before: the value may be one that an earlier call has computed",
			"set it at the beginning of the function, or pass it as an argument"})
	}
	return out
}

// carriesDerivative returns a function that reports whether a value of type t in a package variable may carry a
// derivative.
func carriesDerivative(g *ir.Func, locals map[*ir.Var]*ir.Var) func(v *ir.Var, t types.Type) bool {
	var params activity.Mask
	for i, p := range g.Params {
		if ir.ContainsFloats(p.Type) || ir.ReachesFloats(p.Type) || hasReferences(p.Type) {
			params = params.With(i)
		}
	}
	facts, err := activity.New().Analyze(g, params)
	return func(v *ir.Var, t types.Type) bool {
		return ir.IsContinuous(t) && (err != nil || facts.Active(locals[v]))
	}
}

// function returns the summary of f.
func (a *readAnalysis) function(f *ir.Func) *readSummary {
	if s := a.summaries[f]; s != nil {
		s.asked = s.asked || s.running
		return s
	}
	s := &readSummary{exposed: map[cell]read{}, added: map[cell]read{}, read: cellSet{}, stored: cellSet{}}
	a.summaries[f] = s
	outer := *a
	begin := &memoryState{cellSet{}, map[*ir.Var]cellSet{}}
	for _, v := range f.Params {
		if hasReferences(v.Type) {
			begin.refs[v] = cellSet{{root: v}: true}
		}
	}
	for again := true; again; {
		n := len(s.exposed) + len(s.added) + len(s.read)
		*a = readAnalysis{tracked: a.tracked, summaries: a.summaries, decided: a.decided, f: f, s: s,
			leaves: map[*ir.Label]*memoryState{}}
		s.running = true
		end := a.block(f.Body, begin.clone())
		end = end.meet(a.leaves[f.Exit])
		s.running = false
		again = s.asked && len(s.exposed)+len(s.added)+len(s.read) > n
		if end == nil || again {
			continue
		}
		for c := range end.stored {
			if !c.current {
				s.stored[c] = true
			}
		}
		s.results = nil
		for _, v := range f.Results {
			s.results = append(s.results, end.refs[v])
		}
	}
	*a = outer
	return s
}

// reads notes that s reads the memory t, all of which is numbers.
func (a *readAnalysis) reads(s ir.Stmt, t region, m *memoryState) {
	for c := range t.cells {
		if c.root != nil && !a.quiet {
			a.s.read[c] = true
		}
	}
	if t.current.root != nil && m.stored.has(t.current) {
		return
	}
	for c := range t.cells {
		if c.root != nil && !m.stored.has(c) && !a.earlier.has(c) {
			a.note(a.s.exposed, c, read{s, a.f})
		}
	}
}

// note enters a cell in a table of the summary.
func (a *readAnalysis) note(table map[cell]read, c cell, at read) {
	if a.quiet {
		return
	}
	if old, ok := table[c]; !ok || comparePositions(at.at.Position(), old.at.Position()) < 0 {
		table[c] = at
	}
}

// readPlace notes that s reads the numbers at p.
func (a *readAnalysis) readPlace(s ir.Stmt, p *ir.Place, m *memoryState) {
	t, ok := a.place(p, m)
	if !ok {
		return
	}
	numbers("", p.Type(), func(path string) {
		a.reads(s, t.in(path), m)
		for c := range t.in(path).cells {
			if !a.quiet && c == c.widened() && !m.stored[c] && m.stored.has(c) && !a.earlier[c] {
				a.partly = append(a.partly, p)
			}
		}
	})
}

// readExpr notes the reads of an expression.
func (a *readAnalysis) readExpr(s ir.Stmt, e ir.Expr, m *memoryState) {
	ir.WalkExpr(e, func(e ir.Expr) bool {
		switch e := e.(type) {
		case *ir.Len:
			if l, ok := e.X.(*ir.Load); ok {
				for _, i := range l.P.Indices() {
					a.readExpr(s, i, m)
				}
				return false
			}
		case *ir.Load:
			a.readPlace(s, e.P, m)
		case *ir.Convert:
			if _, ok := e.T.Underlying().(*types.Array); ok {
				a.readElements(s, e.X, m)
			}
		}
		return true
	})
}

// readElements notes that s reads the elements of the slice e.
func (a *readAnalysis) readElements(s ir.Stmt, e ir.Expr, m *memoryState) {
	if isSlice(e.Type()) {
		numbers(anyElement, ir.ElemOf(e.Type()), func(path string) { a.reads(s, a.refersTo(e, m).in(path), m) })
	}
}

// storeElements notes that elements of the slice e are stored.
func (a *readAnalysis) storeElements(e ir.Expr, m *memoryState) {
	numbers(anyElement, ir.ElemOf(e.Type()), func(path string) { m.store(a.refersTo(e, m).in(path)) })
}

// block returns the knowledge after b, nil if its end is not reached. It changes m.
func (a *readAnalysis) block(b ir.Block, m *memoryState) *memoryState {
	outer := a.earlier
	defer func() { a.earlier = outer }()
	for _, s := range b {
		ir.EachExpr(s, func(e ir.Expr) { a.readExpr(s, e, m) })
		switch s := s.(type) {
		case *ir.Let:
			a.assign(s.V, s.E, m)
		case *ir.Set:
			a.set(s, m)
		case *ir.Add:
			a.add(s, m)
		case *ir.Append:
			a.append(s, m)
		case *ir.Copy:
			a.readElements(s, s.Src, m)
			a.storeElements(s.Dst, m)
		case *ir.Clear:
			a.storeElements(s.S, m)
		case *ir.Call:
			a.call(s, m)
		case *ir.If:
			m = a.branch(s, m)
		case *ir.Scope:
			m = a.block(s.Body, m)
			m = m.meet(a.leaves[s.L])
			delete(a.leaves, s.L)
		case *ir.Loop:
			m = a.loop(s, m)
		case *ir.Leave:
			a.leaves[s.L] = m.meet(a.leaves[s.L])
			return nil
		case *ir.Panic:
			return nil
		}
		if m == nil {
			return nil
		}
	}
	return m
}

// assign notes that e is assigned to the local variable v.
func (a *readAnalysis) assign(v *ir.Var, e ir.Expr, m *memoryState) {
	if !hasReferences(v.Type) {
		return
	}
	t := a.refersTo(e, m)
	var known []cell
	for c := range m.stored {
		if path, ok := strings.CutPrefix(c.path, t.current.path); ok && t.current.root == c.root && c.current {
			known = append(known, cell{v, path, true})
		}
	}
	m.forget(v)
	m.refs[v] = t.cells
	for _, c := range known {
		m.stored[c] = true
	}
}

// set applies an assignment.
func (a *readAnalysis) set(s *ir.Set, m *memoryState) {
	if a.tracked[s.P.Root] && len(s.P.Path) == 0 && isSlice(s.P.Root.Type) {
		a.setSlice(s.P.Root, s.E, m)
		return
	}
	if t, ok := a.place(s.P, m); ok {
		if slices.ContainsFunc(a.partly, func(p *ir.Place) bool { return ir.EqualPlace(p, s.P) }) {
			numbers("", s.P.Type(), func(path string) {
				for c := range t.in(path).cells {
					if c.root != nil && !m.stored[c] {
						a.note(a.s.exposed, c, read{s, a.f})
					}
				}
			})
		}
		numbers("", s.P.Type(), func(path string) { m.store(t.in(path)) })
		if !hasReferences(s.P.Type()) || a.tracked[s.P.Root] {
			return
		}
	}
	if len(s.P.Path) == 0 {
		a.assign(s.P.Root, s.E, m)
	} else if hasReferences(s.P.Type()) {
		all := maps.Clone(m.refs[s.P.Root])
		if all == nil {
			all = cellSet{}
		}
		maps.Copy(all, a.refersTo(s.E, m).cells)
		m.refs[s.P.Root] = all
		m.forget(s.P.Root)
	}
}

// setSlice applies an assignment to a slice that is scratch. A part of itself leaves the knowledge as it is; memory
// that is not scratch counts as stored.
func (a *readAnalysis) setSlice(v *ir.Var, e ir.Expr, m *memoryState) {
	from := a.refersTo(e, m)
	from.cells = maps.Clone(from.cells)
	self := cell{root: v}
	if len(from.cells) == 1 && from.cells[self] {
		return
	}
	stored := cellSet{}
	maps.DeleteFunc(from.cells, func(c cell, _ bool) bool { return !a.tracked[c.root] })
	numbers(anyElement, ir.ElemOf(v.Type), func(path string) {
		if m.isStored(from.in(path)) {
			stored[self.in(path)] = true
		}
	})
	maps.DeleteFunc(m.stored, func(c cell, _ bool) bool { return c.root == v })
	maps.Copy(m.stored, stored)
}

// add applies the addition of a number.
func (a *readAnalysis) add(s *ir.Add, m *memoryState) {
	t, ok := a.place(s.P, m)
	if !ok || t.current.root != nil && m.stored.has(t.current) {
		return
	}
	for c := range t.cells {
		if c.root != nil && !m.stored.has(c) && !a.earlier.has(c) {
			a.note(a.s.added, c, read{s, a.f})
		}
	}
}

// append applies an append. Elements before the new ones are not read.
func (a *readAnalysis) append(s *ir.Append, m *memoryState) {
	from := a.refersTo(s.S, m)
	elem := ir.ElemOf(s.S.Type())
	if s.Spread {
		a.readElements(s, s.Elems[0], m)
	}
	numbers(anyElement, elem, func(path string) { m.store(from.in(path)) })
	if a.tracked[s.P.Root] {
		a.setSlice(s.P.Root, s.S, m)
		numbers(anyElement, elem, func(path string) { m.stored[cell{root: s.P.Root, path: path}] = true })
		return
	}
	from.cells = maps.Clone(from.cells)
	for _, e := range s.Elems {
		maps.Copy(from.cells, a.refersTo(e, m).cells)
	}
	if len(s.P.Path) == 0 {
		v := s.P.Root
		a.assign(v, s.S, m)
		m.refs[v] = maps.Clone(from.cells)
		m.refs[v][cell{}] = true // memory that append makes
		numbers(anyElement, elem, func(path string) { m.stored[cell{v, path, true}] = true })
	}
}

// branch applies an if.
func (a *readAnalysis) branch(s *ir.If, m *memoryState) *memoryState {
	outer := a.earlier
	guards := !a.decided[s] && a.counts(s.Cond)
	if guards {
		a.earlier = a.pending
	}
	then := a.block(s.Then, m.clone())
	otherwise := a.block(s.Else, m)
	if !guards || then != nil && otherwise != nil {
		a.earlier = outer
	}
	return then.meet(otherwise)
}

// counts reports whether e depends on the number of an iteration.
func (a *readAnalysis) counts(e ir.Expr) (found bool) {
	ir.WalkExpr(e, func(e ir.Expr) bool {
		p := ir.PlaceOf(e)
		found = found || p != nil && len(p.Path) == 0 && a.counters[p.Root]
		return !found
	})
	return found
}

// countersOf returns the variables that count iterations of l, with those of the loops around it: its index, variables
// that change by constants only, and constants in an iteration that depend on such.
func (a *readAnalysis) countersOf(l *ir.Loop) map[*ir.Var]bool {
	out := maps.Clone(a.counters)
	if out == nil {
		out = map[*ir.Var]bool{}
	}
	if l.V != nil {
		out[l.V] = true
	}
	declared, otherwise := map[*ir.Var]bool{}, map[*ir.Var]bool{}
	ir.Walk(l.Body, func(s ir.Stmt) bool {
		switch s := s.(type) {
		case *ir.Let:
			declared[s.V] = true
		case *ir.Add:
			if len(s.P.Path) == 0 && ir.IsConst(s.E) {
				out[s.P.Root] = out[s.P.Root] || !otherwise[s.P.Root]
				return true
			}
		case *ir.Set:
			if b, ok := s.E.(*ir.Binary); ok && len(s.P.Path) == 0 && ir.IsConst(b.Y) &&
				(b.Op == token.ADD || b.Op == token.SUB) && ir.Equal(b.X, ir.LoadOf(s.P, b.X.Type())) {
				out[s.P.Root] = out[s.P.Root] || !otherwise[s.P.Root]
				return true
			}
		}
		if p := ir.Target(s); p != nil {
			otherwise[p.Root] = true
		}
		ir.EachResult(s, func(v *ir.Var) { otherwise[v] = true })
		return true
	})
	maps.DeleteFunc(out, func(v *ir.Var, _ bool) bool { return otherwise[v] || declared[v] })
	inner := *a
	inner.counters = out
	ir.Walk(l.Body, func(s ir.Stmt) bool {
		if s, ok := s.(*ir.Let); ok && !otherwise[s.V] && inner.counts(s.E) {
			out[s.V] = true
		}
		return true
	})
	return out
}

// loop applies a loop. Unless its control flow depends on numbers of earlier calls, it counts as one that is repeated:
// if it runs zero times, what follows reads a number that an earlier call left, which no choice of this call has
// brought about. For the same reason a read that is guarded by a condition on the number of the iteration, as in a loop
// up to its index, counts as one of a later iteration.
func (a *readAnalysis) loop(s *ir.Loop, m *memoryState) *memoryState {
	pending, earlier, quiet, counters := a.pending, a.earlier, a.quiet, a.counters
	defer func() { a.pending, a.earlier, a.quiet, a.counters = pending, earlier, quiet, counters }()
	if !a.decided[s] && (a.counts(s.Lo) || a.counts(s.Hi)) {
		a.earlier = pending
	}
	a.counters = a.countersOf(s)
	iterate := func(in *memoryState, quietly bool) (next, exits *memoryState) {
		outer := a.leaves
		a.leaves = maps.Clone(outer)
		delete(a.leaves, s.Next)
		delete(a.leaves, s.L)
		a.quiet = quiet || quietly
		next = a.block(s.Body, in.clone()).meet(a.leaves[s.Next])
		exits = a.leaves[s.L]
		delete(a.leaves, s.L)
		delete(a.leaves, s.Next)
		if quietly {
			a.leaves = outer
		}
		return next, exits
	}
	in := m
	var next *memoryState
	for again := true; again; {
		next, _ = iterate(in, true)
		both := in.meet(next)
		again = !both.equal(in)
		in = both
	}
	if next != nil && !a.decided[s] {
		a.pending = maps.Clone(pending)
		if a.pending == nil {
			a.pending = cellSet{}
		}
		for c := range next.stored {
			if !c.current {
				a.pending[c] = true
			}
		}
	}
	next, exits := iterate(in, false)
	switch {
	case a.decided[s] || next == nil:
		if s.V != nil {
			exits = exits.meet(in)
		}
	default:
		last, late := iterate(next, true)
		exits = late
		if s.V != nil {
			exits = exits.meet(next).meet(last)
		}
	}
	return exits
}

// call applies a call.
func (a *readAnalysis) call(s *ir.Call, m *memoryState) {
	f := s.Callee.Func
	if r := s.Callee.Rule; r != nil {
		if f = r.Source; f == nil {
			f = r.Plain
		}
		if f == nil || len(f.Params) != len(s.Args) {
			a.ruleCall(s, m)
			return
		}
	}
	t := a.function(f)
	args := map[*ir.Var]region{}
	for i, p := range f.Params {
		args[p] = a.refersTo(s.Args[i], m)
	}
	memory := func(c cell) region {
		if from, ok := args[c.root]; ok {
			return from.in(c.path)
		}
		return region{cells: cellSet{c: true}}
	}
	for c := range t.read {
		for c := range memory(c).cells {
			if c.root != nil && !a.quiet {
				a.s.read[c] = true
			}
		}
	}
	for to, from := range map[*map[cell]read]map[cell]read{&a.s.exposed: t.exposed, &a.s.added: t.added} {
		for c, at := range from {
			at2 := memory(c)
			if at2.current.root != nil && m.stored.has(at2.current) {
				continue
			}
			for c := range at2.cells {
				if c.root != nil && !m.stored.has(c) && !a.earlier.has(c) {
					a.note(*to, c, at)
				}
			}
		}
	}
	for c := range t.stored {
		m.store(memory(c))
	}
	for i, v := range s.Results {
		if v == nil || !hasReferences(v.Type) {
			continue
		}
		m.forget(v)
		m.refs[v] = cellSet{}
		if i < len(t.results) {
			for c := range t.results[i] {
				maps.Copy(m.refs[v], memory(c).cells)
			}
		}
	}
}

// ruleCall applies a call of a function without source: it reads all memory that it gets, and stores to all that it
// may write.
func (a *readAnalysis) ruleCall(s *ir.Call, m *memoryState) {
	r := s.Callee.Rule
	all := cellSet{}
	for _, e := range s.Args {
		t := a.refersTo(e, m)
		maps.Copy(all, t.cells)
		behind(e.Type(), func(path string) { a.reads(s, t.in(path), m) })
	}
	for i, e := range s.Args {
		if r.Writes(i) && !r.Passive {
			behind(e.Type(), func(path string) { m.store(a.refersTo(e, m).in(path)) })
		}
	}
	for _, v := range s.Results {
		if v != nil && hasReferences(v.Type) {
			m.forget(v)
			m.refs[v] = all
		}
	}
}

// behind calls visit for the paths of the numbers that a slice or a pointer of type t leads to.
func behind(t types.Type, visit func(path string)) {
	switch u := t.Underlying().(type) {
	case *types.Slice:
		numbers(anyElement, u.Elem(), visit)
	case *types.Pointer:
		numbers("", u.Elem(), visit)
	}
}
