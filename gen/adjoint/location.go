package adjoint

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Abstract locations and alias classes. Memory is divided into the alias classes of package activity, a
// unification-based points-to analysis (Steensgaard 1996) that ignores control flow, and each class further by the type
// of its cells, since Go's type system keeps cells of different types apart. Variables need no classes: the normal form
// takes no address of one.

// A locations value answers which memory the nodes of a specialisation may read or write. The alias classes are known
// from the beginning, the other facts after collect, which runs before anything is decided. Its methods change nothing.
type locations struct {
	sp          *specialization
	aliasOf     map[*ir.Var]*ir.Var // temporary → variable whose memory it refers to
	aliasParent map[any]any         // union-find forest over classes joined by the aliasing

	// variable → number of assignments; parameters 0, results 1 before the body
	assignments map[*ir.Var]int
	loopIndex   map[*ir.Var]bool // indices of loops, which are never recorded
	// memory that the function or its callees may write, without floats of shadows
	modified   locationSet
	definition map[*ir.Var]*ir.Let // variable → its declaration
	allocSites map[any]*allocSite  // class → where its memory comes from
	stored     map[any]bool        // classes of which a reference is stored in memory, or passed to a call
	// ActiveClass holds the classes of memory with cotangents, except those of results. A loop that assigns such memory
	// is not fused, unless it is privatizable: an iteration would consume cotangents that belong to another one.
	activeClass map[any]bool
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

// newLocations returns the alias classes of sp, joined by its aliasing, and no other facts.
func newLocations(sp *specialization) *locations {
	ls := &locations{sp: sp, aliasOf: map[*ir.Var]*ir.Var{}, aliasParent: map[any]any{}}
	if sp.spec.aliasing == nil {
		return ls
	}
	for _, group := range sp.spec.aliasing.groups {
		class := func(i int) any { return ls.findClass(sp.facts.AliasClass(sp.g.f.Params[i])) }
		for _, i := range group[1:] {
			ls.aliasParent[class(i)] = class(group[0])
		}
	}
	return ls
}

// collect computes the facts about the nodes of list, in one pass without regard to control flow.
func (ls *locations) collect(list []*node) {
	sp := ls.sp
	ls.assignments, ls.loopIndex, ls.modified = map[*ir.Var]int{}, map[*ir.Var]bool{}, locationSet{}
	ls.definition, ls.activeClass = map[*ir.Var]*ir.Let{}, map[any]bool{}
	sp.summary.modified = ls.modified // recursive calls read the memory collected so far
	for _, v := range sp.g.f.Params {
		ls.assignments[v] = 0
		if sp.hasShadow(v) {
			ls.activeClass[ls.class(v)] = true
			ls.assignments[sp.shadowVar(v)] = 0
		}
	}
	for _, v := range sp.g.f.Results {
		ls.assignments[v] = 1
		if sp.hasShadow(v) { // no loop is fused then, see seedsResultShadows
			ls.assignments[sp.shadowVar(v)] = 1
		}
	}
	each(list, func(n *node) {
		switch s := n.s.(type) {
		case *ir.Loop:
			if s.V != nil {
				ls.loopIndex[s.V] = true
			}
		case *ir.Let:
			ls.definition[s.V] = s
			if sp.hasShadow(s.V) {
				ls.activeClass[ls.class(s.V)] = true
			}
		}
		for _, w := range n.writes {
			if w.slice != nil {
				ls.addMemory(ls.modified, w.slice, w.valueType())
				continue
			}
			if w.place.Indirect() {
				ls.addMemory(ls.modified, w.place.Root, w.valueType())
			} else {
				ls.assignments[w.place.Root]++
			}
		}
		if n.callee != nil {
			for k := range sp.instantiate(n, n.callee.modified) {
				ls.modified[k] = true
			}
		}
	})
	ls.mergeDeclarations(list)
	ls.findAllocSites(list)
	ls.findStored(list)
}

// findClass returns the representative of class c after the joins by the alias groups.
func (ls *locations) findClass(c any) any {
	for ls.aliasParent[c] != nil && ls.aliasParent[c] != c {
		c = ls.aliasParent[c]
	}
	return c
}

// class returns the alias class of the memory that v refers to. A shadow has the class of its primal: location.shadow
// distinguishes their memory.
func (ls *locations) class(v *ir.Var) any {
	for {
		if t := ls.sp.primalOf[v]; t != nil {
			v = t
		} else if t := ls.aliasOf[v]; t != nil {
			v = t
		} else {
			return ls.findClass(ls.sp.facts.AliasClass(v))
		}
	}
}

// isShadow reports whether v is a shadow or refers to memory of one. It accepts nil.
func (ls *locations) isShadow(v *ir.Var) bool {
	for v != nil {
		if ls.sp.primalOf[v] != nil {
			return true
		}
		v = ls.aliasOf[v]
	}
	return false
}

// addMemory adds to into the cells of a value of type t in memory reached through root. Floats of shadows are left out:
// the forward sweep does not write them, and the reverse sweep does not restore them.
func (ls *locations) addMemory(into locationSet, root *ir.Var, t types.Type) {
	sh := ls.isShadow(root)
	c := ls.class(root)
	ir.EachCell(t, func(t types.Type) {
		if sh && !ir.HasRefs(t) {
			return
		}
		into[location{class: c, shadow: sh, cell: ls.sp.p.cellOf(t)}] = true
	})
}

// addReachable adds all memory reachable from v, and from its shadow if it has one.
func (ls *locations) addReachable(out locationSet, v *ir.Var) {
	seen := map[types.Type]bool{}
	var visit func(t types.Type, behind bool)
	visit = func(t types.Type, behind bool) {
		ir.EachCell(t, func(t types.Type) {
			if behind {
				ls.addMemory(out, v, t)
				if ls.sp.hasShadow(v) {
					ls.addMemory(out, ls.sp.shadowVar(v), t)
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
func (ls *locations) addVariable(out locationSet, v *ir.Var) {
	if v.Kind == ir.Global || ls.loopIndex[v] || v == ls.sp.ws {
		return
	}
	if _, ok := ls.assignments[v]; ok {
		out[location{v: v}] = true
	}
}

// reads returns the locations that the statements of b read, including those read to find the assigned places.
func (ls *locations) reads(b ir.Block) locationSet {
	out := locationSet{}
	ir.Walk(b, func(s ir.Stmt) bool {
		for _, p := range ir.EffectOf(s).Reads {
			ls.addRead(out, p)
		}
		if to := ir.Target(s); to != nil {
			ls.addPathReads(out, to)
		}
		return true
	})
	return out
}

// addExprReads adds the locations that e reads; e may be nil.
func (ls *locations) addExprReads(out locationSet, e ir.Expr) {
	if e != nil {
		for k := range ls.reads(ir.Block{&ir.Panic{E: e}}) {
			out[k] = true
		}
	}
}

// addRead adds the locations that a read of p reads: the root and, if p is indirect, the cells at p. A path that ends
// in ir.AnyStep stands for all elements of a slice.
func (ls *locations) addRead(out locationSet, p *ir.Place) {
	ls.addVariable(out, p.Root)
	if n := len(p.Path); n > 0 && p.Path[n-1].Field == ir.AnyStep().Field {
		q := &ir.Place{Root: p.Root, Path: p.Path[:n-1]}
		if of := ir.ElemOf(q.Type()); of != nil {
			ls.addMemory(out, p.Root, of)
		}
		return
	}
	if p.Indirect() {
		ls.addMemory(out, p.Root, p.Type())
	}
}

// addPathReads adds the locations that are read to find p: indices, the root if p is indirect, and the references on
// the path.
func (ls *locations) addPathReads(out locationSet, p *ir.Place) {
	for _, e := range p.Indices() {
		ls.addExprReads(out, e)
	}
	if p.Indirect() {
		ls.addVariable(out, p.Root)
	}
	for i := range p.Path {
		q := &ir.Place{Root: p.Root, Path: p.Path[:i]}
		if q.Indirect() {
			if t := q.Type(); ir.HasRefs(t) {
				if _, ok := t.Underlying().(*types.Struct); !ok {
					ls.addMemory(out, p.Root, t)
				}
			}
		}
	}
}
