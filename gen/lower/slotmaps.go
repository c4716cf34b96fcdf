package lower

import (
	"go/types"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lower/retype"
)

// Slot maps: maps whose elements may carry derivatives, or lead to other memory. Where a map is made by lowered
// functions and seen by no others, it becomes a pointer to a struct with a Go map from keys to slots, which are
// integers, and a slice of elements, which has shadows as every slice has. A slot is never used for another key:
// deletion removes the key alone, and clearing takes a new slice.
//
// Package retype finds the variables that hold such maps and rewrites functions; this file has the facts about maps
// that it collects, slotrewrite.go the operations on slot maps.

// mapFacts are the facts about a group of maps.
type mapFacts struct {
	made    bool // lowered code makes one
	wanted  bool // elements may carry derivatives or lead to other memory
	nilable bool // a map may be nil
}

type mapGroup = retype.Group[mapFacts]

// A mapAnalysis finds the groups of the maps of the functions that one function reaches.
type mapAnalysis struct {
	*retype.Analysis[mapFacts]
	// results maps the elements that are read to the group of the map.
	results map[*ir.Var]*mapGroup
}

// isSlotMap reports whether maps of type t can be slot maps.
func isSlotMap(t *types.Map) bool {
	k := t.Key()
	if ir.HasRefs(k) {
		return false
	}
	return hasFloats(t.Elem()) || ir.HasRefs(t.Elem())
}

func (a *mapAnalysis) IsReplaced(t types.Type) bool {
	m, ok := t.Underlying().(*types.Map)
	return ok && isSlotMap(m)
}

func (a *mapAnalysis) IsBarrier(t types.Type) bool {
	switch t := t.(type) {
	case *types.Map:
		return !isSlotMap(t)
	case *types.Chan, *types.Signature, *types.Interface:
		return true
	}
	return false
}

func (a *mapAnalysis) MergeFacts(to, from *mapFacts) {
	to.made = to.made || from.made
	to.wanted = to.wanted || from.wanted
	to.nilable = to.nilable || from.nilable
}

func (a *mapAnalysis) CanReplace(f *mapFacts) bool { return f.made && f.wanted }

// Makes is false: maps are made by calls.
func (a *mapAnalysis) Makes(*ir.Opaque) bool { return false }

// NoteType notes that maps in memory may be nil.
func (a *mapAnalysis) NoteType(g *mapGroup, t types.Type) {
	if m, ok := t.Underlying().(*types.Map); !ok || a.Holds(m.Elem()) {
		g.Facts().nilable = true
	}
}

// NoteValue notes zero values. Type assertions are refused.
func (a *mapAnalysis) NoteValue(g *mapGroup, e ir.Expr) {
	switch e := e.(type) {
	case *ir.Convert:
		if !a.Holds(e.X.Type()) {
			g.SetForeign()
		}
	case *ir.Const, *ir.New, *ir.Make:
		g.Facts().nilable = true
	}
}

func (a *mapAnalysis) NoteExpr(ir.Expr) bool { return false }

// noteNil notes the variables of f that may be nil maps: results with names, and variables declared without a value.
func (a *mapAnalysis) noteNil(f *ir.Func) {
	note := func(v *ir.Var) {
		if g := a.Group(v); g != nil {
			g.Facts().nilable = true
		}
	}
	for _, v := range f.Results {
		if v.Object == nil || v.Object.Name() != "" {
			note(v)
		}
	}
	var block func(b ir.Block)
	block = func(b ir.Block) {
		for i, s := range b {
			if s, ok := s.(*ir.Let); ok && s.E == nil && !assignedNext(b[i+1:], s.V) {
				note(s.V)
			}
			for _, inner := range ir.Blocks(s) {
				block(*inner)
			}
		}
	}
	block(f.Body)
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

// NoteCall notes operations on maps.
func (a *mapAnalysis) NoteCall(s *ir.Call) bool {
	r := s.Callee.Rule
	if r.Name == runtimePath+".MakeMap" {
		if g := a.Group(s.Results[0]); g != nil {
			g.Facts().made = true
		}
		return true
	}
	m := mapOperand(s)
	if m == nil || !isSlotMap(m) {
		return false
	}
	g := a.Value(s.Args[0])
	switch r.Name {
	case runtimePath + ".MapGet":
		a.results[s.Results[0]] = g
		a.Flow(g, a.Group(s.Results[0]))
	case runtimePath + ".MapSet":
		g = a.Union(g, a.Value(s.Args[2]))
	}
	if ir.HasRefs(m.Elem()) || r.Name == runtimePath+".MapSet" && !a.isPassive(g, s.Args[2]) {
		g.Facts().wanted = true
	}
	return true
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
		passive = passive && from != nil && from.Facts() == g.Facts()
		return true
	})
	return passive
}

// slotOperand returns the type of the map if s is an operation on a slot map, otherwise nil.
func (a *mapAnalysis) slotOperand(s *ir.Call) *types.Map {
	if m := mapOperand(s); m != nil && isSlotMap(m) && a.Replaces(a.Value(s.Args[0])) {
		return m
	}
	return nil
}

// rewriteMaps returns f with slot maps, and refusals for maps whose elements lead to other memory and that are none.
// funcs are all lowered functions that f reaches, those of rules included.
func (p *Program) rewriteMaps(f *ir.Func, funcs []*ir.Func) (*ir.Func, Refusals) {
	if !slices.ContainsFunc(funcs, usesMaps) {
		return f, nil
	}
	a := &mapAnalysis{results: map[*ir.Var]*mapGroup{}}
	a.Analysis = retype.NewAnalysis(a, f, funcs)
	for _, g := range a.Funcs() {
		a.noteNil(g)
	}
	a.Run()
	var out Refusals
	for _, g := range a.Funcs() {
		ir.Walk(g.Body, func(s ir.Stmt) bool {
			c, ok := s.(*ir.Call)
			if !ok {
				return true
			}
			m := mapOperand(c)
			if m == nil || !ir.HasRefs(m.Elem()) || a.slotOperand(c) != nil {
				return true
			}
			out = append(out, &Refusal{c.Pos, g.Name, "map of type " + typeText(c.Args[0].Type()),
				"its elements lead to other memory, and code that is not differentiated may see it",
				"make the map in the function, and pass it to functions that are differentiated only; or use a slice"})
			return true
		})
	}
	w := &mapRewriter{a: a}
	w.Rewriter = retype.NewRewriter(a.Analysis, w, p.copyName)
	return w.Func(f), out
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
