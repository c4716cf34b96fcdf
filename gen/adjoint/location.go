package adjoint

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// Abstract locations and alias classes. Memory is divided into the alias classes of package activity, a
// unification-based points-to analysis (Steensgaard 1996) that ignores control flow, and each class further by the type
// of its cells, since Go's type system keeps cells of different types apart. Variables need no classes: the normal form
// takes no address of one.

// A flow holds the results of the analyses of one specialisation: alias classes, modified locations, allocation sites,
// and the decisions about recomputation and recording. Its methods are the analyses.
type flow struct {
	// the specialisation; for a checkpointed loop the one that reverses its segments
	sp          *specialization
	aliasOf     map[*ir.Var]*ir.Var // temporary → variable whose memory it refers to
	aliasParent map[any]any         // union-find forest over classes joined by spec.alias

	// variable → number of assignments; parameters 0, results 1 before the body
	assignments map[*ir.Var]int
	loopIndex   map[*ir.Var]bool // indices of loops, which are never recorded
	// memory that the function or its callees may write, without floats of shadows
	modified locationSet
	// variable → its declaration, if it is cheap and its operands are invariant
	recomputable map[*ir.Var]*node
	needed       map[*ir.Var]bool    // variables that the reverse sweep reads and does not recompute
	recomputed   map[*ir.Var]bool    // variables that the reverse sweep recomputes
	neededAtExit locationSet         // locations whose values on exit the reverse sweep may read
	definition   map[*ir.Var]*ir.Let // variable → its declaration
	allocSites   map[any]*allocSite  // class → where its memory comes from
	// ActiveClass holds the classes of memory with cotangents, except those of results. A loop that assigns such memory
	// is not fused, unless it is privatizable: an iteration would consume cotangents that belong to another one.
	activeClass map[any]bool
	changed     bool // a mark was set or cleared in the current round of analyse
	frozen      bool // transfer computes facts and changes no marks
}

// A location is an abstract memory location: a variable, or all memory of one alias class that holds cells of one type.
type location struct {
	v      *ir.Var // the variable, nil for memory
	class  any     // the alias class of memory
	shadow bool    // the memory is that of shadows
	cell   any     // the type of the cells; see Program.cellOf
}

// isMemory reports whether k is memory rather than a variable.
func (k location) isMemory() bool { return k.v == nil }

// A locationSet is a set of locations: a data-flow fact or a mod/ref set.
type locationSet map[location]bool

// union returns the union of s and t as a new set.
func (s locationSet) union(t locationSet) locationSet {
	out := make(locationSet, len(s)+len(t))
	for k := range s {
		out[k] = true
	}
	for k := range t {
		out[k] = true
	}
	return out
}

// merge adds t to s and returns the result. A nil s stands for an unreachable point: the result is then t, which the
// caller must not use any longer.
func (s locationSet) merge(t locationSet) locationSet {
	if s == nil {
		return t
	}
	for k := range t {
		s[k] = true
	}
	return s
}

// includes reports whether t is a subset of s.
func (s locationSet) includes(t locationSet) bool {
	for k := range t {
		if !s[k] {
			return false
		}
	}
	return true
}

// intersects reports whether s and t have a common location.
func (s locationSet) intersects(t locationSet) bool {
	for k := range s {
		if t[k] {
			return true
		}
	}
	return false
}

// newFlow returns a flow with the alias groups of sp and no other facts.
func newFlow(sp *specialization) *flow {
	f := &flow{sp: sp, aliasOf: map[*ir.Var]*ir.Var{}, aliasParent: map[any]any{}}
	group := []any{}
	for _, c := range sp.spec.alias + " " {
		if c == ' ' {
			group = nil
			continue
		}
		group = append(group, sp.facts.AliasClass(sp.g.f.Params[c-'a']))
		if len(group) > 1 {
			f.aliasParent[f.findClass(group[len(group)-1])] = f.findClass(group[0])
		}
	}
	return f
}

// findClass returns the representative of class c after the joins by the alias groups.
func (f *flow) findClass(c any) any {
	for f.aliasParent[c] != nil && f.aliasParent[c] != c {
		c = f.aliasParent[c]
	}
	return c
}

