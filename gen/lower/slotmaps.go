package lower

import (
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Slot maps: maps whose elements may carry derivatives, or lead to other memory. Where a map is made by lowered
// functions and seen by no others, it becomes a pointer to a struct with a Go map from keys to slots, which are
// integers, and a slice of elements, which has shadows as every slice has. A slot is never used for another key:
// deletion removes the key alone, and clearing takes a new slice.
//
// Which variables hold such maps follows from unification, as in the pointer analysis of Steensgaard (POPL 1996): the
// variables between which maps may flow form a group, together with the named types that contain maps. A group that
// other code sees, through a parameter of the differentiated function, a package-level variable, an interface or a
// function without derivative, keeps the maps of Go.

// A mapGroup is a set of variables and named types, in a union-find structure.
type mapGroup struct {
	parent *mapGroup
	// foreign is set if code that is not lowered may see the maps, made if lowered code makes one.
	foreign, made bool
	// wanted is set if elements may carry derivatives or lead to other memory.
	wanted bool
	// nilable is set if a map may be nil.
	nilable bool
}

// find returns the representative of the group.
func (g *mapGroup) find() *mapGroup {
	for g.parent != nil {
		g = g.parent
	}
	return g
}

// A mapAnalysis finds the groups of the functions that one function reaches.
type mapAnalysis struct {
	vars  map[*ir.Var]*mapGroup
	named map[string]*mapGroup // by typeKey
	holds map[types.Type]bool  // memo of holdsMaps
	// results maps the elements that are read to the group of the map.
	results map[*ir.Var]*mapGroup
}

// isSlotMap reports whether maps of type t can be slot maps.
func isSlotMap(t *types.Map) bool {
	k := t.Key()
	if ir.HasRefs(k) || ir.ContainsFloats(k) {
		return false
	}
	return hasFloats(t.Elem()) || ir.HasRefs(t.Elem())
}

// holdsMaps reports whether a type contains or leads to a map that can be a slot map.
func (a *mapAnalysis) holdsMaps(t types.Type) bool {
	if t == nil {
		return false
	}
	h, ok := a.holds[t]
	if !ok {
		ir.WalkType(t, func(u types.Type) {
			m, ok := u.(*types.Map)
			h = h || ok && isSlotMap(m)
		})
		a.holds[t] = h
	}
	return h
}

// union merges two groups; nil is none.
func (a *mapAnalysis) union(g, h *mapGroup) *mapGroup {
	if g == nil {
		return h
	}
	if h == nil {
		return g
	}
	if g, h = g.find(), h.find(); g != h {
		h.parent = g
		g.foreign, g.made = g.foreign || h.foreign, g.made || h.made
		g.wanted, g.nilable = g.wanted || h.wanted, g.nilable || h.nilable
	}
	return g.find()
}

// group returns the group of a variable, nil if its type holds no maps.
func (a *mapAnalysis) group(v *ir.Var) *mapGroup {
	if v == nil || !a.holdsMaps(v.Type) {
		return nil
	}
	g := a.vars[v]
	if g == nil {
		g = &mapGroup{foreign: v.Kind == ir.Global}
		a.vars[v] = g
		a.addType(g, v.Type)
	}
	return a.vars[v].find()
}

// addType adds the named types of t to g. Types that cannot be rewritten make it foreign.
func (a *mapAnalysis) addType(g *mapGroup, t types.Type) {
	if m, ok := t.Underlying().(*types.Map); !ok || a.holdsMaps(m.Elem()) {
		g.nilable = true
	}
	ir.WalkType(t, func(u types.Type) {
		if !a.holdsMaps(u) {
			return
		}
		switch u := u.(type) {
		case *types.Named:
			key := typeKey(u)
			if a.named[key] == nil {
				a.named[key] = &mapGroup{}
			}
			g = a.union(g, a.named[key])
		case *types.Map:
			if !isSlotMap(u) {
				g.find().foreign = true
			}
		case *types.Chan, *types.Signature, *types.Interface:
			g.find().foreign = true
		}
	})
}

// value returns the group of the maps in the value of e, nil if there are none, and notes that a zero value may be nil.
func (a *mapAnalysis) value(e ir.Expr) (g *mapGroup) {
	if e == nil || !a.holdsMaps(e.Type()) {
		return nil
	}
	switch e := e.(type) {
	case *ir.Load:
		return a.group(e.P.Root)
	case *ir.Addr:
		return a.group(e.P.Root)
	case *ir.SliceAt:
		return a.group(e.P.Root)
	case *ir.Slice:
		return a.value(e.X)
	case *ir.Convert:
		if g = a.value(e.X); g == nil {
			g = &mapGroup{foreign: true} // a type assertion
		}
		a.addType(g, e.Type())
		return g.find()
	case *ir.Literal:
		g = &mapGroup{}
		a.addType(g, e.Type())
		for _, x := range e.Elems {
			g = a.union(g, a.value(x))
		}
		return g.find()
	case *ir.Const, *ir.New, *ir.Make:
		g = &mapGroup{nilable: true}
		a.addType(g, e.Type())
		return g.find()
	}
	return &mapGroup{foreign: true}
}

// flow unifies groups through which a value flows; nil is none.
func (a *mapAnalysis) flow(list ...*mapGroup) {
	var g *mapGroup
	for _, h := range list {
		g = a.union(g, h)
	}
}

// setForeign notes that code that is not lowered may see the maps in the value of e.
func (a *mapAnalysis) setForeign(e ir.Expr) {
	if g := a.value(e); g != nil {
		g.find().foreign = true
	}
}

// function applies the statements of f.
func (a *mapAnalysis) function(f *ir.Func) {
	for _, v := range f.Results {
		if g := a.group(v); g != nil && (v.Object == nil || v.Object.Name() != "") {
			g.nilable = true
		}
	}
	a.block(f.Body)
}

func (a *mapAnalysis) block(b ir.Block) {
	for i, s := range b {
		ir.EachExpr(s, func(e ir.Expr) { ir.WalkExpr(e, a.inside) })
		switch s := s.(type) {
		case *ir.Let:
			if s.E == nil {
				if g := a.group(s.V); g != nil && !assignedNext(b[i+1:], s.V) {
					g.nilable = true
				}
				break
			}
			a.flow(a.group(s.V), a.value(s.E))
		case *ir.Set:
			if e := a.value(s.E); e != nil {
				a.flow(a.group(s.P.Root), e)
			}
		case *ir.Append:
			if a.holdsMaps(s.S.Type()) {
				a.flow(a.group(s.P.Root), a.value(s.S))
				for _, e := range s.Elems {
					a.flow(a.group(s.P.Root), a.value(e))
				}
			}
		case *ir.Copy:
			a.flow(a.value(s.Dst), a.value(s.Src))
		case *ir.Panic:
			a.setForeign(s.E)
		case *ir.Call:
			a.call(s)
		case *ir.If:
			a.block(s.Then)
			a.block(s.Else)
		case *ir.Scope:
			a.block(s.Body)
		case *ir.Loop:
			a.block(s.Body)
		}
	}
}

// assignedNext reports whether b begins with declarations and a call that assigns to v.
func assignedNext(b ir.Block, v *ir.Var) bool {
	for _, s := range b {
		switch s := s.(type) {
		case *ir.Let:
			if s.E == nil {
				continue
			}
		case *ir.Call:
			return slices.Contains(s.Results, v)
		}
		return false
	}
	return false
}

// inside applies a part of an expression that lets maps out, or compares them.
func (a *mapAnalysis) inside(e ir.Expr) bool {
	switch e := e.(type) {
	case *ir.Opaque:
		for _, x := range e.Args {
			a.setForeign(x)
		}
	case *ir.Convert:
		if !a.holdsMaps(e.Type()) {
			a.setForeign(e.X)
		}
	case *ir.Binary:
		a.flow(a.value(e.X), a.value(e.Y))
	}
	return true
}

// call applies a call.
func (a *mapAnalysis) call(s *ir.Call) {
	r := s.Callee.Rule
	if f := s.Callee.Func; r == nil {
		for i, p := range f.Params {
			a.flow(a.group(p), a.value(s.Args[i]))
		}
		for i, v := range s.Results {
			a.flow(a.group(f.Results[i]), a.group(v))
		}
		return
	}
	switch m := mapOperand(s); {
	case r.Name == runtimePath+".MakeMap":
		if g := a.group(s.Results[0]); g != nil {
			g.made = true
		}
	case m != nil && isSlotMap(m):
		g := a.value(s.Args[0])
		switch r.Name {
		case runtimePath + ".MapGet":
			a.results[s.Results[0]] = g
			a.flow(g, a.group(s.Results[0]))
		case runtimePath + ".MapSet":
			g = a.union(g, a.value(s.Args[2]))
		}
		if ir.HasRefs(m.Elem()) || r.Name == runtimePath+".MapSet" && !a.isPassive(g, s.Args[2]) {
			g.find().wanted = true
		}
	default:
		a.ruleCall(s, r)
	}
}

// ruleCall applies a call of a rule that is no operation on maps.
func (a *mapAnalysis) ruleCall(s *ir.Call, r *ir.Rule) {
	args := s.Args
	if r.Calls != nil {
		captured := r.Calls.Params[len(r.Calls.Params)-len(args)+1:]
		for i, p := range captured {
			a.flow(a.group(p), a.value(args[i+1]))
		}
		args = args[:1]
	}
	for _, e := range args {
		a.setForeign(e)
	}
	for _, v := range s.Results {
		if g := a.group(v); g != nil {
			g.foreign = true
		}
	}
}

// mapOperand returns the type of the map of an operation on a map, nil for other calls.
func mapOperand(s *ir.Call) *types.Map {
	r := s.Callee.Rule
	if r == nil || r.Object == nil || r.Object.Pkg() != runtimePackage || len(s.Args) == 0 {
		return nil
	}
	m, _ := s.Args[0].Type().Underlying().(*types.Map)
	return m
}

// isPassive reports whether the value of e, an element of a map of group g, certainly carries no derivative: it is made
// of constants, integers and elements of that map.
func (a *mapAnalysis) isPassive(g *mapGroup, e ir.Expr) bool {
	passive := true
	ir.WalkExpr(e, func(e ir.Expr) bool {
		p := ir.PlaceOf(e)
		if p == nil || !hasFloats(e.Type()) && !hasFloats(p.Root.Type) {
			return true
		}
		from := a.results[p.Root]
		passive = passive && from != nil && from.find() == g.find()
		return true
	})
	return passive
}

// isSlots reports whether the maps of the group are slot maps.
func (g *mapGroup) isSlots() bool {
	if g == nil {
		return false
	}
	g = g.find()
	return g.made && g.wanted && !g.foreign
}

// rewriteMaps returns f with slot maps, and refusals for maps whose elements lead to other memory and that are none.
// funcs are all lowered functions that f reaches, those of rules included.
func (p *Program) rewriteMaps(f *ir.Func, funcs []*ir.Func) (*ir.Func, Refusals) {
	if !slices.ContainsFunc(funcs, usesMaps) {
		return f, nil
	}
	a := &mapAnalysis{vars: map[*ir.Var]*mapGroup{}, named: map[string]*mapGroup{}, holds: map[types.Type]bool{},
		results: map[*ir.Var]*mapGroup{}}
	called := ir.Reachable(f)
	for _, g := range funcs {
		if g == f || g.Passive || !called[g] {
			for _, v := range slices.Concat(g.Params, g.Results) {
				if h := a.group(v); h != nil {
					h.foreign = true
				}
			}
		}
		if g.Passive || !called[g] {
			for _, v := range ir.Vars(g) {
				if h := a.group(v); h != nil {
					h.foreign = true
				}
			}
		}
	}
	for g := range called {
		if !slices.Contains(funcs, g) {
			funcs = append(funcs, g) // comparisons
		}
	}
	slices.SortFunc(funcs, func(x, y *ir.Func) int { return comparePositions(x.Pos, y.Pos) })
	for _, g := range funcs {
		a.function(g)
	}
	var out Refusals
	for _, g := range funcs {
		ir.Walk(g.Body, func(s ir.Stmt) bool {
			c, ok := s.(*ir.Call)
			if !ok {
				return true
			}
			m := mapOperand(c)
			if m == nil || !ir.HasRefs(m.Elem()) || isSlotMap(m) && a.value(c.Args[0]).isSlots() {
				return true
			}
			out = append(out, &Refusal{c.Pos, g.Name, "map of type " + typeText(c.Args[0].Type()),
				"its elements lead to other memory, and code that is not differentiated may see it",
				"make the map in the function, and pass it to functions that are differentiated only; or use a slice"})
			return true
		})
	}
	w := &mapRewriter{p: p, a: a, funcs: map[*ir.Func]*ir.Func{}, types: map[string]types.Type{},
		affected: map[*ir.Func]bool{}, declared: ir.NewNamer()}
	for again := true; again; {
		again = false
		for _, g := range funcs {
			if !w.affected[g] && called[g] && w.affects(g) {
				w.affected[g] = true
				again = true
			}
		}
	}
	return w.function(f), out
}

// usesMaps reports whether f has an operation on a map that could be a slot map.
func usesMaps(f *ir.Func) (found bool) {
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		if c, ok := s.(*ir.Call); ok && !found {
			m := mapOperand(c)
			found = m != nil && (isSlotMap(m) || ir.HasRefs(m.Elem()))
		}
		return !found
	})
	return found
}

// hasReferenceMaps reports whether a function that e reaches uses maps whose elements lead to other memory. Before
// these are slot maps, which of them refer to the same memory is not known.
func (e *specialization) hasReferenceMaps() (found bool) {
	for c := range e.reachable() {
		ir.Walk(c.f.Body, func(s ir.Stmt) bool {
			if c, ok := s.(*ir.Call); ok && !found {
				m := mapOperand(c)
				found = m != nil && ir.HasRefs(m.Elem())
			}
			return !found
		})
	}
	return found
}
