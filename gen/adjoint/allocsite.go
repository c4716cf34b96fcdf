package adjoint

import (
	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

// allocation is the one place where memory of a class comes from.
type allocSite struct {
	variable *ir.Var // the variable that is declared with it
	length   ir.Expr // how many elements there are
	multiple bool    // there are others
}

// allocations finds where the memory of each class comes from.
func (f *flow) findAllocSites() {
	f.allocSites = map[any]*allocSite{}
	of := func(v *ir.Var) *allocSite {
		c := f.class(v)
		if f.allocSites[c] == nil {
			f.allocSites[c] = &allocSite{}
		}
		return f.allocSites[c]
	}
	foreign := func(v *ir.Var) {
		if v != nil && activity.HasRefs(v.Type) {
			of(v).multiple = true
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
			if a.variable != nil || !ok || e.Cap != nil || f.assignments[v] != 1 {
				a.multiple = true
				return
			}
			a.variable, a.length = l.V, e.N
		case *ir.New, *ir.Literal, *ir.Const:
			of(v).multiple = true
		}
	})
}

// Memory that nobody sees after the call belongs to the workspace: from the second call
// on nothing is allocated for it.

// escapes reports whether memory of the class of v can be seen from outside.
func (f *flow) escapes(v *ir.Var) bool {
	c := f.class(v)
	for _, list := range [][]*ir.Var{f.b.g.f.Params, f.b.g.f.Results} {
		for _, p := range list {
			if activity.HasRefs(p.Type) && f.class(p) == c {
				return true
			}
		}
	}
	return false
}