// class returns the alias class of the memory that v refers to. A shadow has the class of its primal: location.shadow
// distinguishes their memory.
func (f *flow) class(v *ir.Var) any {
	for {
		if t := f.sp.primalOf[v]; t != nil {
			v = t
		} else if t := f.aliasOf[v]; t != nil {
			v = t
		} else {
			return f.findClass(f.sp.facts.AliasClass(v))
		}
	}
}

// isShadow reports whether v is a shadow or refers to memory of one. It accepts nil.
func (f *flow) isShadow(v *ir.Var) bool {
	for v != nil {
		if f.sp.primalOf[v] != nil {
			return true
		}
		v = f.aliasOf[v]
	}
	return false
}

// addMemory adds to into the cells of a value of type t in memory reached through root. Floats of shadows are left out:
// the forward sweep does not write them, and the reverse sweep does not restore them.
func (f *flow) addMemory(into locationSet, root *ir.Var, t types.Type) {
	sh := f.isShadow(root)
	c := f.class(root)
	ir.EachCell(t, func(t types.Type) {
		if sh && !activity.HasRefs(t) {
			return
		}
		into[location{class: c, shadow: sh, cell: f.sp.p.cellOf(t)}] = true
	})
}

// addReachable adds all memory reachable from v, and from its shadow if it has one.
func (f *flow) addReachable(out locationSet, v *ir.Var) {
	seen := map[types.Type]bool{}
	var visit func(t types.Type, behind bool)
	visit = func(t types.Type, behind bool) {
		ir.EachCell(t, func(t types.Type) {
			if behind {
				f.addMemory(out, v, t)
				if f.sp.hasShadow(v) {
					f.addMemory(out, f.sp.shadowVar(v), t)
				}
			}
			if seen[t] {
				return
			}
			seen[t] = true
			switch u := t.Underlying().(type) {
			case *types.Slice:
				visit(u.Elem(), true)
			case *types.Pointer:
				visit(u.Elem(), true)
			}
		})
	}
	visit(v.Type, false)
}

// addVariable adds v if it can change during the function: no loop index, global or workspace.
func (f *flow) addVariable(out locationSet, v *ir.Var) {
	if v.Kind == ir.Global || f.loopIndex[v] || v == f.sp.ws {
		return
	}
	if _, ok := f.assignments[v]; ok {
		out[location{v: v}] = true
	}
}

// reads returns the locations that the statements of b read, including those read to find the assigned places.
func (f *flow) reads(b ir.Block) locationSet {
	out := locationSet{}
	ir.Walk(b, func(s ir.Stmt) bool {
		for _, p := range ir.EffectOf(s).Reads {
			f.addRead(out, p)
		}
		if to := ir.Target(s); to != nil {
			f.addPathReads(out, to)
		}
		return true
	})
	return out
}

// addExprReads adds the locations that e reads; e may be nil.
func (f *flow) addExprReads(out locationSet, e ir.Expr) {
	if e != nil {
		for k := range f.reads(ir.Block{&ir.Panic{E: e}}) {
			out[k] = true
		}
	}
}

// addRead adds the locations that a read of p reads: the root and, if p is indirect, the cells at p. A path that ends
// in ir.AnyStep stands for all elements of a slice.
func (f *flow) addRead(out locationSet, p *ir.Place) {
	f.addVariable(out, p.Root)
	if n := len(p.Path); n > 0 && p.Path[n-1].Field == ir.AnyStep().Field {
		q := &ir.Place{Root: p.Root, Path: p.Path[:n-1]}
		if of := elemOf(q.Type()); of != nil {
			f.addMemory(out, p.Root, of)
		}
		return
	}
	if p.Indirect() {
		f.addMemory(out, p.Root, p.Type())
	}
}

// addPathReads adds the locations that are read to find p: indices, the root if p is indirect, and the references on
// the path.
func (f *flow) addPathReads(out locationSet, p *ir.Place) {
	for _, e := range p.Indices() {
		f.addExprReads(out, e)
	}
	if p.Indirect() {
		f.addVariable(out, p.Root)
	}
	for i := range p.Path {
		q := &ir.Place{Root: p.Root, Path: p.Path[:i]}
		if q.Indirect() {
			if t := q.Type(); activity.HasRefs(t) {
				if _, ok := t.Underlying().(*types.Struct); !ok {
					f.addMemory(out, p.Root, t)
				}
			}
		}
	}
}
