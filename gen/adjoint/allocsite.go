package adjoint

import (
	"go/types"
	"slices"

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

// findStored fills ls.stored from the nodes of the function.
func (ls *locations) findStored(nodes []*node) {
	ls.stored = map[any]bool{}
	mark := func(v *ir.Var, t types.Type) {
		if v != nil && ir.HasRefs(t) {
			ls.stored[ls.class(v)] = true
		}
	}
	each(nodes, func(n *node) {
		switch s := n.s.(type) {
		case *ir.Set:
			if s.P.Indirect() || s.P.Root.Kind == ir.Global {
				mark(s.P.Root, s.P.Type())
			}
		case *ir.Append:
			mark(s.P.Root, ir.ElemOf(s.P.Type()))
		case *ir.Copy:
			ir.WalkExpr(s.Dst, func(e ir.Expr) bool {
				if p := ir.PlaceOf(e); p != nil {
					mark(p.Root, ir.ElemOf(s.Dst.Type()))
				}
				return true
			})
		case *ir.Call:
			for _, e := range s.Args {
				ir.WalkExpr(e, func(e ir.Expr) bool {
					if p := ir.PlaceOf(e); p != nil {
						mark(p.Root, p.Root.Type)
					}
					return true
				})
			}
			for _, r := range s.Results {
				if r != nil {
					mark(r, r.Type)
				}
			}
		}
	})
}

// escapes reports whether memory of the class of v may be reachable by the caller: through a result, or through a
// parameter if a reference is stored anywhere. A variable that is assigned now memory of a parameter, now an allocation
// only puts both in one class. Memory that does not escape is taken from the workspace, and reused by the next call.
func (ls *locations) escapes(v *ir.Var) bool {
	c := ls.class(v)
	refers := func(p *ir.Var) bool { return ir.HasRefs(p.Type) && ls.class(p) == c }
	return slices.ContainsFunc(ls.sp.g.f.Results, refers) ||
		ls.stored[c] && slices.ContainsFunc(ls.sp.g.f.Params, refers)
}
