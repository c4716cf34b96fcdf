package adjoint

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// write is something that a node overwrites.
type write struct {
	place    *ir.Place // or
	slice    *ir.Var   // all elements of a slice
	recorded bool
	// inverse is the old value, where the new one tells.
	inverse ir.Expr
	stack   *tapeStack
	record  *tapeRecord // with others of a straight piece of code, instead of a stack
	local   *ir.Var
}

func (w *write) valueType() types.Type {
	if w.slice != nil {
		return elemOf(w.slice.Type)
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
	if n.writtenSlice != nil {
		out = append(out, &write{slice: n.writtenSlice})
	}
	for _, v := range n.moreSlices {
		out = append(out, &write{slice: v})
	}
	return out
}

// declared finds the variables whose declaration and only assignment are one: those that
// a call declared just before gives its results to.
func (f *flow) mergeDeclarations(list []*node) {
	for i, n := range list {
		f.mergeDeclarations(n.then)
		f.mergeDeclarations(n.els)
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
					f.assignments[l.V]--
				}
			}
		}
	}
}

// access is what the forward sweep of some nodes does to variables and memory. Those
// that are only added to are in adds, all others that are written in sets.
type effects struct{ reads, writes, accumulates, declares locationSet }

// writes are all versions that are written.
func (a *effects) modified() locationSet { return a.writes.union(a.accumulates) }

// accesses goes through nodes. Variables that they declare are in own besides.
func (f *flow) effects(list ...*node) *effects {
	a := &effects{locationSet{}, locationSet{}, locationSet{}, locationSet{}}
	each(list, func(n *node) {
		switch s := n.s.(type) {
		case nil:
		case *ir.If:
			f.addExprReads(a.reads, s.Cond)
		case *ir.Loop:
			f.addExprReads(a.reads, s.Lo)
			f.addExprReads(a.reads, s.Hi)
		case *ir.Scope:
		case *ir.Add:
			f.addExprReads(a.reads, s.E)
			f.addPathReads(a.reads, s.P)
			to := a.accumulates
			if !ir.IsFloat(s.P.Type()) {
				to = a.writes
				f.addRead(a.reads, s.P)
			}
			f.addTarget(to, s.P)
			return
		default:
			for k := range f.reads(ir.Block{s}) {
				a.reads[k] = true
			}
		}
		for _, w := range n.writes {
			if w.slice != nil {
				f.addMemory(a.writes, w.slice, w.valueType())
				continue
			}
			f.addTarget(a.writes, w.place)
		}
		if l, ok := n.s.(*ir.Let); ok {
			a.declares[location{v: l.V}] = true
		}
		if c, ok := n.s.(*ir.Call); ok {
			for _, e := range c.Args {
				if v := variable(e); v != nil && v != f.b.ws && activity.HasRefs(v.Type) && f.b.primalOf[v] == nil {
					f.addReachable(a.reads, v)
				}
			}
			if n.callee != nil {
				for k := range f.b.instantiate(n, n.callee.flow.modified, !n.callee.analysed) {
					a.writes[k] = true
				}
			}
		}
	})
	return a
}

// target adds what is written at a place.
func (f *flow) addTarget(into locationSet, p *ir.Place) {
	if p.Indirect() {
		f.addMemory(into, p.Root, p.Type())
	} else {
		into[location{v: p.Root}] = true
	}
}
