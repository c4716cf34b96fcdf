package adjoint

import (
	"fmt"
	"go/token"
	"go/types"
	"strings"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// access is what the forward sweep of some nodes does to variables and memory. Those
// that are only added to are in adds, all others that are written in sets.
type access struct{ reads, sets, adds, own state }

// writes are all versions that are written.
func (a *access) writes() state { return a.sets.with(a.adds) }

// accesses goes through nodes. Variables that they declare are in own besides.
func (f *flow) accesses(list ...*node) *access {
	a := &access{state{}, state{}, state{}, state{}}
	each(list, func(n *node) {
		switch s := n.s.(type) {
		case nil:
		case *ir.If:
			f.readExpr(a.reads, s.Cond)
		case *ir.Loop:
			f.readExpr(a.reads, s.Lo)
			f.readExpr(a.reads, s.Hi)
		case *ir.Scope:
		case *ir.Add:
			f.readExpr(a.reads, s.E)
			f.readPath(a.reads, s.P)
			to := a.adds
			if !ir.IsFloat(s.P.Type()) {
				to = a.sets
				f.read(a.reads, s.P)
			}
			f.target(to, s.P)
			return
		default:
			for k := range f.reads(ir.Block{s}) {
				a.reads[k] = true
			}
		}
		for _, w := range n.writes {
			if w.window != nil {
				f.memory(a.sets, w.window, w.t())
				continue
			}
			f.target(a.sets, w.place)
		}
		if l, ok := n.s.(*ir.Let); ok {
			a.own[version{v: l.V}] = true
		}
		if c, ok := n.s.(*ir.Call); ok {
			for _, e := range c.Args {
				if v := variable(e); v != nil && v != f.b.ws && activity.HasRefs(v.Type) && f.b.twins[v] == nil {
					f.reachable(a.reads, v)
				}
			}
			if n.callee != nil {
				for k := range f.b.calleeState(n, n.callee.flow.written, !n.callee.analysed) {
					a.sets[k] = true
				}
			}
		}
	})
	return a
}

// target adds what is written at a place.
func (f *flow) target(into state, p *ir.Place) {
	if p.Indirect() {
		f.memory(into, p.Root, p.Type())
	} else {
		into[version{v: p.Root}] = true
	}
}

func (s state) meets(t state) bool {
	for k := range s {
		if t[k] {
			return true
		}
	}
	return false
}

// allocation is the one place where memory of a class comes from.
type allocation struct {
	v      *ir.Var // the variable that is declared with it
	n      ir.Expr // how many elements there are
	others bool    // there are others
}

// allocations finds where the memory of each class comes from.
func (f *flow) allocations() {
	f.made = map[any]*allocation{}
	of := func(v *ir.Var) *allocation {
		c := f.class(v)
		if f.made[c] == nil {
			f.made[c] = &allocation{}
		}
		return f.made[c]
	}
	foreign := func(v *ir.Var) {
		if v != nil && activity.HasRefs(v.Type) {
			of(v).others = true
		}
	}
	for _, v := range f.b.g.f.Params {
		foreign(v)
	}
	for _, v := range f.b.g.f.Results {
		foreign(v)
	}
	each(f.b.body, func(n *node) {
		var v *ir.Var
		var e ir.Expr
		switch s := n.s.(type) {
		case *ir.Let:
			v, e = s.V, s.E
		case *ir.Set:
			v, e = s.P.Root, s.E
			if !activity.HasRefs(s.P.Type()) {
				return
			}
		case *ir.Append:
			foreign(s.P.Root)
			return
		case *ir.Call:
			for _, r := range s.Results {
				foreign(r)
			}
			return
		}
		if v == nil || !activity.HasRefs(v.Type) || f.isShadow(v) {
			return
		}
		switch e := e.(type) {
		case *ir.Make:
			a := of(v)
			l, ok := n.s.(*ir.Let)
			if a.v != nil || !ok || e.Cap != nil || f.writes[v] != 1 {
				a.others = true
				return
			}
			a.v, a.n = l.V, e.N
		case *ir.New, *ir.Literal, *ir.Const:
			of(v).others = true
		}
	})
}

// canon is a text that is the same for integers that are sure to be equal, empty where
// nothing is known.
func (f *flow) canon(e ir.Expr) string {
	switch e := e.(type) {
	case *ir.Const:
		if e.Val == nil {
			return "0"
		}
		return e.Val.ExactString()
	case *ir.Load:
		if !f.steady(e.P, true) || f.index[e.P.Root] {
			return ""
		}
		if len(e.P.Path) == 0 {
			if l := f.lets[e.P.Root]; l != nil && f.writes[e.P.Root] == 1 {
				if s := f.canon(l.E); s != "" {
					return s
				}
			}
		}
		return f.canonPlace(e.P)
	case *ir.Len:
		v := variable(e.X)
		if v == nil || e.Cap || !f.steady(v.Place(), true) {
			return ""
		}
		if a := f.made[f.class(v)]; a != nil && !a.others && a.v == v {
			return f.canon(a.n)
		}
		return "len(" + v.Name + ")"
	case *ir.Binary:
		x, y := f.canon(e.X), f.canon(e.Y)
		if x == "" || y == "" || e.Op == token.QUO && !isInteger(e.T) {
			return ""
		}
		return "(" + x + e.Op.String() + y + ")"
	}
	return ""
}

func isInteger(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

func (f *flow) canonPlace(p *ir.Place) string {
	var b strings.Builder
	b.WriteString(p.Root.Name)
	for _, s := range p.Path {
		switch {
		case s.IsDeref():
			b.WriteString(".*")
		case s.Index != nil:
			i := f.canon(s.Index)
			if i == "" {
				return ""
			}
			b.WriteString("[" + i + "]")
		default:
			fmt.Fprintf(&b, ".%d", s.Field)
		}
	}
	return b.String()
}

// covers are the variables that lead to memory all of which a counted loop sets, an
// element in each iteration.
func (f *flow) covers(n *node) (out []*ir.Var) {
	s, ok := n.s.(*ir.Loop)
	if !ok || f.b.p.opts.NoCover || s.V == nil || s.Step != 1 || n.loop.started != nil || n.left != nil ||
		f.canon(s.Lo) != "0" {
		return nil
	}
	for _, m := range n.then {
		v := elementSet(m, s.V)
		if v == nil {
			if leavesList(m) {
				return out
			}
			continue
		}
		a := f.made[f.class(v)]
		if a != nil && !a.others && a.v == v && f.canon(a.n) != "" && f.canon(a.n) == f.canon(s.Hi) {
			f.b.p.matter.NoCover = true
			out = append(out, v)
		}
	}
	return out
}

// elementSet is the slice whose element i a node sets, nil if it does something else.
func elementSet(n *node, i *ir.Var) *ir.Var {
	s, ok := n.s.(*ir.Set)
	if !ok || len(s.P.Path) != 1 || elemOf(s.P.Root.Type) == nil {
		return nil
	}
	if variable(s.P.Path[0].Index) != i {
		return nil
	}
	return s.P.Root
}

// private finds the classes of memory that nodes, executed in turn, read only where they
// have set it before.
func (f *flow) private(list []*node) map[any]bool {
	out := map[any]bool{}
	if f.b.p.opts.NoPrivate {
		return out
	}
	bad := map[any]bool{}
	a := f.accesses(list...)
	for k := range a.sets {
		if k.v == nil {
			if m := f.made[k.class]; m != nil && !m.others && m.v != nil && !k.shadow && !a.own[version{v: m.v}] {
				out[k.class] = true
			}
		}
	}
	f.covered(list, map[any]bool{}, bad)
	for c := range bad {
		delete(out, c)
	}
	f.b.p.matter.NoPrivate = f.b.p.matter.NoPrivate || len(out) > 0
	return out
}

// covered goes through nodes and finds the classes that are read before they are covered.
func (f *flow) covered(list []*node, in, bad map[any]bool) map[any]bool {
	have := map[any]bool{}
	for c := range in {
		have[c] = true
	}
	read := func(s state, but *ir.Var) {
		for k := range s {
			if k.v == nil && !k.shadow && !have[k.class] && (but == nil || f.class(but) != k.class) {
				bad[k.class] = true
			}
		}
	}
	for _, n := range list {
		switch s := n.s.(type) {
		case nil, *ir.Leave, *ir.Panic:
		case *ir.If:
			read(f.accesses(&node{s: &ir.If{Cond: s.Cond}}).reads, nil)
			x, y := f.covered(n.then, have, bad), f.covered(n.els, have, bad)
			both := map[any]bool{}
			for c := range x {
				if y[c] {
					both[c] = true
				}
			}
			have = both
		case *ir.Scope:
			f.covered(n.then, have, bad)
		case *ir.Loop:
			read(f.accesses(&node{s: &ir.Loop{V: s.V, Lo: s.Lo, Hi: s.Hi}}).reads, nil)
			f.coveredLoop(n, s, have, bad)
			for _, v := range f.covers(n) {
				have[f.class(v)] = true
			}
		default:
			a := f.accesses(n)
			read(a.reads.with(a.adds), nil)
		}
	}
	return have
}

// coveredLoop goes through an iteration, in which elements that it has set itself may be
// read.
func (f *flow) coveredLoop(n *node, s *ir.Loop, have, bad map[any]bool) {
	covers := map[*ir.Var]bool{}
	for _, v := range f.covers(n) {
		covers[v] = true
	}
	if len(covers) == 0 {
		f.covered(n.then, have, bad)
		return
	}
	set := map[*ir.Var]bool{}
	for i, m := range n.then {
		if len(m.then)+len(m.els) > 0 {
			have = f.covered(n.then[i:i+1], have, bad)
			continue
		}
		a := f.accesses(f.without(m, set, s.V))
		for k := range a.reads.with(a.adds) {
			if k.v == nil && !k.shadow && !have[k.class] {
				bad[k.class] = true
			}
		}
		if v := elementSet(m, s.V); v != nil && covers[v] {
			set[v] = true
		}
	}
}

// without is a node whose reads of element i of the slices in set are left out.
func (f *flow) without(n *node, set map[*ir.Var]bool, i *ir.Var) *node {
	m := &ir.Map{Expr: func(e ir.Expr) ir.Expr {
		if l, ok := e.(*ir.Load); ok && len(l.P.Path) == 1 && set[l.P.Root] && l.P.Path[0].Index != nil &&
			variable(l.P.Path[0].Index) == i {
			return zero(l.T)
		}
		return e
	}}
	c := *n
	if n.s != nil {
		c.s = m.Block(ir.Block{n.s})[0]
	}
	if a, ok := c.s.(*ir.Add); ok && len(a.P.Path) == 1 && set[a.P.Root] && a.P.Path[0].Index != nil &&
		variable(a.P.Path[0].Index) == i {
		c.s = &ir.Let{At: a.At, V: a.P.Root, E: a.E} // only what is added is read
		c.writes = nil
	}
	return &c
}
