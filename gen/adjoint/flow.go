package adjoint

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// flow finds out what the reverse sweep of a function reads, and so which old values
// have to be kept.
type flow struct {
	b      *builder
	alias  map[*ir.Var]*ir.Var // variables of the forward sweep: what they lead to is that of others
	joined map[any]any         // classes of parameters that may be the same

	writes  map[*ir.Var]int // how often a variable is written
	index   map[*ir.Var]bool
	written state // memory that is written
	deps    map[*ir.Var]*node
	wanted  map[*ir.Var]bool // variables that the reverse sweep reads and does not compute again
	reruns  map[*ir.Var]bool // variables that it computes again
	exit    state            // what is read at the end of the function
	lets    map[*ir.Var]*ir.Let
	made    map[any]*allocation // where the memory of a class comes from
	// activeClass are the classes of memory with adjoints, apart from that of results. A loop
	// that sets some of it is not fused: an iteration reverses what another one set.
	activeClass map[any]bool
	changed     bool
	frozen      bool // what is kept is known
}

// version is a variable or the memory of a class whose cells are of one type: what the
// reverse sweep may read the value of.
type version struct {
	v      *ir.Var
	class  any
	shadow bool
	cell   any // as Program.cell has it
}

// state is what the reverse sweep reads, of the values that there are at a point, after
// it has come to that point.
type state map[version]bool

func (s state) with(t state) state {
	out := make(state, len(s)+len(t))
	for k := range s {
		out[k] = true
	}
	for k := range t {
		out[k] = true
	}
	return out
}

// join adds t to s, or gives t where s is nil; t is not used afterwards.
func (s state) join(t state) state {
	if s == nil {
		return t
	}
	for k := range t {
		s[k] = true
	}
	return s
}

func (s state) covers(t state) bool {
	for k := range t {
		if !s[k] {
			return false
		}
	}
	return true
}

func (b *builder) flow0() *flow {
	if b.flow == nil {
		b.flow = &flow{b: b, alias: map[*ir.Var]*ir.Var{}, joined: map[any]any{}}
		group := []any{}
		for _, c := range b.key.alias + " " {
			if c == ' ' {
				group = nil
				continue
			}
			group = append(group, b.facts.Memory(b.g.f.Params[c-'a']))
			if len(group) > 1 {
				b.flow.joined[b.flow.find(group[len(group)-1])] = b.flow.find(group[0])
			}
		}
	}
	return b.flow
}

func (f *flow) find(c any) any {
	for f.joined[c] != nil && f.joined[c] != c {
		c = f.joined[c]
	}
	return c
}

// class is that of the memory which v leads to.
func (f *flow) class(v *ir.Var) any {
	for {
		if t := f.b.twins[v]; t != nil {
			v = t
		} else if t := f.alias[v]; t != nil {
			v = t
		} else {
			return f.find(f.b.facts.Memory(v))
		}
	}
}

func (f *flow) isShadow(v *ir.Var) bool {
	for v != nil {
		if f.b.twins[v] != nil {
			return true
		}
		v = f.alias[v]
	}
	return false
}

// memory adds the memory at a place that is behind a pointer or in a slice. The numbers
// of shadows are left out: the forward sweep does not write them.
func (f *flow) memory(into state, root *ir.Var, t types.Type) {
	sh := f.isShadow(root)
	c := f.class(root)
	ir.EachCell(t, func(t types.Type) {
		if sh && !activity.HasRefs(t) {
			return
		}
		into[version{class: c, shadow: sh, cell: f.b.p.cell(t)}] = true
	})
}

// reads are the variables and the memory of the forward sweep that statements read.
func (f *flow) reads(b ir.Block) state {
	out := state{}
	ir.Walk(b, func(s ir.Stmt) bool {
		for _, p := range ir.EffectOf(s).Reads {
			f.read(out, p)
		}
		if to := ir.Target(s); to != nil {
			f.readPath(out, to)
		}
		return true
	})
	return out
}

func (f *flow) readExpr(out state, e ir.Expr) {
	if e != nil {
		for k := range f.reads(ir.Block{&ir.Panic{E: e}}) {
			out[k] = true
		}
	}
}

