package adjoint

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

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
