package adjoint

import (
	"github.com/nabla-ad/nabla/gen/ir"
)

// Allocation sites and escape. If all memory of an alias class comes from one make, then all slices of the class are
// slices of that allocation, and its length is known symbolically.

// An allocSite describes where the memory of an alias class comes from.
type allocSite struct {
	variable *ir.Var // the variable declared with the only make, or nil
	length   ir.Expr // its length
	multiple bool    // memory of the class may come from elsewhere
}

// findAllocSites fills ls.allocSites from the nodes of the function. A class has a single site if its only source is a
// make, without a separate capacity, that declares a variable assigned once. Parameters, results, calls, append, new,
// literals and nil count as other sources.
func (ls *locations) findAllocSites(nodes []*node) {
	ls.allocSites = map[any]*allocSite{}
	of := func(v *ir.Var) *allocSite {
		c := ls.class(v)
		if ls.allocSites[c] == nil {
			ls.allocSites[c] = &allocSite{}
		}
		return ls.allocSites[c]
	}
	// Foreign memory may be that of any allocation.
	foreign := func(v *ir.Var) {
		if v != nil && ir.HasRefs(v.Type) {
			of(v).multiple = true
		}
	}
	for _, v := range ls.sp.g.f.Params {
		foreign(v)
	}
	for _, v := range ls.sp.g.f.Results {
		foreign(v)
	}
	each(nodes, func(n *node) {
		// V is the variable that references are assigned to, e the value. A value read from another variable brings no
		// new memory into the class, which both have.
		var v *ir.Var
		var e ir.Expr
		switch s := n.s.(type) {
		case *ir.Let:
			v, e = s.V, s.E
		case *ir.Set:
			v, e = s.P.Root, s.E
			if !ir.HasRefs(s.P.Type()) {
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
		if v == nil || !ir.HasRefs(v.Type) || ls.isShadow(v) {
			return
		}
		switch e := e.(type) {
		case *ir.Make:
			a := of(v)
			l, ok := n.s.(*ir.Let)
			if a.variable != nil || !ok || e.Cap != nil || ls.assignments[v] != 1 {
				a.multiple = true
				return
			}
			a.variable, a.length = l.V, e.N
		case *ir.New, *ir.Literal, *ir.Const:
			of(v).multiple = true
		}
	})
}

// escapes reports whether memory of the class of v may be reachable by the caller, through a parameter or result.
// Memory that does not escape is taken from the workspace, and reused by the next call.
func (ls *locations) escapes(v *ir.Var) bool {
	c := ls.class(v)
	for _, list := range [][]*ir.Var{ls.sp.g.f.Params, ls.sp.g.f.Results} {
		for _, p := range list {
			if ir.HasRefs(p.Type) && ls.class(p) == c {
				return true
			}
		}
	}
	return false
}