func (f *flow) read(out state, p *ir.Place) {
	f.variable(out, p.Root)
	if n := len(p.Path); n > 0 && p.Path[n-1].Field == ir.AnyStep().Field {
		q := &ir.Place{Root: p.Root, Path: p.Path[:n-1]}
		if of := elemOf(q.Type()); of != nil {
			f.memory(out, p.Root, of)
		}
		return
	}
	if p.Indirect() {
		f.memory(out, p.Root, p.Type())
	}
}

func (f *flow) variable(out state, v *ir.Var) {
	if v.Kind == ir.Global || f.index[v] || v == f.b.ws {
		return
	}
	if _, ok := f.writes[v]; ok {
		out[version{v: v}] = true
	}
}

// readPath is what the path to a place reads.
func (f *flow) readPath(out state, p *ir.Place) {
	for _, e := range p.Indices() {
		f.readExpr(out, e)
	}
	if p.Indirect() {
		f.variable(out, p.Root)
	}
	for i := range p.Path {
		q := &ir.Place{Root: p.Root, Path: p.Path[:i]}
		if q.Indirect() {
			if t := q.Type(); activity.HasRefs(t) {
				if _, ok := t.Underlying().(*types.Struct); !ok {
					f.memory(out, p.Root, t)
				}
			}
		}
	}
}

// write is something that a node overwrites.
type write struct {
	place  *ir.Place // or
	window *ir.Var   // all elements of a slice
	keep   bool
	// inverse is the old value, where the new one tells.
	inverse ir.Expr
	slot    *stack
	frame   *frame // with others of a straight piece of code, instead of a stack
	saved   *ir.Var
}

func (w *write) t() types.Type {
	if w.window != nil {
		return elemOf(w.window.Type)
	}
	return w.place.Type()
}

// whole is the variable that is overwritten as a whole, or nil.
func (w *write) whole() *ir.Var {
	if w.place != nil && len(w.place.Path) == 0 {
		return w.place.Root
	}
	return nil
}

func writesOf(n *node) (out []*write) {
	place := func(p *ir.Place) { out = append(out, &write{place: p}) }
	variable := func(v *ir.Var) {
		if v != nil {
			place(v.Place())
		}
	}
	switch s := n.s.(type) {
	case *ir.Let:
		variable(s.V)
	case *ir.Set:
		place(s.P)
	case *ir.Add:
		place(s.P)
		if t := s.P.Type(); isInteger(t) {
			out[0].inverse = binary(t, opSub, load(s.P, t), s.E)
		}
	case *ir.Append:
		place(s.P)
	case *ir.Copy:
		variable(s.N)
	case *ir.Call:
		for _, v := range s.Results {
			variable(v)
		}
	}
	if n.window != nil {
		out = append(out, &write{window: n.window})
	}
	for _, v := range n.windows {
		out = append(out, &write{window: v})
	}
	return out
}

// run goes through the function from a state at its beginning to the one at its end.
func (f *flow) run(entry state) state {
	labels := map[*ir.Label]state{}
	end := f.list(f.b.body, entry, labels)
	return state{}.join(end).join(labels[f.b.g.f.Exit])
}

// entry is what the reverse sweeps of callers may read.
func (f *flow) entry() state {
	out := state{}
	if f.b.key.mode != split { // nobody, or a loop that brings back all itself
		return out
	}
	for _, v := range f.b.g.f.Params {
		f.reachable(out, v)
	}
	return out
}

// reachable adds all memory that v leads to, and that of its shadow.
func (f *flow) reachable(out state, v *ir.Var) {
	seen := map[types.Type]bool{}
	var visit func(t types.Type, behind bool)
	visit = func(t types.Type, behind bool) {
		ir.EachCell(t, func(t types.Type) {
			if behind {
				f.memory(out, v, t)
				if f.b.leads(v) {
					f.memory(out, f.b.of(v), t)
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

// declared finds the variables whose declaration and only assignment are one: those that
// a call declared just before gives its results to.
func (f *flow) declared(list []*node) {
	for i, n := range list {
		f.declared(n.then)
		f.declared(n.els)
		if _, ok := n.s.(*ir.Call); !ok {
			continue
		}
		for _, w := range n.writes {
			for j := i - 1; j >= 0; j-- {
				l, ok := list[j].s.(*ir.Let)
				if !ok || l.E != nil {
					break
				}
				if l.V == w.whole() {
					f.writes[l.V]--
				}
			}
		}
	}
}
