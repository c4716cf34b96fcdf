package lower

import (
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Writes to package-level variables, by their names and through aliases. Variables that can be scratch are rewritten,
// see scratch.go; other writes are refused, as derivatives would have to outlive the call. The analysis propagates sets
// of origins through the assignments of all functions, insensitive to control flow, until a fixed point is reached.

// origins is a set of variables from whose memory a reference may come: package-level variables and
// parameters.
type origins map[*ir.Var]bool

// An originAnalysis is the state for one function.
type originAnalysis struct {
	// f is the analysed function.
	f *ir.Func
	// pointsTo maps variables to the origins of the references in them.
	pointsTo map[*ir.Var]origins
	// modified has the parameters through which memory is written, with the types of the values there; nil is any.
	modified map[*ir.Var][]types.Type
	// callee maps all functions to their analyses.
	callee map[*ir.Func]*originAnalysis
	// changed is set if a pass added an origin or a written parameter.
	changed bool
	// refuse reports a write to v's memory in s. It is nil until the fixed point is reached.
	refuse func(s ir.Stmt, v *ir.Var, reason, remedy string, unknown bool)
}

// A globalWrite is a write to the memory of a package-level variable, as a refusal.
type globalWrite struct {
	*Refusal
	global  *ir.Var
	unknown bool // by a function without source
}

// writtenGlobals returns the writes to package-level variables, and to their memory through other
// names, such as a slice that was assigned to a variable, or passed to a function that writes to
// it. Sets only grow, so the passes terminate; a last pass reports.
func writtenGlobals(funcs []*ir.Func) (out []globalWrite) {
	flows := map[*ir.Func]*originAnalysis{}
	for _, f := range funcs {
		w := &originAnalysis{f: f, pointsTo: map[*ir.Var]origins{}, modified: map[*ir.Var][]types.Type{}, callee: flows}
		for _, v := range f.Params {
			w.pointsTo[v] = origins{v: true}
		}
		flows[f] = w
	}
	for again := true; again; {
		again = false
		for _, f := range funcs {
			flows[f].changed = false
			flows[f].pass()
			again = again || flows[f].changed
		}
	}
	for _, f := range funcs {
		w := flows[f]
		w.refuse = func(s ir.Stmt, v *ir.Var, reason, remedy string, unknown bool) {
			r := &Refusal{s.Position(), f.Name, "write to package variable " + v.Name, reason, remedy}
			out = append(out, globalWrite{r, v, unknown})
		}
		w.pass()
	}
	return out
}

// pass applies all statements of the function once.
func (w *originAnalysis) pass() {
	ir.Walk(w.f.Body, func(s ir.Stmt) bool {
		w.stmt(s)
		return true
	})
}

// addOrigins adds origins of the references in v.
func (w *originAnalysis) addOrigins(v *ir.Var, from origins) {
	if len(from) == 0 {
		return
	}
	if w.pointsTo[v] == nil {
		w.pointsTo[v] = origins{}
	}
	n := len(w.pointsTo[v])
	maps.Copy(w.pointsTo[v], from)
	w.changed = w.changed || len(w.pointsTo[v]) > n
}

// write records that s writes to a value of type t in memory of the origins. A nil t is any type.
func (w *originAnalysis) write(s ir.Stmt, from origins, t types.Type) {
	same := func(u types.Type) bool { return sameType(t, u) }
	for v := range from {
		switch {
		case !leadsTo(v.Type, t):
		case v.Kind == ir.Global && w.refuse != nil:
			w.refuse(s, v, "its memory is written through an alias", "copy it first, or pass it as an argument", false)
		case v.Kind == ir.Param && !slices.ContainsFunc(w.modified[v], same):
			w.modified[v] = append(w.modified[v], t)
			w.changed = true
		}
	}
}

// sameType reports whether two types, of which either may be nil, are identical.
func sameType(t, u types.Type) bool {
	return t == u || t != nil && u != nil && types.Identical(t, u)
}

// leadsTo reports whether a value of type t may be in, or be part of a value in, a variable of type v or memory that it
// leads to. A nil t is any type. Memory behind functions is written by calls only.
func leadsTo(v, t types.Type) (may bool) {
	if _, ok := v.Underlying().(*types.Signature); ok {
		return false
	}
	if t == nil {
		return true
	}
	ir.WalkType(v, func(u types.Type) {
		switch u.Underlying().(type) {
		case *types.Map, *types.Chan, *types.Interface:
			may = true // what is in there is not known
		}
		may = may || ir.SameCell(u, t)
	})
	return may
}

// written returns the type of the value that contains p in the memory that its last reference leads to.
func written(p *ir.Place) (t types.Type) {
	for i := range p.Path {
		switch u := (&ir.Place{Root: p.Root, Path: p.Path[:i]}).Type().Underlying().(type) {
		case *types.Pointer:
			t = u.Elem()
		case *types.Slice:
			t = u.Elem()
		}
	}
	return t
}

// containing returns the type of the value that contains a value of type t that is written through e. If e is the
// address of
// a part of a value, and leads nowhere else, it is the type of that value.
func containing(e ir.Expr, t types.Type) types.Type {
	switch e.(type) {
	case *ir.Addr, *ir.SliceAt:
		if p := ir.PlaceOf(e); p.Indirect() && !hasReferences(p.Type()) {
			return written(p)
		}
	}
	return t
}

// stmt applies one statement.
func (w *originAnalysis) stmt(s ir.Stmt) {
	switch s := s.(type) {
	case *ir.Let:
		w.addOrigins(s.V, w.exprOrigins(s.E))
	case *ir.Set:
		w.assign(s, s.P, w.exprOrigins(s.E))
	case *ir.Add:
		w.assign(s, s.P, nil)
	case *ir.Append:
		from := w.exprOrigins(s.S)
		w.write(s, from, ir.ElemOf(s.S.Type()))
		from = maps.Clone(from)
		if from == nil {
			from = origins{}
		}
		for _, e := range s.Elems {
			// An append may write to the memory of its slice operand, and its result may alias it.
			if u, ok := e.Type().Underlying().(*types.Slice); s.Spread && (!ok || !hasReferences(u.Elem())) {
				continue // copied elements without references
			}
			maps.Copy(from, w.exprOrigins(e))
		}
		w.assign(s, s.P, from)
	case *ir.Copy:
		w.write(s, w.exprOrigins(s.Dst), ir.ElemOf(s.Dst.Type()))
	case *ir.Clear:
		w.write(s, w.exprOrigins(s.S), ir.ElemOf(s.S.Type()))
	case *ir.Call:
		w.call(s)
	}
}

// assign records an assignment of references with origins to p.
func (w *originAnalysis) assign(s ir.Stmt, p *ir.Place, from origins) {
	switch {
	case p.Root.Kind == ir.Global:
		if w.refuse != nil {
			w.refuse(s, p.Root, "its derivative would have to outlive the call",
				"pass a pointer to it as an argument", false)
		}
	case p.Indirect():
		w.write(s, w.originsOf(p.Root), written(p))
	}
	w.addOrigins(p.Root, from)
}

// originsOf returns the origins of references in v; a package-level variable is its own origin.
func (w *originAnalysis) originsOf(v *ir.Var) origins {
	if v.Kind == ir.Global {
		return origins{v: true}
	}
	return w.pointsTo[v]
}

// call applies the summary of the callee: the parameters it writes through and the origins of its
// results.
func (w *originAnalysis) call(s *ir.Call) {
	c := w.callee[s.Callee.Func]
	if c == nil {
		w.rule(s)
		return
	}
	for i, p := range c.f.Params {
		from := w.exprOrigins(s.Args[i])
		for _, t := range c.modified[p] {
			w.write(s, from, containing(s.Args[i], t))
		}
	}
	for i, r := range c.f.Results {
		if i >= len(s.Results) || s.Results[i] == nil {
			continue
		}
		from := origins{}
		for v := range c.pointsTo[r] {
			// A parameter of the callee stands for the origins of the argument.
			if k := slices.Index(c.f.Params, v); k >= 0 {
				maps.Copy(from, w.exprOrigins(s.Args[k]))
			} else {
				from[v] = true
			}
		}
		w.addOrigins(s.Results[i], from)
	}
}

// rule applies a call of a rule. One without source may write through all its arguments.
func (w *originAnalysis) rule(s *ir.Call) {
	r := s.Callee.Rule
	if r.Passive && r.Calls == nil {
		return
	}
	for i, a := range s.Args {
		if !r.Writes(i) || r.LacksDerivative(i) {
			continue
		}
		from := w.exprOrigins(a)
		if r.ReadOnly != nil {
			w.write(s, from, nil)
			continue
		}
		for v := range from {
			if v.Kind == ir.Global && w.refuse != nil {
				w.refuse(s, v, r.Name+" may write its memory",
					"copy it first, or name what is written in writes= of its //nabla:rule", true)
			}
		}
	}
	for i, v := range s.Results {
		if v == nil || !hasReferences(v.Type) {
			continue
		}
		if k := r.Returned(i); k >= 0 {
			w.addOrigins(v, w.exprOrigins(s.Args[k]))
		}
	}
}

// exprOrigins returns the origins of references in the value of e.
func (w *originAnalysis) exprOrigins(e ir.Expr) origins {
	out := origins{}
	eachReferenceRoot(e, func(v *ir.Var) { maps.Copy(out, w.originsOf(v)) })
	return out
}

// sortedFuncs returns the functions by name.
func sortedFuncs(entries map[*specialization]bool) (out []*ir.Func) {
	for e := range entries {
		out = append(out, e.f)
	}
	slices.SortFunc(out, func(a, b *ir.Func) int { return strings.Compare(a.Name, b.Name) })
	return out
}
