package adjoint

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// flow finds out what the reverse sweep of a function reads, and so which old values
// have to be kept.
type flow struct {
	b           *builder
	aliasOf     map[*ir.Var]*ir.Var // variables of the forward sweep: what they lead to is that of others
	aliasParent map[any]any         // classes of parameters that may be the same

	assignments  map[*ir.Var]int // how often a variable is written
	loopIndex    map[*ir.Var]bool
	modified     locationSet // memory that is written
	recomputable map[*ir.Var]*node
	needed       map[*ir.Var]bool // variables that the reverse sweep reads and does not compute again
	recomputed   map[*ir.Var]bool // variables that it computes again
	neededAtExit locationSet      // what is read at the end of the function
	definition   map[*ir.Var]*ir.Let
	allocSites   map[any]*allocSite // where the memory of a class comes from
	// activeClass are the classes of memory with adjoints, apart from that of results. A loop
	// that sets some of it is not fused: an iteration reverses what another one set.
	activeClass map[any]bool
	changed     bool
	frozen      bool // what is kept is known
}

// version is a variable or the memory of a class whose cells are of one type: what the
// reverse sweep may read the value of.
type location struct {
	v      *ir.Var
	class  any
	shadow bool
	cell   any // as Program.cell has it
}

// state is what the reverse sweep reads, of the values that there are at a point, after
// it has come to that point.
type locationSet map[location]bool

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

// join adds t to s, or gives t where s is nil; t is not used afterwards.
func (s locationSet) merge(t locationSet) locationSet {
	if s == nil {
		return t
	}
	for k := range t {
		s[k] = true
	}
	return s
}

func (s locationSet) includes(t locationSet) bool {
	for k := range t {
		if !s[k] {
			return false
		}
	}
	return true
}

func (s locationSet) intersects(t locationSet) bool {
	for k := range s {
		if t[k] {
			return true
		}
	}
	return false
}

func (b *builder) lazyFlow() *flow {
	if b.flow == nil {
		b.flow = &flow{b: b, aliasOf: map[*ir.Var]*ir.Var{}, aliasParent: map[any]any{}}
		group := []any{}
		for _, c := range b.spec.alias + " " {
			if c == ' ' {
				group = nil
				continue
			}
			group = append(group, b.facts.AliasClass(b.g.f.Params[c-'a']))
			if len(group) > 1 {
				b.flow.aliasParent[b.flow.findClass(group[len(group)-1])] = b.flow.findClass(group[0])
			}
		}
	}
	return b.flow
}

func (f *flow) findClass(c any) any {
	for f.aliasParent[c] != nil && f.aliasParent[c] != c {
		c = f.aliasParent[c]
	}
	return c
}

// class is that of the memory which v leads to.
func (f *flow) class(v *ir.Var) any {
	for {
		if t := f.b.primalOf[v]; t != nil {
			v = t
		} else if t := f.aliasOf[v]; t != nil {
			v = t
		} else {
			return f.findClass(f.b.facts.AliasClass(v))
		}
	}
}

func (f *flow) isShadow(v *ir.Var) bool {
	for v != nil {
		if f.b.primalOf[v] != nil {
			return true
		}
		v = f.aliasOf[v]
	}
	return false
}

// memory adds the memory at a place that is behind a pointer or in a slice. The numbers
// of shadows are left out: the forward sweep does not write them.
func (f *flow) addMemory(into locationSet, root *ir.Var, t types.Type) {
	sh := f.isShadow(root)
	c := f.class(root)
	ir.EachCell(t, func(t types.Type) {
		if sh && !activity.HasRefs(t) {
			return
		}
		into[location{class: c, shadow: sh, cell: f.b.p.cellOf(t)}] = true
	})
}

// reachable adds all memory that v leads to, and that of its shadow.
func (f *flow) addReachable(out locationSet, v *ir.Var) {
	seen := map[types.Type]bool{}
	var visit func(t types.Type, behind bool)
	visit = func(t types.Type, behind bool) {
		ir.EachCell(t, func(t types.Type) {
			if behind {
				f.addMemory(out, v, t)
				if f.b.hasShadow(v) {
					f.addMemory(out, f.b.shadowVar(v), t)
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

func (f *flow) addVariable(out locationSet, v *ir.Var) {
	if v.Kind == ir.Global || f.loopIndex[v] || v == f.b.ws {
		return
	}
	if _, ok := f.assignments[v]; ok {
		out[location{v: v}] = true
	}
}

// reads are the variables and the memory of the forward sweep that statements read.
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

func (f *flow) addExprReads(out locationSet, e ir.Expr) {
	if e != nil {
		for k := range f.reads(ir.Block{&ir.Panic{E: e}}) {
			out[k] = true
		}
	}
}

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

// readPath is what the path to a place reads.
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
